/** Strict parser of the Prometheus text format: input that a scraper would reject fails the test. */
import { assert } from "@effect/vitest"

type Labels = { readonly [name: string]: string }

interface Series {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

const lineForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy

const labelsOf = (text: string): Labels => {
  const pairs = [...text.matchAll(labelForm)]
  assert.strictEqual(pairs.map(([whole]) => whole).join(""), text, "labels")
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]))
}

/** The family that a line of a histogram or summary belongs to. */
const familyOf = (name: string, types: ReadonlyMap<string, string>): string => {
  const base = name.replace(/_(bucket|sum|count)$/, "")
  return types.has(name) ? name : base
}

const has = (labels: Labels, some: Labels): boolean =>
  Object.entries(some).every(([key, value]) => labels[key] === value)

/** Of a series: its name and its labels, but for the bound of a bucket. */
const keyOf = ({ labels, name }: Pick<Series, "labels" | "name">): string =>
  JSON.stringify([
    name,
    ...Object.entries(labels).filter(([label]) => label !== "le").toSorted(([one], [other]) => one < other ? -1 : 1)
  ])

export const parseMetrics = (text: string) => {
  assert.isTrue(text.endsWith("\n"))
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const found = new Map<string, Series>()
  let family = ""
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP (\S+) \S/.exec(line)
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line)
    if (help !== null) {
      assert.isFalse(helped.has(help[1] ?? ""), `two HELP lines of ${help[1]}`)
      helped.add(help[1] ?? "")
    } else if (type !== null) {
      family = type[1] ?? ""
      assert.isFalse(types.has(family), `two TYPE lines of ${family}`)
      assert.isTrue(helped.has(family), `${family} has no HELP`)
      types.set(family, type[2] ?? "")
      assert.strictEqual(family.endsWith("_total"), type[2] === "counter", `only counters end in _total: ${family}`)
    } else {
      const [, name = "", labels = "", value = ""] = lineForm.exec(line) ?? assert.fail(`no line of metrics: ${line}`)
      assert.strictEqual(familyOf(name, types), family, `${name} stands apart from its TYPE`)
      const key = `${name}{${labels}}`
      assert.isFalse(found.has(key), `${key} stands there twice`)
      const number = value === "+Inf" ? Infinity : Number(value)
      assert.isFalse(Number.isNaN(number), line)
      found.set(key, { name, labels: labelsOf(labels), value: number })
    }
  }
  const all = [...found.values()]
  /** A process that has run many services has tens of thousands of series. */
  const bucketsOf = Map.groupBy(all.filter(({ name }) => name.endsWith("_bucket")), keyOf)
  for (const [name, type] of types) {
    if (type !== "histogram") continue
    for (const { labels, value } of all.filter((one) => one.name === `${name}_count`)) {
      const buckets = bucketsOf.get(keyOf({ name: `${name}_bucket`, labels })) ?? []
      const counts = buckets.map((bucket) => bucket.value)
      assert.deepStrictEqual(counts, counts.toSorted((one, other) => one - other), `buckets of ${name} rise`)
      assert.deepInclude(buckets.at(-1), { value }, `the last bucket of ${name} holds all`)
      assert.strictEqual(buckets.at(-1)?.labels["le"], "+Inf")
    }
  }
  const series = (name: string, labels: Labels = {}) =>
    all.filter((one) => one.name === name && has(one.labels, labels))
  return {
    text,
    names: [...types.keys()],
    series,
    /** Of the series with these labels, among others; undefined where there is none. */
    value: (name: string, labels: Labels = {}): number | undefined => series(name, labels)[0]?.value
  }
}
