/** The five originals: what a player chooses, a picture for the lobby, and a picture of an outcome. */
import { field, h, s, select } from "./Dom.ts"

export interface GameOfPage {
  readonly icon: () => SVGElement
  /** Fields of the choice, in the form of the game. */
  readonly controls: () => ReadonlyArray<HTMLElement>
  readonly paramsOf: (form: FormData) => { readonly [name: string]: unknown }
  readonly picture: (outcome: { readonly [name: string]: unknown }) => SVGElement
  /** What chance gave, in words. */
  readonly words: (outcome: { readonly [name: string]: unknown }) => string
}

const drawing = (...parts: ReadonlyArray<SVGElement>): SVGElement =>
  s("svg", { viewBox: "0 0 200 120", "aria-hidden": "true" }, ...parts)

const icon = (...parts: ReadonlyArray<SVGElement>): SVGElement =>
  s("svg", { viewBox: "0 0 48 48", "aria-hidden": "true" }, ...parts)

const line = (x1: number, y1: number, x2: number, y2: number, kind = "") => s("line", { x1, y1, x2, y2, class: kind })
const dot = (cx: number, cy: number, r: number, kind = "full") => s("circle", { cx, cy, r, class: kind })
const box = (x: number, y: number, width: number, height: number, kind = "") =>
  s("rect", { x, y, width, height, rx: 4, class: kind })
const words = (x: number, y: number, text: string) => s("text", { x, y }, text)

const number = (name: string, label: string, value: number, min: number, max: number, step: number) =>
  field(label, h("input", { name, type: "number", value, min, max, step, required: true }))

const numberOf = (form: FormData, name: string): number => Number(form.get(name))
const textOf = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value : ""
}
const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const dice: GameOfPage = {
  icon: () => icon(box(6, 6, 36, 36), dot(16, 16, 3), dot(32, 16, 3), dot(24, 24, 3), dot(16, 32, 3), dot(32, 32, 3)),
  controls: () => [
    field("Direction", select("direction", [["under", "Under"], ["over", "Over"]])),
    number("target", "Target", 50.5, 0.01, 99.98, 0.01)
  ],
  paramsOf: (form) => ({ direction: textOf(form, "direction"), target: numberOf(form, "target") }),
  picture: ({ direction, roll, target, won }) => {
    const at = (value: unknown) => 10 + Number(value) * 1.8
    const isUnder = direction === "under"
    return drawing(
      box(10, 60, 180, 12, "bad"),
      box(isUnder ? 10 : at(target), 60, isUnder ? at(target) - 10 : 190 - at(target), 12, "good"),
      dot(at(roll), 66, 9, "full"),
      words(Math.min(Math.max(at(roll), 30), 170), 46, Number(roll).toFixed(2)),
      words(100, 104, won === true ? "won" : "lost")
    )
  },
  words: ({ roll }) => `rolled ${Number(roll).toFixed(2)}`
}

const limbo: GameOfPage = {
  icon: () => icon(s("path", { d: "M6 40 C20 40 30 30 40 8" }), s("path", { d: "M32 10 L40 8 L42 16" })),
  controls: () => [number("target", "Target", 2, 1.01, 1_000_000, 0.01)],
  paramsOf: (form) => ({ target: numberOf(form, "target") }),
  picture: ({ result, target, won }) => {
    // a hundredfold is the top of the picture
    const height = (value: unknown) => 106 - Math.min(Math.log10(Number(value)) / 2, 1) * 90
    return drawing(
      s("path", { d: `M10 106 C70 106 130 100 180 ${height(result)}`, class: won === true ? "" : "edge" }),
      line(10, height(target), 190, height(target), "quiet"),
      dot(180, height(result), 6, won === true ? "good" : "bad"),
      words(70, 60, `${Number(result).toFixed(2)}×`)
    )
  },
  words: ({ result }) => `reached ${Number(result).toFixed(2)}×`
}

