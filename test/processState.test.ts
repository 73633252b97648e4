import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { childrenOf, isNode, nameOf, parse, type SyntaxNode } from "./kit/SyntaxTree.ts"

// Goal: no process-level state without a documented behaviour on several nodes. Method: parse every file of src, find
// the collections, caches, buffers and variables that outlive a call, and compare their names with the comments `Kept:` of their file, in both
// directions.

const root = Path.join(import.meta.dirname, "..")

const collections =
  /^(Map|Set|WeakMap|WeakSet|RecentMap|CommittedIds|RememberedSignatures|Array|Buffer|Float64Array|(Big)?(Ui|I)nt\d+Array)$/

const makers =
  /^((Cache|Ref|SubscriptionRef|Semaphore|Queue|PubSub|FiberMap|FiberSet|FiberHandle|RcMap)\.\w+|Buffer\.alloc\w*)$/

/** Whether an expression creates mutable state; `classes` are those of src with a collection in a field. */
const isState = (node: unknown, classes: ReadonlySet<string>): boolean => {
  if (!isNode(node)) return false
  if (node.type === "YieldExpression") return isState(node["argument"], classes)
  if (node.type === "ArrayExpression") return Array.isArray(node["elements"]) && node["elements"].length === 0
  const callee = nameOf(node["callee"])
  return node.type === "NewExpression"
    ? collections.test(callee) || classes.has(callee)
    : node.type === "CallExpression" && makers.test(callee)
}

/** Names of definitions that run once: layers, and constructors of their state. */
const runsOnce = /^(layer|make|main$|service$)/

const isFunction = ({ type }: SyntaxNode): boolean => /^((Arrow)?FunctionExpression|FunctionDeclaration)$/.test(type)

/** Context of a node: whether its value outlives a call, and the name of its definition. */
interface Place {
  readonly isKept: boolean
  readonly holder: string
  readonly parent: SyntaxNode | undefined
  /** Whether a function is around it. */
  readonly isNested: boolean
}

/** `Effect.fn`, also with a name: `Effect.fn("name")`. */
const isEffectFn = (callee: unknown): boolean =>
  isNode(callee) && nameOf(callee.type === "CallExpression" ? callee["callee"] : callee).startsWith("Effect.fn")

/** Whether a function runs once in a process: the body of a layer, and functions that such a body passes to Effect. */
const isRunOnce = (node: SyntaxNode, { holder, isKept, isNested, parent }: Place): boolean => {
  if (!isKept || !runsOnce.test(holder)) return false
  if (node.type === "FunctionDeclaration" || parent === undefined) return true
  switch (parent.type) {
    case "VariableDeclarator":
    case "PropertyDefinition":
      return true
    case "CallExpression":
      return isEffectFn(parent["callee"]) ? !isNested : /^(Effect|Layer)\./.test(nameOf(parent["callee"]))
    // a function that is returned, or kept in an object, runs with every call
    default:
      return false
  }
}

/** Names of the variables and fields of a file that hold state for longer than a call. */
const keptIn = (text: string, classes: ReadonlySet<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const isChanged = (name: string): boolean =>
    new RegExp(
      `\\b${name}\\.(set|add|delete|clear|push|shift|unshift|pop|splice|fill|write\\w*|copy)\\(|\\b${name}\\[[^\\]]+\\] [-+]?= `
    )
      .test(text)
  const visit = (node: SyntaxNode, place: Place): void => {
    let inside: Place = { ...place, parent: node }
    if (isFunction(node)) {
      const holder = node.type === "FunctionDeclaration" ? nameOf(node["id"]) : place.holder
      inside = { isKept: isRunOnce(node, { ...place, holder }), holder, parent: node, isNested: true }
    } else if (node.type === "VariableDeclaration") {
      const declarators = childrenOf(node)
      for (const declarator of declarators) {
        const name = nameOf(declarator["id"])
        const init = declarator["init"]
        const isFilled = isNode(init) && /^(NewExpression|ArrayExpression)$/.test(init.type)
        if (!place.isKept || name === "") continue
        if (node["kind"] === "let" || isState(init, classes) && (!isFilled || isChanged(name))) found.push(name)
      }
    } else if (node.type === "VariableDeclarator") {
      inside = { ...inside, holder: nameOf(node["id"]) }
    } else if (node.type === "PropertyDefinition") {
      inside = { ...inside, holder: nameOf(node["key"]) }
      // fields of instances are checked where the instance is created
      if (node["static"] !== true) inside = { ...inside, isKept: false }
    } else if (node.type === "ReturnStatement") {
      // a returned function runs with every call
      inside = { ...inside, isKept: false }
    } else if (node.type === "Property" || node.type === "MethodDefinition") {
      inside = { ...inside, holder: nameOf(node["key"]) }
      const value = node["value"]
      if (place.isKept && isNode(value) && value.type !== "ArrayExpression" && isState(value, classes)) {
        found.push(nameOf(node["key"]))
      }
    }
    for (const child of childrenOf(node)) visit(child, inside)
  }
  visit(parse(text), { isKept: true, holder: "", parent: undefined, isNested: false })
  return found
}

