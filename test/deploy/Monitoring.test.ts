import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { parse } from "yaml"
import { declaredMetrics } from "../kit/DeclaredMetrics.ts"

// Goal: alerts and panels ask for what the service tells. Method: the names and labels of their expressions against the declarations in the sources, and
// Prometheus's own checker where it is installed.

const folder = Path.join(import.meta.dirname, "..", "..", "scripts", "deploy")
const read = (file: string): string => Fs.readFileSync(Path.join(folder, file), "utf8")

const Rules = Schema.Struct({
  groups: Schema.Array(Schema.Struct({
    rules: Schema.Array(Schema.Struct({
      alert: Schema.String,
      expr: Schema.String,
      labels: Schema.Struct({ severity: Schema.Literals(["critical", "warning"]) }),
      annotations: Schema.Struct({ summary: Schema.String })
    }))
  }))
})
const Dashboard = Schema.Struct({
  panels: Schema.Array(Schema.Struct({
    title: Schema.String,
    targets: Schema.optional(Schema.Array(Schema.Struct({ expr: Schema.String, legendFormat: Schema.String })))
  }))
})

const rules = Schema.decodeUnknownSync(Rules)(parse(read("prometheus-rules.yml"))).groups.flatMap((group) =>
  group.rules
)
const panels = Schema.decodeUnknownSync(Dashboard)(JSON.parse(read("grafana.json"))).panels

/** Expressions with the text that shows their labels. */
const asked = [
  ...rules.map(({ alert, annotations, expr }) => ({ where: alert, expr, shown: annotations.summary })),
  ...panels.flatMap(({ targets = [], title }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, shown: legendFormat }))
  )
]

const suffixes: { readonly [kind: string]: ReadonlyArray<string> } = { histogram: ["_bucket", "_sum", "_count"] }

/** Labels by series. `job` is Prometheus's own, as `instance` is, and it calls the service's label of that name `exported_job`. */
const series = new Map<string, ReadonlySet<string>>([
  ["up", new Set(["job", "instance"])],
  ...declaredMetrics.flatMap(({ kind, labels, name }) =>
    (suffixes[kind] ?? [""]).map((suffix): [string, ReadonlySet<string>] => [
      `${name}${suffix}`,
      new Set([
        "job",
        "instance",
        ...(suffix === "_bucket" ? ["le"] : []),
        ...[...labels].map((label) => label === "job" ? "exported_job" : label)
      ])
    ])
  )
])

const selector = /\b((?:pitboss|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g

const labelsIn = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()))
    .filter((name) => name !== "")

/** What the expression names and the service does not tell. */
const unknownIn = ({ expr, shown }: { readonly expr: string; readonly shown: string }): ReadonlyArray<string> => {
  const selected = [...expr.matchAll(selector)].map(([, name = "", matchers = ""]) => ({ name, matchers }))
  assert.isAbove(selected.length, 0)
  const together = new Set(selected.flatMap(({ name }) => [...series.get(name) ?? []]))
  return [
    ...selected.flatMap(({ matchers, name }) => {
      const labels = series.get(name)
      return labels === undefined
        ? [name]
        : labelsIn(matchers.replaceAll(/"[^"]*"/g, ""), /(\w+)\s*(?:!=|=~|!~|=)/g).filter((label) => !labels.has(label))
          .map((label) => `${name}{${label}}`)
    }),
    ...[
      ...labelsIn(expr, /\b(?:by|on|without|ignoring) \(([^)]*)\)/g),
      ...labelsIn(shown, /\$labels\.(\w+)/g),
      ...labelsIn(shown, /\{\{(\w+)\}\}/g)
    ].filter((label) => !together.has(label))
  ]
}

describe("alerts and panels", () => {
  it("use only metrics and labels that the service has", () => {
    assert.isAbove(asked.length, 80)
    assert.deepStrictEqual(
      asked.flatMap((one) => unknownIn(one).map((name) => `${one.where}: ${name}`)),
      []
    )
    const wrong =
      `sum by (nobody) (rate(pitboss_ready_total{of="x"}[5m])) + pitboss_ready{job="pitboss", reasons=~"a, b"}`
    assert.deepStrictEqual(unknownIn({ expr: wrong, shown: "{{ $labels.none }} {{no}}" }), [
      "pitboss_ready_total",
      "pitboss_ready{reasons}",
      "nobody",
      "none",
      "no"
    ])
  })

  it("report a job as late after twice its own interval at the earliest", () => {
    const text = Fs.readFileSync(Path.join(folder, "..", "..", "src", "service.ts"), "utf8")
    const jobs = [...text.matchAll(/\bname: "?([\w-]+)"?,\s+everySeconds: ([\d_]+)/g)]
      .map(([, name = "", seconds = ""]) => ({ name, seconds: Number(seconds.replaceAll("_", "")) }))
    assert.lengthOf(jobs, text.match(/\beverySeconds: /g)?.length ?? 0)
    const { expr } = rules.find(({ alert }) => alert === "PitbossJobLate") ?? assert.fail("no alert of late jobs")
    const bounds = [...expr.matchAll(/exported_job(=|!~)"([^"]*)"\}\)\s*> (\d+)/g)]
      .map(([, operator, names = "", seconds]) => ({
        isOnly: operator === "=",
        names: names.split("|"),
        seconds: Number(seconds)
      }))
    for (const { name, seconds } of jobs) {
      const own = bounds.filter(({ isOnly, names }) => names.includes(name) === isOnly)
      assert.lengthOf(own, 1, name)
      assert.isAtLeast(own[0]?.seconds ?? 0, 2 * seconds, name)
    }
  })

  // promtool is part of Prometheus: without it there is nothing that could read the expressions
  it.skipIf(spawnSync("promtool", ["--version"]).error !== undefined)(
    "are accepted by promtool, and fire when they should",
    () => {
      const promtool = (...args: ReadonlyArray<string>) => {
        const { status, stderr, stdout } = spawnSync("promtool", args, { encoding: "utf8" })
        assert.strictEqual(status, 0, stdout + stderr)
      }
      promtool("check", "rules", "--lint-fatal", Path.join(folder, "prometheus-rules.yml"))
      promtool("test", "rules", Path.join(import.meta.dirname, "prometheus-rules.test.yml"))
      const made = Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-panels-"))
      try {
        const file = Path.join(made, "panels.json")
        const panelRules = panels.flatMap(({ targets = [] }) => targets).map(({ expr }, index) => ({
          record: `panel:${index}`,
          expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*")
        }))
        Fs.writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules: panelRules }] }))
        promtool("check", "rules", file)
      } finally {
        Fs.rmSync(made, { recursive: true })
      }
    }
  )
})
