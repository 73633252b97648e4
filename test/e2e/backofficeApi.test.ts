import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import { send } from "../kit/HttpCalls.ts"
import { registration } from "../kit/PublicApi.ts"
import { BothServers, layerBothServers, made, operatorCall, staffCall } from "../kit/Backoffice.ts"

// Goal: what staff do through the staff API takes effect at once for operators, within what their role allows, is written down, and
// nothing that is sent breaks it. Method: both servers on a real database; staff calls on one port, operator calls on the other.

const me = "/api/v1/operator/me"
const api = "/backoffice/v1"

/** Every endpoint with a path that its form allows. */
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

/** Registers a player as the operator of a key. */
const registered = Effect.fnUntraced(
  function*(
    key: { readonly key: string; readonly secret: string },
    username: string,
    more: { readonly [field: string]: unknown } = {}
  ) {
    const answer = yield* operatorCall(key, "/api/v1/operator/players", registration(username, more))
    assert.strictEqual(answer.status, 201)
    return answer.data
  }
)

layer(layerBothServers, { excludeTestServices: true })("the staff API", (it) => {
  it.effect("a key lives from its creation to its revocation, not a call longer", () =>
    Effect.gen(function*() {
      const operator = yield* made("/operators", { slug: "lucky", name: "Lucky", currency: "EUR" })
      const key = yield* made("/keys", { operator: "lucky" })
      assert.strictEqual((yield* operatorCall(key, me)).data.operator.id, operator.id)

      const rotated = yield* staffCall("POST", `${api}/keys/${key.key}/rotate`)
      assert.strictEqual((yield* operatorCall(key, me)).code, "INVALID_SIGNATURE")
      assert.strictEqual((yield* operatorCall(rotated.data, me)).status, 200)

      yield* staffCall("PATCH", `${api}/operators/lucky`, { active: false })
      assert.strictEqual((yield* operatorCall(rotated.data, me)).code, "API_KEY_INACTIVE")
      yield* staffCall("PATCH", `${api}/operators/${operator.id}`, { active: true, name: "Luckier" })
      assert.strictEqual((yield* operatorCall(rotated.data, me)).data.operator.name, "Luckier")

      const revoked = yield* staffCall("POST", `${api}/keys/${key.id}/revoke`)
      assert.strictEqual((yield* operatorCall(rotated.data, me)).code, "API_KEY_INACTIVE")
      const again = yield* staffCall("POST", `${api}/keys/${key.id}/revoke`)
      assert.deepStrictEqual(again.data, revoked.data)
      assert.strictEqual((yield* staffCall("POST", `${api}/keys/${key.key}/rotate`)).code, "INVALID_REQUEST")
    }))

  it.effect("a key is as narrow as it was made", () =>
    Effect.gen(function*() {
      yield* made("/operators", { slug: "narrow", name: "Narrow", currency: "SEK" })
      const key = yield* made("/keys", {
        operator: "narrow",
        scopes: ["games:read"],
        ip_allowlist: ["127.0.0.1", "2001:db8::/32"],
        rate_limit_per_minute: 2
      })
      assert.strictEqual((yield* operatorCall(key, "/api/v1/operator/payment-methods")).code, "INSUFFICIENT_SCOPE")
      assert.strictEqual((yield* operatorCall(key, "/api/v1/operator/games")).status, 200)
      assert.strictEqual((yield* operatorCall(key, "/api/v1/operator/games")).code, "RATE_LIMITED")
      const elsewhere = yield* made("/keys", { operator: "narrow", ip_allowlist: ["192.0.2.0/24"] })
      assert.strictEqual((yield* operatorCall(elsewhere, me)).code, "IP_NOT_ALLOWED")
    }))

  it.effect("catalogue and ways to pay change under the eyes of operators", () =>
    Effect.gen(function*() {
      yield* made("/operators", { slug: "shop", name: "Shop", currency: "EUR" })
      const key = yield* made("/keys", { operator: "shop" })
      const names = Effect.map(
        operatorCall(key, "/api/v1/operator/games?provider=acme"),
        ({ data }) => data.map((game: { readonly name: string }) => game.name)
      )
      yield* made("/providers", { slug: "acme", name: "Acme" })
      const game = yield* made("/games", { provider: "acme", external_id: "reels", name: "Reels" })
      assert.deepInclude(game, { type: "rng", category: "slots", rtp: null, active: true, is_original: false })
      assert.deepStrictEqual(yield* names, ["Reels"])
      yield* staffCall("PATCH", `${api}/games/${game.id}`, { active: false })
      assert.deepStrictEqual(yield* names, [])
      assert.strictEqual((yield* operatorCall(key, `/api/v1/operator/games/${game.id}`)).code, "NOT_FOUND")
      yield* staffCall("PATCH", `${api}/games/${game.id}`, { active: true, name: "Reels 2" })
      assert.deepStrictEqual(yield* names, ["Reels 2"])
      yield* staffCall("PATCH", `${api}/providers/acme`, { active: false })
      assert.deepStrictEqual(yield* names, [])

      const codes = Effect.map(
        operatorCall(key, "/api/v1/operator/payment-methods"),
        ({ data }) => data.map((method: { readonly code: string }) => method.code)
      )
      const method = yield* made("/payment-methods", { operator: "shop", code: "card" })
      assert.deepInclude(method, { name: "card", currencies: ["EUR"], min_deposit: 1, supports_withdrawal: true })
      assert.deepStrictEqual(yield* codes, ["card"])
      yield* staffCall("PATCH", `${api}/payment-methods/${method.id}`, { active: false })
      assert.deepStrictEqual(yield* codes, [])
    }))

  // Goal: the log tells every change with who, before and after, and nothing that did not happen. Method: changes, a change that
  // changes nothing, and a change that is refused.
  it.effect("every change leaves a line in the log, and only a change does", () =>
    Effect.gen(function*() {
      const operator = yield* made("/operators", { slug: "logged", name: "Logged", currency: "EUR" })
      yield* staffCall("PATCH", `${api}/operators/logged`, { name: "Logged 2" })
      yield* staffCall("PATCH", `${api}/operators/logged`, { name: "Logged 2" })
      yield* staffCall("PATCH", `${api}/operators/logged`, {})
      assert.strictEqual(
        (yield* staffCall("PATCH", `${api}/operators/logged`, { slug: "shop" })).code,
        "VALIDATION_FAILED"
      )
      const key = yield* made("/keys", { operator: "logged" })
      const { data } = yield* staffCall("GET", `${api}/audit?operator=logged`)
      const lines: ReadonlyArray<{ readonly [field: string]: unknown }> = data
      assert.deepStrictEqual(lines.map(({ action, actor, subject }) => [action, actor, subject]), [
        ["key.create", "staff:bootstrap", `key:${key.key}`],
        ["operator.update", "staff:bootstrap", `operator:${operator.id}`],
        ["operator.create", "staff:bootstrap", `operator:${operator.id}`]
      ])
      const { secret: _, ...shown } = key
      assert.deepStrictEqual([lines[0]?.["before"], lines[0]?.["after"]], [null, shown])
      assert.deepStrictEqual(lines[1]?.["before"], operator)
      assert.deepInclude(lines[1]?.["after"], { name: "Logged 2", slug: "logged" })
    }))

  it.effect("a staff account that is switched off opens nothing from then on", () =>
    Effect.gen(function*() {
      const staff = yield* made("/staff", { name: "Sam", role: "support" })
      const list = staffCall("GET", `${api}/players`, undefined, { authorization: `Bearer ${staff.token}` })
      assert.strictEqual((yield* list).status, 200)
      yield* staffCall("PATCH", `${api}/staff/${staff.id}`, { active: false })
      assert.strictEqual((yield* list).code, "INVALID_API_KEY")
      yield* staffCall("PATCH", `${api}/staff/${staff.id}`, { active: true, role: "payments" })
      assert.strictEqual((yield* list).status, 200)
    }))

  it.effect("says what is wrong with every field at once", () =>
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

  // Goal: SPEC 3.3 and what staff switch off take effect at once for operators and players, with a line of the log and the event.
  it.effect("staff move the KYC status along its ways, and the operator is told", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* made("/operators", { slug: "knows", name: "Knows", currency: "EUR" })
      const key = yield* made("/keys", { operator: "knows" })
      const player = yield* registered(key, "ada", { external_id: "x-7" })
      const kyc = (status: string, reason?: string) =>
        staffCall("POST", `${api}/players/${player.id}/kyc`, { status, reason })
      const refused = yield* kyc("verified")
      assert.deepStrictEqual([refused.status, refused.code], [422, "VALIDATION_FAILED"])
      assert.deepStrictEqual(refused.details, { status: ["must be one of pending_review: the status is not_started"] })
      yield* kyc("pending_review")
      const verified = yield* kyc("verified", "passport seen")
      assert.strictEqual(verified.status, 200)
      assert.deepInclude(verified.data, { operator_id: key.operator_id, kyc_status: "verified", is_verified: true })
      const shown = yield* operatorCall(key, `/api/v1/operator/players/${player.id}`)
      assert.deepInclude(shown.data, { kyc_status: "verified", is_verified: true })
      assert.strictEqual((yield* kyc("expired")).data.is_verified, false)

      const events =
        yield* sql`SELECT data FROM events WHERE player_id = ${player.id} AND type = 'kyc.status_changed' ORDER BY id`
      const short = { id: player.id, external_id: "x-7", username: "ada" }
      assert.deepStrictEqual(events.map(({ data }) => data), [
        { previous_status: "not_started", status: "pending_review", is_verified: false, player: short },
        { previous_status: "pending_review", status: "verified", is_verified: true, player: short },
        { previous_status: "verified", status: "expired", is_verified: false, player: short }
      ])
      const { data: lines } = yield* staffCall("GET", `${api}/audit?player=${player.id}`)
      assert.deepInclude(lines[1], {
        actor: "staff:bootstrap",
        action: "player.kyc",
        before: { kyc_status: "pending_review" },
        after: { kyc_status: "verified" },
        reason: "passport seen"
      })
    }))

  it.effect("what staff switch off for a player is off at once", () =>
    Effect.gen(function*() {
      yield* made("/operators", { slug: "strict", name: "Strict", currency: "EUR" })
      const key = yield* made("/keys", { operator: "strict" })
      const { id } = yield* registered(key, "ada")
      const restrict = (body: { readonly [field: string]: unknown }) =>
        staffCall("PATCH", `${api}/players/${id}/restrictions`, body)
      const off = yield* restrict({ can_login: false, can_deposit: false })
      assert.strictEqual(off.status, 200)
      assert.deepStrictEqual(off.data.restrictions, {
        can_login: false,
        can_deposit: false,
        can_withdraw: true,
        can_bet: true,
        excluded_from_bonuses: false
      })
      const path = `/api/v1/operator/players/${id}`
      const token = yield* operatorCall(key, `${path}/session-tokens`, {})
      assert.deepStrictEqual([token.code, token.details], ["PLAYER_RESTRICTED", { reason: "can_login" }])
      const paid = yield* operatorCall(key, `${path}/deposits`, { amount: 5, external_reference: "r-1" })
      assert.deepStrictEqual([paid.code, paid.details], ["PLAYER_RESTRICTED", { reason: "can_deposit" }])
      assert.isTrue((yield* restrict({ can_login: true, can_deposit: true })).data.restrictions.can_login)
      yield* restrict({})
      assert.strictEqual((yield* operatorCall(key, `${path}/session-tokens`, {})).status, 201)
      const { data: lines } = yield* staffCall("GET", `${api}/audit?player=${id}`)
      assert.deepStrictEqual(lines.map((line: { readonly action: string }) => line.action), [
        "player.restrict",
        "player.restrict"
      ])
      assert.strictEqual((yield* restrict({ can_bet: "no" })).code, "VALIDATION_FAILED")
    }))

  // Goal: SPEC 5.4 rule 3. A rotation leaves the key the same key, and with it the tokens it issued; a revocation ends them at once.
  it.effect("player session tokens live as long as the key that issued them", () =>
    Effect.gen(function*() {
      const { publicPort } = yield* BothServers
      yield* made("/operators", { slug: "session", name: "Session", currency: "EUR" })
      const key = yield* made("/keys", { operator: "session" })
      const { id } = yield* registered(key, "ada")
      const issue = (signer: typeof key) =>
        Effect.map(operatorCall(signer, `/api/v1/operator/players/${id}/session-tokens`, {}), ({ data }) => data.token)
      const me = (token: string) =>
        Effect.map(
          send(publicPort, "/api/v1/player/me", { headers: { authorization: `Bearer ${token}` } }),
          ({ status }) => status
        )
      const first = yield* issue(key)
      assert.strictEqual(yield* me(first), 200)
      const { data: rotated } = yield* staffCall("POST", `${api}/keys/${key.key}/rotate`)
      const second = yield* issue({ ...key, secret: rotated.secret })
      assert.deepStrictEqual([yield* me(first), yield* me(second)], [401, 200])
      yield* staffCall("POST", `${api}/keys/${key.key}/revoke`)
      assert.strictEqual(yield* me(second), 401)
    }))

  it.effect("what is not there is not found", () =>
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

  // Goal: nothing that can be sent is answered with our own mistake. Method: every endpoint with bodies and queries of every wrong kind.
  it.effect("bad input is refused, never a mistake of ours", () =>
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
      for (const { action, method, path } of endpoints) {
        const answers = method === "GET"
          ? yield* Effect.forEach(texts, (text) => {
            const value = encodeURIComponent(text.isWellFormed() ? text : "%EF%BF%BD")
            const query = ["page", "per_page", "operator", "search", "username", "player", "created_from", "active"]
            return Effect.forEach(query, (name) => staffCall(method, `${path}?${name}=${value}`))
          }).pipe(Effect.map((found) => found.flat()))
          : yield* Effect.forEach(bodies, (body) => staffCall(method, path, body))
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

  // Goal: a secret is seen once, by who asked for it. Method: make one of each kind, then look for them in every table as text and
  // as bytes, in everything that was logged, and in every list.
  it.effect("secrets are shown once, never kept in clear and never logged", () =>
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

  it.effect("serves measures and its own description", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* staffCall("GET", "/metrics", undefined, {})).status, 200)
      assert.strictEqual((yield* staffCall("GET", "/openapi.json", undefined, {})).status, 200)
    }))
})
