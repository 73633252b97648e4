/** Columns that lists of several nouns share. */
import { useMemo } from "react"
import { useOperatorOf, useSeveralOperators } from "../app/session.tsx"
import type { Column } from "./DataTable.tsx"
import { Cut, Money, words } from "./Values.tsx"

/** Whose a row is; no column for who sees one operator. */
export const useOperatorColumn = (): ReadonlyArray<Column<{ readonly operator_id: number }>> => {
  const operatorOf = useOperatorOf()
  const hasSeveral = useSeveralOperators()
  return useMemo(() =>
    hasSeveral
      ? [{
        id: "operator",
        header: "Operator",
        cell: ({ operator_id: id }) => <Cut width={140}>{operatorOf(id).name}</Cut>
      }]
      : [], [hasSeveral, operatorOf])
}

interface Entry {
  readonly type: string
  readonly wallet: string
  readonly amount: number
  readonly balance_after: number
  readonly currency: string
}

/** What an entry of the ledger moved. */
export const entryColumns: ReadonlyArray<Column<Entry>> = [
  { id: "type", header: "Type", cell: ({ type }) => words(type) },
  { id: "wallet", header: "Wallet", cell: ({ wallet }) => wallet },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} signed />
  },
  {
    id: "balance",
    header: "Balance after",
    align: "right",
    cell: ({ balance_after: balance, currency }) => <Money amount={balance} currency={currency} />
  }
]
