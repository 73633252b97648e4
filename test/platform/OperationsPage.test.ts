import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { join } from "node:path"
import { neededConnections } from "../../src/platform/Database.ts"
import { declaredMetrics, sources } from "../kit/DeclaredMetrics.ts"

// Goal: the operations page lists exactly the existing names. Method: settings, metrics and log
// lines in the sources, against the tables of the page. soak/observability.test.ts compares the page with a
// running service.

const root = join(import.meta.dirname, "..", "..")
const read = (file: string): string => Fs.readFileSync(join(root, file), "utf8")
const page = read("docs/operations.md")

/** Names in code style in the first column of the tables below a heading. */
const firstColumn = (heading: string): ReadonlyArray<string> => {
  const [, below = ""] = page.split(`\n## ${heading}\n`)
  const [section = ""] = below.split("\n## ")
  return section.split("\n").filter((line) => line.startsWith("| `")).flatMap((line) =>
    [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)
  )
}

const names = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(([, name = ""]) => name)

describe("docs/operations.md", () => {
  it("describes every setting", () => {
    const settings = names(read("src/platform/Settings.ts"), /\bread\(\s*"([A-Z_]+)"/g)
    const tracing = names(read("src/platform/Tracing.ts"), /"(OTEL_[A-Z_]+)"/g)
    assert.includeMembers([...settings], ["HOST", "MASTER_KEY_PREVIOUS"])
    assert.includeMembers([...tracing], ["OTEL_SERVICE_NAME"])
    assert.deepStrictEqual([...firstColumn("Settings")].toSorted(), [...new Set([...settings, ...tracing])].toSorted())
  })

  it("describes every metric", () => {
    const own = new Set(declaredMetrics.map(({ name }) => name))
    assert.strictEqual(declaredMetrics.length, sources.join().match(/\bMetric\.(?:counter|gauge|histogram)\(/g)?.length)
    assert.deepStrictEqual([...firstColumn("Metrics")].toSorted(), [...own].toSorted())
  })

  it("names the connections of a node", () => {
    const [, total = "", parts = ""] = /A node needs (\d+) connections \(([^)]*)\)/.exec(page) ?? []
    const sum = names(parts, /(\d+)/g).reduce((added, part) => added + Number(part), 0)
    assert.deepStrictEqual([Number(total), sum], [neededConnections(true), neededConnections(true)])
  })

  it("describes every alert", () => {
    const rules = names(read("scripts/deploy/prometheus-rules.yml"), /- alert: (\w+)/g)
    assert.deepStrictEqual([...firstColumn("Alerts")].toSorted(), [...rules].toSorted())
  })

  it("describes every warning and error that is logged", () => {
    const lines = /Effect\.log(?:Warning|Error)\(\s*(["`])((?:(?!\1)[\s\S])+)\1/g
    const written = sources.flatMap((text) =>
      [...text.matchAll(lines)].map(([, , words = ""]) => words.replaceAll(/\$\{[^}]*\}/g, "…"))
    )
    assert.isAbove(written.length, 15)
    const explained = firstColumn("Logs")
    const unexplained = written.filter((words) => !explained.some((line) => words.startsWith(line)))
    assert.deepStrictEqual(unexplained, [], "a row of docs/operations.md, Logs, says what each means")
    const idle = explained.filter((line) => !written.some((words) => words.startsWith(line)))
    assert.deepStrictEqual(idle, [])
  })

  it("refers only to existing files and metrics", () => {
    const headings = names(page, /^#+ (.+)$/gm).map((heading) =>
      heading.toLowerCase().replaceAll(/[^a-z0-9 -]/g, "").replaceAll(" ", "-")
    )
    for (const [, file = "", anchor = ""] of page.matchAll(/\]\(([^)#]*)#?([^)]*)\)/g)) {
      if (file === "") assert.include(headings, anchor)
      else assert.isTrue(Fs.existsSync(join(root, "docs", file)), file)
    }
  })
})
