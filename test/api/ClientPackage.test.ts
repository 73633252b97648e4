import { assert, describe, expect, it } from "@effect/vitest"
import { clientFiles } from "../../scripts/package/ClientContract.ts"
import { typeOf } from "../../scripts/package/ClientTypes.ts"

// Goal: the client package has every call of the contract, with its types, and changes only where somebody has read the change.
// Method: the generated files are golden files; review a difference, then run `npx vitest run test/api -u`.

describe("the client package", () => {
  it("contains exactly what the contract declares", async () => {
    for (const [file, text] of Object.entries(clientFiles())) {
      await expect(text).toMatchFileSnapshot(`../../scripts/package/client/src/generated/${file}`)
    }
  })

  it("has the types that the schemas describe", () => {
    const cases: ReadonlyArray<readonly [schema: unknown, type: string]> = [
      [{ type: "integer", minimum: 1 }, "number"],
      [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
      [{ type: "string", enum: ["real", "bonus"] }, `"real" | "bonus"`],
      [{ type: "array", items: { $ref: "#/components/schemas/Player" } }, "ReadonlyArray<Player>"],
      [{ type: "object" }, "{ readonly [name: string]: unknown }"],
      [
        { type: "object", properties: { a: {}, "b-c": { type: "boolean" } }, required: ["a"] },
        `{
  readonly a: unknown
  readonly "b-c"?: boolean | undefined
}`
      ],
      [{ allOf: [{ $ref: "#/A" }, { oneOf: [{ $ref: "#/B" }, { $ref: "#/C" }] }] }, "A & (B | C)"]
    ]
    for (const [schema, type] of cases) assert.strictEqual(typeOf(schema), type)
  })
})
