/** Rows of one group beside each other: groups in the order of their first rows, each in the order of the rows. */
export const grouped = <Row>(rows: ReadonlyArray<Row>, groupOf: (row: Row) => string | number): ReadonlyArray<Row> => {
  const groups = new Map<string | number, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(groupOf(row))
    if (group === undefined) groups.set(groupOf(row), [row])
    else group.push(row)
  }
  return [...groups.values()].flat()
}
