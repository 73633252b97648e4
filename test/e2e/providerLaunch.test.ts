import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SessionTokens } from "../../src/features/games/SessionTokens.ts"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { anyProtocol } from "../../src/protocols/Protocol.ts"
import { layerBothServers, layerBothServersOn } from "../kit/Backoffice.ts"
import { dataOf, fresh, made, openCasino, outcomeOf, staffCall } from "../kit/Casino.ts"
import { openFakeProvider } from "../kit/FakeProvider.ts"
import { fakeProtocol } from "../kit/FakeVendor.ts"
import { makeNodesInProcess } from "../kit/NodesInProcess.ts"

// Goal: a vendor's game opens at the vendor's address, once per idempotency key, and a failed launch
// leaves no session, also when the player moves to another node. Method: both servers over HTTP, a vendor scripted by the test.

/** A protocol with a defect. */
const brokenProtocol = anyProtocol({
  name: "broken",
  settings: Schema.Struct({}),
  secrets: [],
  policy: fakeProtocol.policy,
  refuse: () => undefined,
  bind: () => ({
    receive: () => ({ _tag: "NotFound" }),
    outbound: { launch: () => Effect.die(new Error("a launch that breaks off")) }
  })
})

const layerProtocols = Layer.succeed(ProviderProtocols, [fakeProtocol, brokenProtocol])
const live = layerBothServers.pipe(Layer.provide(layerProtocols))

/** The node, of two, that owns all players. */
let owner = 0

/** A casino with a vendor's game. */
const openAtVendor = Effect.gen(function*() {
  const casino = yield* openCasino()
  const { provider, vendor } = yield* openFakeProvider
  const game = yield* made("/games", { provider: provider.slug, external_id: "vs20:book", name: "Book" })
  const { id } = yield* casino.register({ language: "de" })
  const player = Number(id)
  const launch = (body: object = {}, headers: { readonly [name: string]: string } = {}) =>
    casino.post(`/players/${player}/games/${game.id}/launch`, body, headers)
  return { vendor, casino, provider, game, player, launch }
})

