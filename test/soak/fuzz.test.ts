import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { runFuzz } from "../fuzz/support/FuzzRun.ts"

// Goal: for any input to any endpoint of either server, the service answers in its documented form, never with a 5xx
// and never without an answer, and its ledger verifies afterwards. Method: requests drawn from the schemas that the servers
// publish, and damaged in their values, bytes, headers and paths, against a service in a process of its own. The
// seed is fixed: `npm run fuzz` takes other seeds and many more requests.
layer(layerOwnDatabase, { excludeTestServices: true })("random requests", (it) => {
  it.effect("are answered as documented, and leave a valid ledger", () =>
    Effect.gen(function*() {
      const report = yield* runFuzz({
        requests: 3000,
        seed: 3,
        connections: 16,
        measuresStrangers: false,
        onProgress: () => Effect.void
      })
      assert.deepStrictEqual(report.findings, [])
      assert.deepStrictEqual(report.complaints, [])
      assert.deepStrictEqual(report.ledger.violations, [])
      // Requests must reach the money: a fuzzer that is always refused finds nothing.
      const succeeded = Object.entries(report.byEndpoint)
        .filter(([, answers]) => Object.keys(answers).some((status) => status.startsWith("2")))
        .map(([name]) => name)
      for (
        const endpoint of [
          "POST /api/v1/operator/players",
          "POST /api/v1/operator/players/{player}/deposits",
          "POST /api/v1/provider/wallet/bet",
          "POST /api/v1/provider/wallet/rollback",
          "GET /api/v1/player/wallet",
          "POST /backoffice/v1/players/{player}/corrections"
        ]
      ) assert.include(succeeded, endpoint)
      assert.isAbove(report.ledger.entries, 50)
    }).pipe(Effect.scoped), 300_000)
})
