import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import { actions, rolesFor } from "../../src/office/Authorisation.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { BothServers, made, staffCall } from "../kit/Casino.ts"
import { send } from "../kit/HttpCalls.ts"
import { runs } from "../kit/Runs.ts"

// Goal: each operation of the staff API is open to exactly the roles of its table, refuses bad input without a server error, and
// shows secrets once. Method: walks over the served document and over the contract, so that a new operation is covered, on both servers.

const api = "/backoffice/v1"

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

/** All endpoints of the contract, each with a valid path. */
const endpoints = (() => {
  const found: Array<{ readonly action: string; readonly method: string; readonly path: string }> = []
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      found.push({
        action: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path.replaceAll(/:\w+/g, "999999999")
      })
    }
  })
  return found
})()

layer(layerBothServers, { excludeTestServices: true })("the staff API", (it) => {
  it.effect("names every wrong field at once", () =>
    Effect.gen(function*() {
      const answer = yield* staffCall("POST", `${api}/operators`, {
        slug: "Not a slug",
        name: 5,
        currency: "eur",
        cooling_off_hours: -1,
        disabled_features: ["players", "everything"],
        kyc_withdrawal_threshold: 1.5
      })
      assert.deepStrictEqual([answer.status, answer.code], [422, "VALIDATION_FAILED"])
      assert.deepStrictEqual(Object.keys(answer.details).sort(), [
        "cooling_off_hours",
        "currency",
        "disabled_features.1",
        "kyc_withdrawal_threshold",
        "name",
        "slug"
      ])
      yield* made("/operators", { slug: "first", name: "First", currency: "EUR" })
      const wrong: ReadonlyArray<readonly [path: string, body: { readonly [field: string]: unknown }, field: string]> =
        [
          ["/operators", { slug: "first", name: "x", currency: "EUR" }, "slug"],
          // words of the command line
          ["/operators", { slug: "all", name: "x", currency: "EUR" }, "slug"],
          ["/operators", { slug: "none", name: "x", currency: "EUR" }, "slug"],
          ["/operators", { slug: "other", name: "x", currency: "XXX" }, "currency"],
          ["/keys", { operator: "first", ip_allowlist: ["300.1.1.1"] }, "ip_allowlist.0"],
          ["/keys", { operator: "first", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
          ["/keys", { operator: "first", rate_limit_per_minute: 0 }, "rate_limit_per_minute"],
          ["/providers", { slug: "web", name: "x", launch_url: "play.example" }, "launch_url"],
          ["/payment-methods", { operator: "first", code: "c", min_deposit: 9, max_deposit: 8 }, "max_deposit"],
          ["/payment-methods", { operator: "first", code: "c", currencies: ["EUR", "ABC"] }, "currencies"],
          ["/payment-methods", { operator: "first", code: "c", currencies: [] }, "currencies"]
        ]
      for (const [path, body, field] of wrong) {
        const { code, details } = yield* staffCall("POST", `${api}${path}`, body)
        assert.deepStrictEqual([code, Object.keys(details)], ["VALIDATION_FAILED", [field]], path)
      }
      yield* made("/providers", { slug: "double", name: "Double" })
      yield* made("/games", { provider: "double", external_id: "x", name: "X" })
      const twice = yield* staffCall("POST", `${api}/games`, { provider: "double", external_id: "x", name: "Y" })
      assert.deepStrictEqual(twice.details, { external_id: ["is already taken"] })
    }))

  it.effect("answers 404 for what does not exist", () =>
    Effect.gen(function*() {
      const calls: ReadonlyArray<
        readonly [method: string, path: string, body?: { readonly [field: string]: unknown }]
      > = [
        ["PATCH", "/operators/9007199254740991", { name: "x" }],
        ["PATCH", "/operators/nobody", { name: "x" }],
        ["PATCH", "/operators/%00", { name: "x" }],
        ["POST", "/keys", { operator: "nobody" }],
        ["POST", "/keys/pk_live_nothing/rotate"],
        ["POST", "/keys/999999999999999999999/revoke"],
        ["GET", "/keys?operator=nobody"],
        ["PATCH", "/providers/nobody", { active: false }],
        ["POST", "/providers/nobody/rotate"],
        ["POST", "/games", { provider: "nobody", external_id: "x", name: "X" }],
        ["PATCH", "/games/999999999", { active: false }],
        ["PATCH", "/games/abc", { active: false }],
        ["GET", "/games?provider=nobody"],
        ["POST", "/payment-methods", { operator: "nobody", code: "card" }],
        ["PATCH", "/payment-methods/999999999", { active: false }],
        ["PATCH", "/staff/999999999", { active: false }],
        ["GET", "/players/9007199254740991"],
        ["GET", "/players/9007199254740992"],
        ["GET", "/players/-1"],
        ["GET", "/players?operator=nobody"],
        ["POST", "/players/999999999/corrections", { amount: 1, reason: "x" }],
        ["POST", "/players/999999999/kyc", { status: "verified" }],
        ["PATCH", "/players/999999999/restrictions", { can_bet: false }],
        ["GET", "/ledger/verification?operator=nobody"],
        ["GET", "/audit?operator=nobody"],
        ["GET", "/nothing"]
      ]
      for (const [method, path, body] of calls) {
        const { code, status } = yield* staffCall(method, api + path, body)
        assert.deepStrictEqual([status, code], [404, "NOT_FOUND"], `${method} ${path}`)
      }
      const wrongMethod = yield* staffCall("DELETE", `${api}/operators`)
      assert.deepStrictEqual([wrongMethod.status, wrongMethod.code], [405, "METHOD_NOT_ALLOWED"])
    }))

  // Goal: no input causes a 5xx. Method: every endpoint with bodies and queries of every wrong kind; with a quarter
  // of them in each change's run, another quarter for the next endpoint.
  it.effect("refuses bad input of every kind, without a 5xx", () =>
    Effect.gen(function*() {
      const texts = ["\u0000", "\ud800", "%", "'; --", "x".repeat(3000), "\u202e", "9".repeat(30)]
      const values = [null, true, -1, 1.5, 1e308, "", ...texts, [], {}, [[]], [null], { a: { b: [] } }]
      const fields = ("slug name currency operator provider code external_id amount reason wallet role active scopes " +
        "ip_allowlist expires_at rtp currencies min_deposit disabled_features original").split(" ")
      const bodies = [
        "",
        "{",
        "null",
        "[]",
        "5",
        "\"text\"",
        "{\"a\":}",
        "\u0000",
        "x".repeat(300_000),
        ...values.map((value) => JSON.stringify(Object.fromEntries(fields.map((field) => [field, value]))))
      ]

      for (const [index, { action, method, path }] of endpoints.entries()) {
        const some = <A>(all: ReadonlyArray<A>) => all.filter((_, place) => (index + place) % runs(4, 1) === 0)
        const atOnce = { concurrency: action === "ledger.verify" ? 1 : 8 }
        const answers = method === "GET"
          ? yield* Effect.forEach(some(texts), (text) => {
            const value = encodeURIComponent(text.isWellFormed() ? text : "%EF%BF%BD")
            const query = ["page", "per_page", "operator", "search", "username", "player", "created_from", "active"]
            return Effect.forEach(query, (name) => staffCall(method, `${path}?${name}=${value}`), atOnce)
          }).pipe(Effect.map((found) => found.flat()))
          : yield* Effect.forEach(some(bodies), (body) => staffCall(method, path, body), atOnce)
        for (const { code, status } of answers) {
          assert.isBelow(status, 500, action)
          if (status >= 400) assert.isString(code, action)
        }
      }
      const huge = yield* staffCall("POST", `${api}/staff`, JSON.stringify({ name: "x".repeat(300_000) }))
      assert.deepStrictEqual([huge.status, huge.code], [413, "INVALID_REQUEST"])
      const form = yield* staffCall("POST", `${api}/staff`, "name=x", {
        "authorization": "Bearer test-bootstrap-token",
        "content-type": "application/x-www-form-urlencoded"
      })
      assert.strictEqual(form.code, "INVALID_REQUEST")
    }), 240_000)

  // Goal: a secret is shown once, to its requester. Method: create one of each kind, then search every table as text and
  // as bytes, all logs, and every list.
  it.effect("shows each secret once, stores none in clear text and logs none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { logged } = yield* BothServers
      yield* made("/operators", { slug: "vault", name: "Vault", currency: "EUR" })
      const staff = yield* made("/staff", { name: "Vera" })
      const key = yield* made("/keys", { operator: "vault" })
      const rotated = yield* staffCall("POST", `${api}/keys/${key.key}/rotate`)
      const provider = yield* made("/providers", { slug: "vault", name: "Vault" })
      const again = yield* staffCall("POST", `${api}/providers/vault/rotate`)
      const secrets = [staff.token, key.secret, rotated.data.secret, provider.secret, again.data.secret]
      assert.strictEqual(new Set(secrets).size, 5)
      for (const secret of secrets) assert.match(secret, /^(st|sk_live|ps_live)_[0-9A-Za-z]{43}$/)

      const tables = yield* sql<{ readonly name: string }>`SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
      assert.isAbove(tables.length, 10)
      const shown: Array<string> = [...logged]
      for (const { name } of tables) {
        const found = yield* sql<{ readonly text: string }>`SELECT t::text AS text FROM ${sql(name)} t`
        shown.push(...found.map(({ text }) => text))
      }
      for (const path of ["/keys", "/providers", "/staff", "/operators", "/audit?per_page=100"]) {
        shown.push(JSON.stringify(yield* staffCall("GET", api + path)))
      }
      const everything = shown.join("\n")
      assert.include(everything, key.key)
      for (const secret of secrets) {
        assert.notInclude(everything, secret)
        assert.notInclude(everything, Buffer.from(secret).toString("hex"))
      }
    }))

  it.effect("allows each operation only to the roles in the permission table", () =>
    Effect.gen(function*() {
      // public before there is a session: staffSessions.test.ts
      const operations = (yield* served).filter(({ action }) => !action.startsWith("sign_in."))
      assert.sameMembers(operations.map(({ action }) => action), [...actions])
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

  it.effect("denies an action that is not in the permission table to every role", () =>
    Effect.sync(() => {
      for (const action of ["staff.destroy", "", "constructor", "toString", "player"]) {
        assert.deepStrictEqual(rolesFor(action), [], action)
      }
    }))
})
