/** Table columns of provider calls that moved no money. */
import { messageHref } from "../../domain/MessageHref.ts"
import type { Row } from "../app/api.ts"
import type { Column } from "../parts/DataTable.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip, PageLink, Status, words } from "../parts/Values.tsx"

type Call = Row<"round.calls">

const amountOf = ({ amount, currency }: Call): string => amount === null ? "–" : `${amount} ${currency ?? ""}`.trim()

const whyOf = ({ code, reason }: Call): string => `${code ?? ""}${reason === null ? "" : `, ${words(reason)}`}`

const callColumns = (of: "player" | "provider"): ReadonlyArray<Column<Call>> =>
  columnsOf(
    "round.calls",
    ["at", { seconds: true }],
    ["kind", { label: "Message", cell: ({ kind }) => words(kind) }],
    ["transaction_id", {
      label: "Id",
      cell: ({ provider, transaction_id: id }) =>
        id === null
          ? "–"
          : (
            <PageLink to={messageHref(provider, id)}>
              <Clip width={180}>{id}</Clip>
            </PageLink>
          )
    }],
    of === "player" ? "provider" : "player_id",
    { id: "amount", header: "Amount, as sent", align: "right", value: amountOf, cell: amountOf },
    ["result", { cell: ({ result }) => <Status of={result} /> }],
    {
      id: "code",
      header: "Refused with",
      value: whyOf,
      cell: (call) => call.code === null ? "–" : <Clip width={220}>{whyOf(call)}</Clip>
    },
    {
      id: "answer",
      header: "Answer",
      value: ({ answer, status }) => `${status} ${answer}`,
      cell: ({ answer, status }) => <Clip width={260}>{`${status} ${answer}`}</Clip>
    }
  )

export const columnsOfPlayersCalls = callColumns("player")
export const columnsOfProvidersCalls = callColumns("provider")
