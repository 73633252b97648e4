/** Formats tables for the terminal. */

const cell = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value)

const lines = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows.reduce<ReadonlyArray<number>>(
    (known, row) => row.map((text, index) => Math.max(known[index] ?? 0, text.length)),
    []
  )
  return rows.map((row) => row.map((text, index) => text.padEnd(widths[index] ?? 0)).join("  ").trimEnd()).join("\n")
}

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Formats a list as a line per item, anything else as a line per field. */
export const table = (data: unknown): string => {
  if (!Array.isArray(data)) {
    return lines(Object.entries(isObject(data) ? data : { value: data }).map(([k, v]) => [k, cell(v)]))
  }
  const items = data.filter(isObject)
  if (items.length === 0) return "(none)"
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))]
  return lines([
    names,
    ...items.map((item) => {
      const fields = new Map(Object.entries(item))
      return names.map((name) => cell(fields.get(name)))
    })
  ])
}
