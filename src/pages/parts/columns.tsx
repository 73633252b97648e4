/** Columns shared by lists of several nouns. */
import { useMemo } from "react"
import { useOperatorOf, useSeveralOperators } from "../app/session.tsx"
import type { Column } from "./DataTable.tsx"
import { Clip, Instant, Money, PageLink, words } from "./Values.tsx"

/** Operator of a row; none for a user with one operator. */
export const useOperatorColumn = (): ReadonlyArray<Column<{ readonly operator_id: number }>> => {
  const operatorOf = useOperatorOf()
  const hasSeveral = useSeveralOperators()
  return useMemo(() =>
    hasSeveral
      ? [{
        id: "operator",
        header: "Operator",
        cell: ({ operator_id: id }) => <Clip width={140}>{operatorOf(id).name}</Clip>
      }]
      : [], [hasSeveral, operatorOf])
}

/** Player of a row. */
export const playerColumn: Column<{ readonly player_id: number }> = {
  id: "player",
  header: "Player",
  cell: ({ player_id: id }) => <PageLink to={`/players/${id}`}>{String(id)}</PageLink>
}

/** The same with the username, truncated to a width. */
export const namedPlayerColumn = (
  width: number
): Column<{ readonly player_id: number; readonly username: string }> => ({
  ...playerColumn,
  cell: (row) => (
    <>
      {playerColumn.cell(row)} <Clip width={width}>{row.username}</Clip>
    </>
  )
})

/** Column of amounts in the currency of each row. `amountOf`: minor units; null is a dash. */
export const amounts = <R extends { readonly currency: string }>(
  id: string,
  header: string,
  amountOf: (row: R) => number | null,
  { signed = false, ...rest }: { readonly signed?: boolean; readonly width?: number } = {}
): Column<R> => ({
  id,
  header,
  align: "right",
  ...rest,
  cell: (row) => <Money amount={amountOf(row)} currency={row.currency} signed={signed} />
})

/** Column of buttons, without a header. */
export const buttonColumn = <R extends object>(cell: (row: R) => React.ReactNode): Column<R> => ({
  id: "actions",
  header: "",
  cell
})

/** Sortable column of instants, to the minute. */
export const sortedInstants = <R extends object>(
  id: string,
  header: string,
  instantOf: (row: R) => string | null,
  absent?: string
): Column<R> => ({
  id,
  header,
  value: (row) => instantOf(row) ?? "",
  cell: (row) =>
    instantOf(row) === null && absent !== undefined ? absent : <Instant at={instantOf(row)} seconds={false} />
})

interface Entry {
  readonly type: string
  readonly wallet: string
  readonly amount: number
  readonly balance_after: number
  readonly currency: string
}

/** Columns of a ledger entry. */
export const entryColumns: ReadonlyArray<Column<Entry>> = [
  { id: "type", header: "Type", cell: ({ type }) => words(type) },
  { id: "wallet", header: "Wallet", cell: ({ wallet }) => wallet },
  amounts("amount", "Amount", ({ amount }) => amount, { signed: true }),
  amounts("balance", "Balance after", ({ balance_after: balance }) => balance)
]
