import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { layerProviderServer, makeProviderServer, openInBrowser } from "../../scripts/simulators/ProviderServer.ts"
import { play } from "../../scripts/simulators/Play.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addTenant, deposit, launched, register } from "../kit/Casino.ts"
import { makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"
import { addVendor, vendorCaseAt, vendorNames } from "../kit/Vendors.ts"

// Goal: a service killed in the middle of vendors' calls neither loses nor creates money, in any protocol. Method: vendors of all protocols play
// at once, with retries, reordering and time-outs, while the service is killed with SIGKILL and started again; every answer and every
// balance is compared with the vendors' own books, and the ledger with its invariants.

/** Ends a test that would hang; not a measurement. */
const longEnoughMs = 300_000

const kills = 3
const playersPerVendor = 6
const callsPerSecond = 60
const secondsBetween = 6

layer(layerOwnDatabase, { excludeTestServices: true })("a service that is killed while vendors play", (it) => {
  it.effect(
    "answers every call as the vendor's own records require, and keeps the ledger valid",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const agent = yield* makeAgent()
        const start = startService({
          port,
          databaseUrl: yield* databaseUrl,
          environment: { LOG_LEVEL: "error", PROVIDER_ALLOW_INSECURE: "on" }
        })
        let service = yield* start
        const { call } = yield* addTenant(agent, port, "acme")
        const playing = yield* Effect.forEach(vendorNames, (name, index) =>
          Effect.gen(function*() {
            const vendorPort = yield* freePort
            const url = `http://127.0.0.1:${vendorPort}`
            const vendorCase = vendorCaseAt(name, url)
            const { providerServer, notePlayed, opened } = yield* makeProviderServer(url)
            yield* Layer.build(layerProviderServer(vendorCase.dialect, providerServer, vendorPort))
            const vendor = yield* addVendor(agent, port, `vendor-${index}`, vendorCase, providerServer.games[0]?.id)
            for (let player = 0; player < playersPerVendor; player++) {
              const id = yield* register(call, `${name}-${player}`)
              yield* deposit(call, id, 10_000_000, `${name}-${player}`)
              const { launch_url: address } = yield* launched(call, id, vendor.game.id)
              yield* openInBrowser(address ?? "")
            }
            const played = play({
              url: `http://127.0.0.1:${port}/api/v1/integrations/${vendor.slug}`,
              dialect: vendorCase.dialect,
              opened,
              grants: providerServer.grants,
              notePlayed,
              players: playersPerVendor,
              callsPerSecond,
              seconds: secondsBetween * (kills + 1),
              seed: index
            })
            return { name, fiber: yield* Effect.forkChild(Effect.scoped(played)) }
          }))
        for (let kill = 0; kill < kills; kill++) {
          yield* Effect.sleep(`${secondsBetween} seconds`)
          service.kill("SIGKILL")
          yield* service.exited
          service = yield* start
        }
        for (const { fiber, name } of playing) {
          const { stats } = yield* Fiber.join(fiber)
          assert.deepStrictEqual(stats.differences, [], name)
          assert.isAbove(stats.calls, 0, name)
        }
        const staff = staffOf(agent, () => service.backofficePort, yield* addStaff("auditor"))
        const { json } = yield* staff.send("/backoffice/v1/ledger/verification")
        assert.deepStrictEqual(exceptAddedStaff(Object(json).data.violations), [])
        assert.strictEqual(Object(json).data.players, vendorNames.length * playersPerVendor)
      }).pipe(Effect.provide(FetchHttpClient.layer)),
    longEnoughMs
  )
})
