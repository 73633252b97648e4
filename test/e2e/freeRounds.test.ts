import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FreeRounds } from "../../src/features/freeRounds/FreeRounds.ts"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { layerBothServers, runHere } from "../kit/Backoffice.ts"
import {
  type BothServers,
  dataOf,
  fresh,
  made,
  openCasino,
  outcomeOf,
  staff,
  staffCall,
  treasurerToken
} from "../kit/Casino.ts"
import { openFakeProvider } from "../kit/FakeProvider.ts"
import { bareProtocol, fakeProtocol } from "../kit/FakeVendor.ts"

// Goal: free rounds are issued at the vendor once per request, through any failure of the vendor, and can be cancelled there. Method: both
// servers over HTTP, a vendor scripted by the test.

const live = layerBothServers.pipe(Layer.provide(Layer.succeed(ProviderProtocols, [fakeProtocol, bareProtocol])))

const openAtVendor = Effect.gen(function*() {
  const casino = yield* openCasino()
  const { provider, vendor } = yield* openFakeProvider
  const game = yield* made("/games", { provider: provider.slug, external_id: "book", name: "Book" })
  const { id } = yield* casino.register()
  const player = Number(id)
  const terms = { game_id: game.id, rounds: 20, stake: 25, valid_days: 7 }
  const path = `/players/${player}/free-rounds`
  return {
    vendor,
    casino,
    provider,
    game,
    player,
    terms,
    path,
    issue: (more: object = {}, headers: { readonly [name: string]: string } = {}) =>
      casino.post(path, { ...terms, ...more }, headers),
    cancel: (freeRounds: unknown) => casino.call("DELETE", `${path}/${String(freeRounds)}`)
  }
})

