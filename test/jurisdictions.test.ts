import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { builtInProfiles } from "../src/domain/jurisdiction/BuiltIn.ts"
import { noneCode } from "../src/domain/jurisdiction/Profile.ts"
import { childrenOf, isNode, nameOf, parse, type SyntaxNode } from "./kit/SyntaxTree.ts"

// Goal: 1.1: no code asks which jurisdiction it is: rules are read from the profile. Method: domain, features and endpoints name no built-in profile
// (`none` excepted): not as a text, which a comparison, a case, a list or a map takes, and not as a key or a property.

const root = Path.join(import.meta.dirname, "..", "src")

const codes: ReadonlySet<unknown> = new Set(builtInProfiles.map(({ code }) => code).filter((code) => code !== noneCode))

const sources = ["domain", "features", "endpoints"].flatMap((room) =>
  Fs.readdirSync(Path.join(root, room), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${room}/${file}`)
)

const keyOf = ({ computed, key, property, type }: SyntaxNode): unknown => {
  const named = type === "MemberExpression" ? property : key
  return computed === true || !isNode(named) ? undefined : nameOf(named)
}

const textOf = ({ quasis, type, value }: SyntaxNode): unknown => {
  if (type === "Literal") return value
  if (type !== "TemplateLiteral" || !Array.isArray(quasis) || quasis.length !== 1) return undefined
  const [{ value: { cooked } }] = quasis
  return cooked
}

/** Codes of profiles that a source names. */
const namedIn = (text: string): ReadonlyArray<unknown> => {
  const found: Array<unknown> = []
  const visit = (node: SyntaxNode): void => {
    found.push(...[textOf(node), keyOf(node)].filter((name) => codes.has(name)))
    childrenOf(node).forEach(visit)
  }
  visit(parse(text))
  return found
}

describe("no code depends on which jurisdiction applies", () => {
  it("1.1: no file in domain, features and endpoints names a profile", () => {
    assert.isAbove(sources.length, 200)
    assert.deepStrictEqual(
      sources.filter((file) => namedIn(Fs.readFileSync(Path.join(root, file), "utf8")).length > 0),
      []
    )
  })

  it("1.1: the check finds a profile named in a comparison, a case, a map, a list, a key and a property", () => {
    const wrong = [
      `if (player.jurisdiction === "se") stop()`,
      `if ("ca-on" != code) stop()`,
      "const isDutch = code === `nl`",
      `switch (code) { case "gb": stop() }`,
      `const waits = { se: "PT72H" }`,
      `const waits = { "ca-on": 1 }`,
      `const wait = waits.se`,
      `const wait = waits["de"]`,
      `const strict = new Map([["mt", 1]])`,
      `const isStrict = ["dk", "x"].includes(code)`,
      `type Strict = "se" | "other"`,
      `class Waits { se = 1 }`
    ]
    for (const line of wrong) assert.strictEqual(namedIn(line).length, 1, line)
    for (const line of [`code === "none"`, `waits[code]`, `"see"`, "`${se}`", `import se from "./profiles/se.json"`]) {
      assert.deepStrictEqual(namedIn(line), [], line)
    }
  })
})
