/** Bulk actions on selected rows: a bar with their number, one confirmation that says which rows are left out, and the outcome of each row. */
import { Button, Group, Stack, Text } from "@mantine/core"
import { useRef, useState } from "react"
import type { Action } from "../app/api.ts"
import { usePermission } from "../app/session.tsx"
import { rowAction } from "./ActionButton.tsx"
import type { FieldList } from "./Fields.tsx"
import { type RowKey, type Selection, useMarked } from "./selection.ts"
import { countText, moneyText } from "./Values.tsx"

/** An action on several rows, in one request with an outcome of each. */
export interface BulkAction<R> {
  readonly action: Action
  /** Verb of the button: `Approve`. */
  readonly verb: string
  /** Past participle in outcomes: `approved`. */
  readonly past: string
  /** Field of the request with the ids. */
  readonly ids: string
  readonly fields?: FieldList
  readonly fixed?: Readonly<Record<string, unknown>>
  readonly explanation?: string
  readonly danger?: boolean
  /** Why a row is left out, in words; undefined: it is not. */
  readonly leftOut: (row: R) => string | undefined
}

/** What may be done with several rows of a list. */
export interface Bulk<R> {
  /** Names of one row and of several: `payment`, `payments`. */
  readonly noun: readonly [one: string, several: string]
  readonly nameOf: (row: R) => string
  readonly actions: ReadonlyArray<BulkAction<R>>
  /** Amount of a row, for the sum in the button. */
  readonly amountOf?: (row: R) => { readonly amount: number; readonly currency: string }
}

/** Rows of one request at most. */
export const mostAtOnce = 200

/** Sums by currency: `€3,624.00 and SEK 40.00`. */
const sumText = <R extends object>({ amountOf }: Bulk<R>, rows: ReadonlyArray<R>): string => {
  if (amountOf === undefined) return ""
  const sums = new Map<string, number>()
  for (const row of rows) {
    const { amount, currency } = amountOf(row)
    sums.set(currency, (sums.get(currency) ?? 0) + amount)
  }
  return [...sums].map(([currency, amount]) => moneyText(amount, currency)).join(" + ")
}

const withSum = (text: string, sum: string): string => sum === "" ? text : `${text} (${sum})`

/** Outcome of one item. */
interface Outcome {
  readonly id: number
  readonly is_done: boolean
  readonly message: string | null
}

const isOutcome = (item: unknown): item is Outcome => typeof item === "object" && item !== null && "is_done" in item

/** Outcomes in the answer of a bulk action. */
const outcomesIn = (answer: unknown): ReadonlyArray<Outcome> => {
  if (typeof answer !== "object" || answer === null || !("data" in answer)) return []
  const { data } = answer
  return typeof data === "object" && data !== null && "items" in data && Array.isArray(data.items)
    ? data.items.filter(isOutcome)
    : []
}

/** Texts by reason, in the order of their first. */
const byReason = <R extends object>(rows: ReadonlyArray<R>, reasonOf: (row: R) => string | undefined) => {
  const groups = new Map<string, Array<R>>()
  for (const row of rows) {
    const reason = reasonOf(row)
    if (reason !== undefined) groups.set(reason, [...groups.get(reason) ?? [], row])
  }
  return groups
}

