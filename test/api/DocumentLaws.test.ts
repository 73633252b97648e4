import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { Api } from "../../src/contract/Api.ts"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"

// Goal: what linters and generators of clients find in documents and metrics stays mended. Method: their rules over both documents, and over the
// names of metrics in the sources.

type Node = { readonly [key: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)
const nodeOf = (value: unknown): Node => isNode(value) ? value : {}
const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** A name as generators write a type's. */
const typeName = (text: string): string =>
  text.split(/[^A-Za-z0-9]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")

const documents: ReadonlyArray<readonly [name: string, document: Node]> = [
  ["public", nodeOf(JSON.parse(JSON.stringify(OpenApi.fromApi(Api))))],
  ["staff", nodeOf(JSON.parse(JSON.stringify(OpenApi.fromApi(BackofficeApi))))]
]

describe.each(documents)("the %s API document", (_, document) => {
  const operations = Object.entries(nodeOf(document["paths"])).flatMap(([path, item]) =>
    Object.entries(nodeOf(item)).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation: nodeOf(operation)
    }))
  )

  it("has a description, contact, license, version and servers", () => {
    const { contact, description, license, version } = nodeOf(document["info"])
    assert.isNotEmpty(nodeOf(contact))
    assert.isNotEmpty(nodeOf(license))
    assert.isNotEmpty(description)
    assert.strictEqual(version, "1.0.0")
    assert.isNotEmpty(listOf(document["servers"]))
    const undescribed = listOf(document["tags"]).filter((tag) => typeof nodeOf(tag)["description"] !== "string")
    assert.deepStrictEqual(undescribed, [])
  })

  it("describes each operation under a unique name", () => {
    const wrong = operations.filter(({ operation: { description, summary } }) =>
      typeof summary !== "string" || summary === "" || typeof description !== "string" || description === ""
    )
    assert.deepStrictEqual(wrong.map(({ name }) => name), [])
    const ids = operations.map(({ operation }) => String(operation["operationId"]))
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("has no component that nothing refers to", () => {
    const { headers: _headers, parameters: _parameters, securitySchemes: _schemes, ...components } = nodeOf(
      document["components"]
    )
    const text = JSON.stringify(document)
    const unused = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(nodeOf(named)).filter((name) => !text.includes(`"#/components/${kind}/${name}"`))
    )
    assert.deepStrictEqual(unused, [])
  })

  // A generator names the choices of a field by schema and field, those of a parameter by operation and parameter.
  it("gives the enums of schemas and of parameters different generated type names", () => {
    const ofSchemas = Object.entries(nodeOf(nodeOf(document["components"])["schemas"])).flatMap(([schema, form]) =>
      Object.entries(nodeOf(nodeOf(form)["properties"])).flatMap(([field, property]) =>
        nodeOf(property)["enum"] === undefined ? [] : [typeName(`${schema} ${field}`)]
      )
    )
    const ofParameters = operations.flatMap(({ operation }) =>
      listOf(operation["parameters"]).map((parameter) =>
        typeName(`${String(operation["operationId"])} ${String(nodeOf(parameter)["name"])}`)
      )
    )
    assert.isNotEmpty(ofSchemas)
    assert.deepStrictEqual(ofSchemas.filter((name) => ofParameters.includes(name)), [])
  })
})

describe("metrics", () => {
  const root = Path.join(import.meta.dirname, "..", "..", "src")
  const sources = Fs.readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    .map((file) => Fs.readFileSync(Path.join(root, file), "utf8"))
  const metrics = sources.flatMap((text) =>
    [...text.matchAll(/Metric\.(counter|gauge|histogram)\(\s*"(\w+)"/g)].map(([, kind, name = ""]) => ({ kind, name }))
  )

  it("are named as promtool requires", () => {
    assert.isAbove(metrics.length, 40)
    const wrong = metrics.filter(({ kind, name }) =>
      name.endsWith("_total") !== (kind === "counter") || /_(count|sum|bucket|info_total)$/.test(name) ||
      /(^|_)(milliseconds|ms|minutes|hours|days|weeks|bits|kilobytes|megabytes|percent)(_|$)/.test(name) ||
      /[A-Z]/.test(name)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("have no label that Prometheus reserves for another kind of metric", () => {
    assert.deepStrictEqual(sources.filter((text) => /\{ (quantile|le): "/.test(text)), [])
  })
})
