import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { type Call, operatorWith, plainCall, signedHeaders, type Signer, unixSeconds } from "../kit/HttpCalls.ts"
import { pass, secondMs, whileTimePasses } from "../kit/Calendar.ts"
import { sign } from "../kit/sign.ts"

// Goal: authorisation follows SPEC 5. Method: over HTTP, with signatures computed by hand from the text of the specification,
// and the table of scopes copied from it, not read from the service.

const me = "/api/v1/operator/me"

/** Every operator endpoint of SPEC 4 with its scope, as the specification lists them. */
const scopes: ReadonlyArray<readonly [method: string, path: string, scope: string]> = [
  ["GET", "/players", "players:read"],
  ["POST", "/players", "players:write"],
  ["GET", "/players/1", "players:read"],
  ["PATCH", "/players/1", "players:write"],
  ["PUT", "/players/1/status", "players:write"],
  ["POST", "/players/1/session-tokens", "players:write"],
  ["GET", "/players/1/wallet", "wallet:read"],
  ["GET", "/players/1/transactions", "wallet:read"],
  ["GET", "/payment-methods", "payments:read"],
  ["GET", "/payments", "payments:read"],
  ["GET", "/payments/1", "payments:read"],
  ["POST", "/players/1/deposits", "payments:write"],
  ["POST", "/players/1/withdrawals", "payments:write"],
  ["GET", "/games", "games:read"],
  ["GET", "/games/providers", "games:read"],
  ["GET", "/games/categories", "games:read"],
  ["GET", "/games/1", "games:read"],
  ["POST", "/players/1/games/1/launch", "games:launch"],
  ["GET", "/bonuses", "bonuses:read"],
  ["GET", "/players/1/bonuses", "bonuses:read"],
  ["POST", "/players/1/bonuses", "bonuses:write"],
  ["POST", "/players/1/promo-codes", "bonuses:write"],
  ["GET", "/players/1/limits", "players:read"],
  ["PUT", "/players/1/limits", "limits:write"],
  ["POST", "/players/1/self-exclusion", "limits:write"],
  ["GET", "/reports/ggr", "reports:read"],
  ["GET", "/events", "events:read"],
  ["GET", "/events/1", "events:read"]
]

/** Feature of each scope's endpoints (DECISIONS 1), unless an endpoint names another. */
const features: { readonly [scope: string]: string } = {
  "players:read": "players",
  "players:write": "players",
  "limits:write": "responsible_gaming",
  "wallet:read": "players",
  "payments:read": "payments",
  "payments:write": "payments",
  "games:read": "games",
  "games:launch": "games",
  "bonuses:read": "bonuses",
  "bonuses:write": "bonuses",
  "reports:read": "reports",
  "events:read": "players"
}

