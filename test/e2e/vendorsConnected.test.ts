import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Queue } from "effect"
import { FetchHttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { makeDialect } from "../../scripts/simulators/Dialects.ts"
import { layerProviderServer, makeProviderServer, openInBrowser } from "../../scripts/simulators/ProviderServer.ts"
import { play } from "../../scripts/simulators/Play.ts"
import { protocolOfSample, samples } from "../../scripts/simulators/Samples.ts"
import { command, layerBothServers, runHere } from "../kit/Backoffice.ts"
import { BothServers, dataOf, made, openCasino, outcomeOf } from "../kit/Casino.ts"
import { protocolRows } from "../kit/ProtocolRows.ts"
import { freePort } from "../kit/ServiceProcess.ts"

// Goal: a connected vendor's games can be listed, opened, played and given free rounds, and its day reconciles with the ledger. Method: each
// protocol's simulated vendor beside both servers, over real HTTP; it checks the requests and answers that it receives.

/** Amount of play: enough for every kind of scenario. */
const pace = { callsPerSecond: 400, seconds: 1 }

layer(layerBothServers, { excludeTestServices: true })("a connected vendor", (it) => {
  for (const [name, { offers: offer }] of Object.entries(protocolRows)) {
    it.effect(`${name}: its games, its play and its daily transaction feed agree with the ledger`, () =>
      Effect.scoped(Effect.gen(function*() {
        const { publicPort } = yield* BothServers
        const sql = yield* SqlClient.SqlClient
        const port = yield* freePort
        const url = `http://127.0.0.1:${port}`
        const sample = samples[name]?.(url)
        assert(sample !== undefined)
        const dialect = yield* makeDialect(protocolOfSample(name), { ...sample.provider, ...sample.vendor })
        const { providerServer, notePlayed, opened } = yield* makeProviderServer(url)
        yield* Layer.build(layerProviderServer(dialect, providerServer, port))

        const provider = yield* made("/providers", {
          slug: name,
          name,
          protocol: protocolOfSample(name),
          settings: sample.provider
        })
        const [first] = providerServer.games
        assert(first !== undefined)
        if (offer.catalogue) {
          const synced = yield* command("provider", "sync", name, "--activate")
          assert.sameMembers(synced.added, providerServer.games.map(({ id }) => id))
        } else {
          const refused = yield* runHere(["provider", "sync", name])
          assert.strictEqual(JSON.parse(refused.stderr).error.details.reason, "no_catalogue")
          yield* made("/games", { provider: name, external_id: first.id, name: first.name })
        }
        const games: ReadonlyArray<{ readonly id: number; readonly external_id: string }> = yield* command(
          "game",
          "list",
          "--provider",
          name
        )
        const game = games.find(({ external_id }) => external_id === first.id)
        assert(game !== undefined)

        const casino = yield* openCasino()
        const { id: player } = yield* casino.register()
        dataOf(yield* casino.deposit(player, 1_000_000), 201)
        const launched = dataOf(yield* casino.launch(player, {}, game))
        assert.match(launched.launch_url, new RegExp(`^${url}/`))
        yield* openInBrowser(launched.launch_url)
        assert.strictEqual(yield* Queue.size(opened), 1)
        const demo = yield* casino.launch(player, { mode: "demo" }, game)
        assert.strictEqual(outcomeOf(demo), offer.demo ? 200 : "GAME_UNAVAILABLE")

        const path = `/players/${player}/free-rounds`
        const terms = { game_id: game.id, rounds: 5, stake: 20, valid_days: 7 }
        const issued = yield* casino.post(path, terms)
        if (offer.freeRounds) {
          const { id } = dataOf(issued, 201)
          assert.strictEqual(providerServer.grants.size, 1)
          assert.deepInclude(dataOf(yield* casino.call("DELETE", `${path}/${id}`)), { status: "cancelled" })
          assert.strictEqual(providerServer.grants.size, 0)
          dataOf(yield* casino.post(path, terms), 201)
        } else assert.deepStrictEqual(issued.details, { reason: "not_offered" })

        const { stats } = yield* play({
          url: `http://127.0.0.1:${publicPort}/api/v1/integrations/${name}`,
          dialect,
          opened,
          grants: providerServer.grants,
          notePlayed,
          players: 1,
          ...pace,
          seed: 1
        }).pipe(Effect.provide(FetchHttpClient.layer))
        assert.strictEqual(stats.differenceCount, 0, JSON.stringify(stats))

        const shown = yield* command("provider", "show", name)
        assert.isNotNull(shown.last_called_at)
        assert.isAbove((yield* command("provider", "calls", name)).length, 10)
        const [settled] = yield* sql`SELECT count(*)::float8 AS count FROM provider_transactions
          WHERE provider_id = ${provider.id} AND status = 'processed'`
        assert.isAbove(Number(Object(settled).count), 10)

        const date = new Date().toISOString().slice(0, 10)
        const reconciled = yield* runHere(["provider", "reconcile", name, "--date", date])
        if (offer.feed) {
          const report = JSON.parse(reconciled.stdout)
          const { different, matched, only_here, only_vendor } = report
          assert.deepStrictEqual({ different, only_here, only_vendor }, {
            different: [],
            only_here: [],
            only_vendor: []
          })
          assert.isAbove(matched, 5)
        } else assert.strictEqual(JSON.parse(reconciled.stderr).error.details.reason, "no_feed")
        assert.strictEqual(outcomeOf(yield* casino.get(`/games/${game.id}`)), 200)
        const { violations } = yield* command("ledger", "verify")
        assert.deepStrictEqual(violations, [])
      })))
  }
})
