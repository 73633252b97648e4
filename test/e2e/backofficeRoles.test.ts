import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rolesByAction, rolesFor } from "../../src/features/staff/Authorisation.ts"
import { BothServers, layerBothServers, made, staffCall } from "../kit/Backoffice.ts"
import { send } from "../kit/HttpCalls.ts"

// Goal: no endpoint of the back office is open, and each is open to exactly the roles of the one table. Method: walk the document that
// the service serves; call every operation without a token, with what is none, with one of nobody, and as each role, and compare all
// answers with the table. A role that may gets past the door, whatever is answered inside. An operation that the table does not know
// fails.

interface Operation {
  readonly action: string
  readonly method: string
  readonly path: string
}

const served = Effect.gen(function*() {
  const { backofficePort } = yield* BothServers
  const { json } = yield* send(backofficePort, "/openapi.json")
  const paths: { readonly [path: string]: object } = Object(json).paths
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => ({
      action: String(Object(operation).operationId),
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, "999999999")
    }))
  )
})

layer(layerBothServers, { excludeTestServices: true })("roles", (it) => {
  it.effect("decide about every operation that is served, as the table says", () =>
    Effect.gen(function*() {
      const operations = yield* served
      assert.sameMembers(operations.map(({ action }) => action), Object.keys(rolesByAction))
      const tokens = new Map<string, string>()
      for (const role of ["admin", "support", "payments", "compliance"]) {
        tokens.set(role, (yield* made("/staff", { name: role, role })).token)
      }
      for (const { action, method, path } of operations) {
        const body = method === "GET" ? undefined : {}
        const call = (headers: { readonly [name: string]: string }) => staffCall(method, path, body, headers)
        for (const authorization of ["", "Bearer", "Basic abc", "Bearer a b"]) {
          const answer = yield* call(authorization === "" ? {} : { authorization })
          assert.deepStrictEqual(
            [answer.status, answer.code],
            [401, "MISSING_CREDENTIALS"],
            `${action} ${authorization}`
          )
        }
        const unknown = yield* call({ authorization: "Bearer nobodys" })
        assert.deepStrictEqual([unknown.status, unknown.code], [401, "INVALID_API_KEY"], action)
        const roles: ReadonlyArray<string> = rolesFor(action)
        assert.include(roles, "admin", action)
        for (const [role, token] of tokens) {
          const answer = yield* call({ authorization: `Bearer ${token}` })
          const mayNot = answer.status === 403 && answer.code === "INSUFFICIENT_SCOPE"
          assert.strictEqual(mayNot, !roles.includes(role), `${action} as ${role}`)
          if (mayNot) assert.deepStrictEqual(answer.details["required_roles"], roles)
          else assert.notStrictEqual(answer.status, 401, `${action} as ${role}`)
        }
      }
    }))

  it.effect("an action that the table does not know is open to nobody", () =>
    Effect.sync(() => {
      for (const action of ["staff.destroy", "", "constructor", "toString", "player"]) {
        assert.deepStrictEqual(rolesFor(action), [], action)
      }
    }))
})
