import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused, deposit, issueToken, openCasinoInRows, registered, registration } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { browserCall, signedCall } from "../kit/HttpCalls.ts"

// Goal: an idempotency key is held for 24 hours to the millisecond and is free then, whether its reply was stored with an actor's
// commit, in a registration's transaction, or by the pipeline; and whether or not old ones have been deleted. Method: stored replies are
// backdated in the database, so that no job has run; before and after, another request under the same key.

layer(layerPublicApi)("SPEC 8 idempotency window", (it) => {
  it.effect("8 idempotency: the window of 24 hours ends for every kind of keyed request", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { caller, key, operator, slots: game } = yield* openCasinoInRows("window")
      const { id } = yield* registered(caller, "ada")
      const token = yield* issueToken(caller, id)
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
          updated_at)
        VALUES (1, ${operator.id}, 'Ten', 'no_deposit', 1000, 10, 7, now(), now())`
      yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, created_at)
        VALUES (1, ${operator.id}, 'bank', 'Bank', '{EUR}', now())`
      yield* deposit(caller, id, 1000)
      const asOperator = (path: string) => (body: unknown, name: string) =>
        signedCall(key, path, { body, headers: { "Idempotency-Key": name } })
      const asPlayer = (path: string) => (body: unknown, name: string) =>
        browserCall(token, path, { body, headers: { "Idempotency-Key": name } })
      const kinds = [
        ["a registration", asOperator("/players"), registration("bob"), registration("cyd")],
        [
          "a deposit",
          asOperator(`/players/${id}/deposits`),
          { amount: 1, external_reference: "one" },
          { amount: 2, external_reference: "two" }
        ],
        [
          "a withdrawal",
          asOperator(`/players/${id}/withdrawals`),
          { amount: 1, payment_method: "bank", external_reference: "three" },
          { amount: 1, payment_method: "bank", external_reference: "four" }
        ],
        ["a token", asOperator(`/players/${id}/session-tokens`), { ttl_minutes: 5 }, { ttl_minutes: 6 }],
        ["a launch", asOperator(`/players/${id}/games/${game.id}/launch`), { mode: "real" }, { mode: "demo" }],
        ["a player's launch", asPlayer(`/games/${game.id}/launch`), { mode: "real" }, { mode: "demo" }],
        ["a bonus", asOperator(`/players/${id}/bonuses`), { bonus_id: 1 }, { bonus_id: 1, amount: 500 }],
        [
          "a refusal",
          asOperator(`/players/${id}/deposits`),
          { amount: 0, external_reference: "no" },
          { amount: 3, external_reference: "five" }
        ],
        // last, since it ends the player's tokens
        ["an exclusion", asOperator(`/players/${id}/self-exclusion`), { period: "24_hours" }, { period: "7_days" }]
      ] as const
      for (const [what, send, first, other] of kinds) {
        const age = (interval: string) =>
          sql`UPDATE idempotency_keys SET created_at = created_at - ${interval}::interval WHERE key = ${what}`
        const answered = yield* send(first, what)
        assert.isBelow(answered.status, 423, answered.text)
        assert.isUndefined(answered.headers["idempotent-replayed"])
        yield* age("23 hours 59 minutes 59.999 seconds")
        const again = yield* send(first, what)
        assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [answered.text, "true"], what)
        assertRefused(yield* send(other, what), 422, "IDEMPOTENCY_KEY_REUSED")
        yield* age("1 millisecond")
        const fresh = yield* send(other, what)
        assert.isBelow(fresh.status, 300, `${what}: ${fresh.text}`)
        assert.isUndefined(fresh.headers["idempotent-replayed"], what)
        // the second request holds the key from now on
        const held = yield* send(other, what)
        assert.deepStrictEqual([held.text, held.headers["idempotent-replayed"]], [fresh.text, "true"], what)
        assertRefused(yield* send(first, what), 422, "IDEMPOTENCY_KEY_REUSED")
      }
    }))
})
