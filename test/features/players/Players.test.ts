import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { layerPersonal } from "../../kit/Personal.ts"
import type { IdempotencyClaim } from "../../../src/domain/state/Idempotency.ts"
import type { Operator } from "../../../src/domain/state/Operator.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import type { PlayerProfile } from "../../../src/features/players/PlayerProfile.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { layerNoRegisters } from "../../kit/NoRegisters.ts"
import { ProfileBook } from "../../../src/store/ProfileBook.ts"
import { Players } from "../../../src/features/players/Players.ts"
import { operatorOf } from "../../kit/Operators.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

const now = Date.parse("2026-11-20T12:00:00.000Z")

const one = operatorOf(1)
const other = operatorOf(2, { currency: "SEK" })

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(now)
  for (const { currency, id, name, slug } of [one, other]) {
    yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
      VALUES (${id}, ${slug}, ${name}, ${currency}, ${at}, ${at})`
  }
}))

// The clock is set before anything sleeps: on the way from 1970 every timer of the pools would have to run.
const live = Players.layer.pipe(
  Layer.provide(layerPersonal),
  Layer.provide(ProfileBook.layerBuiltIn),
  Layer.provide(layerNoRegisters),
  Layer.provideMerge(Outbox.layer),
  Layer.provideMerge(seed),
  Layer.provideMerge(Ids.layer),
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(now)))
)

const render = (player: PlayerProfile) => ({ status: 201, body: JSON.stringify({ data: player }) })

/** A body with unique fields in this file. */
const bodyOf = (name: string, more: { readonly [field: string]: unknown } = {}) => ({
  username: name,
  email: `${name}@example.com`,
  first_name: `First ${name}`,
  last_name: `Last ${name}`,
  birth_date: "1990-12-31",
  country: "DE",
  terms_accepted: true,
  ...more
})

const register = Effect.fnUntraced(
  function*(operator: Operator, body: { readonly [field: string]: unknown }, claim?: IdempotencyClaim) {
    return yield* (yield* Players).register(operator, body, { source: "api", claim, render })
  }
)

/** Registers and returns the player. */
const newPlayer = Effect.fnUntraced(
  function*(name: string, more: { readonly [field: string]: unknown } = {}, operator = one) {
    const registered = yield* register(operator, bodyOf(name, more))
    assert.strictEqual(registered._tag, "Registered")
    return registered._tag === "Registered" ? registered.player : assert.fail("replayed")
  }
)

const countRows = Effect.fnUntraced(function*(table: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ${sql(table)}`
  return found[0]?.n
})

const claimOf = (key: string, content = "a"): IdempotencyClaim => ({
  scope: "operator:1",
  key,
  fingerprint: new Uint8Array(Buffer.from(content.padEnd(32)))
})

layer(live)("Players", (it) => {
  // Goal: the answer equals the stored state, the wallets are empty, and no password is readable: a missing one never verifies.
  it.effect("a registration stores the profile, an empty account and a hash of the password", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const [more, hash] of [[{ password: "secret-pass-1" }, /^\$argon2id\$/], [{}, /^\$sha256\$/]] as const) {
        const player = yield* newPlayer(`full_${Object.keys(more).length}`, more, other)
        assert.deepInclude(player, { currency: "SEK", language: "en", is_test: false })
        assert.deepStrictEqual(yield* (yield* Players).get(other.id, player.id), player)
        const accounts = yield* sql`SELECT version::int, real_balance::int, bonus_balance::int, operator_id::int
          FROM accounts WHERE player_id = ${player.id}`
        assert.deepStrictEqual(accounts, [{ version: 0, real_balance: 0, bonus_balance: 0, operator_id: other.id }])
        const rows = yield* sql<{ readonly password_hash: string }>`SELECT * FROM players WHERE id = ${player.id}`
        const events = yield* sql`SELECT type, data FROM events WHERE player_id = ${player.id}`
        assert.match(rows[0]?.password_hash ?? "", hash)
        assert.lengthOf(events, 1)
        assert.notInclude(JSON.stringify([rows, events]), "secret-pass-1")
      }
    }))

  // Goal: of any number of simultaneous registrations with a field in common one wins and the others are refused with that field.
  // Method: twenty at once, sharing one field at a time.
  it.effect("of concurrent registrations with the same unique value, exactly one succeeds", () =>
    Effect.gen(function*() {
      for (const field of ["username", "email", "phone", "external_id"] as const) {
        const shared =
          { username: "race_name", email: "race@example.com", phone: "+4915188888888", external_id: "race" }[field]
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => bodyOf(`race_${field.slice(0, 5)}_${index}`, { [field]: shared })),
          (body) => Effect.result(register(one, body)),
          { concurrency: "unbounded" }
        )
        const refused = outcomes.flatMap((outcome) => outcome._tag === "Failure" ? [outcome.failure] : [])
        assert.strictEqual(refused.length, 19, field)
        for (const refusal of refused) assert.deepStrictEqual(refusal.details, { [field]: ["is already taken"] })
      }
    }))

  // Goal: a repeated request with its key registers once, whether it comes after the first or together with it.
  // Method: ten at once under one key, as from separate processes without shared state.
  it.effect("a retry under an idempotency key gets the first answer", () =>
    Effect.gen(function*() {
      const body = bodyOf("retried")
      const before = yield* countRows("players")
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => register(one, body, claimOf("key-1")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(yield* countRows("players"), (before ?? 0) + 1)
      assert.strictEqual(outcomes.filter((outcome) => outcome._tag === "Registered").length, 1)
      assert.strictEqual(new Set(outcomes.map((outcome) => outcome.reply.body)).size, 1)
      const later = yield* register(one, body, claimOf("key-1"))
      assert.deepStrictEqual(later, { _tag: "Replayed", reply: outcomes[0]?.reply ?? assert.fail() })
      assert.strictEqual(later.reply.status, 201)
    }))
})
