import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { helpOf } from "../../src/commands/Flags.ts"
import { fieldsOf } from "../../src/contract/common/RequestFields.ts"
import { StaffAction } from "../../src/contract/common/StaffAction.ts"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"

// Goal: an endpoint of the staff API cannot be forgotten where roles, commands and documents are derived from it. Method: walk the contract.
// Signing in is for everybody.

const endpoints = (() => {
  const found: Array<Parameters<Parameters<typeof HttpApi.reflect>[1]["onEndpoint"]>[0]> = []
  HttpApi.reflect(BackofficeApi, { onGroup: () => {}, onEndpoint: (each) => void found.push(each) })
  return found.filter(({ group }) => group.identifier !== "sign_in")
})()

const failing = (isWrong: (each: typeof endpoints[number]) => boolean): ReadonlyArray<string> =>
  endpoints.filter(isWrong).map(({ endpoint, group }) => `${group.identifier}.${endpoint.identifier}`)

describe("every staff endpoint", () => {
  it("declares its permission and its summary", () => {
    assert.isAbove(endpoints.length, 100)
    assert.deepStrictEqual(
      failing(({ endpoint }) => Context.getOrUndefined(endpoint.annotations, StaffAction) === undefined),
      []
    )
    assert.deepStrictEqual(
      failing(({ endpoint }) =>
        !/^[A-Z](?=.*[a-z]).*[^.]$/.test(Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => ""))
      ),
      []
    )
  })

  it("describes every flag of its command", () => {
    const wordless = failing(({ endpoint }) => {
      if (Context.getOrUndefined(endpoint.annotations, StaffAction)?.isWithoutCommand === true) return false
      const bodies = [...endpoint.payload.values()].flatMap(({ schemas }) => [...schemas])
      return [endpoint.query, ...bodies].flatMap(fieldsOf).some((field) => helpOf(field) === "")
    })
    assert.deepStrictEqual(wordless, [])
  })
})
