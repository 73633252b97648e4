import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { Games } from "../../../src/features/games/Games.ts"
import { Forwarder } from "../../../src/cluster/Forwarder.ts"
import { Notices } from "../../../src/cluster/Notices.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

const at = new Date("2026-11-20T12:00:00.000Z")

/** Three providers, one of them switched off, and games of every kind between them. */
const seed = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const provider = (id: number, slug: string, name: string, active: boolean) =>
    sql`INSERT INTO providers (id, slug, name, key, secret_sealed, launch_url, active, created_at, updated_at)
      VALUES (${id}, ${slug}, ${name}, ${`key-${id}`}, ${new Uint8Array(
      1
    )}, ${"https://play.example/{token}"}, ${active}, ${at}, ${at})`
  const game = (id: number, providerId: number, name: string, type: string, category: string, active: boolean) =>
    sql`INSERT INTO games (id, provider_id, external_id, name, type, category, rtp, active, created_at, updated_at)
      VALUES (${id}, ${providerId}, ${`ext-${id}`}, ${name}, ${type}, ${category}, ${"96.50"}, ${active}, ${at}, ${at})`
  yield* provider(1, "acme", "Acme", true)
  yield* provider(2, "zeta", "Zeta", true)
  yield* provider(3, "gone", "Gone", false)
  yield* game(11, 1, "Cherry Bar", "rng", "slots", true)
  yield* game(12, 1, "Apples 100%", "rng", "slots", true)
  yield* game(13, 2, "Blackjack", "live", "table", true)
  yield* game(14, 2, "Retired", "rng", "slots", false)
  yield* game(15, 3, "Unreachable", "rng", "slots", true)
}))

const live = Games.layer.pipe(
  Layer.provide(Notices.layer.pipe(Layer.provide(Forwarder.layerNone))),
  Layer.provideMerge(seed),
  Layer.provideMerge(TestDatabase.layer)
)

const names = (query: Partial<Parameters<Games["Service"]["list"]>[0]> = {}) =>
  Effect.gen(function*() {
    const { items, total } = yield* (yield* Games).list({ page: 1, perPage: 25, ...query })
    return { names: items.map((game) => game.name), total }
  })

layer(live)("Games", (it) => {
  // Goal: search text is literal, neither a pattern nor a cause of errors.
  it.effect("searches for wildcards, quotes and null characters literally", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* names({ search: "0%" })).names, ["Apples 100%"])
      for (const text of ["%", "_"]) assert.isAtMost((yield* names({ search: text })).total, 1)
      for (const text of ["'", "\\", "\u0000", "\ud800"]) {
        assert.deepStrictEqual(yield* names({ search: text }), { names: [], total: 0 })
      }
    }))

  // Goal: a warm look-up needs no query. Method: memory is empty before the first look-up; then the game is cached under both keys.
  it.effect("serves a game from memory once it was read", () =>
    Effect.gen(function*() {
      const games = yield* Games
      assert.isUndefined(games.findByExternalIdUnsafe(2, "ext-13"))
      const game = yield* games.findByExternalId(2, "ext-13")
      assert.strictEqual(game?.id, 13)
      assert.strictEqual(games.findByExternalIdUnsafe(2, "ext-13"), game)
      assert.strictEqual(games.findUnsafe(13), game)
      assert.isUndefined(yield* games.findByExternalId(1, "ext-13"), "another provider's game")
      assert.isUndefined(yield* games.findByExternalId(1, "\u0000"))
      assert.isFalse((yield* games.find(15))?.active, "a game of a provider that is switched off")
    }))

  // Goal: a change by staff shows at once on this node, one made on another within two seconds.
  // Method: update rows directly; first with the call that staff changes make, then with only the clock advanced.
  it.effect("updates a game in memory at once after a change on its own node, and by polling after a change on another node", () =>
    Effect.gen(function*() {
      const games = yield* Games
      const sql = yield* SqlClient.SqlClient
      assert.isTrue((yield* games.find(11))?.active)
      yield* sql`UPDATE games SET active = false WHERE id = 11`
      assert.isTrue(games.findUnsafe(11)?.active)
      yield* games.refresh
      assert.isFalse(games.findUnsafe(11)?.active)

      yield* sql`UPDATE providers SET active = false, name = 'Acme 2' WHERE id = 1`
      yield* Effect.gen(function*() {
        // the clock jumps, but the watching fiber's query takes real time
        yield* TestClock.adjust("1 second")
        return games.findUnsafe(11)?.provider.name
      }).pipe(Effect.repeat({ until: (name) => name === "Acme 2" }))
      assert.isFalse(games.findUnsafe(11)?.active)
    }))
})
