/** Stable grouping: groups in the order of their first rows, the rows of each in their own order. */
export const grouped = <Row>(rows: ReadonlyArray<Row>, groupOf: (row: Row) => string | number): ReadonlyArray<Row> => {
  const groups = new Map<string | number, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(groupOf(row))
    if (group === undefined) groups.set(groupOf(row), [row])
    else group.push(row)
  }
  return [...groups.values()].flat()
}