layer(live, { excludeTestServices: true })("free rounds", (it) => {
  it.effect("are issued at the vendor, listed and cancelled", () =>
    Effect.gen(function*() {
      const { cancel, casino, game, issue, path, player, provider, vendor } = yield* openAtVendor
      const issued = dataOf(yield* issue(), 201)
      assert.deepInclude(issued, {
        player_id: player,
        game_id: game.id,
        provider: provider.slug,
        vendor_reference: "vendor-1",
        rounds: 20,
        stake: 25,
        currency: "EUR",
        status: "issued",
        won: null
      })
      assert.strictEqual(Date.parse(issued.valid_until) - Date.parse(issued.created_at), 7 * 86_400_000)
      assert.deepInclude(vendor.asked[0], { path: "/free-rounds", key: vendor.settings.api_key })
      assert.deepInclude(vendor.asked[0]?.body, {
        reference: issued.reference,
        gameId: "book",
        rounds: 20,
        stake: { coefficient: 25, scale: 2 },
        currency: "EUR",
        validUntil: Date.parse(issued.valid_until)
      })
      assert.deepStrictEqual(dataOf(yield* casino.get(path)), [issued])

      const back = dataOf(yield* cancel(issued.id))
      assert.deepInclude(back, { id: issued.id, status: "cancelled" })
      assert.deepInclude(vendor.asked[1], { path: "/free-rounds/cancel" })
      assert.deepStrictEqual(dataOf(yield* cancel(issued.id)), back)
      assert.strictEqual(vendor.asked.length, 2)
      const lines = yield* staff("GET", `/audit?player=${player}`)
      assert.deepStrictEqual(
        lines.map(({ action, actor }: { readonly action: string; readonly actor: string }) => [action, actor]),
        ["free_rounds.cancel", "free_rounds.issue"].map((action) => [action, `key:${casino.key.key}`])
      )
    }))

  it.effect("are issued once for a request repeated under its idempotency key, also after the vendor did not answer", () =>
    Effect.gen(function*() {
      const { casino, issue, path, vendor } = yield* openAtVendor
      const once = { "idempotency-key": fresh("free-") }
      vendor.mood = { status: 503 }
      const failed = yield* issue({}, once)
      assert.deepStrictEqual([failed.status, failed.code, failed.details["vendor"]], [503, "TRY_AGAIN", "HTTP 503"])
      assert.deepInclude(dataOf(yield* casino.get(path))[0], { status: "failed", vendor_reference: null })
      vendor.mood = "good"
      const issued = dataOf(yield* issue({}, once), 201)
      const again = yield* issue({}, once)
      assert.deepStrictEqual([again.headers["idempotent-replayed"], again.data], ["true", issued])
      const told = vendor.asked.map(({ body }) => Object(body).reference)
      assert.deepStrictEqual(told, [issued.reference, issued.reference])
      const other = dataOf(yield* issue({}, { "idempotency-key": fresh("free-") }), 201)
      assert.notStrictEqual(other.reference, issued.reference)
      assert.deepStrictEqual(dataOf(yield* casino.get(path)), [other, issued])
    }))

  it.effect("without an idempotency key are answered with retry `never` when the outcome at the vendor is unknown", () =>
    Effect.gen(function*() {
      const { casino, game, issue, path, player, terms, vendor } = yield* openAtVendor
      const freeRounds = yield* FreeRounds
      const context = yield* Effect.context<BothServers>()
      vendor.mood = { status: 503 }
      const { game_id: _, ...rest } = terms
      const byStaff = { ...rest, player, game: game.id }
      for (const failed of [yield* issue(), yield* staffCall("POST", "/backoffice/v1/free-rounds", byStaff)]) {
        assert.deepStrictEqual([failed.status, failed.code], [503, "TRY_AGAIN"])
        assert.deepStrictEqual(failed.details, { vendor: "HTTP 503", retry: "never" })
        assert.isUndefined(failed.headers["retry-after"])
      }
      // granted, and played before the grant is recorded
      vendor.mood = "good"
      vendor.granting = () =>
        Effect.runPromiseWith(context)(
          Effect.flatMap(casino.get(path), (all) => freeRounds.finish(dataOf(all)[0].id, 1))
        )
      const unrecorded = yield* issue()
      assert.deepStrictEqual([unrecorded.status, unrecorded.details], [503, { retry: "never" }])
    }))

  it.effect("are refused with the vendor's reason, or as not_offered where the provider or game has no free rounds", () =>
    Effect.gen(function*() {
      const { cancel, casino, issue, vendor } = yield* openAtVendor
      const issued = dataOf(yield* issue(), 201)
      vendor.mood = { no: "STAKE_NOT_OFFERED" }
      for (const refused of [yield* issue({ stake: 3 }), yield* cancel(issued.id)]) {
        assert.deepStrictEqual([refused.status, refused.code], [422, "BONUS_INVALID"])
        assert.deepStrictEqual(refused.details, { reason: "vendor", vendor: "STAKE_NOT_OFFERED" })
      }
      const settings = { games_url: "https://games.example" }
      const bare = yield* made("/providers", { slug: fresh("bare-"), name: "Bare", protocol: "bare", settings })
      const poor = yield* made("/games", { provider: bare.slug, external_id: "x", name: "X" })
      for (const game of [poor.id, casino.slots.id]) {
        assert.deepStrictEqual((yield* issue({ game_id: game })).details, { reason: "not_offered" })
      }
      assert.strictEqual(outcomeOf(yield* issue({ game_id: 999_999_999 })), "NOT_FOUND")
      assert.strictEqual(outcomeOf(yield* issue({ rounds: 0 })), "VALIDATION_FAILED")
    }))

  it.effect("are refused for a player who may not play or receive bonuses", () =>
    Effect.gen(function*() {
      const { casino, issue, player, vendor } = yield* openAtVendor
      const refusedFor = Effect.map(issue(), ({ code, details }) => [code, details["reason"]])
      yield* staff("PATCH", `/players/${player}/restrictions`, { excluded_from_bonuses: true })
      assert.deepStrictEqual(yield* refusedFor, ["PLAYER_RESTRICTED", "excluded_from_bonuses"])
      yield* staff("PATCH", `/players/${player}/restrictions`, { excluded_from_bonuses: false })
      yield* casino.exclude(player, { period: "24_hours" })
      assert.strictEqual((yield* refusedFor)[0], "PLAYER_RESTRICTED")
      assert.deepStrictEqual(vendor.asked, [])
    }))

  it.effect("finish once, with the amount they won", () =>
    Effect.gen(function*() {
      const { cancel, casino, issue, path, player, provider } = yield* openAtVendor
      const freeRounds = yield* FreeRounds
      const issued = dataOf(yield* issue(), 201)
      const found = { id: issued.id, playerId: player, status: "issued" as const }
      assert.deepStrictEqual(yield* freeRounds.find(provider.id, issued.reference), found)
      assert.deepStrictEqual(yield* freeRounds.find(provider.id, "vendor-1"), found)
      assert.isUndefined(yield* freeRounds.find(provider.id, "vendor-2"))
      assert.isUndefined(yield* freeRounds.find(casino.studio.id, issued.reference))
      yield* freeRounds.finish(issued.id, 730)
      yield* freeRounds.finish(issued.id, 1)
      assert.deepInclude(dataOf(yield* casino.get(path))[0], { status: "finished", won: 730 })
      assert.deepStrictEqual((yield* cancel(issued.id)).details, { reason: "finished" })
    }))

  it.effect("issued by staff count towards the daily budget", () =>
    Effect.gen(function*() {
      const { game, player } = yield* openAtVendor
      // once there is a staff member who may move money, the bootstrap token may not
      yield* treasurerToken
      const sam = yield* made("/staff", { name: "Sam", role: "payments", daily_budget: 700 })
      const issue = (rounds: number) =>
        runHere([
          ..."free-rounds issue --stake 25 --valid-days 7 --player".split(" "),
          String(player),
          "--game",
          String(game.id),
          "--rounds",
          String(rounds)
        ], { token: sam.token })
      const first = yield* issue(20)
      assert.strictEqual(first.exitCode, 0, first.stderr)
      assert.strictEqual(JSON.parse(first.stdout).status, "issued")
      const second = yield* issue(20)
      assert.strictEqual(JSON.parse(second.stderr).error.code, "LIMIT_EXCEEDED")
    }))
})
