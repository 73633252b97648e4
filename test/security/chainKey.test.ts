import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerChainKey } from "../../src/auth/ChainKeys.ts"
import { SealedSecrets } from "../../src/auth/SealedSecrets.ts"
import { ChainKey } from "../../src/chain/Chain.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

/** The key as loaded at a start of the service. */
const start = (masterKeyLost: boolean) =>
  Effect.map(
    Layer.build(Layer.fresh(
      layerChainKey.pipe(
        Layer.provide(SealedSecrets.layer),
        Layer.provide(Secrets.layer),
        Layer.provide(Settings.layerTest({ masterKeyLost }))
      )
    )),
    (context) => Context.get(context, ChainKey)
  )

// Goal: removing the stored key does not disable the check of the links' tags. Method: starts of the service before and after
// its removal, and after the master key was declared lost.
layer(TestDatabase.layer, { excludeTestServices: true })("the hash chain's key", (it) => {
  it.effect("is derived again after its row was deleted; when the master key is lost, a new chain begins", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const remove = sql`DELETE FROM kept_secrets WHERE name = 'ledger-chain'`
      const first = yield* start(false)
      assert.strictEqual(first.firstChainId, 1)
      yield* remove
      const again = yield* start(false)
      assert.strictEqual(again.firstChainId, 1)
      assert.isTrue(again.key.equals(first.key))
      yield* remove
      const lost = yield* start(true)
      assert.isAbove(lost.firstChainId, 1)
    }))
})
