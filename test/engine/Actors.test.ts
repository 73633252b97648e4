import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Latch, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { OutcomeUnknown, Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import { Placement } from "../../src/engine/Placement.ts"
import { Ids } from "../../src/platform/Ids.ts"
import {
  type AccountStep,
  type AccountStore,
  type Behaviour,
  failureOf,
  isWaiting,
  makeActors,
  makeGate,
  makeHeldActors,
  makeStore,
  post,
  postKnowing,
  settle,
  start
} from "../kit/ToyMachine.ts"

const services = Layer.mergeAll(Ids.layerTest(), Placement.layerHere)

const unavailable: Behaviour = () => Effect.fail(new StoreUnavailable({ reason: "away" }))

const lostAnswer: Behaviour = (apply) => Effect.andThen(apply, Effect.fail(new OutcomeUnknown({ reason: "cut off" })))

const lostRequest: Behaviour = () => Effect.fail(new OutcomeUnknown({ reason: "cut off" }))

const busy: Behaviour = () => Effect.fail(new Rejected({ because: "busy" }))

/** The answer to a commit is lost, and then the store is unavailable. */
const breaksDown = (store: AccountStore): Behaviour => (apply) =>
  Effect.andThen(
    apply,
    Effect.suspend(() => {
      store.outage = new StoreUnavailable({ reason: "away" })
      return Effect.fail(new OutcomeUnknown({ reason: "cut off" }))
    })
  )

describe("Actors", () => {
  describe("order", () => {
    // Goal: a clock set back, over midnight say, does not set a key's time back, which would restart the sums of a day. A clock that had
    // been far ahead is followed.
    it.effect("the decision times of an actor do not go back when the clock is set back by seconds, but follow one set back by more than an hour", () =>
      Effect.gen(function*() {
        const actors = yield* makeActors(makeStore({ 1: 0, 2: 0 }))
        const instant = (key: number) =>
          actors.ask(key, (state, { now }) => ({ _tag: "Accept", state, reply: now, change: null, idsUsed: 0 }))
        const midnight = 86_400_000
        yield* TestClock.setTime(midnight + 1000)
        assert.strictEqual(yield* instant(1), midnight + 1000)
        yield* TestClock.setTime(midnight - 1000)
        assert.deepStrictEqual([yield* instant(1), yield* instant(2)], [midnight + 1000, midnight - 1000])
        yield* TestClock.setTime(midnight + 1001)
        assert.strictEqual(yield* instant(1), midnight + 1001)
        yield* TestClock.setTime(midnight - 4_000_000)
        assert.strictEqual(yield* instant(1), midnight - 4_000_000)
      }).pipe(Effect.provide(services)))

    // Goal: nor does another process whose clock is behind the writer's. Method: states with write times
    // a second and more than an hour ahead.
    it.effect("an actor decides no earlier than its loaded state was written, unless that is more than an hour ahead", () =>
      Effect.gen(function*() {
        const midnight = 86_400_000
        const actors = yield* makeActors(makeStore({ 1: 1000, 2: 4_000_000 }), {
          writtenAt: ({ total }) => midnight - 500 + total
        })
        yield* TestClock.setTime(midnight - 500)
        const instant = (key: number) =>
          actors.ask(key, (state, { now }) => ({ _tag: "Accept", state, reply: now, change: null, idsUsed: 0 }))
        assert.deepStrictEqual([yield* instant(1), yield* instant(2)], [midnight + 500, midnight - 500])
      }).pipe(Effect.provide(services)))

    // Goal: one writer, in order of arrival. Method: a hundred fibers post 1 each to one key; every reply must be the total after
    // exactly that many postings, and the stored receipts must be in the order of the commands.
    it.effect("decides the commands of an actor one after the other", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const actors = yield* makeActors(store)
        const names = Array.from({ length: 100 }, (_, index) => `r${index}`)
        const replies = yield* Effect.forEach(names, (name) => actors.ask(1, post(name, 1)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(replies.map(({ total }) => total), names.map((_, index) => index + 1))
        assert.deepStrictEqual(store.accounts.get(1)?.state, { total: 100, receipts: names })
      }).pipe(Effect.provide(services)))

    // Goal: the order also holds between commands that need a store look-up and others: decisions made before one
    // of them are durable before the look-up. Method: let them gather behind a held commit.
    it.effect("keeps the order of commands even if some of them query the store", () =>
      Effect.gen(function*() {
        const { actors, gate, store } = yield* makeHeldActors({ 1: 0 })
        const names = Array.from({ length: 30 }, (_, index) => `r${index}`)
        const fibers = yield* Effect.forEach(names, (name, index) =>
          start(actors.ask(1, (index % 3 === 1 ? postKnowing : post)(name, 1))))
        yield* gate.arrived
        yield* gate.open
        const replies = yield* Fiber.joinAll(fibers)
        assert.deepStrictEqual(
          replies.map(({ total }) =>
            total
          ),
          names.map((_, index) => index + 1)
        )
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, names)
        assert.strictEqual(store.lookUps.length, 10)
      }).pipe(Effect.provide(services)))

    // Goal: decisions made before a command that needs the store are not answered when their commit fails.
    it.effect("queries the store for a command only after the earlier decisions of its actor are stored", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const warmUp = makeGate()
        store.behaviours.push(warmUp.behaviour, lostRequest)
        const actors = yield* makeActors(store)
        const fibers = yield* Effect.forEach(
          [post("warm-up", 0), post("a", 5), postKnowing("b", 1), post("c", 1)],
          (step) => start(actors.ask(1, step))
        )
        yield* warmUp.arrived
        yield* warmUp.open
        assert.deepStrictEqual(yield* Effect.forEach(fibers, failureOf), ["", "OutcomeUnknown", "", ""])
        assert.deepStrictEqual(store.accounts.get(1)?.state, { total: 2, receipts: ["warm-up", "b", "c"] })
      }).pipe(Effect.provide(services)))
  })

  describe("group commit", () => {
    // Goal: commands that gather during a commit share the next one. Method: hold the first commit, send ten more.
    it.effect("commits the waiting commands of one actor together", () =>
      Effect.gen(function*() {
        const { actors, gate, store } = yield* makeHeldActors({ 1: 0 })
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const others = yield* Effect.forEach(Array.from({ length: 10 }, (_, index) => `r${index}`), (name) =>
          start(actors.ask(1, post(name, 1))))
        yield* gate.open
        yield* Fiber.joinAll([first, ...others])
        assert.deepStrictEqual(
          store.commits.map((units) =>
            units.map(({ changes }) => changes.length)
          ),
          [[1], [10]]
        )
        yield* actors.ask(1, post("last", 1))
        assert.strictEqual(store.loads.length, 1, "no commit was fenced")
      }).pipe(Effect.provide(services)))

    it.effect("commits the waiting commands of several actors together", () =>
      Effect.gen(function*() {
        const { actors, gate, store } = yield* makeHeldActors({ 1: 0, 2: 0, 3: 0, 4: 0 })
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const others = yield* Effect.forEach([2, 3, 4], (key) => start(actors.ask(key, post(`r${key}`, 1))))
        yield* settle
        yield* gate.open
        yield* Fiber.joinAll([first, ...others])
        assert.deepStrictEqual(store.commits.map((units) => units.map(({ key }) => key)), [[1], [2, 3, 4]])
      }).pipe(Effect.provide(services)))

    // Goal: both bounds of a group hold, and no command is lost at them.
    it.effect("commits at most maxGroup commands of an actor and maxCommit changes at once", () =>
      Effect.gen(function*() {
        const { actors, gate, store } = yield* makeHeldActors({ 1: 0, 2: 0, 3: 0 }, { maxGroup: 4, maxCommit: 6 })
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const others = yield* Effect.forEach(
          [2, 3].flatMap((key) => Array.from({ length: 9 }, (_, index): [number, string] => [key, `${key}.${index}`])),
          ([key, name]) => start(actors.ask(key, post(name, 1)))
        )
        yield* settle
        yield* gate.open
        yield* Fiber.joinAll([first, ...others])
        for (const units of store.commits) {
          const sizes = units.map(({ changes }) => changes.length)
          assert.isTrue(sizes.every((size) => size <= 4), `groups of ${sizes.join()}`)
          assert.isTrue(
            units.length === 1 || sizes.reduce((sum, size) => sum + size) <= 6,
            `a commit of ${sizes.join()}`
          )
        }
        assert.deepStrictEqual([2, 3].map((key) => store.accounts.get(key)?.state.total), [9, 9])
      }).pipe(Effect.provide(services)))
  })

  describe("durability", () => {
    // Goal: no answer and no read precedes its commit. Method: hold the commit and check.
    it.effect("answers commands and reads only after the commit", () =>
      Effect.gen(function*() {
        const { actors, gate } = yield* makeHeldActors({ 1: 5 })
        const asking = yield* start(actors.ask(1, post("r", 10)))
        yield* gate.arrived
        yield* settle
        assert.isTrue(isWaiting(asking))
        assert.strictEqual((yield* actors.read(1)).total, 5)
        yield* gate.open
        assert.strictEqual((yield* Fiber.join(asking)).total, 15)
        assert.strictEqual((yield* actors.read(1)).total, 15)
      }).pipe(Effect.provide(services)))

    // Goal: a refusal and a replay may depend on a command that is not durable yet, so they wait for it.
    // Method: one group spends everything, is refused more, and reads; hold its commit.
    it.effect("makes refusals and reads wait for the commits they depend on", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 10 })
        const [warmUp, gate] = [makeGate(), makeGate()]
        store.behaviours.push(warmUp.behaviour, gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("warm-up", 0)))
        yield* warmUp.arrived
        const spending = yield* start(actors.ask(1, post("all", -10)))
        const refused = yield* start(actors.ask(1, post("more", -1)))
        const reading = yield* start(actors.ask(1, read))
        yield* warmUp.open
        yield* Fiber.join(first)
        yield* gate.arrived
        yield* settle
        assert.isTrue([spending, refused, reading].every((fiber) => isWaiting<unknown, unknown>(fiber)))
        yield* gate.open
        assert.strictEqual((yield* Fiber.join(spending)).total, 0)
        assert.strictEqual(yield* failureOf(refused), "TooLow")
        assert.strictEqual(yield* Fiber.join(reading), 0)
      }).pipe(Effect.provide(services)))

    // Goal: the same when the commit fails: a refusal that depended on it must not be answered.
    it.effect("answers a refusal that was based on a failed commit with that commit's failure, so that it can be retried", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 10 })
        const warmUp = makeGate()
        store.behaviours.push(warmUp.behaviour, unavailable)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("warm-up", 0)))
        yield* warmUp.arrived
        const spending = yield* start(actors.ask(1, post("all", -10)))
        const refused = yield* start(actors.ask(1, post("more", -1)))
        yield* warmUp.open
        yield* Fiber.join(first)
        assert.strictEqual(yield* failureOf(spending), "StoreUnavailable")
        assert.strictEqual(yield* failureOf(refused), "StoreUnavailable")
        assert.strictEqual((yield* actors.ask(1, post("more", -1))).total, 9)
      }).pipe(Effect.provide(services)))
  })

  describe("bounds", () => {
    it.effect("refuses commands beyond the capacity of an actor's mailbox, and none of another actor", () =>
      Effect.gen(function*() {
        const { actors, gate } = yield* makeHeldActors({ 1: 0, 2: 0 }, { maxMailbox: 3 })
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const waiting = yield* Effect.forEach(["a", "b", "c"], (name) => start(actors.ask(1, post(name, 1))))
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("d", 1)))).toString(), "MailboxFull")
        const other = yield* start(actors.ask(2, post("e", 1)))
        yield* gate.open
        yield* Fiber.joinAll([first, ...waiting, other])
        assert.strictEqual((yield* actors.ask(1, post("d", 1))).total, 5)
      }).pipe(Effect.provide(services)))

    it.effect("refuses commands beyond the total that may wait in all mailboxes", () =>
      Effect.gen(function*() {
        const { actors, gate } = yield* makeHeldActors({ 1: 0, 2: 0, 3: 0 }, { maxWaiting: 4 })
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const waiting = yield* Effect.forEach(["a", "b", "c", "d"], (name) => start(actors.ask(1, post(name, 1))))
        assert.strictEqual((yield* Effect.flip(actors.ask(3, post("e", 1)))).toString(), "MailboxFull")
        yield* gate.open
        yield* Fiber.joinAll([first, ...waiting])
        assert.strictEqual((yield* actors.ask(3, post("e", 1))).total, 1)
      }).pipe(Effect.provide(services)))

    // Goal: an actor that nobody asks for leaves memory, one that is used stays, and leaving loses nothing.
    it.effect("passivates idle actors (drops them from memory), and loads them again for their next command", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0 })
        const actors = yield* makeActors(store, { idleMinutes: 10 })
        yield* actors.ask(1, post("a", 1))
        yield* actors.ask(2, post("b", 1))
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(actors.resident(), 2)
        yield* actors.read(2)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(actors.resident(), 1)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(actors.resident(), 0)
        assert.strictEqual((yield* actors.ask(1, post("c", 1))).total, 2)
        assert.deepStrictEqual(store.loads, [1, 2, 1].map((key) => ({ key, fence: false })))
      }).pipe(Effect.provide(services)))

    // Goal: idleness is measured by monotonic time. Method: a wall clock that jumps an hour ahead.
    it.effect("does not passivate actors when the wall clock jumps forward", () =>
      Effect.gen(function*() {
        const clock = yield* Clock.Clock
        let ahead = 0
        const timeOfDay = () => clock.currentTimeMillisUnsafe() + ahead
        const actors = yield* makeActors(makeStore({ 1: 0 }), { idleMinutes: 10 }).pipe(
          Effect.provideService(Clock.Clock, {
            currentTimeMillisUnsafe: timeOfDay,
            currentTimeMillis: Effect.sync(timeOfDay),
            currentTimeNanosUnsafe: () => BigInt(timeOfDay()) * 1_000_000n,
            currentTimeNanos: Effect.sync(() => BigInt(timeOfDay()) * 1_000_000n),
            monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
            monotonicTimeNanos: clock.monotonicTimeNanos,
            sleep: (duration) => clock.sleep(duration)
          })
        )
        yield* actors.ask(1, post("a", 1))
        yield* TestClock.adjust("1 minute")
        ahead = 3_600_000
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(actors.resident(), 1)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(actors.resident(), 0)
      }).pipe(Effect.provide(services)))

    // Goal: an actor that pauses keeps what it must and gives up what it merely remembers; one that works keeps all.
    it.effect("compacts actors that have had no command for a minute", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0 })
        const actors = yield* makeActors(store, { compact: (account) => ({ ...account, receipts: [] }) })
        yield* actors.ask(1, post("a", 1))
        yield* actors.ask(2, post("b", 1))
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* actors.read(2), { total: 1, receipts: ["b"] })
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* actors.read(1), { total: 1, receipts: [] })
        assert.deepStrictEqual(yield* actors.read(2), { total: 1, receipts: ["b"] })
        assert.strictEqual((yield* actors.ask(1, post("c", 1))).total, 2)
        assert.strictEqual(store.loads.length, 2, "who rests stays in memory")
      }).pipe(Effect.provide(services)))

    // Goal: state learned from a look-up is kept, though the step writes nothing. Method: a step that only adds a memory.
    it.effect("keeps in memory the state that a command returns, also when it stores no change", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 7 })
        const actors = yield* makeActors(store)
        const remember: AccountStep<number, never> = (account) => ({
          _tag: "Accept",
          state: { ...account, receipts: [...account.receipts, "seen"] },
          reply: account.total,
          change: null,
          idsUsed: 0
        })
        assert.strictEqual(yield* actors.ask(1, remember), 7)
        assert.deepStrictEqual(yield* actors.read(1), { total: 7, receipts: ["seen"] })
        assert.strictEqual(store.commits.length, 0)
        yield* actors.ask(1, post("r", 1))
        assert.deepStrictEqual((yield* actors.read(1)).receipts, ["seen", "r"])
      }).pipe(Effect.provide(services)))

    // Goal: memory is bounded for any number of keys, and no command is refused while an idle actor can be evicted.
    // Method: three hundred keys through room for a hundred, all of them just used.
    it.effect("evicts idle actors to make room for new ones", () =>
      Effect.gen(function*() {
        const keys = Array.from({ length: 300 }, (_, index) => index)
        const store = makeStore(Object.fromEntries(keys.map((key) => [key, 0])))
        const actors = yield* makeActors(store, { maxResident: 100 })
        for (const key of [...keys, ...keys]) {
          yield* actors.ask(key, post(`${key} ${store.commits.length}`, 1))
          assert.isAtMost(actors.resident(), 100)
        }
        assert.isTrue(keys.every((key) => store.accounts.get(key)?.state.total === 2))
      }).pipe(Effect.provide(services)))

    it.effect("refuses a new actor when every actor in memory is busy", () =>
      Effect.gen(function*() {
        const { actors, gate } = yield* makeHeldActors({ 1: 0, 2: 0, 3: 0 }, { maxResident: 2 })
        const busy = yield* Effect.forEach([1, 2], (key) => start(actors.ask(key, post(`r${key}`, 1))))
        yield* gate.arrived
        assert.strictEqual((yield* Effect.flip(actors.ask(3, post("c", 1)))).toString(), "MailboxFull")
        yield* gate.open
        yield* Fiber.joinAll(busy)
        assert.strictEqual((yield* actors.ask(3, post("c", 1))).total, 1)
      }).pipe(Effect.provide(services)))

    it.effect("keeps no actor for a key that the store does not know", () =>
      Effect.gen(function*() {
        const store = makeStore({})
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* Effect.flip(actors.ask(7, post("a", 1)))).toString(), "NoSuchActor")
        assert.strictEqual((yield* Effect.flip(actors.read(7))).toString(), "NoSuchActor")
        assert.strictEqual(actors.resident(), 0)
      }).pipe(Effect.provide(services)))

    it.effect("refuses commands and reads for an actor that another node owns", () =>
      Effect.gen(function*() {
        const actors = yield* makeActors(makeStore({ 1: 0, 2: 0 }))
        assert.strictEqual((yield* actors.ask(2, post("a", 1))).total, 1)
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("b", 1)))).toString(), "NotOwned")
        assert.strictEqual((yield* Effect.flip(actors.read(1))).toString(), "NotOwned")
      }).pipe(Effect.provide([
        Ids.layerTest(),
        Layer.succeed(Placement, {
          epochOf: (key) => key % 2 === 0 ? 1 : 0,
          holds: (key) => key % 2 === 0,
          isShared: false,
          onRelease: () => {}
        })
      ])))
  })

  describe("a rejected commit", () => {
    // Goal: one bad unit fails alone. Method: eight keys in one commit, one of which claims a receipt that exists.
    it.effect("does not affect the other actors of the commit", () =>
      Effect.gen(function*() {
        const keys = [1, 2, 3, 4, 5, 6, 7, 8]
        const store = makeStore({ 0: 0, ...Object.fromEntries(keys.map((key) => [key, 0])) })
        const actors = yield* makeActors(store)
        yield* actors.ask(1, post("taken", 1))
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const first = yield* start(actors.ask(0, post("first", 1)))
        yield* gate.arrived
        const asking = yield* Effect.forEach(keys, (key) =>
          start(actors.ask(key, post(key === 5 ? "taken" : `r${key}`, 1))))
        yield* settle
        yield* gate.open
        yield* Fiber.join(first)
        const replies = yield* Fiber.joinAll(asking)
        assert.deepStrictEqual(
          replies.map(({ isRepeat }) =>
            isRepeat
          ),
          keys.map((key) => key === 5)
        )
        assert.deepStrictEqual(keys.map((key) => store.accounts.get(key)?.state.total), [2, 1, 1, 1, 0, 1, 1, 1])
      }).pipe(Effect.provide(services)))

    /** Posts to account 1 while a commit of it is under way: decided as one group. Account 2 has the receipt "taken". */
    const postTogether = Effect.fnUntraced(function*(
      isLikelyTaken: (receipt: string) => boolean,
      names: ReadonlyArray<string>
    ) {
      const store = makeStore({ 1: 0, 2: 0 })
      const actors = yield* makeActors({ ...store, isLikelyTaken: ({ receipt }) => isLikelyTaken(receipt) })
      yield* actors.ask(2, post("taken", 1))
      store.lookUps.length = 0
      const gate = makeGate()
      store.behaviours.push(gate.behaviour)
      const first = yield* start(actors.ask(1, post("first", 1)))
      yield* gate.arrived
      const asking = yield* Effect.forEach(names, (name) => start(actors.ask(1, post(name, 1))))
      yield* gate.open
      yield* Fiber.join(first)
      const replies = yield* Fiber.joinAll(asking)
      return { store, answers: replies.map(({ isRepeat, total }) => [isRepeat, total]) }
    })

    const asOne = [[false, 2], [true, 2], [false, 3], [false, 4]]

    // Goal: a receipt that was probably used rejects no commit. Method: one is suspected rightly, the next wrongly, those around them not.
    it.effect("is avoided by looking up ids that are likely to be taken", () =>
      Effect.gen(function*() {
        const suspected = (receipt: string) => receipt === "taken" || receipt === "b"
        const { answers, store } = yield* postTogether(suspected, ["a", "taken", "b", "c"])
        assert.deepStrictEqual(answers, asOne)
        assert.deepStrictEqual(store.accounts.get(1)?.state, { total: 4, receipts: ["first", "a", "b", "c"] })
        assert.deepStrictEqual(store.examinations, [])
        assert.deepStrictEqual(store.lookUps.flatMap(({ receipts }) => receipts), ["taken", "b"])
      }).pipe(Effect.provide(services)))

    // Goal: after a restart, a repeat rejects no commit. Method: another process asks again, a third one something new.
    it.effect("is avoided by looking up the id of the first command after a load", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const restart = makeActors({ ...store, isLikelyTaken: (_, isLoaded) => isLoaded })
        yield* (yield* makeActors(store)).ask(1, post("before", 1))
        const { isRepeat, total } = yield* (yield* restart).ask(1, post("before", 1))
        assert.deepStrictEqual([isRepeat, total], [true, 1])
        const actors = yield* restart
        yield* actors.ask(1, post("new", 1))
        yield* actors.ask(1, post("after", 1))
        assert.deepStrictEqual([store.commits.length, store.examinations.length], [3, 0])
        // loaded again, since another writer was faster
        store.postElsewhere(1, "theirs", 100)
        assert.strictEqual((yield* actors.ask(1, post("again", 1))).total, 104)
        assert.deepStrictEqual(store.lookUps.map(({ receipts }) => receipts), [["before"], ["new"]])
      }).pipe(Effect.provide(services)))

    // Goal: one bad command of a group fails alone as well, and the others keep their order.
    it.effect("has its commands decided again one by one, so that one bad command fails alone", () =>
      Effect.gen(function*() {
        const { answers, store } = yield* postTogether(() => false, ["a", "taken", "b", "c"])
        assert.deepStrictEqual(answers, asOne)
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, ["first", "a", "b", "c"])
        assert.deepStrictEqual(store.examinations, [[1]])
      }).pipe(Effect.provide(services)))

    // Goal: a retry that is no longer in the actor's memory gets its first answer.
    it.effect("has a repeated command answered with its first outcome, from the store", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const actors = yield* makeActors(store)
        const first = yield* actors.ask(1, post("r", 7))
        const again = yield* actors.ask(1, post("r", 7))
        assert.deepStrictEqual(again, { id: first.id, total: 7, isRepeat: true })
        // the store's report of the clash is sufficient
        assert.deepStrictEqual([store.commits.length, store.examinations.length, store.lookUps.length], [2, 1, 0])
        assert.strictEqual(store.accounts.get(1)?.state.total, 7)
      }).pipe(Effect.provide(services)))

    // Goal: after another writer's commit callers notice nothing, and neither's work is lost.
    it.effect("makes the actor reload after another writer's commit", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const actors = yield* makeActors(store)
        yield* actors.ask(1, post("mine", 1))
        store.postElsewhere(1, "theirs", 100)
        assert.strictEqual((yield* actors.ask(1, post("mine too", 1))).total, 102)
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, ["mine", "theirs", "mine too"])
      }).pipe(Effect.provide(services)))

    // Goal: look-ups made before another writer's commit are discarded. Method: the other writer posts the very receipt
    // that was looked up and found absent.
    it.effect("makes the actor discard look-ups made before another writer's commit", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        store.behaviours.push((apply) => {
          store.postElsewhere(1, "r", -5)
          return apply
        })
        const actors = yield* makeActors(store)
        assert.deepInclude(yield* actors.ask(1, postKnowing("r", -5)), { total: 0, isRepeat: true })
      }).pipe(Effect.provide(services)))

    // Goal: a briefly locked row affects no caller, and a long-locked one delays the shared journal
    // by two waits at most. Method: commits that are rejected as busy, so often or once more.
    it.effect("is retried until another transaction has released the row lock", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 10 })
        store.behaviours.push(busy, busy)
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* actors.ask(1, post("a", 1))).total, 11)
        assert.deepStrictEqual([store.commits.length, store.lookUps.length, store.loads.length], [3, 0, 1])
      }).pipe(Effect.provide(services)))

    // Goal: a long-locked row stops its key alone: the journal waits for it once. Method: hold the row of one of
    // two keys; the other one goes on, the held one is refused after its bound, then at once, and served when the row is free.
    it.effect("delays only the actor whose row is locked", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 10, 2: 0 })
        const actors = yield* makeActors(store)
        yield* actors.read(1)
        store.held.add(1)
        const held = yield* start(actors.ask(1, post("a", 1)))
        yield* settle
        for (const name of ["b", "c", "d"]) yield* actors.ask(2, post(name, 1))
        yield* TestClock.adjust("1900 millis")
        assert.isTrue(isWaiting(held))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* failureOf(held), "StoreUnavailable")
        const asked = store.examinations.length
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("e", 1)))).toString(), "StoreUnavailable")
        assert.strictEqual(store.examinations.length, asked + 1)
        assert.deepStrictEqual(
          store.commits.map((units) => units.map(({ key }) => key)),
          [[1], [2], [2], [2]]
        )
        store.held.clear()
        assert.strictEqual((yield* actors.ask(1, post("f", 1))).total, 11)
        // its state was still valid: no reload, and no fence
        assert.deepStrictEqual(store.loads, [{ key: 1, fence: false }, { key: 2, fence: false }])
      }).pipe(Effect.provide(services)))

    it.effect("goes through when the row is unlocked", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 10 })
        const actors = yield* makeActors(store)
        store.held.add(1)
        const asking = yield* start(actors.ask(1, post("a", 1)))
        const behind = yield* start(actors.ask(1, post("b", 1)))
        yield* TestClock.adjust("300 millis")
        store.held.clear()
        yield* TestClock.adjust("400 millis")
        assert.strictEqual((yield* Fiber.join(asking)).total, 11)
        assert.strictEqual((yield* Fiber.join(behind)).total, 12)
      }).pipe(Effect.provide(services)))

    it.effect("is retried a bounded number of times", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        store.behaviours.push(...Array.from({ length: 50 }, () => busy))
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("r", 1)))).toString(), "StoreUnavailable")
        assert.isAtMost(store.commits.length, 10)
        store.behaviours.length = 0
        assert.strictEqual((yield* actors.ask(1, post("r", 1))).total, 1)
      }).pipe(Effect.provide(services)))

    // Goal: a storm of retries from outside memory costs a handful of round trips and stops no other key. Method: two hundred repeats and fifty
    // new commands of other keys, gathered behind a held commit.
    it.effect("needs one store query to find all repeated commands of the batch, and the new commands are then committed together", () =>
      Effect.gen(function*() {
        const repeats = Array.from({ length: 200 }, (_, index) => index + 1)
        const others = Array.from({ length: 50 }, (_, index) => index + 1001)
        const store = makeStore(Object.fromEntries([0, ...repeats, ...others].map((key) => [key, 0])))
        for (const key of repeats) store.postElsewhere(key, `r${key}`, 7)
        const actors = yield* makeActors(store)
        for (const key of [...repeats, ...others]) yield* actors.read(key)
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const first = yield* start(actors.ask(0, post("first", 1)))
        yield* gate.arrived
        const asking = yield* Effect.forEach(
          [...repeats, ...others],
          (key) => start(actors.ask(key, post(`r${key}`, 7)))
        )
        yield* gate.open
        yield* Fiber.join(first)
        const replies = yield* Fiber.joinAll(asking)
        assert.isTrue(replies.every(({ isRepeat, total }, index) => total === 7 && isRepeat === index < repeats.length))
        assert.deepStrictEqual(store.commits.map(({ length }) => length), [1, 250, 50])
        assert.deepStrictEqual([store.examinations.length, store.lookUps.length], [1, 0])
      }).pipe(Effect.provide(services)))

    // Goal: nothing is rolled back twice for the same reason, also within the commands of one key. Method: repeats before and after a new
    // command, and a command twice, in one unit.
    it.effect("happens only once when a batch of one player has several repeated commands, before and after a new one", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        for (const name of ["a", "c"]) store.postElsewhere(1, name, 1)
        const actors = yield* makeActors(store)
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const asking = yield* Effect.forEach(["a", "b", "c", "b"], (name) => start(actors.ask(1, post(name, 1))))
        yield* gate.open
        yield* Fiber.join(first)
        const replies = yield* Fiber.joinAll(asking)
        assert.deepStrictEqual(replies.map(({ isRepeat, total }) => [isRepeat, total]), [
          [true, 3],
          [false, 4],
          [true, 4],
          [true, 4]
        ])
        assert.deepStrictEqual(store.commits.map(([unit]) => unit?.changes.length), [1, 4, 1])
      }).pipe(Effect.provide(services)))

    // Goal: of two keys that claim the same id in one commit the first one gets it. Method: both behind a held commit.
    it.effect("gives an id that two actors claim in one commit to the first, and answers the second as a repeat", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0, 3: 0 })
        const actors = yield* makeActors(store)
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const asking = yield* Effect.forEach([2, 3], (key) => start(actors.ask(key, post("same", 1))))
        yield* settle
        yield* gate.open
        yield* Fiber.join(first)
        assert.deepStrictEqual((yield* Fiber.joinAll(asking)).map(({ isRepeat }) => isRepeat), [false, true])
        assert.deepStrictEqual([2, 3].map((key) => store.accounts.get(key)?.state.total), [1, 0])
      }).pipe(Effect.provide(services)))

    // Goal: a change that the store permanently refuses is a defect of its own command, not reported as retryable. Method: between two sound
    // commands of its key, beside another key.
    it.effect("is a defect only of the command that the store refuses permanently", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0 })
        store.impossible.add("bad")
        const actors = yield* makeActors(store)
        const gate = makeGate()
        store.behaviours.push(gate.behaviour)
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const [before, bad, after] = yield* Effect.forEach(["a", "bad", "b"], (name) =>
          start(actors.ask(1, post(name, 1))))
        const other = yield* start(actors.ask(2, post("c", 1)))
        yield* settle
        yield* gate.open
        yield* Fiber.joinAll([first, before, after, other].filter((fiber) =>
          fiber !== undefined
        ))
        const exit = bad === undefined ? undefined : yield* Fiber.await(bad)
        assert.isTrue(exit !== undefined && Exit.hasDies(exit))
        assert.deepStrictEqual(store.accounts.get(1)?.state.receipts, ["first", "a", "b"])
        assert.strictEqual(store.accounts.get(2)?.state.total, 1)
      }).pipe(Effect.provide(services)))
  })

  describe("an unknown outcome", () => {
    const cases: ReadonlyArray<readonly [name: string, behaviour: Behaviour, total: number]> = [
      ["that happened", lostAnswer, 11],
      ["that did not happen", lostRequest, 1]
    ]
    for (const [name, behaviour, total] of cases) {
      // Goal: unknown outcomes are not guessed. The callers of the commit are told that it is unknown; the next command is decided on the
      // state loaded behind a fence.
      it.effect(`of a commit ${name} is resolved by a fenced load`, () =>
        Effect.gen(function*() {
          const store = makeStore({ 1: 0 })
          store.behaviours.push(behaviour)
          const actors = yield* makeActors(store)
          assert.strictEqual((yield* Effect.flip(actors.ask(1, post("r", 10)))).toString(), "OutcomeUnknown")
          assert.strictEqual((yield* actors.ask(1, post("next", 1))).total, total)
          assert.deepStrictEqual(store.loads, [{ key: 1, fence: false }, { key: 1, fence: true }])
          // the caller's retry resolves it
          assert.strictEqual((yield* actors.ask(1, post("r", 10))).total, 11)
          assert.deepStrictEqual(store.accounts.get(1)?.state.total, 11)
        }).pipe(Effect.provide(services)))
    }

    // Goal: a commit that arrives after its caller gave up does not count besides its retry. Method: keep it, and let it happen
    // after the actor has loaded again.
    it.effect("of a commit that arrives late is resolved by a fence that refuses the late commit", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        let late: Effect.Effect<void, Rejected> = Effect.void
        store.behaviours.push((apply) => {
          late = apply
          return Effect.fail(new OutcomeUnknown({ reason: "cut off" }))
        })
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("r", 10)))).toString(), "OutcomeUnknown")
        yield* actors.read(1)
        assert.strictEqual((yield* Effect.flip(late)).because, "fenced")
        assert.strictEqual((yield* actors.ask(1, post("r", 10))).total, 10)
      }).pipe(Effect.provide(services)))

    it.effect("is the answer to every caller of the commit, and to no later caller", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        const [warmUp, gate] = [makeGate(), makeGate(lostRequest)]
        store.behaviours.push(warmUp.behaviour, gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(1, post("warm-up", 0)))
        yield* warmUp.arrived
        const group = yield* Effect.forEach(["a", "b"], (name) => start(actors.ask(1, post(name, 1))))
        yield* warmUp.open
        yield* Fiber.join(first)
        yield* gate.arrived
        const behind = yield* start(actors.ask(1, post("c", 1)))
        yield* gate.open
        assert.deepStrictEqual(yield* Effect.forEach(group, failureOf), ["OutcomeUnknown", "OutcomeUnknown"])
        assert.strictEqual((yield* Fiber.join(behind)).total, 1)
      }).pipe(Effect.provide(services)))

    // Goal: all keys of the commit are loaded behind a fence at once, not at their next commands. Method: three keys in one commit.
    it.effect("is resolved for every actor of the commit, without waiting for another command", () =>
      Effect.gen(function*() {
        const store = makeStore({ 0: 0, 1: 0, 2: 0, 3: 0 })
        const [warmUp, gate] = [makeGate(), makeGate(lostAnswer)]
        store.behaviours.push(warmUp.behaviour, gate.behaviour)
        const actors = yield* makeActors(store)
        const first = yield* start(actors.ask(0, post("first", 1)))
        yield* warmUp.arrived
        const asking = yield* Effect.forEach([1, 2, 3], (key) => start(actors.ask(key, post(`r${key}`, 1))))
        yield* warmUp.open
        yield* gate.arrived
        yield* gate.open
        yield* Fiber.join(first)
        assert.deepStrictEqual(yield* Effect.forEach(asking, failureOf), asking.map(() => "OutcomeUnknown"))
        yield* settle
        assert.deepStrictEqual(store.loads.filter(({ fence }) => fence).map(({ key }) => key), [1, 2, 3])
        for (const key of [1, 2, 3]) assert.strictEqual((yield* actors.read(key)).total, 1)
      }).pipe(Effect.provide(services)))

    // Goal: an actor with an unknown outcome is not passivated, which would lose the fence: it stays until it has been reloaded.
    it.effect("keeps its actor in memory while the actor is idle and the store is unavailable", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        store.behaviours.push(breaksDown(store))
        const actors = yield* makeActors(store, { idleMinutes: 1 })
        yield* Effect.flip(actors.ask(1, post("r", 10)))
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("s", 1)))).toString(), "StoreUnavailable")
        yield* TestClock.adjust("10 minutes")
        store.outage = undefined
        assert.strictEqual((yield* actors.ask(1, post("s", 1))).total, 11)
        assert.deepStrictEqual(store.loads.at(-1), { key: 1, fence: true })
      }).pipe(Effect.provide(services)))

    it.effect("keeps its actor in memory when other actors need room", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0, 3: 0 })
        store.behaviours.push(breaksDown(store))
        const actors = yield* makeActors(store, { maxResident: 2 })
        yield* Effect.flip(actors.ask(1, post("r", 10)))
        yield* settle
        store.outage = undefined
        // an actor is busy until its completion has returned, and cannot make room
        for (const key of [2, 3, 2, 3]) {
          yield* Effect.andThen(actors.ask(key, post(`${key} ${store.commits.length}`, 1)), settle)
        }
        assert.strictEqual((yield* actors.ask(1, post("s", 1))).total, 11)
        assert.deepStrictEqual(store.loads.filter(({ key }) => key === 1).at(-1), { key: 1, fence: true })
      }).pipe(Effect.provide(services)))

    it.effect("is the answer, too, when the store fails with a defect during a commit", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0 })
        store.behaviours.push(() => Effect.die("a bug in the store"), () => {
          throw new Error("another bug in the store")
        })
        const actors = yield* makeActors(store)
        for (const name of ["r", "s"]) {
          assert.strictEqual((yield* Effect.flip(actors.ask(1, post(name, 10)))).toString(), "OutcomeUnknown")
        }
        assert.strictEqual((yield* actors.ask(1, post("r", 10))).total, 10)
      }).pipe(Effect.provide(services)))
  })

  describe("an unavailable store", () => {
    it.effect("fails commands in the meantime, and leaves the actor's state in memory, which is used without another load afterwards", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        store.behaviours.push(unavailable)
        const actors = yield* makeActors(store)
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("r", 10)))).toString(), "StoreUnavailable")
        assert.strictEqual((yield* actors.read(1)).total, 5)
        assert.strictEqual((yield* actors.ask(1, post("r", 10))).total, 15)
        assert.strictEqual(store.loads.length, 1, "nothing was in doubt, so nothing was loaded again")
      }).pipe(Effect.provide(services)))

    it.effect("fails commands that need a load or a look-up", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 5 })
        const actors = yield* makeActors(store)
        store.outage = new StoreUnavailable({ reason: "away" })
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("r", 1)))).toString(), "StoreUnavailable")
        assert.strictEqual((yield* Effect.flip(actors.read(1))).toString(), "StoreUnavailable")
        store.outage = undefined
        yield* actors.ask(1, post("r", 1))
        store.outage = new StoreUnavailable({ reason: "away" })
        assert.strictEqual((yield* Effect.flip(actors.ask(1, postKnowing("s", 1)))).toString(), "StoreUnavailable")
        assert.strictEqual((yield* actors.read(1)).total, 6)
        store.outage = undefined
        assert.strictEqual((yield* actors.ask(1, postKnowing("s", 1))).total, 7)
      }).pipe(Effect.provide(services)))
  })

  describe("callbacks", () => {
    // Goal: a command without a fiber keeps the same guarantees. Method: three of one key behind a held commit, one of them refused and one
    // defective; no callback runs before the commit, and then in order.
    it.effect("run after the commit, in the order of their commands", () =>
      Effect.gen(function*() {
        const { actors, gate } = yield* makeHeldActors({ 1: 10 })
        const heard: Array<string> = []
        const hear = (name: string) => (exit: Exit.Exit<unknown, unknown>) => {
          heard.push(`${name} ${Exit.isSuccess(exit) ? "done" : Exit.hasDies(exit) ? "defect" : "refused"}`)
        }
        actors.post(1, post("a", -10), hear("a"))
        yield* gate.arrived
        actors.post(1, post("b", -1), hear("b"))
        actors.post(1, () => {
          throw new Error("a bug")
        }, hear("c"))
        actors.post(1, post("d", 1), hear("d"))
        assert.deepStrictEqual(heard, [])
        yield* gate.open
        yield* settle
        assert.deepStrictEqual(heard, ["a done", "b refused", "c defect", "d done"])
      }).pipe(Effect.provide(services)))

    it.effect("that throw do not keep other callers from their answers", () =>
      Effect.gen(function*() {
        const actors = yield* makeActors(makeStore({ 1: 0 }))
        const gate = yield* Deferred.make<number, unknown>()
        actors.post(1, post("a", 1), () => {
          throw new Error("a bug of the caller")
        })
        actors.post(1, post("b", 1), (exit) => Deferred.doneUnsafe(gate, Exit.map(exit, ({ total }) => total)))
        assert.strictEqual(yield* Deferred.await(gate), 2)
      }).pipe(Effect.provide(services)))

    // Goal: a callback may post again, any number of times, over a synchronous store. Method: far more commands in a row
    // than the stack has room for, one key after the other.
    it.effect("may post further commands any number of times without a stack overflow", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0 })
        const actors = yield* makeActors(store)
        const last = yield* Deferred.make<number, unknown>()
        const next = (count: number): void =>
          actors.post(1 + count % 2, post(`r${count}`, 1), (exit) => {
            if (Exit.isFailure(exit) || count === 6000) {
              Deferred.doneUnsafe(last, Exit.map(exit, ({ total }) => total))
            } else next(count + 1)
          })
        next(1)
        assert.strictEqual(yield* Deferred.await(last), 3000)
      }).pipe(Effect.provide(services)))
  })

  describe("callers", () => {
    // Goal: a bug in a rule affects its own caller only. Method: it is between two sound commands of one group.
    it.effect("get a defect only if their own command throws", () =>
      Effect.gen(function*() {
        const { actors, gate } = yield* makeHeldActors({ 1: 0 })
        const broken: AccountStep = () => {
          throw new Error("a bug")
        }
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const before = yield* start(actors.ask(1, post("before", 1)))
        const bad = yield* start(actors.ask(1, broken))
        const after = yield* start(actors.ask(1, post("after", 1)))
        yield* gate.open
        yield* Fiber.join(first)
        assert.deepStrictEqual((yield* Fiber.joinAll([before, after])).map(({ total }) => total), [2, 3])
        const exit = yield* Fiber.await(bad)
        assert.isTrue(Exit.isFailure(exit) && Exit.findErrorOption(exit)._tag === "None", "a defect, not an error")
      }).pipe(Effect.provide(services)))

    // Goal: interrupting a caller does not undo its accepted command. Method: interrupt while the commit is held; the interruption
    // completes only when its command is done.
    it.effect("that are interrupted do not cancel their commands", () =>
      Effect.gen(function*() {
        const { actors, gate, store } = yield* makeHeldActors({ 1: 0 })
        const inCommit = yield* start(actors.ask(1, post("in commit", 1)))
        yield* gate.arrived
        const inMailbox = yield* start(actors.ask(1, post("in mailbox", 1)))
        const interrupting = yield* start(Effect.all([Fiber.interrupt(inCommit), Fiber.interrupt(inMailbox)]))
        yield* settle
        assert.isTrue(isWaiting(interrupting))
        yield* gate.open
        yield* Fiber.join(interrupting)
        assert.deepStrictEqual(store.accounts.get(1)?.state, { total: 2, receipts: ["in commit", "in mailbox"] })
      }).pipe(Effect.provide(services)))

    // Goal: a stopping service answers accepted commands. Method: close the scope while a commit is held and commands wait for
    // another one, which is held as well.
    it.effect("get their accepted commands answered when the scope closes, and new ones refused", () =>
      Effect.gen(function*() {
        const store = makeStore({ 1: 0, 2: 0 })
        const [gate, lastGate] = [makeGate(), makeGate()]
        store.behaviours.push(gate.behaviour, lastGate.behaviour)
        const scope = yield* Scope.make()
        const actors = yield* Scope.provide(makeActors(store), scope)
        const first = yield* start(actors.ask(1, post("first", 1)))
        yield* gate.arrived
        const waiting = yield* start(actors.ask(1, post("second", 1)))
        const closing = yield* start(Scope.close(scope, Exit.void))
        yield* settle
        assert.strictEqual((yield* Effect.flip(actors.ask(1, post("late", 1)))).toString(), "MailboxFull")
        yield* gate.open
        yield* lastGate.arrived
        yield* settle
        assert.isTrue(isWaiting(closing))
        yield* lastGate.open
        yield* Fiber.join(closing)
        assert.deepStrictEqual((yield* Fiber.joinAll([first, waiting])).map(({ total }) => total), [1, 2])
      }).pipe(Effect.provide(services)))
  })

  describe("ids", () => {
    // Goal: an id is allocated once, whatever the outcome of its commit. Method: many keys, more decisions than a block of ids
    // holds, many commits failing one way or another; all ids ever decided must differ, except within one
    // command that was decided again before any answer.
    it.effect("are never allocated twice", () =>
      Effect.gen(function*() {
        const keys = Array.from({ length: 20 }, (_, index) => index)
        const store = makeStore(Object.fromEntries(keys.map((key) => [key, 0])))
        const failures = [lostAnswer, unavailable, lostRequest]
        const actors = yield* makeActors(store)
        const askUntilDone = (key: number, name: string) =>
          actors.ask(key, post(name, 1)).pipe(Effect.catchTags({
            OutcomeUnknown: () => actors.ask(key, post(name, 1)),
            StoreUnavailable: () => actors.ask(key, post(name, 1))
          }))
        for (let turn = 0; turn < 300; turn++) {
          const failure = failures[turn % 7]
          if (failure !== undefined) store.behaviours.push(failure)
          yield* Effect.forEach(keys, (key) => askUntilDone(key, `${turn} ${key}`), { concurrency: "unbounded" })
        }
        const written = [...store.postings.values()].map(({ id }) => id)
        assert.strictEqual(written.length, 6000)
        const owners = new Map<number, string>()
        for (const units of store.commits) {
          for (const { changes, key } of units) {
            for (const { id, receipt } of changes) {
              const owner = `${key} ${receipt}`
              assert.strictEqual(owners.get(id) ?? owner, owner, `id ${id} went to two commands`)
              owners.set(id, owner)
            }
          }
        }
        assert.strictEqual(new Set(written).size, written.length)
      }).pipe(Effect.provide(services)))

    // Goal: commands without ids in memory wait for one shared refill. Method: refills held by the test;
    // many keys at once.
    it.effect("that have run out are refilled once for all waiting commands", () =>
      Effect.gen(function*() {
        const keys = Array.from({ length: 200 }, (_, index) => index)
        const [mayRefill, filled] = [yield* Latch.make(), Ids.ofBlocks(() => 1000)]
        let refills = 0
        let isFull = false
        const refill = yield* Effect.cached(
          Effect.andThen(Effect.sync(() => void refills++), mayRefill.await).pipe(
            Effect.andThen(Effect.sync(() => {
              isFull = true
            }))
          )
        )
        const slowIds = Layer.succeed(Ids, {
          ...filled,
          refill,
          peek: (count) => isFull ? filled.peek(count) : undefined
        })
        const actors = yield* makeActors(makeStore(Object.fromEntries(keys.map((key) => [key, 0])))).pipe(
          Effect.provide(Layer.merge(slowIds, Placement.layerHere))
        )
        const first = yield* Effect.forEach(keys, (key) => start(actors.ask(key, post(`first ${key}`, 1))))
        yield* settle
        assert.strictEqual(refills, 1)
        yield* mayRefill.open
        const replies = yield* Fiber.joinAll(first)
        assert.strictEqual(new Set(replies.map(({ id }) => id)).size, keys.length)
      }).pipe(Effect.scoped))
  })

  // Goal: passivation does not delay commands. Method: more idle actors than a slice holds; a command sent during
  // passivation is answered before it is done.
  it.effect("passivates idle actors in slices, and answers commands in between", () =>
    Effect.gen(function*() {
      const keys = Array.from({ length: 2000 }, (_, index) => index)
      let rested = 0
      const store = makeStore(Object.fromEntries(keys.map((key) => [key, 0])))
      const actors = yield* makeActors(store, {
        maxResident: 5000,
        compact: (account) => {
          rested++
          return account
        }
      })
      yield* Effect.forEach(keys, (key) => actors.read(key), { concurrency: "unbounded" })
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.strictEqual(rested, 0)
      const passivating = yield* start(TestClock.adjust("1 minute"))
      yield* actors.ask(0, post("between", 1))
      assert.isBelow(rested, 1500)
      yield* Fiber.join(passivating)
      yield* settle
      assert.isAtLeast(rested, 1999)
    }).pipe(Effect.provide(services)))
})

/** A read-only step. */
const read: AccountStep<number, never> = (account) => ({
  _tag: "Accept",
  state: account,
  reply: account.total,
  change: null,
  idsUsed: 0
})
