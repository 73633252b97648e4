/** Table columns of computed amounts and of buttons. Columns of single fields are in `shown.tsx`. */
import type { Column } from "./DataTable.tsx"
import { Money } from "./Values.tsx"

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
