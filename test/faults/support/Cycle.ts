/** One cycle: new players, load, a fault, more load, and then the comparison. */
import { Effect, Fiber, Schema } from "effect"
import { LedgerAudit } from "../../../src/features/ledger/LedgerAudit.ts"
import { exceptAddedStaff } from "../../kit/Keys.ts"
import { audit, type Beginning } from "../../kit/HistoryAudit.ts"
import { dataAs, seat } from "../../kit/Casino.ts"
import { patiently } from "../../kit/HttpCalls.ts"
import { type HistoryLog, type Operation, History } from "../../kit/History.ts"
import { deliver, playAll, replayAll, settleAll, until, whilePlaying } from "../../kit/Client.ts"
import { makeOperations } from "../../kit/Operations.ts"
import { type Chance, chanceOf } from "../../kit/Chance.ts"
import { type FaultKind, strike } from "./Faults.ts"
import { checkHistories } from "./PlayerHistories.ts"
import type { World } from "./World.ts"

export interface CyclePlan {
  readonly seed: number
  readonly number: number
  /** Undefined: no fault. */
  readonly kind: FaultKind | undefined
  readonly isShort: boolean
}

export interface CycleOutcome {
  readonly number: number
  readonly kind: FaultKind | undefined
  /** Messages sent, those without an answer, and those answered with TRY_AGAIN. */
  readonly sent: number
  readonly lost: number
  readonly triedAgain: number
  /** Operations still unanswered at the end of the load. */
  readonly settledLate: number
  /** Rows compared with the intents. */
  readonly effects: number
  /** Operations put into a linear order. */
  readonly ordered: number
  readonly violations: ReadonlyArray<string>
  /** Journal lines of the operations concerned. */
  readonly concerned: ReadonlyArray<string>
}

/** A finished cycle, which can be compared again after a test has changed its tables. */
export interface Cycle {
  readonly outcome: CycleOutcome
  readonly history: History
  readonly beginning: Beginning
}

const players = 4
const clients = 8

/** Number of answers after a fault before the cycle ends, and in a cycle without one. */
const answersAfter = { short: 40, long: 80 }
const answersWithout = 400

/** Collects the lines of a cycle besides the log. */
const listening = (log: HistoryLog, cycle: number) => {
  const lines: Array<string> = []
  return {
    lines,
    write: (line: { readonly [field: string]: unknown }) => {
      const whole = { cycle, ms: Math.round(performance.now()), ...line }
      lines.push(JSON.stringify(whole))
      log.write(whole)
    }
  }
}

/** Lines of these operations, by number. */
const linesOf = (lines: ReadonlyArray<string>, history: History, operations: ReadonlySet<Operation>) => {
  const numbers = new Set([...operations].map((operation) => history.operations.indexOf(operation) + 1))
  return lines.filter((line) => numbers.has(Number(/"operation":(\d+)/.exec(line)?.[1])))
}

const stream = ({ number, seed }: CyclePlan, index: number): Chance => chanceOf(seed, number * 64 + index)

export const runCycle = Effect.fnUntraced(function*(world: World, plan: CyclePlan) {
  const { kind, number } = plan
  const { game, line } = world
  const [operator, provider] = [patiently(world.operator), patiently(world.provider)]
  const chance = stream(plan, 0)
  const log = listening(world.folder, number)
  log.write({ what: "cycle", seed: plan.seed, kind })
  const seats = yield* Effect.forEach(
    Array.from({ length: players }, (_, index) => `c${number}p${index}`),
    (username) => seat(operator, provider, game, { username, balance: chance.pick([500, 20_000, 1_000_000]) }),
    { concurrency: players }
  )
  const balanceOf = Effect.fnUntraced(function*(playerId: number) {
    const reply = yield* operator.get(`/api/v1/operator/players/${playerId}/wallet`)
    return (yield* dataAs(reply, 200, Schema.Struct({ balance: Schema.Int }))).balance
  })
  const beginnings = new Map(
    yield* Effect.forEach(
      seats,
      ({ playerId }) => Effect.map(balanceOf(playerId), (balance) => [playerId, { balance, walletSeq: 1 }] as const)
    )
  )

  const history = new History(log)
  let isOver = false
  const playing = yield* playAll(clients, {
    prefix: `c${number}`,
    history,
    seats,
    lines: [line],
    atOnce: { max: 5, share: 0.25 },
    chanceOf: (index) => stream(plan, index),
    isOver: () => isOver
  })
  if (kind !== undefined) {
    yield* whilePlaying(playing, strike(kind, { world, history, chance, isShort: plan.isShort }))
  }
  const before = history.answers
  const more = kind === undefined ? answersWithout : answersAfter[plan.isShort ? "short" : "long"]
  yield* until(() => history.answers >= before + more, playing)
  isOver = true
  yield* Fiber.join(playing)

  const settledLate = yield* settleAll(history, line)
  const make = makeOperations(`c${number}end`)
  for (const at of seats) {
    for (const who of ["operator", "provider"] as const) {
      const look = make.look(at, who)
      history.open(look)
      yield* deliver(history, look, line)
    }
  }

  const beginning = {
    references: new Set(seats.map((_, index) => `first-c${number}p${index}`)),
    players: seats.map(({ playerId }) => playerId)
  }
  const found = yield* audit(history, beginning)
  const violations = [...found.violations]
  for (const { playerId } of seats) {
    const [told, kept] = [yield* balanceOf(playerId), found.balances.get(playerId)]
    if (told !== kept) violations.push(`player ${playerId}: has ${kept}, is told ${told}`)
  }
  yield* replayAll(history, line)
  const again = yield* audit(history, beginning)
  for (const violation of again.violations) {
    if (!violations.includes(violation)) violations.push(`after everything was sent again: ${violation}`)
  }
  if (again.entries !== found.entries) violations.push("what was sent again happened again")
  const { violations: broken } = yield* Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined))
  for (const { message, rule, subject } of exceptAddedStaff(broken)) violations.push(`${rule}: ${subject}: ${message}`)
  const histories = checkHistories(history, beginnings)
  violations.push(...histories.violations)

  const named = history.operations.filter(({ intents }) =>
    intents.some(({ command }) => violations.some((violation) => violation.split(/[\s:]/).includes(command.id)))
  )
  const outcome: CycleOutcome = {
    number,
    kind,
    sent: history.attempts.length,
    lost: history.lost,
    triedAgain: history.triedAgain,
    settledLate,
    effects: found.entries + found.transactions + found.payments,
    ordered: histories.checked,
    violations,
    concerned: linesOf(log.lines, history, new Set([...named, ...histories.operations]))
  }
  return { outcome, history, beginning } satisfies Cycle
})