const coinFlip: GameOfPage = {
  icon: () => icon(dot(24, 24, 18, "edge"), s("path", { d: "M17 31 V17 L24 24 L31 17 V31" })),
  controls: () => [field("Side", select("side", [["heads", "Heads"], ["tails", "Tails"]]))],
  paramsOf: (form) => ({ side: textOf(form, "side") }),
  picture: ({ result, won }) =>
    drawing(
      dot(100, 60, 48, "edge"),
      dot(100, 60, 40, won === true ? "good" : "quiet"),
      words(100, 66, String(result))
    ),
  words: ({ result }) => `fell on ${String(result)}`
}

const plinko: GameOfPage = {
  icon: () =>
    icon(
      ...[1, 2, 3].flatMap((row) =>
        Array.from({ length: row + 1 }, (_, at) => dot(24 + (at - row / 2) * 12, row * 10, 2.5))
      ),
      dot(30, 42, 4, "gold")
    ),
  controls: () => [
    field("Rows", select("rows", [8, 10, 12, 14, 16].map((rows) => [String(rows), String(rows)] as const))),
    field("Risk", select("risk", [["low", "Low"], ["medium", "Medium"], ["high", "High"]]))
  ],
  paramsOf: (form) => ({ rows: numberOf(form, "rows"), risk: textOf(form, "risk") }),
  picture: ({ path, rows }) => {
    const count = Number(rows)
    const gap = 104 / (count + 1)
    // wider than high, as the picture is
    const at = (row: number, column: number) => [100 + (column - row / 2) * gap * 1.6, 10 + row * gap] as const
    const pins = Array.from(
      { length: count },
      (_, row) => Array.from({ length: row + 1 }, (_, column) => dot(...at(row, column), 1.6))
    ).flat()
    let column = 0
    const corners = String(path).split("").map((way, row) => {
      if (way === "R") column++
      return at(row + 1, column).join(" ")
    })
    return drawing(
      ...pins,
      s("path", { d: `M100 10 L${corners.join(" L")}`, class: "edge" }),
      dot(...at(count, column), 5, "gold")
    )
  },
  words: ({ slot }) => `landed in slot ${String(slot)}`
}

const cells = Array.from({ length: 25 }, (_, cell) => cell)

const mines: GameOfPage = {
  icon: () =>
    icon(dot(24, 26, 12), line(24, 8, 24, 44), line(6, 26, 42, 26), line(11, 13, 37, 39), line(37, 13, 11, 39)),
  controls: () => [
    number("mines", "Mines", 3, 1, 24, 1),
    h(
      "fieldset",
      { class: "cells" },
      h("legend", {}, "Cells to open"),
      ...cells.map((cell) =>
        h("input", {
          type: "checkbox",
          name: "cell",
          value: cell,
          "aria-label": `Cell ${cell + 1}`,
          checked: [6, 12, 18].includes(cell)
        })
      )
    )
  ],
  paramsOf: (form) => ({ mines: numberOf(form, "mines"), cells: form.getAll("cell").map(Number) }),
  picture: ({ cells: opened, mine_cells }) => {
    const [open, mined] = [new Set(listOf(opened)), new Set(listOf(mine_cells))]
    return drawing(...cells.flatMap((cell) => {
      const [x, y] = [42 + cell % 5 * 24, 2 + Math.floor(cell / 5) * 24]
      const kind = !open.has(cell) ? "quiet" : mined.has(cell) ? "bad" : "good"
      return [box(x, y, 20, 20, kind), ...mined.has(cell) ? [dot(x + 10, y + 10, 5)] : []]
    }))
  },
  words: ({ won }) => won === true ? "no mine among them" : "a mine among them"
}

/** The originals that the page can show, by their names in the catalogue. */
export const games: { readonly [externalId: string]: GameOfPage } = { dice, limbo, coin_flip: coinFlip, plinko, mines }
