import { assert, layer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { defaultScopes } from "../../../src/domain/state/Operator.ts"
import { Credentials } from "../../../src/auth/Credentials.ts"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { DemoSeed } from "../../../src/features/demo/DemoSeed.ts"
import { Operators } from "../../../src/features/operators/Operators.ts"
import type { Actor } from "../../../src/office/Actor.ts"
import { Games } from "../../../src/features/games/Games.ts"
import { Settings } from "../../../src/platform/Settings.ts"
import { layerTestService } from "../../kit/TestService.ts"

const dataDir = Path.join(Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-demo-")), "data")

const actor: Actor = { id: 1, name: "Ann", role: "admin", operators: null, label: "staff:1" }

const seedWith = (demo: boolean) =>
  Layer.fresh(DemoSeed.layer).pipe(
    Layer.provide(Settings.layerTest({ dataDir, demo })),
    Layer.provide(NodeServices.layer),
    Layer.build,
    Effect.map((context) => Context.get(context, DemoSeed))
  )

const removeFolder = Layer.effectDiscard(
  Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(Path.dirname(dataDir), { recursive: true, force: true })))
)

const live = () => layerBackoffice.pipe(Layer.provideMerge(layerTestService()), Layer.provideMerge(removeFolder))

layer(live())("DemoSeed on an empty database", (it) => {
  // Goal: the first start creates demo data, every later start finds it again, and only the owner can read the secrets.
  // Method: seed twice, with the file removed in between; the credentials must be those that requests are checked with.
  it.effect("seeds once and returns the same credentials afterwards", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      assert.isUndefined(yield* (yield* seedWith(false)).ensure, "DEMO is off")
      assert.strictEqual((yield* sql`SELECT 1 FROM operators`).length, 0)

      const seed = yield* seedWith(true)
      const demo = (yield* seed.ensure) ?? assert.fail("nothing was seeded")
      const credentials = yield* Credentials
      const operator = yield* credentials.operator(demo.operator.key)
      assert.deepInclude(operator?.caller.operator, { id: demo.operator.id, slug: "demo", currency: "EUR" })
      assert.deepStrictEqual(operator?.caller.apiKey.scopes, defaultScopes(false))
      assert.isAtLeast(operator?.caller.apiKey.rateLimitPerMinute ?? 0, 1_000_000)
      assert.strictEqual((yield* credentials.provider(demo.provider.key))?.provider.id, demo.provider.id)
      const { items } = yield* (yield* Games).list({ page: 1, perPage: 100 })
      assert.sameMembers(items.map(({ id }) => id), [...demo.games, ...demo.originals].map(({ id }) => id))
      assert.deepStrictEqual(
        items.filter(({ original }) => original !== null).map((
          { category, original, rtp }
        ) => [original, category, rtp]),
        ["coin_flip", "dice", "limbo", "mines", "plinko"].map((name) => [name, "instant", 99])
      )
      assert.isAbove(items.length, 2)

      assert.deepStrictEqual(JSON.parse(Fs.readFileSync(seed.file, "utf8")), demo)
      assert.strictEqual(Fs.statSync(seed.file).mode & 0o777, 0o600)
      Fs.rmSync(seed.file)
      assert.deepStrictEqual(yield* (yield* seedWith(true)).ensure, demo)
      assert.deepStrictEqual(JSON.parse(Fs.readFileSync(seed.file, "utf8")), demo)
      assert.strictEqual((yield* sql`SELECT 1 FROM operators`).length, 1)
    }))
})

layer(live())("DemoSeed on a database in use", (it) => {
  it.effect("leaves a database in use unchanged", () =>
    Effect.gen(function*() {
      const operators = yield* Operators
      yield* operators.create(actor, { slug: "real", name: "Real", currency: "EUR" })
      assert.isUndefined(yield* (yield* seedWith(true)).ensure)
      assert.deepStrictEqual((yield* operators.list({ operators: null })).map(({ slug }) => slug), ["real"])
      assert.isFalse(Fs.existsSync(Path.join(dataDir, "demo.json")))
    }))
})
