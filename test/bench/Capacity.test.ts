import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { type Costs, capacityOf, firstToEnd, measuredCosts, plannedMachines } from "../../bench/report/Capacity.ts"

const page = Fs.readFileSync(Path.join(import.meta.dirname, "..", "..", "docs", "scaling.md"), "utf8")

const rounded = (perSecond: number): string => (Math.round(perSecond / 100) * 100).toLocaleString("en-US")

describe("the capacity model", () => {
  it("yields every row of the table in docs/scaling.md", () => {
    const rows = [1, 3, 10, 50].flatMap((nodes) =>
      (nodes === 1 ? ["owner"] as const : ["any", "owner"] as const).map((routing) => {
        const capacity = capacityOf(nodes, routing)
        const [resource, carried] = firstToEnd(capacity)
        return [nodes, nodes === 1 ? "–" : routing, rounded(capacity.nodes), rounded(carried), resource].join(" | ")
      })
    )
    const told = [...page.matchAll(/^\| +(\d+ +\| (?:any|owner|–) .*?) +\|$/gm)].map(([, row]) =>
      (row ?? "").replaceAll(/ *\| */g, " | ")
    )
    assert.deepStrictEqual(told, rows)
  })

  it("grows with the number of nodes until another resource is exhausted", () => {
    const free: Costs = { ...measuredCosts, hopMicros: 0 }
    assert.closeTo(capacityOf(3, "any", free).nodes, 3 * capacityOf(1, "any", free).nodes, 1)
    assert.strictEqual(capacityOf(1, "any").nodes, capacityOf(1, "owner").nodes)
    const small = capacityOf(2, "any", measuredCosts, { ...plannedMachines, postgresCores: 1 })
    assert.strictEqual(firstToEnd(small)[0], "nodes")
    assert.strictEqual(
      firstToEnd(capacityOf(8, "any", measuredCosts, { ...plannedMachines, postgresCores: 1 }))[0],
      "PostgreSQL's processors"
    )
  })
})