function LeftOut<R extends object>(
  { bulk, reasons }: { readonly bulk: Bulk<R>; readonly reasons: ReadonlyMap<string, ReadonlyArray<R>> }
) {
  const count = [...reasons.values()].reduce((sum, { length }) => sum + length, 0)
  return (
    <section aria-label="Left out">
      <Text size="sm" fw={600}>Left out: {countText(count)}</Text>
      <ul className="reasons">
        {[...reasons].map(([reason, rows]) => (
          <li key={reason}>
            {countText(rows.length)} {reason}: <span className="aside">{rows.map(bulk.nameOf).join(", ")}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What became of each item, the refused ones first. */
function Outcomes({ nameOf, outcomes, past }: {
  readonly outcomes: ReadonlyArray<Outcome>
  readonly nameOf: (id: number) => string
  readonly past: string
}) {
  const done = outcomes.filter((item) => item.is_done)
  const refused = outcomes.filter((item) => !item.is_done)
  return (
    <Stack gap="xs" role="status">
      <Text size="sm" fw={600}>
        {countText(done.length)} {past}
        {refused.length === 0 ? "." : `, ${countText(refused.length)} not.`}
      </Text>
      <ul className="reasons outcomes" tabIndex={0} aria-label="Outcomes">
        {refused.map(({ id, message }) => <li key={id}>{nameOf(id)}: not {past}. {message}</li>)}
        {done.map(({ id }) => <li key={id}>{nameOf(id)}: {past}</li>)}
      </ul>
    </Stack>
  )
}

/** Number of rows, what is marked, and the actions on it. */
export function BulkBar<R extends object>({ bulk, hasMore, keyOf, more, rows, selection }: {
  readonly bulk: Bulk<R>
  readonly rows: ReadonlyArray<R>
  readonly keyOf: (row: R) => RowKey
  readonly selection: Selection
  /** Whether the list goes on behind the rows. */
  readonly hasMore: boolean
  /** Marks the first rows of the list, as many as one action takes. */
  readonly more: () => void
}) {
  const may = usePermission()
  const marked = useMarked(selection)
  const [dialog, setDialog] = useState<React.ReactNode>()
  const chosen = rows.filter((row) => marked.has(keyOf(row)))
  const bar = useRef<HTMLDivElement>(null)
  // buttons come and go with what is marked: the bar keeps the focus for them
  const keepFocus = () => bar.current?.focus({ preventScroll: true })
  const opener = useRef<HTMLButtonElement>(undefined)
  const close = () => {
    setDialog(undefined)
    keepFocus()
    opener.current?.focus({ preventScroll: true })
  }

  const open = (action: BulkAction<R>, taken: ReadonlyArray<R>, label: string) => {
    const names = new Map(taken.map((row) => [Number(keyOf(row)), bulk.nameOf(row)]))
    const keys = new Map(taken.map((row) => [Number(keyOf(row)), keyOf(row)]))
    const reasons = byReason(chosen, action.leftOut)
    const item = rowAction<Action>({
      action: action.action,
      label,
      fields: action.fields ?? [],
      fixed: action.fixed ?? {},
      isOnce: true,
      danger: action.danger ?? false,
      toPayload: (values) => ({ ...values, [action.ids]: taken.map((row) => Number(keyOf(row))) }),
      explanation: (
        <Stack gap="xs">
          {action.explanation}
          {reasons.size > 0 && <LeftOut bulk={bulk} reasons={reasons} />}
        </Stack>
      ),
      done: () => undefined,
      onDone: (answer) =>
        selection.mark(outcomesIn(answer).filter((one) => one.is_done).flatMap(({ id }) => keys.get(id) ?? []), false),
      result: (answer) => (
        <Outcomes
          outcomes={outcomesIn(answer)}
          nameOf={(id) => names.get(id) ?? String(id)}
          past={action.past}
        />
      )
    })
    setDialog(item.dialog(close))
  }

  const buttons = bulk.actions.filter(({ action }) => may(action)).flatMap((action) => {
    const taken = chosen.filter((row) => action.leftOut(row) === undefined)
    if (taken.length === 0) return []
    const label = withSum(`${action.verb} ${countText(taken.length)}`, sumText(bulk, taken))
    return [
      <Button
        key={action.verb}
        size="compact-sm"
        variant={action.danger === true ? "default" : "filled"}
        disabled={taken.length > mostAtOnce}
        onClick={({ currentTarget }) => {
          opener.current = currentTarget
          open(action, taken, label)
        }}
      >
        {label}
      </Button>
    ]
  })

  return (
    <>
      <div className="bulk-bar" role="region" tabIndex={-1} ref={bar} aria-label={`Selected ${bulk.noun[1]}`}>
        <Text size="sm" role="status" component="div">
          {chosen.length === 0
            ? `${countText(rows.length)}${hasMore ? " or more" : ""} ${
              bulk.noun[rows.length === 1 && !hasMore ? 0 : 1]
            }`
            : withSum(`${countText(chosen.length)} selected`, sumText(bulk, chosen))}
          {chosen.length > mostAtOnce && `, at most ${mostAtOnce} at once`}
        </Text>
        <Group gap={6}>
          {buttons}
          {chosen.length > 0 && chosen.length < mostAtOnce && (hasMore || chosen.length < rows.length) && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                more()
                keepFocus()
              }}
            >
              {hasMore || rows.length > mostAtOnce ? `Select the first ${mostAtOnce}` : "Select all"}
            </Button>
          )}
          {chosen.length > 0 && (
            <Button
              size="compact-sm"
              variant="subtle"
              onClick={() => {
                selection.clear()
                keepFocus()
              }}
            >
              Select none
            </Button>
          )}
        </Group>
      </div>
      {dialog}
    </>
  )
}
