import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Step } from "../../src/domain/state/Decision.ts"
import { depositStep, type PaymentOutcome } from "../../src/domain/payment/Payments.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { type Action, settle, type Settlement } from "../../src/domain/settlement/Settlement.ts"
import { OutcomeUnknown, type Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import { Placement } from "../../src/engine/Placement.ts"
import { Ids } from "../../src/platform/Ids.ts"
import * as MemoryPlayerStore from "../kit/MemoryPlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { checkLedger } from "../kit/RuleRunner.ts"
import { bet, makePlayer, noon, rollback, win } from "../kit/Messages.ts"

/** A repeatable random sequence. */
const makeChances = (seed: number) => {
  let state = seed + 1
  return (): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

/** Another service over the same store, with ids of its own. */
const makeService = (store: MemoryPlayerStore.MemoryPlayerStore, firstId: number) =>
  Layer.build(
    PlayerActors.layerOver(Effect.succeed(store), { idleMinutes: 1 }).pipe(
      Layer.provide([Ids.layerTest(firstId), Placement.layerHere]),
      Layer.fresh
    )
  ).pipe(Effect.map((context) => Context.get(context, PlayerActors)))

const unavailable = Effect.fail(new StoreUnavailable({ reason: "away" }))
const unknown = Effect.fail(new OutcomeUnknown({ reason: "cut off" }))

/**
 * Faults of a store, at these probabilities: operations that fail, commits with unknown outcome,
 * and commits that take effect long after their caller has given up.
 */
const makeFaults = (chance: () => number) => {
  const late: Array<Effect.Effect<void, Rejected>> = []
  const faults = { failed: 0, lost: 0, late: 0 }
  const linger = Effect.suspend(() =>
    Effect.forEach(Array.from({ length: Math.floor(chance() * 4) }), () => Effect.yieldNow, { discard: true })
  )
  const readFault = <A>(run: Effect.Effect<A>): Effect.Effect<A, StoreUnavailable> =>
    Effect.andThen(
      linger,
      Effect.suspend((): Effect.Effect<A, StoreUnavailable> => chance() < 0.06 ? unavailable : run)
    )
  const around: MemoryPlayerStore.Around = {
    load: readFault,
    lookUp: readFault,
    examine: readFault,
    commit: (run) =>
      Effect.gen(function*() {
        yield* linger
        const arriving = chance() < 0.5 ? late.shift() : undefined
        if (arriving !== undefined) yield* Effect.ignore(arriving)
        const draw = chance()
        if (draw < 0.1) {
          faults.failed++
          return yield* unavailable
        }
        if (draw < 0.2) {
          faults.late++
          late.push(run)
          return yield* unknown
        }
        yield* run
        yield* linger
        if (draw < 0.3) {
          faults.lost++
          return yield* unknown
        }
      })
  }
  return { around, faults, late }
}

describe("PlayerActors", () => {
  it.effect("does not find a player of another operator", () =>
    Effect.gen(function*() {
      const store = MemoryPlayerStore.make()
      yield* store.add(makePlayer())
      const actors = yield* makeService(store, 1000)
      const step: Step<number, never> = (player) => ({
        _tag: "Accept",
        state: player,
        reply: player.real,
        change: null,
        idsUsed: 0
      })
      assert.strictEqual(yield* actors.ask(1, 1, step), 1000)
      assert.strictEqual(yield* actors.ask(null, 1, step), 1000)
      assert.strictEqual((yield* actors.read(1, 1)).real, 1000)
      for (const asking of [actors.ask(2, 1, step), actors.read(2, 1), actors.ask(1, 9, step), actors.read(null, 9)]) {
        assert.strictEqual((yield* Effect.flip<number | object, Refusal, never>(asking)).code, "NOT_FOUND")
      }
    }))

  it.effect("answers TRY_AGAIN to transient failures", () =>
    Effect.gen(function*() {
      for (const fault of [unavailable, unknown]) {
        const store = MemoryPlayerStore.make({ commit: () => fault })
        yield* store.add(makePlayer())
        const actors = yield* makeService(store, 1000)
        const refusal = yield* Effect.flip(
          actors.ask(1, 1, (player, context) => settle(player, bet("b", 1), context))
        )
        assert.deepInclude(refusal, { code: "TRY_AGAIN", details: { retry: "same_request" } })
      }
    }))

  const isRefusal = (answer: object): answer is Refusal => "_tag" in answer && answer._tag === "Refusal"

  /** Six players, a store with every fault, and clients that repeat each message until it is answered. */
  const makeCasino = Effect.fnUntraced(function*(seed: number) {
    yield* TestClock.setTime(noon)
    const chance = makeChances(seed)
    const { around, faults, late } = makeFaults(chance)
    const store = MemoryPlayerStore.make(around)
    const players = [1, 2, 3, 4, 5, 6].map((id) => makePlayer({ id }))
    for (const player of players) yield* store.add(player)
    let repeats = 0

    /** Sends until answered: the reply or the refusal. `service` selects the service of each attempt. */
    const insist = <Reply, Error extends Refusal>(
      service: () => PlayerActors["Service"],
      playerId: number,
      step: Step<Reply, Error>
    ): Effect.Effect<Reply | Refusal> =>
      Effect.suspend(() => service().ask(1, playerId, step)).pipe(
        Effect.catch((refusal): Effect.Effect<Reply | Refusal> => {
          if (refusal.code !== "TRY_AGAIN") return Effect.succeed(refusal)
          repeats++
          assert.isBelow(repeats, 50_000, "nothing comes to an end")
          return Effect.andThen(Effect.yieldNow, insist(service, playerId, step))
        })
      )

    /** Sends a message from three fibers at once. */
    const send = (service: () => PlayerActors["Service"], playerId: number, action: Action) => {
      const step: Step<Settlement> = (player, context) => settle(player, action, context)
      return Effect.map(
        Effect.all([1, 2, 3].map(() => insist(service, playerId, step)), { concurrency: "unbounded" }),
        (answers) => {
          const processed = answers.filter((answer) => !isRefusal(answer) && answer.status === "processed")
          assert.isAtMost(processed.length, 1, "what is done is done once")
          return answers.map((answer) =>
            isRefusal(answer) ? answer.code : `${answer.entryIds.join()} ${answer.realAmount}`
          )
        }
      )
    }

    /** Advances time, so that actors come and go, until all rounds have been played. */
    const playOut = Effect.fnUntraced(
      function*<A, E>(playing: Fiber.Fiber<A, E>, meanwhile: Effect.Effect<void> = Effect.void) {
        while (playing.pollUnsafe() === undefined) {
          yield* TestClock.adjust("1 minute")
          yield* meanwhile
          for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
        }
        const played = yield* Fiber.join(playing)
        // operations that still arrive are too late
        for (const run of late.splice(0)) yield* Effect.ignore(run)
        assert.isTrue(Object.values(faults).every((count) => count > 0), `faults: ${JSON.stringify(faults)}`)
        assert.isAbove(repeats, 0)
        checkLedger(store, players)
        return played
      }
    )

    return { chance, insist, late, players, playOut, send, store }
  })

  const rounds = Array.from({ length: 24 }, (_, number) => number)

  const depositOf = (amount: number, externalReference: string) =>
    depositStep({ amount, externalReference, methodCode: null, method: null, info: null, notes: null })

  // Goal: under any repetition of messages and any fault, everything happens once.
  // Method: two dozen rounds of each of six players, two at a time. Every message goes out three times at once, and each is repeated
  // until it is answered. The store fails, loses answers and commits late; actors leave memory, and the service is started anew.
  // In the end all answers to one message agree, and balances match plain arithmetic.
  for (const seed of [1, 2, 3]) {
    it.effect(`settles every message exactly once despite store failures (${seed})`, () =>
      Effect.gen(function*() {
        const { chance, insist, late, players, playOut, send, store } = yield* makeCasino(seed)
        let firstId = 1000
        const start = Effect.gen(function*() {
          const scope = yield* Scope.fork(yield* Effect.scope)
          const actors = yield* Scope.provide(makeService(store, firstId), scope)
          firstId += 1_000_000
          return { scope, actors }
        })
        let running = yield* start
        const service = () => running.actors

        /** Stops the service and starts another one; operations pending in the store are done by then, or never. */
        const restart = Effect.gen(function*() {
          // at least once, however few turns it all takes
          if (firstId > 2_000_000 && chance() > 0.2) return
          yield* Scope.close(running.scope, Exit.void)
          late.length = 0
          running = yield* start
        })

        const sendAlike = Effect.fnUntraced(function*(playerId: number, action: Action) {
          const told = yield* send(service, playerId, action)
          assert.strictEqual(new Set(told).size, 1, `${JSON.stringify(action)} was answered ${told.join(" | ")}`)
          return told[0] ?? ""
        })

        /** Effect of a round: changes of the balance and of the wallet sequence. */
        const playRound = Effect.fnUntraced(function*(playerId: number, number: number) {
          const id = `${playerId}.${number}`
          const own = { roundId: id }
          const stake = bet(`b${id}`, 10, own)
          switch (number % 4) {
            case 0: {
              yield* sendAlike(playerId, stake)
              yield* sendAlike(playerId, win(`w${id}`, `b${id}`, 25, { ...own, closesRound: true }))
              return { real: 15, steps: 2 }
            }
            case 1: {
              yield* sendAlike(playerId, stake)
              yield* sendAlike(playerId, win(`w${id}`, `b${id}`, 25, own))
              yield* sendAlike(playerId, rollback(`kw${id}`, `w${id}`))
              yield* sendAlike(playerId, rollback(`kb${id}`, `b${id}`))
              return { real: 0, steps: 4 }
            }
            case 2: {
              // the rollback overtakes its bet, or does not
              const [told] = yield* Effect.all(
                [sendAlike(playerId, stake), sendAlike(playerId, rollback(`kb${id}`, `b${id}`))],
                { concurrency: "unbounded" }
              )
              return { real: 0, steps: told === "BET_ROLLED_BACK" ? 0 : 2 }
            }
            default: {
              const answers = yield* Effect.all(
                [1, 2, 3].map(() => insist<PaymentOutcome, Refusal>(service, playerId, depositOf(7, id))),
                { concurrency: "unbounded" }
              )
              const paid = answers.map((answer) => isRefusal(answer) ? assert.fail(answer.code) : answer.payment.id)
              assert.strictEqual(new Set(paid).size, 1)
              return { real: 7, steps: 1 }
            }
          }
        })

        const expected = yield* playOut(
          yield* Effect.forkChild(Effect.forEach(
            players,
            ({ id }) =>
              Effect.map(Effect.forEach(rounds, (number) => playRound(id, number), { concurrency: 2 }), (played) => ({
                id,
                real: played.reduce((sum, { real }) => sum + real, 1000),
                walletSeq: played.reduce((sum, { steps }) => sum + steps, 0)
              })),
            { concurrency: "unbounded" }
          )),
          restart.pipe(Effect.provideService(Scope.Scope, yield* Effect.scope))
        )
        assert.isAbove(firstId, 2_000_000, "the service was started anew")
        const stored = store.tables().players
        assert.deepStrictEqual(
          expected.map(({ id }) => {
            const state = stored.get(id)?.state
            return { id, real: state?.real, walletSeq: state?.walletSeq }
          }),
          expected
        )
      }))
  }

  // Goal: two services that both believe that they own a player do not corrupt the ledger: every effect is written once, by
  // the faster one. (Refusals of such a service may be stale; hence the single owner of a player.)
  // Method: as above, each message to either service at random. Accepted messages are then added up.
  for (const seed of [4, 5]) {
    it.effect(`writes every message at most once, even with two services (${seed})`, () =>
      Effect.gen(function*() {
        const { chance, insist, players, playOut, send, store } = yield* makeCasino(seed)
        const services = [yield* makeService(store, 1000), yield* makeService(store, 1_000_000)]
        const service = () => services[Math.floor(chance() * services.length)] ?? assert.fail("there are two services")
        const playRound = Effect.fnUntraced(function*(playerId: number, number: number) {
          const id = `${playerId}.${number}`
          const own = { roundId: id }
          const messages = [
            bet(`b${id}`, 10, own),
            win(`w${id}`, `b${id}`, 25, own),
            rollback(`kw${id}`, `w${id}`),
            rollback(`kb${id}`, `b${id}`)
          ]
          for (const message of messages.slice(0, 1 + number % 4)) {
            const accepted = (yield* send(service, playerId, message)).filter((told) => !/^[A-Z]/.test(told))
            assert.isAtMost(new Set(accepted).size, 1, accepted.join(" | "))
          }
          yield* insist(service, playerId, depositOf(7, id))
        })
        yield* playOut(
          yield* Effect.forkChild(Effect.forEach(
            players,
            ({ id }) => Effect.forEach(rounds, (number) => playRound(id, number), { concurrency: 2, discard: true }),
            { concurrency: "unbounded", discard: true }
          ))
        )
        const { payments, players: stored, transactions } = store.tables()
        assert.strictEqual(payments.length, players.length * rounds.length)
        for (const { id } of players) {
          const own = transactions.filter(({ playerId }) => playerId === id)
          const real = own.reduce((sum, { realAmount }) => sum + realAmount, 1000 + 7 * rounds.length)
          assert.strictEqual(stored.get(id)?.state.real, real)
          assert.strictEqual(own.filter(({ kind }) => kind === "bet").length, rounds.length)
        }
      }))
  }
})