/** Active sessions. */
const sessionsOf = Effect.fnUntraced(function*(player: number) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT id FROM game_sessions WHERE player_id = ${player} AND mode = 'real' AND ended_at IS NULL`
})

layer(live, { excludeTestServices: true })("a launch at a vendor", (it) => {
  it.effect("returns the vendor's URL, and the same one to a retry under its idempotency key", () =>
    Effect.gen(function*() {
      const { casino, game, launch, player, vendor } = yield* openAtVendor
      const once = { "idempotency-key": fresh("launch-") }
      const first = yield* launch({ platform: "mobile", ip: "203.0.113.9" }, once)
      const { expires_at, launch_url, session_token } = dataOf(first)
      assert.strictEqual(launch_url, `https://games.example/play?token=${session_token}`)
      assert.isAbove(Date.parse(expires_at), Date.now())
      const { data: profile } = yield* casino.get(`/players/${player}`)
      const [asked] = vendor.asked
      assert.strictEqual(asked?.key, vendor.settings.api_key)
      assert.deepNestedInclude(asked?.body, {
        gameId: game.external_id,
        token: session_token,
        mode: "real",
        platform: "mobile",
        ip: "203.0.113.9",
        "player.username": profile.username,
        "player.currency": "EUR",
        "player.country": profile.country,
        "player.language": "de",
        "player.birthDate": profile.birth_date
      })
      assert.match(JSON.stringify(asked?.body), /"playerRef":"pr_[\w-]{32}"/)
      const again = yield* launch({ platform: "mobile", ip: "203.0.113.9" }, once)
      assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
      assert.strictEqual(vendor.asked.length, 1)
      const session = (yield* SessionTokens).verify(session_token)
      assert.deepInclude(session, { playerId: player, gameId: game.id, mode: "real" })
      assert.strictEqual((yield* sessionsOf(player)).length, 1)
      const without = yield* launch()
      assert.strictEqual(without.status, 200)
    }))

  it.effect("has its session committed before the vendor is called", () =>
    Effect.gen(function*() {
      const { launch, player, vendor } = yield* openAtVendor
      const seen: Array<string> = []
      vendor.launching = ({ token }) => seen.push(token)
      const { session_token } = dataOf(yield* launch())
      assert.deepStrictEqual(seen, [session_token])
      assert.strictEqual((yield* sessionsOf(player)).length, 1)
    }))

  it.effect("sends the vendor no token for free play", () =>
    Effect.gen(function*() {
      const { launch, vendor } = yield* openAtVendor
      const { mode, session_token } = dataOf(yield* launch({ mode: "demo" }))
      assert.strictEqual(mode, "demo")
      assert.isString(session_token)
      assert.deepNestedInclude(vendor.asked[0]?.body, { mode: "demo", token: "", "player.token": null })
    }))

  it.effect("is refused with the vendor's reason", () =>
    Effect.gen(function*() {
      const { launch, player, vendor } = yield* openAtVendor
      vendor.mood = { no: "GAME_NOT_IN_COUNTRY" }
      for (const mode of ["real", "demo"]) {
        const refused = yield* launch({ mode })
        assert.deepStrictEqual([refused.status, refused.code], [409, "GAME_UNAVAILABLE"])
        assert.deepStrictEqual(refused.details, { vendor: "GAME_NOT_IN_COUNTRY" })
      }
      assert.deepStrictEqual(yield* sessionsOf(player), [])
    }))

  it.effect("answers TRY_AGAIN when the vendor fails, and succeeds later under the same idempotency key", () =>
    Effect.gen(function*() {
      const { launch, player, provider, vendor } = yield* openAtVendor
      const once = { "idempotency-key": fresh("launch-") }
      vendor.mood = { status: 502 }
      for (const mode of ["real", "demo"]) {
        const refused = yield* launch({ mode }, mode === "real" ? once : {})
        assert.deepStrictEqual([refused.status, refused.code], [503, "TRY_AGAIN"])
        assert.strictEqual(refused.details["vendor"], "HTTP 502")
      }
      assert.deepStrictEqual(yield* sessionsOf(player), [])
      vendor.mood = "good"
      assert.strictEqual((yield* launch({ mode: "real" }, once)).status, 200)
      assert.strictEqual((yield* sessionsOf(player)).length, 1)
      const settings = { ...vendor.settings, games_url: "http://127.0.0.1:1" }
      yield* staffCall("PATCH", `/backoffice/v1/providers/${provider.id}`, { settings })
      assert.strictEqual(outcomeOf(yield* launch()), "TRY_AGAIN")
    }))

  it.effect("is answered and stays valid when its answer cannot be stored: a retry is then another launch", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { launch, player, vendor } = yield* openAtVendor
      yield* sql`CREATE SEQUENCE test_failures`
      yield* sql`GRANT USAGE ON SEQUENCE test_failures TO PUBLIC`
      yield* sql`CREATE FUNCTION test_fail() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.key LIKE 'unkept-%' AND nextval('test_failures') <= split_part(NEW.key, '-', 2)::integer THEN
            RAISE 'an answer that is not stored';
          END IF;
          RETURN NEW;
        END $$`
      yield* sql`CREATE TRIGGER test_fail BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION test_fail()`
      /** Launches twice under a key, of which so many attempts to store the answer fail: the tokens. */
      const twice = Effect.fnUntraced(function*(failures: number) {
        yield* sql`SELECT setval('test_failures', 1, false)`
        const once = { "idempotency-key": fresh(`unkept-${failures}-`) }
        const answers = yield* Effect.forEach([1, 2], () => launch({}, once))
        return answers.map((answer): string => dataOf(answer).session_token)
      })
      const [kept, replayed] = yield* twice(1)
      assert.strictEqual(kept, replayed)
      assert.lengthOf(vendor.asked, 1)
      const [first, second] = yield* twice(2)
      assert.notStrictEqual(first, second)
      assert.lengthOf(vendor.asked, 3)
      assert.lengthOf(yield* sessionsOf(player), 3)
    }))

  it.effect("leaves no session when the protocol fails unexpectedly", () =>
    Effect.gen(function*() {
      const { casino, player } = yield* openAtVendor
      const broken = yield* made("/providers", { slug: fresh("broken-"), name: "Broken", protocol: "broken" })
      const game = yield* made("/games", { provider: broken.slug, external_id: "x", name: "X" })
      assert.strictEqual((yield* casino.post(`/players/${player}/games/${game.id}/launch`, {})).status, 500)
      assert.deepStrictEqual(yield* sessionsOf(player), [])
    }))

  it.effect("is refused without calling the vendor for a player who may not play", () =>
    Effect.gen(function*() {
      const { casino, launch, player, vendor } = yield* openAtVendor
      yield* casino.exclude(player, { period: "24_hours" })
      assert.strictEqual(outcomeOf(yield* launch()), "PLAYER_RESTRICTED")
      assert.deepStrictEqual(vendor.asked, [])
    }))
})

const layerTwoNodes = layerBothServersOn(makeNodesInProcess(2, true, () => owner)).pipe(Layer.provide(layerProtocols))

layer(layerTwoNodes, { excludeTestServices: true })("a launch whose player moves to another node meanwhile", (it) => {
  it.effect("calls the vendor once", () =>
    Effect.gen(function*() {
      const { launch, vendor } = yield* openAtVendor
      const once = { "idempotency-key": fresh("launch-") }
      vendor.launching = () => {
        owner = 1 - owner
      }
      const first = yield* launch({}, once)
      const again = yield* launch({}, once)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      assert.lengthOf(vendor.asked, 1)
    }))

  it.effect("leaves no session when the call to the vendor fails", () =>
    Effect.gen(function*() {
      const { launch, player, vendor } = yield* openAtVendor
      vendor.launching = () => {
        owner = 1 - owner
        return Promise.reject(new Error("the vendor breaks off"))
      }
      assert.strictEqual(outcomeOf(yield* launch()), "TRY_AGAIN")
      assert.deepStrictEqual(yield* sessionsOf(player), [])
    }))

  it.effect("opens one session when a retry at the other node is faster, and gives the retry's answer", () =>
    Effect.gen(function*() {
      const { launch, player, vendor } = yield* openAtVendor
      const once = { "idempotency-key": fresh("launch-") }
      const retry = launch({}, once)
      const run = Effect.runPromiseWith(yield* Effect.context<Effect.Services<typeof retry>>())
      let retried = ""
      vendor.launching = () => {
        vendor.launching = () => {}
        owner = 1 - owner
        return run(retry).then(({ text }) => {
          retried = text
        })
      }
      const first = yield* launch({}, once)
      assert.deepStrictEqual([first.status, first.text], [200, retried])
      assert.lengthOf(vendor.asked, 2)
      const session = (yield* SessionTokens).verify(dataOf(first).session_token)
      assert.deepStrictEqual((yield* sessionsOf(player)).map(({ id }) => Number(id)), [session?.sessionId])
    }))
})
