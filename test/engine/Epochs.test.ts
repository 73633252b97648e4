import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { OutcomeUnknown, type Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import { Placement, type Release } from "../../src/engine/Placement.ts"
import { Ids } from "../../src/platform/Ids.ts"
import {
  type AccountStore,
  failureOf,
  isWaiting,
  makeActors,
  makeGate,
  makeStore,
  post,
  postKnowing,
  settle,
  start
} from "../kit/ToyMachine.ts"

/** A placement controlled by the test: every key has the same epoch. */
const makePlacement = (epoch: number, isShared = true) => {
  let release: Release = () => Effect.void
  const state = { epoch, isLeaving: false }
  const placement = Placement.of({
    epochOf: () => state.isLeaving ? 0 : state.epoch,
    holds: (_, asked) => asked === state.epoch && asked !== 0,
    isShared,
    onRelease: (named) => {
      release = named
    }
  })
  return {
    layer: Layer.merge(Ids.layerTest(), Layer.succeed(Placement, placement)),
    /** Ends the epoch and begins `to`; 0: another process owns the keys. */
    move: (to: number) => {
      state.epoch = to
    },
    /** Hands over the keys for which `isReleased` holds: new commands are refused, accepted ones are still decided. */
    release: (isReleased: (key: number) => boolean = () => true, meanwhile?: Parameters<Release>[1]) =>
      Effect.suspend(() => {
        state.isLeaving = true
        return release(isReleased, meanwhile)
      })
  }
}

/** Loads wait, from the next one on, until released. */
const holdLoads = (store: AccountStore): AccountStore & { readonly gate: ReturnType<typeof makeGate> } => {
  const gate = makeGate()
  const wait = gate.behaviour(Effect.void).pipe(Effect.orDie)
  return { ...store, load: (key, fence) => Effect.andThen(wait, store.load(key, fence)), gate }
}

const holdLooks = (store: AccountStore): AccountStore & { readonly gate: ReturnType<typeof makeGate> } => {
  const gate = makeGate()
  const wait = gate.behaviour(Effect.void).pipe(Effect.orDie)
  return { ...store, lookUp: (state, query, known) => Effect.andThen(wait, store.lookUp(state, query, known)), gate }
}

describe("ownership epochs (a new one whenever an actor changes its node)", () => {
  describe("a first load", () => {
    // Goal: pending commits of a former owner fail. Method: it commits after the load, on the previous version.
    it.effect("fences off the former owner if several nodes share the actors", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const late = store.commit([{
          key: 1,
          version: 0,
          before: { total: 5, receipts: [] },
          after: { total: 0, receipts: ["theirs"] },
          changes: [{ id: 1, receipt: "theirs", amount: -5 }]
        }])
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* actors.read(1)).total, 5)
        assert.deepInclude(yield* Effect.flip(late), { _tag: "Rejected", because: "fenced" })
        assert.strictEqual((yield* actors.ask(1, post("ours", -5))).total, 0)
        assert.deepStrictEqual(store.loads, [{ key: 1, fence: true }])
      }).pipe(Effect.provide(makePlacement(7).layer)))

    it.effect("does not fence if one node owns all actors", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const actors = yield* makeActors(store)
        yield* actors.ask(1, post("a", 1))
        assert.deepStrictEqual(store.loads, [{ key: 1, fence: false }])
      }).pipe(Effect.provide(makePlacement(1, false).layer)))

    it.effect("of an actor that the store does not know fails without a second load", () =>
      Effect.gen(function*() {
        const store = makeStore({})
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* Effect.flip(actors.ask(9, post("a", 1)))).toString(), "NoSuchActor")
        assert.strictEqual(actors.resident(), 0)
        assert.deepStrictEqual(store.loads, [{ key: 9, fence: true }])
      }).pipe(Effect.provide(makePlacement(1).layer)))
  })

  // Goal: ids of a key rise over its owners. Method: the previous owner allocated the ids that this one would allocate next.
  it.effect("the new owner of an actor allocates ids above those of the previous owner", () => {
    const { layer, move } = makePlacement(1)
    return Effect.gen(function*() {
      const ids = yield* Ids
      const actors = yield* makeActors(makeStore({ 1: 5 }))
      const first = yield* actors.ask(1, post("a", 1))
      const taken = yield* ids.reserve(10)
      move(2)
      const second = yield* actors.ask(1, post("b", 1))
      assert.isAbove(taken, first.id)
      // not the next one of those in memory
      assert.isAbove(second.id, taken + 10)
    }).pipe(Effect.provide(layer))
  })

  // Goal: keys of a node do not wait for those that come to it. Method: a key comes under a new epoch while ids of its generation are held back; another
  // key, whose epoch is an earlier one, and that key itself.
  it.effect("an actor that stays on its node uses ids in memory while one that came to the node waits for higher ids", () => {
    const epochs = new Map([[1, 1], [2, 1]])
    const [mayRefill, filled] = [Latch.makeUnsafe(), Ids.ofBlocks(() => 1000)]
    let [newest, held, renewals] = [0, 0, 0]
    const ids = Ids.of({
      ...filled,
      renew: () => {
        renewals++
        newest++
      },
      generation: () => newest,
      peek: (count, from = newest) => held >= from ? filled.peek(count) : undefined,
      refill: Effect.andThen(
        mayRefill.await,
        Effect.sync(() => {
          held = newest
        })
      )
    })
    const placement = Placement.of({
      epochOf: (key) => epochs.get(key) ?? 0,
      holds: (key, asked) => epochs.get(key) === asked,
      isShared: true,
      onRelease: () => {}
    })
    return Effect.gen(function*() {
      const actors = yield* makeActors(makeStore({ 1: 5, 2: 5 }))
      const early = yield* start(actors.ask(1, post("a", 1)))
      yield* settle
      yield* mayRefill.open
      yield* Fiber.join(early)
      mayRefill.closeUnsafe()
      epochs.set(2, 2)
      const moved = yield* start(actors.ask(2, post("b", 1)))
      yield* settle
      yield* actors.ask(1, post("c", 1))
      assert.isTrue(isWaiting(moved))
      yield* mayRefill.open
      yield* Fiber.join(moved)
      assert.strictEqual(renewals, 2)
    }).pipe(Effect.provide([Layer.succeed(Ids, ids), Layer.succeed(Placement, placement)]))
  })

  describe("an ownership epoch that ends", () => {
    it.effect("refuses the commands of a loading actor", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = holdLoads(makeStore({ 1: 0 }))
        const actors = yield* makeActors(store)
        const asking = yield* Effect.forEach(["a", "b"], (name) => start(actors.ask(1, post(name, 1))))
        yield* store.gate.arrived
        move(0)
        yield* store.gate.open
        assert.deepStrictEqual(yield* Effect.forEach(asking, failureOf), ["NotOwned", "NotOwned"])
        assert.deepStrictEqual(store.commits, [])
      }).pipe(Effect.provide(layer))
    })

    // Goal: a command is decided under the epoch that it was accepted under, or not at all: another node may have answered it in between. Method: the
    // key goes and comes back during the load, and a command comes before the load ends.
    it.effect("during a load, before the next one begins, refuses its own commands; those of the next epoch are decided", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const inner = makeStore({ 1: 0 })
        const gate = makeGate()
        let loads = 0
        const actors = yield* makeActors({
          ...inner,
          load: (key, fence) =>
            Effect.flatMap(
              inner.load(key, fence),
              (loaded) =>
                ++loads > 1 ? Effect.succeed(loaded) : Effect.as(Effect.orDie(gate.behaviour(Effect.void)), loaded)
            )
        })
        const asking = yield* start(actors.ask(1, post("a", 1)))
        yield* gate.arrived
        move(0)
        inner.postElsewhere(1, "theirs", 10)
        move(2)
        const next = yield* start(actors.ask(1, post("b", 1)))
        yield* gate.open
        assert.strictEqual(yield* failureOf(asking), "NotOwned")
        assert.strictEqual((yield* Fiber.join(next)).total, 11)
        assert.deepStrictEqual(inner.loads, [{ key: 1, fence: true }, { key: 1, fence: true }])
        assert.strictEqual(inner.commits.length, 1)
      }).pipe(Effect.provide(layer))
    })

    // Goal: look-ups under an ended epoch are discarded. Method: it ends during the look-up.
    it.effect("refuses a command whose look-up is running", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = holdLooks(makeStore({ 1: 5 }))
        const actors = yield* makeActors(store)
        const asking = yield* start(actors.ask(1, postKnowing("a", -10)))
        const behind = yield* start(actors.ask(1, post("b", 1)))
        yield* store.gate.arrived
        move(0)
        yield* store.gate.open
        assert.deepStrictEqual([yield* failureOf(asking), yield* failureOf(behind)], ["NotOwned", "NotOwned"])
        assert.deepStrictEqual(store.commits, [])
      }).pipe(Effect.provide(layer))
    })

    // Goal: a commit is guarded by the version, not by the clock: a successful one is answered, refusals of its group included, and
    // undecided commands are refused. Method: the epoch ends during a commit, with a command that waits behind.
    it.effect("answers the callers of a running commit, and refuses waiting commands", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const [warmUp, gate] = [makeGate(), makeGate()]
        store.behaviours.push(warmUp.behaviour, gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("warm-up", 0)))
        yield* warmUp.arrived
        const all = yield* start(actors.ask(1, post("all", -5)))
        const refused = yield* start(actors.ask(1, post("more", -1)))
        yield* warmUp.open
        yield* Fiber.join(first)
        yield* gate.arrived
        const behind = yield* start(actors.ask(1, post("behind", 1)))
        move(0)
        yield* gate.open
        assert.strictEqual((yield* Fiber.join(all)).total, 0)
        assert.deepStrictEqual([yield* failureOf(refused), yield* failureOf(behind)], ["TooLow", "NotOwned"])
      }).pipe(Effect.provide(layer))
    })

    // Goal: when the new owner is first, nothing of the former one's is written, and its callers are forwarded, refusals included. Method: the new
    // owner's fence comes between decision and commit.
    it.effect("refuses the callers of a commit that the new owner's fence has prevented, as nothing was written", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const [warmUp, gate] = [makeGate(), makeGate()]
        store.behaviours.push(warmUp.behaviour, gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("warm-up", 0)))
        yield* warmUp.arrived
        const asking = yield* Effect.forEach(
          [post("all", -5), post("more", -1)],
          (step) => start(actors.ask(1, step))
        )
        yield* warmUp.open
        yield* Fiber.join(first)
        yield* gate.arrived
        move(0)
        yield* store.load(1, true)
        yield* gate.open
        assert.deepStrictEqual(yield* Effect.forEach(asking, failureOf), ["NotOwned", "NotOwned"])
        assert.strictEqual(store.accounts.get(1)?.state.total, 5)
      }).pipe(Effect.provide(layer))
    })

    // Goal: an unknown outcome is answered as such, never as *not here*, which has the command done again elsewhere; and the
    // actor, whose fence is the new owner's, is dropped.
    it.effect("leaves a commit's outcome unknown if the store did not answer", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const gate = makeGate((apply) => Effect.andThen(apply, Effect.fail(new OutcomeUnknown({ reason: "cut off" }))))
        store.behaviours.push(gate.behaviour)
        const actors = yield* makeActors(store)
        const asking = yield* start(actors.ask(1, post("a", 1)))
        yield* gate.arrived
        const behind = yield* start(actors.ask(1, post("b", 1)))
        move(0)
        yield* gate.open
        assert.deepStrictEqual([yield* failureOf(asking), yield* failureOf(behind)], ["OutcomeUnknown", "NotOwned"])
        yield* settle
        assert.strictEqual(actors.resident(), 0)
        assert.deepStrictEqual(store.loads, [{ key: 1, fence: true }], "who does not own it raises no version")
      }).pipe(Effect.provide(layer))
    })

    it.effect("refuses commands that wait for a row locked by another transaction", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const actors = yield* makeActors(store)
        yield* actors.read(1)
        store.held.add(1)
        const asking = yield* start(actors.ask(1, post("a", 1)))
        yield* TestClock.adjust("100 millis")
        assert.isTrue(isWaiting(asking))
        move(0)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* failureOf(asking), "NotOwned")
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, [])
      }).pipe(Effect.provide(layer))
    })

    it.effect("refuses reads, even of actors in memory", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* actors.read(1)).total, 5)
        store.postElsewhere(1, "theirs", 10)
        move(0)
        assert.strictEqual((yield* Effect.flip(actors.read(1))).toString(), "NotOwned")
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("a", 1)))).toString(), "NotOwned")
      }).pipe(Effect.provide(layer))
    })
  })

  describe("an actor that its node loses and regains", () => {
    // Goal: an actor that stayed in memory does not trust its state after a move. Method: it was idle, others wrote, it gets a command again; a
    // read first, and for another key a command first.
    it.effect("is loaded again with a fence", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 5, 2: 5 })
        const actors = yield* makeActors(store)
        yield* Effect.forEach([1, 2], (key) => actors.ask(key, post(`before ${key}`, 0)))
        move(0)
        for (const key of [1, 2]) store.postElsewhere(key, `theirs ${key}`, 10)
        move(2)
        assert.strictEqual((yield* actors.read(1)).total, 15)
        assert.strictEqual((yield* actors.ask(2, post("all", -15))).total, 0)
        assert.deepStrictEqual(
          store.loads.map(({ fence, key }) => `${key} ${fence}`),
          ["1 true", "2 true", "1 true", "2 true"]
        )
        assert.strictEqual(store.commits.length, 3, "nothing was decided on what was no longer so")
      }).pipe(Effect.provide(layer))
    })

    // Goal: the same for what waits behind a commit. Method: the key goes and comes back during a commit that another writer's has invalidated.
    it.effect("decides no command that was accepted in an earlier epoch", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("first", -5)))
        yield* gate.arrived
        const behind = yield* start(actors.ask(1, post("behind", -1)))
        move(0)
        store.postElsewhere(1, "theirs", -5)
        move(2)
        yield* gate.open
        assert.deepStrictEqual([yield* failureOf(first), yield* failureOf(behind)], ["NotOwned", "NotOwned"])
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, ["theirs"])
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("again", -1)))).toString(), "TooLow")
      }).pipe(Effect.provide(layer))
    })

    // Goal: an unknown outcome does not end with an epoch. Method: the outcome is unknown, the store is unavailable at the next command; then the key
    // moves and comes back.
    it.effect("is loaded with a fence after a commit with an unknown outcome", () => {
      const { layer, move } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        let late: Effect.Effect<void, Rejected> = Effect.void
        store.behaviours.push((apply) => {
          late = apply
          store.outage = new StoreUnavailable({ reason: "away" })
          return Effect.fail(new OutcomeUnknown({ reason: "cut off" }))
        })
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("r", 10)))).toString(), "OutcomeUnknown")
        move(0)
        move(2)
        store.outage = undefined
        assert.strictEqual((yield* actors.read(1)).total, 0)
        assert.strictEqual((yield* Effect.flip(late)).because, "fenced")
        assert.strictEqual((yield* actors.ask(1, post("r", 10))).total, 10)
      }).pipe(Effect.provide(layer))
    })
  })

  describe("the release of actors to another process", () => {
    // Goal: accepted commands are answered, new ones are refused, and only then the actor leaves memory. Method: a commit that is held, a
    // command that waits behind it, one that comes later.
    it.effect("finishes accepted commands and refuses new ones", () => {
      const { layer, release } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const [gate, lastGate] = [makeGate(), makeGate()]
        store.behaviours.push(gate.behaviour, lastGate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const behind = yield* start(actors.ask(1, post("behind", 1)))
        const releasing = yield* start(release())
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("late", 1)))).toString(), "NotOwned")
        assert.strictEqual((yield* Effect.flip(actors.read(1))).toString(), "NotOwned")
        yield* gate.open
        yield* lastGate.arrived
        yield* TestClock.adjust("1 second")
        assert.isTrue(isWaiting(releasing))
        assert.strictEqual(actors.resident(), 1)
        yield* lastGate.open
        assert.deepStrictEqual((yield* Fiber.joinAll([first, behind])).map(({ total }) => total), [1, 2])
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(releasing)
        assert.strictEqual(actors.resident(), 0)
      }).pipe(Effect.provide(layer))
    })

    it.effect("reports the actors still at work once all others are done", () => {
      const { layer, release } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0 })
        const gate = makeGate()
        const actors = yield* makeActors(store)
        yield* Effect.forEach([1, 2], (key) => actors.read(key))
        store.behaviours.push(gate.behaviour)
        const asking = yield* start(actors.ask(1, post("a", 1)))
        yield* gate.arrived
        const told: Array<readonly [ReadonlyArray<number>, number]> = []
        const releasing = yield* start(
          release(undefined, (busy) => Effect.sync(() => void told.push([busy, actors.resident()])))
        )
        assert.deepStrictEqual(told, [[[1], 1]])
        yield* gate.open
        yield* Fiber.join(asking)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(releasing)
        assert.strictEqual(actors.resident(), 0)
      }).pipe(Effect.provide(layer))
    })

    it.effect("of an actor with an unknown outcome waits for its fenced load", () => {
      const { layer, release } = makePlacement(1)
      return Effect.gen(function*() {
        const inner = makeStore({ 1: 0 })
        const commit = makeGate(() => Effect.fail(new OutcomeUnknown({ reason: "cut off" })))
        inner.behaviours.push(commit.behaviour)
        const gate = makeGate()
        const wait = Effect.orDie(gate.behaviour(Effect.void))
        let loads = 0
        const actors = yield* makeActors({
          ...inner,
          load: (key, fence) =>
            Effect.andThen(Effect.suspend(() => ++loads > 1 ? wait : Effect.void), inner.load(key, fence))
        })
        const asking = yield* start(actors.ask(1, post("a", 1)))
        yield* commit.arrived
        const releasing = yield* start(release())
        yield* commit.open
        assert.strictEqual(yield* failureOf(asking), "OutcomeUnknown")
        yield* gate.arrived
        yield* TestClock.adjust("1 second")
        assert.isTrue(isWaiting(releasing))
        yield* gate.open
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(releasing)
        assert.deepStrictEqual(inner.loads.map(({ fence }) => fence), [true, true])
      }).pipe(Effect.provide(layer))
    })

    it.effect("of idle actors is done at once, and leaves actors that are not released in memory", () => {
      const { layer, release } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0, 3: 0 })
        const actors = yield* makeActors(store)
        yield* Effect.forEach([1, 2, 3], (key) => actors.read(key))
        yield* release((key) => key !== 2)
        assert.strictEqual(actors.resident(), 1)
      }).pipe(Effect.provide(layer))
    })

    // Goal: a release has a time limit; commands beyond it are refused, not lost. Method: it times out, and the epoch ends, during a
    // commit.
    it.effect("answers every caller even when it exceeds its time limit", () => {
      const { layer, move, release } = makePlacement(1)
      return Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const behind = yield* start(actors.ask(1, post("behind", 1)))
        const releasing = yield* start(release().pipe(Effect.timeoutOption("3 seconds")))
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.join(releasing)
        move(0)
        store.postElsewhere(1, "theirs", 10)
        yield* gate.open
        assert.deepStrictEqual([yield* failureOf(first), yield* failureOf(behind)], ["NotOwned", "NotOwned"])
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, ["theirs"])
      }).pipe(Effect.provide(layer))
    })
  })
})
