/** One cycle: new players, journalists at work, a fault, some more work, and then everything compared. */
import { Effect, Fiber, Schema } from "effect"
import { LedgerAudit } from "../../../src/features/ledger/LedgerAudit.ts"
import { audit, type Beginning } from "../../kit/E2eAudit.ts"
import { patiently } from "../../kit/E2eHttp.ts"
import { type Diary, type Letter, Notebook } from "../../kit/E2eJournal.ts"
import { deliver, playAll, replayAll, settleAll, until, whilePlaying } from "../../kit/E2eJournalist.ts"
import { makeWriter } from "../../kit/E2eLetters.ts"
import { type Chance, chanceOf } from "../../kit/E2eRandom.ts"
import { dataOf, seat } from "../../kit/E2eWorld.ts"
import { type FaultKind, strike } from "./Faults.ts"
import { checkHistories } from "./History.ts"
import type { World } from "./World.ts"

export interface CyclePlan {
  readonly seed: number
  readonly number: number
  /** Undefined: nothing happens. */
  readonly kind: FaultKind | undefined
  readonly isShort: boolean
}

export interface CycleOutcome {
  readonly number: number
  readonly kind: FaultKind | undefined
  /** Messages sent, those that lost their answer, and those that were told to try again. */
  readonly sent: number
  readonly lost: number
  readonly triedAgain: number
  /** Letters nobody had answered when the work was over. */
  readonly settledLate: number
  /** What happened once and for all: rows that were compared with the notes. */
  readonly effects: number
  /** Operations that were put into an order. */
  readonly ordered: number
  readonly complaints: ReadonlyArray<string>
  /** The lines of the journal that are concerned. */
  readonly concerned: ReadonlyArray<string>
}

/** A cycle that is over, and what its books are compared with again when somebody has changed them. */
export interface Cycle {
  readonly outcome: CycleOutcome
  readonly notebook: Notebook
  readonly beginning: Beginning
}

const players = 4
const journalists = 8

/** How many answers there are after a fault before it is over, and in a cycle without one. */
const answersAfter = { short: 40, long: 80 }
const answersWithout = 400

/** The lines of a cycle, besides where they are kept. */
const listening = (diary: Diary, cycle: number) => {
  const lines: Array<string> = []
  return {
    lines,
    write: (line: { readonly [field: string]: unknown }) => {
      const whole = { cycle, ms: Math.round(performance.now()), ...line }
      lines.push(JSON.stringify(whole))
      diary.write(whole)
    }
  }
}

/** The lines that name one of these letters by number. */
const linesOf = (lines: ReadonlyArray<string>, notebook: Notebook, letters: ReadonlySet<Letter>) => {
  const numbers = new Set([...letters].map((letter) => notebook.letters.indexOf(letter) + 1))
  return lines.filter((line) => numbers.has(Number(/"letter":(\d+)/.exec(line)?.[1])))
}

const stream = ({ number, seed }: CyclePlan, index: number): Chance => chanceOf(seed, number * 64 + index)

export const runCycle = Effect.fnUntraced(function*(world: World, plan: CyclePlan) {
  const { kind, number } = plan
  const { game, line } = world
  const [operator, provider] = [patiently(world.operator), patiently(world.provider)]
  const chance = stream(plan, 0)
  const diary = listening(world.folder, number)
  diary.write({ what: "cycle", seed: plan.seed, kind })
  const seats = yield* Effect.forEach(
    Array.from({ length: players }, (_, index) => `c${number}p${index}`),
    (username) => seat(operator, provider, game, { username, balance: chance.pick([500, 20_000, 1_000_000]) }),
    { concurrency: players }
  )
  const balanceOf = Effect.fnUntraced(function*(playerId: number) {
    const reply = yield* operator.get(`/api/v1/operator/players/${playerId}/wallet`)
    return (yield* dataOf(reply, 200, Schema.Struct({ balance: Schema.Int }))).balance
  })
  const beginnings = new Map(
    yield* Effect.forEach(
      seats,
      ({ playerId }) => Effect.map(balanceOf(playerId), (balance) => [playerId, { balance, walletSeq: 1 }] as const)
    )
  )

  const notebook = new Notebook(diary)
  let isOver = false
  const playing = yield* playAll(journalists, {
    prefix: `c${number}`,
    notebook,
    seats,
    lines: [line],
    atOnce: { most: 5, share: 0.25 },
    chanceOf: (index) => stream(plan, index),
    isOver: () => isOver
  })
  if (kind !== undefined) {
    yield* whilePlaying(playing, strike(kind, { world, notebook, chance, isShort: plan.isShort }))
  }
  const before = notebook.answers
  const more = kind === undefined ? answersWithout : answersAfter[plan.isShort ? "short" : "long"]
  yield* until(() => notebook.answers >= before + more, playing)
  isOver = true
  yield* Fiber.join(playing)

  const settledLate = yield* settleAll(notebook, line)
  const writer = makeWriter(`c${number}end`)
  for (const at of seats) {
    for (const who of ["operator", "provider"] as const) {
      const look = writer.look(at, who)
      notebook.open(look)
      yield* deliver(notebook, look, line)
    }
  }

  const beginning = {
    references: new Set(seats.map((_, index) => `first-c${number}p${index}`)),
    players: seats.map(({ playerId }) => playerId)
  }
  const found = yield* audit(notebook, beginning)
  const complaints = [...found.complaints]
  for (const { playerId } of seats) {
    const [told, kept] = [yield* balanceOf(playerId), found.balances.get(playerId)]
    if (told !== kept) complaints.push(`player ${playerId}: has ${kept}, is told ${told}`)
  }
  yield* replayAll(notebook, line)
  const again = yield* audit(notebook, beginning)
  for (const complaint of again.complaints) {
    if (!complaints.includes(complaint)) complaints.push(`after everything was sent again: ${complaint}`)
  }
  if (again.entries !== found.entries) complaints.push("what was sent again happened again")
  const { violations } = yield* Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined))
  for (const { message, rule, subject } of violations) complaints.push(`${rule}: ${subject}: ${message}`)
  const histories = checkHistories(notebook, beginnings)
  complaints.push(...histories.complaints)

  const named = notebook.letters.filter(({ notes }) =>
    notes.some(({ wanted }) => complaints.some((complaint) => complaint.split(/[\s:]/).includes(wanted.id)))
  )
  const outcome: CycleOutcome = {
    number,
    kind,
    sent: notebook.operations.length,
    lost: notebook.lost,
    triedAgain: notebook.triedAgain,
    settledLate,
    effects: found.entries + found.transactions + found.payments,
    ordered: histories.operations,
    complaints,
    concerned: linesOf(diary.lines, notebook, new Set([...named, ...histories.letters]))
  }
  return { outcome, notebook, beginning } satisfies Cycle
})
