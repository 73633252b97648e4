import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { OutcomeUnknown, Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { Health } from "../../src/http/Health.ts"
import { serveAt } from "../../src/http/Listener.ts"
import { layerHttpServices } from "../../src/servers/PublicServer.ts"
import { Ids } from "../../src/platform/Ids.ts"
import * as MemoryPlayerStore from "../kit/MemoryPlayerStore.ts"
import { version } from "../../src/platform/Version.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { portOf } from "../kit/EdgeServer.ts"
import { send } from "../kit/HttpCalls.ts"
import { makePlayer } from "../kit/Messages.ts"
import { type Behaviour, makeGate } from "../kit/ToyMachine.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: a service that cannot write reports not ready, also when the database answers all other statements, and
// recovers by itself. Method: a store whose commits hang or fail as scripted, a healthy database, and the test's clock.

/** Behaviours of the next commits; when empty they succeed. */
const behaviours: Array<Behaviour> = []

const store = MemoryPlayerStore.make({ commit: (run) => behaviours.shift()?.(run) ?? run })

const Live = serveAt(Health, { host: "127.0.0.1", port: 0 }).pipe(
  Layer.provideMerge(PlayerActors.layerOver(Effect.as(store.add(makePlayer({ id: 1 })), store))),
  Layer.provideMerge(Layer.mergeAll(
    layerHttpServices.pipe(Layer.provide(Settings.layerTest())),
    Ids.layerTest(),
    layerSingleNode
  )),
  Layer.provideMerge(TestDatabase.layer)
)

const unavailable: Behaviour = () => Effect.fail(new StoreUnavailable({ reason: "the disk is full" }))
const silent: Behaviour = () => Effect.fail(new OutcomeUnknown({ reason: "no answer" }))
const busy: Behaviour = () => Effect.fail(new Rejected({ because: "busy" }))

/** A command of the player that writes; returns how it ended. */
const write = Effect.flatMap(
  PlayerActors,
  (actors) =>
    Effect.match(actors.ask(null, 1, correctionStep({ wallet: "real", amount: 1, reason: "r", actor: "staff:1" })), {
      onFailure: ({ code }) => code,
      onSuccess: () => "done"
    })
)

const ready = Effect.gen(function*() {
  const port = yield* portOf
  assert.strictEqual((yield* send(port, "/health/live")).status, 200)
  const { code, status } = yield* send(port, "/health/ready")
  assert.strictEqual(code, status === 200 ? undefined : "TRY_AGAIN")
  const health = yield* send(port, "/health")
  assert.strictEqual(health.status, status)
  assert.deepInclude(status === 200 ? health.json : health.details, { version })
  return status
})

layer(Live)("/health/ready", (it) => {
  it.effect("is unready while a commit hangs", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ready, 200)
      const gate = makeGate()
      behaviours.push(gate.behaviour)
      const writing = yield* Effect.forkChild(write)
      yield* gate.arrived
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(yield* ready, 200)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* ready, 503)
      // it is the oldest that counts, however long it takes
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* ready, 503)
      yield* gate.open
      assert.strictEqual(yield* Fiber.join(writing), "done")
      assert.strictEqual(yield* ready, 200)
    }))

  for (const [name, failure] of [["fail", unavailable], ["get no answer", silent]] as const) {
    it.effect(`is unready after commits that ${name} for seconds, and ready after the first that succeeds`, () =>
      Effect.gen(function*() {
        const fail = Effect.gen(function*() {
          behaviours.push(failure)
          assert.strictEqual(yield* write, "TRY_AGAIN")
        })
        yield* fail
        // one may be bad luck
        assert.strictEqual(yield* ready, 200)
        yield* TestClock.adjust("4999 millis")
        yield* fail
        assert.strictEqual(yield* ready, 200)
        yield* TestClock.adjust("1 millis")
        yield* fail
        assert.strictEqual(yield* ready, 503)
        assert.strictEqual(yield* write, "done")
        assert.strictEqual(yield* ready, 200)
        // what failed before does not count again
        yield* TestClock.adjust("1 seconds")
        yield* fail
        assert.strictEqual(yield* ready, 200)
        assert.strictEqual(yield* write, "done")
      }))
  }

  it.effect("is ready again after ten seconds without commits", () =>
    Effect.gen(function*() {
      for (const _ of [1, 2, 3]) {
        behaviours.push(unavailable)
        yield* write
        yield* TestClock.adjust("3 seconds")
      }
      assert.strictEqual(yield* ready, 503)
      yield* TestClock.adjust("6999 millis")
      assert.strictEqual(yield* ready, 503)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* ready, 200)
      // and counts anew
      behaviours.push(unavailable)
      yield* write
      assert.strictEqual(yield* ready, 200)
      assert.strictEqual(yield* write, "done")
    }))

  it.effect("measures the duration of failures by the monotonic clock", () =>
    Effect.gen(function*() {
      const hour = 3_600_000
      const now = yield* Clock.currentTimeMillis
      // failures expire after ten seconds, not after the hour that the clock was set back
      for (const _ of [1, 2, 3]) {
        behaviours.push(unavailable)
        yield* write
        yield* TestClock.adjust("3 seconds")
      }
      assert.strictEqual(yield* ready, 503)
      yield* TestClock.setTime(now - hour)
      assert.strictEqual(yield* ready, 503)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* ready, 200)
      assert.strictEqual(yield* write, "done")
    }))

  it.effect("stays ready when commits are rejected, as that is an answer of the database", () =>
    Effect.gen(function*() {
      for (const _ of [1, 2, 3]) {
        behaviours.push(...Array.from({ length: 6 }, () => busy))
        assert.strictEqual(yield* write, "TRY_AGAIN")
        yield* TestClock.adjust("4 seconds")
      }
      assert.strictEqual(yield* ready, 200)
    }))
})