layer(layerCasinos, { excludeTestServices: true })("SPEC 5 authentication", (it) => {
  it.effect("5.1 the string to sign: consists of method, URI as sent, timestamp, body bytes, and the nonce only when it is sent", () =>
    Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const timestamp = String(yield* unixSeconds)
      const attempt = (method: string, uri: string, raw: string, nonce?: string) =>
        plainCall(uri, {
          method,
          ...(raw === "" ? {} : { raw }),
          headers: {
            "X-Api-Key": signer.key,
            "X-Timestamp": timestamp,
            "X-Signature": sign(signer.secret, method, uri, timestamp, raw, nonce),
            ...(nonce === undefined ? {} : { "X-Nonce": nonce })
          }
        })
      // queries are signed as sent: order, case of escapes, empty parts
      const uris = [
        "/api/v1/operator/players?per_page=1&page=2",
        "/api/v1/operator/players?page=2&per_page=1",
        "/api/v1/operator/players?search=%c3%a9",
        "/api/v1/operator/players?search=%C3%A9&&",
        "/api/v1/operator/players?"
      ]
      for (const uri of uris) assert.strictEqual((yield* attempt("GET", uri, "")).status, 200, uri)
      const spaced = `{ "amount" : 1 ,\n "x": "\u00e9" }`
      assert.strictEqual((yield* attempt("POST", "/api/v1/operator/players", spaced)).code, "VALIDATION_FAILED")
      assert.strictEqual((yield* attempt("POST", "/api/v1/operator/players", spaced, "n-1")).code, "VALIDATION_FAILED")
    }))

  it.effect("5.1 rule 1: a signature is accepted once, and refused as a replay for as long as its timestamp is valid", () =>
    whileTimePasses(Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const timestamp = yield* unixSeconds
      const call: Call = { headers: signedHeaders(signer, me, { timestamp: timestamp + 300, nonce: fresh("n") }) }
      assert.strictEqual((yield* plainCall(me, call)).status, 200)
      assertRefused(yield* plainCall(me, call), 401, "REPLAYED_REQUEST")
      // until the last second in which its timestamp is valid
      yield* pass(600 * secondMs)
      assertRefused(yield* plainCall(me, call), 401, "REPLAYED_REQUEST")
      yield* pass(secondMs)
      assertRefused(yield* plainCall(me, call), 401, "TIMESTAMP_OUT_OF_RANGE")
    })))

  it.effect("5.1 rule 2: different bytes of the same meaning do not match the signature", () =>
    Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const uri = "/api/v1/operator/players"
      const body = JSON.stringify({ username: "x" })
      const headers = signedHeaders(signer, uri, {
        timestamp: yield* unixSeconds,
        raw: body,
        method: "POST",
        nonce: fresh("n")
      })
      for (const raw of [`${body} `, body.replace(":", ": "), "", body.replace("x", "\\u0078")]) {
        assertRefused(yield* plainCall(uri, { method: "POST", raw, headers }), 401, "INVALID_SIGNATURE")
      }
      assertRefused(yield* plainCall(uri, { method: "POST", raw: body, headers }), 422, "VALIDATION_FAILED")
    }))

  it.effect("5.1 rule 4: a rotated secret and a revoked key are refused at once", () =>
    Effect.gen(function*() {
      const { slug } = yield* SharedCasino
      const key = yield* made("/keys", { operator: slug })
      const rotated = yield* staff("POST", `/keys/${key.key}/rotate`)
      assertRefused(yield* operatorWith(key).get("/me"), 401, "INVALID_SIGNATURE")
      assert.strictEqual((yield* operatorWith(rotated).get("/me")).status, 200)
      yield* staff("POST", `/keys/${key.key}/revoke`)
      assertRefused(yield* operatorWith(rotated).get("/me"), 401, "API_KEY_INACTIVE")
    }))

  it.effect("5.3 each endpoint requires its scope: a key with that scope alone is accepted, a key with all others is refused", () =>
    Effect.gen(function*() {
      const { slug } = yield* SharedCasino
      const all = Object.keys(features)
      const keys = new Map<string, readonly [only: Signer, others: Signer]>()
      for (const scope of Object.keys(features)) {
        const only = operatorWith(yield* made("/keys", { operator: slug, scopes: [scope] }))
        const others = operatorWith(
          yield* made("/keys", { operator: slug, scopes: all.filter((other) => other !== scope) })
        )
        keys.set(scope, [only.signer, others.signer])
      }
      for (const [method, path, scope] of scopes) {
        const [only, others] = keys.get(scope) ?? []
        assert.isDefined(only)
        assert.isDefined(others)
        const body = method === "GET" ? undefined : {}
        const with_ = yield* operatorWith(only ?? { key: "", secret: "" }).call(method, path, body)
        assert.include([200, 404, 422], with_.status, `${method} ${path} ${with_.text}`)
        const without = yield* operatorWith(others ?? { key: "", secret: "" }).call(method, path, body)
        assertRefused(without, 403, "INSUFFICIENT_SCOPE", { required_scopes: [scope] })
      }
      // the endpoint about the key itself needs no scope
      assert.strictEqual(
        (yield* operatorWith(yield* made("/keys", { operator: slug, scopes: [] })).get("/me")).status,
        200
      )
    }))

  it.effect("5.3 and DECISIONS 1: each disabled feature closes its endpoints to a turnkey operator, and no others", () =>
    Effect.gen(function*() {
      const turnkey = yield* openCasino({ cooperation_model: "turnkey" })
      const featureOf = (path: string, scope: string) =>
        path.endsWith("/limits") ? "responsible_gaming" : features[scope] ?? ""
      for (const feature of new Set(Object.values(features))) {
        yield* staff("PATCH", `/operators/${turnkey.slug}`, { disabled_features: [feature] })
        const seen = new Set<string>()
        for (const [method, path, scope] of scopes) {
          const own = featureOf(path, scope)
          // one endpoint for each other feature
          if (own !== feature && seen.has(own)) continue
          seen.add(own)
          const answer = yield* turnkey.call(method, path, method === "GET" ? undefined : {})
          if (own === feature) assertRefused(answer, 403, "FEATURE_NOT_AVAILABLE", { feature })
          else assert.notStrictEqual(answer.status, 403, `${method} ${path} without ${feature}`)
        }
        assert.strictEqual((yield* turnkey.get("/me")).status, 200)
      }
      // an API operator has all features, whatever its settings
      const api = yield* openCasino()
      yield* staffCall("PATCH", `/backoffice/v1/operators/${api.slug}`, { disabled_features: ["players", "games"] })
      assert.strictEqual((yield* api.get("/players")).status, 200)
      assert.strictEqual((yield* api.get("/games")).status, 200)
    }))
})