/** Names of the classes of a file whose instances hold a collection. */
const classesIn = (text: string): ReadonlyArray<string> => {
  const visit = (node: SyntaxNode): ReadonlyArray<string> => {
    const body = node["body"]
    const own = node.type === "ClassDeclaration" && isNode(body) &&
        childrenOf(body).some((field) =>
          field.type === "PropertyDefinition" && field["static"] !== true && isState(field["value"], new Set())
        )
      ? [nameOf(node["id"])]
      : []
    return [...own, ...childrenOf(node).flatMap(visit)]
  }
  return visit(parse(text))
}

const sources = Fs.readdirSync(Path.join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.startsWith("pages"))
  .map((file) => file.replaceAll("\\", "/"))
  .sort()
  .map((file) => ({ file, text: Fs.readFileSync(Path.join(root, "src", file), "utf8") }))

const classes = new Set(sources.flatMap(({ text }) => classesIn(text)))

/** All state kept by a process: `file: name`, files from `src` on. */
const kept = sources.flatMap(({ file, text }) => keptIn(text, classes).map((name) => `${file}: ${name}`))

/** The same as the comments have it: `// Kept: names. What they hold. Several nodes: why that is right.`, over one line or several. */
const listed = sources.flatMap(({ file, text }) =>
  [
    ...text.replaceAll(/\n *\/\/ (?!Kept: )/g, " ").matchAll(
      /^ *\/\/ Kept: (\w+(?:, \w+)*)\. \S.* Several nodes: \S.*$/gm
    )
  ]
    .flatMap(([, names = ""]) => names.split(", ").map((name) => `${file}: ${name}`))
)

describe("the module state of a process", () => {
  it("has a comment that says what it is and why it is correct with several nodes", () => {
    assert.isAbove(kept.length, 50)
    const untold = kept.filter((one) => !listed.includes(one))
    assert.deepStrictEqual(
      untold,
      [],
      "wanted beside it: // Kept: names. What they hold. Several nodes: why that is right."
    )
  })

  it("has no comment about state that the source no longer has", () => {
    assert.deepStrictEqual(listed.filter((one) => !kept.includes(one)), [])
    assert.deepStrictEqual(listed.filter((one, index) => listed.indexOf(one) !== index), [])
  })

  it("is found wherever a value outlives a call, and only there", () => {
    const found = keptIn(
      `
      const cached = new Map<string, number>()
      export const lookUp = (name: string) => cached.get(name) ?? (cached.set(name, 1), 1)
      const constant = new Set([1])
      const filled = new Set([1])
      filled.add(2)
      export const once = (value: string) => { const local = new Map(); local.set(value, 1); return local }
      export class Service {
        static readonly layer = Layer.effect(Service, Effect.gen(function*() {
          const kept = new RecentMap<string, string>(10)
          const budgets = yield* Cache.make({})
          let last = 0
          const work = (value: number) => { let sum = 0; const seen = new Set(); seen.add(value); kept.set("", ""); last = sum }
          return Service.of({ work, other: () => { const inner = new Map(); return inner } })
        }))
      }
      export const makeThing = () => {
        const rings = new Map<number, Ring>()
        const things = new Thing()
        return () => { const each = new Map(); each.set(1, 1); rings.set(1, each); things.add(1) }
      }
      class Thing { private readonly held = new Map() }`,
      new Set(["Thing"])
    )
    assert.deepStrictEqual(found, ["cached", "filled", "kept", "budgets", "last", "rings", "things"])
  })
})
