/** Text in columns: the first left-aligned, the others right-aligned. */
export const renderTable = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string => {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    widths.map((width, column) => {
      const cell = cells[column] ?? ""
      return column === 0 ? cell.padEnd(width) : cell.padStart(width)
    }).join("  ").trimEnd()
  return [line(header), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n")
}
