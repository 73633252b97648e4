import { columnName, columnsOf, formatErrors, formatFigure, groupsOf, meetsLimit } from "./Format.ts"
import type { Machine } from "./Machine.ts"
import type { Measurement, Result } from "./Result.ts"
import { renderTable } from "./Table.ts"

/** Where a run took place, in a line. */
const describe = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.kernel}, Node.js ${machine.node}, database on ` +
  `${machine.filesystem}, ${machine.sync_us} µs per synced write, load before ${machine.load_before.toFixed(2)}`

const verdict = (met: boolean | undefined): string => met === undefined ? "" : met ? " ✓" : " ✗"

const renderGroup = (group: string, rows: ReadonlyArray<Measurement>): string => {
  const columns = columnsOf(rows)
  const hasErrors = rows.some(({ errors }) => Object.keys(errors).length > 0)
  return renderTable(
    [group, ...columns.map(columnName), ...(hasErrors ? ["errors"] : [])],
    rows.map(({ errors, figures, name }) => [
      name,
      ...columns.map((column) => {
        const found = figures.find((figure) => figure.name === column.name)
        return found === undefined ? "" : `${formatFigure(found)}${verdict(meetsLimit(found))}`
      }),
      ...(hasErrors ? [formatErrors(errors)] : [])
    ])
  )
}

/** A result as it is printed at the end: where, how, and a table per group. */
export const renderText = (result: Result): string =>
  [
    result.title,
    describe(result.machine),
    Object.entries(result.postgres).map(([name, value]) => `${name}=${value}`).join("  "),
    ...result.method,
    ...groupsOf(result.measurements).map(([group, rows]) => `\n${renderGroup(group, rows)}`),
    "",
    ...result.headlines.map(({ label, value }) => `${value}  ${label}`)
  ].join("\n")
