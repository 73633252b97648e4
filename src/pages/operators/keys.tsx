/** API keys of operators: table columns, and the form for a new key. */
import type { Row } from "../app/api.ts"
import { defaultScopes } from "../../domain/state/Operator.ts"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import { CopyValue, OneTimeValue } from "../parts/OneTimeValue.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip, Status } from "../parts/Values.tsx"

type Key = Row<"key.list">

const isOpen = ({ expires_at: expires, revoked_at: revoked }: Key): string =>
  revoked !== null ? "revoked" : expires !== null && expires < new Date().toISOString() ? "expired" : "active"

export const keyColumns = columnsOf(
  "key.list",
  ["key", { cell: ({ key }) => <CopyValue label={`key ${key}`} value={key} /> }],
  "name",
  "operator_id",
  ["scopes", {
    cell: ({ key, scopes }) =>
      defaultScopes(key.startsWith("pk_test_")).every((scope) => scopes.includes(scope))
        ? "all"
        : <Clip>{scopes.join(", ")}</Clip>
  }],
  ["ip_allowlist", { absent: "any" }],
  ["rate_limit_per_minute", { label: "Per minute" }],
  { id: "state", header: "State", cell: (key) => <Status of={isOpen(key)} /> }
)

export const keyActions: RowActions<Key> = {
  nameOf: ({ key, name }) => `key ${name === "" ? key : name}`,
  of: (row) => {
    const { key, name, revoked_at: revoked } = row
    return revoked === null
      ? [
        rowAction({
          action: "key.update",
          label: "Change key",
          params: { key },
          fields: formOf("key.update", {}, { record: row }),
          isUpdate: true,
          done: "Key changed"
        }),
        rowAction({
          action: "key.rotate",
          label: "New secret",
          params: { key },
          explanation:
            "The present secret signs nothing from then on: the operator's requests fail until it has the new one.",
          typed: name === "" ? key : name,
          danger: true,
          result: ({ data }) => <OneTimeValue label="Secret" of={{ key }} value={data.secret} />
        }),
        rowAction({
          action: "key.revoke",
          label: "Revoke key",
          params: { key },
          explanation: "Ends the key for good, at every node, at once.",
          typed: name === "" ? key : name,
          danger: true
        })
      ]
      : []
  }
}

/** Adds a key of an operator, or of one that the form asks for. */
export function AddKey({ operator }: { readonly operator?: string }) {
  return (
    <ActionButton
      action="key.create"
      label="Add key"
      fields={formOf("key.create", operator === undefined ? {} : { operator: false })}
      {...(operator === undefined ? {} : { fixed: { operator } })}
      result={({ data }) => <OneTimeValue label="Secret" of={{ key: data.key }} value={data.secret} />}
    />
  )
}
