/** The metrics that the sources declare, with the labels that are given to them anywhere. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { exportedName } from "../../src/platform/Metrics.ts"

const root = Path.join(import.meta.dirname, "..", "..", "src")

/** Texts of the service's sources. */
export const sources: ReadonlyArray<string> = Fs.readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => Fs.readFileSync(Path.join(entry.parentPath, entry.name), "utf8"))

interface DeclaredMetric {
  readonly name: string
  readonly kind: string
  readonly labels: ReadonlySet<string>
}

const declaration =
  /\b(export )?const (\w+) = (?:\(\w+: Metric\.Metric\.AttributeSet\) =>\s*)?Metric\.(counter|gauge|histogram)\(\s*"(\w+)"(?:[^\n]*\n(?: +[^\n]*\n)*)?/g

/** Keys of an object literal, given without its braces. */
const keysOf = (literal: string): ReadonlyArray<string> =>
  [...literal.matchAll(/(?:^|,)\s*(\w+)\s*(?=[:,]|$)/g)].map(([, key = ""]) => key)

const objects = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].flatMap(([, literal = ""]) => keysOf(literal))

export const declaredMetrics: ReadonlyArray<DeclaredMetric> = sources.flatMap((text) =>
  [...text.matchAll(declaration)].map(([whole, exported, variable = "", kind = "", name = ""]) => {
    const users = exported === undefined ? text : sources.join("\n")
    const [, setter = "-"] = new RegExp(String.raw`const (\w+) = makeGaugeFamily\(${variable}\)`).exec(text) ?? []
    return {
      name: exportedName(name),
      kind,
      labels: new Set([
        ...objects(whole, /\battributes: \{([^}]*)\}/g),
        ...objects(users, new RegExp(String.raw`withAttributes\(${variable}, \{([^}]*)\}`, "g")),
        ...objects(text, new RegExp(String.raw`\b${setter}\((?:[^\n]*\n)?[^\n]*?\[\{ ?([^}]*)\}, `, "g")),
        ...(whole.includes("AttributeSet") ? objects(text, /\battributes = \{([^}]*)\}/g) : [])
      ])
    }
  })
)
