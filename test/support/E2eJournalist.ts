/**
 * Journalists: callers from outside who write down what they want before they ask for it, ask again until they hear, write down
 * what they heard, and in the end compare the books (`E2eAudit.ts`).
 */
import { Effect, Schedule, Schema } from "effect"
import type { Caller } from "./E2eHttp.ts"
import type { Chance } from "./E2eRandom.ts"
import { dataOf, Payment, type Seat, Settled } from "./E2eWorld.ts"
import type { Reply } from "./HttpCalls.ts"

/** One thing that is to happen once or not at all. `id` is the transaction id, or the external reference of a deposit. */
export type Wanted =
  | { readonly kind: "bet"; readonly id: string; readonly amount: number; readonly roundId: string }
  | {
    readonly kind: "win"
    readonly id: string
    readonly amount: number
    readonly roundId: string
    readonly betId: string
  }
  | { readonly kind: "rollback"; readonly id: string; readonly targetId: string }
  | { readonly kind: "promo_win"; readonly id: string; readonly amount: number }
  | { readonly kind: "deposit"; readonly id: string; readonly amount: number; readonly key: string | undefined }

/** What was heard. */
export type Heard =
  | { readonly _tag: "Settled"; readonly answer: Settled }
  | { readonly _tag: "Paid"; readonly paymentId: number; readonly isNew: boolean }
  | { readonly _tag: "Refused"; readonly code: string }

export interface Note {
  readonly wanted: Wanted
  readonly seat: Seat
  /** What moves the wallet sequence by one: a bet and its win in one message share it. */
  readonly action: string
  /** Every answer; none when nobody ever answered. */
  readonly heard: Array<Heard>
}

/** A message: what it wants, and how it is sent. */
export interface Letter {
  readonly to: "operator" | "provider"
  readonly path: string
  readonly body: (attempt: number) => { readonly [field: string]: unknown }
  readonly headers: { readonly [name: string]: string }
  readonly notes: ReadonlyArray<Note>
  /** The refusals it may meet. */
  readonly refusals: ReadonlyArray<string>
  /** One settlement for all notes, or one for each. */
  readonly form: "payment" | "settlement" | "batch"
}

/** A way to the service. */
export interface Line {
  readonly operator: Caller
  readonly provider: Caller
}

export class Notebook {
  readonly notes: Array<Note> = []
  readonly letters: Array<Letter> = []
  /** Answers that nobody should ever get. */
  readonly surprises: Array<string> = []
  answers = 0
  lost = 0
  triedAgain = 0
  abandoned = 0
  waiting = 0
  /** Called when something is sent or answered. */
  onEvent: () => void = () => {}

  open(letter: Letter): void {
    this.letters.push(letter)
    this.notes.push(...letter.notes)
  }
}

const Batch = Schema.Struct({ results: Schema.Array(Settled) })

const isPassing = ({ code, status }: Reply): boolean => status === 503 || code === "IDEMPOTENCY_IN_PROGRESS"

/** Writes down an answer to a letter, or that it is none that could have been expected. */
const write = Effect.fnUntraced(function*(notebook: Notebook, letter: Letter, reply: Reply) {
  const surprise = (what: string) => Effect.sync(() => void notebook.surprises.push(`${letter.path}: ${what}`))
  if (reply.status >= 400) {
    const { code = "" } = reply
    if (!letter.refusals.includes(code)) return yield* surprise(`${reply.status} ${reply.text}`)
    for (const note of letter.notes) note.heard.push({ _tag: "Refused", code })
    return
  }
  switch (letter.form) {
    case "payment": {
      const payment = yield* dataOf(reply, reply.status === 200 ? 200 : 201, Payment)
      const isNew = reply.status === 201 && reply.headers["idempotent-replayed"] === undefined
      for (const note of letter.notes) note.heard.push({ _tag: "Paid", paymentId: payment.id, isNew })
      return
    }
    case "settlement": {
      const answer = yield* dataOf(reply, 200, Settled)
      for (const note of letter.notes) note.heard.push({ _tag: "Settled", answer })
      return
    }
    case "batch": {
      const { results } = yield* dataOf(reply, 200, Batch)
      if (results.length !== letter.notes.length) return yield* surprise(reply.text)
      for (const [index, answer] of results.entries()) letter.notes[index]?.heard.push({ _tag: "Settled", answer })
    }
  }
}, Effect.catchTag("Unexpected", (error) => Effect.die(error)))

/** Leaves a service that starts again, or two that compete, the time to do so. */
const pause = Effect.sleep("30 millis")

/** Stops a test that would never end; the longest outage of any test is a small part of it. */
const mostAttempts = 5000

/**
 * Sends a letter until it is answered, or, when the connection broke and `givesUp` says so, no more. Gives whether it was
 * answered.
 */
export const deliver = Effect.fnUntraced(function*(
  notebook: Notebook,
  letter: Letter,
  line: Line,
  givesUp: () => boolean = () => false
) {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    notebook.waiting++
    notebook.onEvent()
    const exit = yield* Effect.result(line[letter.to].post(letter.path, letter.body(attempt), letter.headers))
    notebook.waiting--
    if (exit._tag === "Failure") {
      notebook.lost++
      if (exit.failure.isSilence) notebook.surprises.push(`${exit.failure.message}: ${exit.failure.reason}`)
      if (givesUp()) {
        notebook.abandoned++
        return false
      }
    } else if (isPassing(exit.success)) {
      notebook.triedAgain++
    } else {
      notebook.answers++
      yield* write(notebook, letter, exit.success)
      notebook.onEvent()
      return true
    }
    yield* pause
  }
  notebook.surprises.push(`${letter.path}: never answered`)
  return false
})

const walletPath = "/api/v1/provider/wallet"

const betBody = (seat: Seat, wanted: Extract<Wanted, { readonly kind: "bet" }>) => ({
  transaction_id: wanted.id,
  session_token: seat.token,
  game_id: seat.game.externalId,
  round_id: wanted.roundId,
  amount: wanted.amount,
  currency: "EUR"
})

const winBody = (seat: Seat, wanted: Extract<Wanted, { readonly kind: "win" }>) => ({
  transaction_id: wanted.id,
  player_ref: seat.ref,
  game_id: seat.game.externalId,
  round_id: wanted.roundId,
  bet_transaction_id: wanted.betId,
  amount: wanted.amount,
  currency: "EUR"
})

const rollbackBody = (seat: Seat, wanted: Extract<Wanted, { readonly kind: "rollback" }>) => ({
  transaction_id: wanted.id,
  player_ref: seat.ref,
  target_transaction_id: wanted.targetId
})

/** A note on something that a message of its own is sent for. */
const note = (seat: Seat, wanted: Wanted, action = wanted.id): Note => ({ wanted, seat, action, heard: [] })

const toProvider = (
  path: string,
  notes: ReadonlyArray<Note>,
  body: { readonly [field: string]: unknown },
  refusals: ReadonlyArray<string>,
  form: Letter["form"] = "settlement"
): Letter => ({
  to: "provider",
  path: `${walletPath}/${path}`,
  body: (attempt) => ({ request_id: `${notes[0]?.wanted.id ?? ""}-${attempt}`, ...body }),
  headers: {},
  notes,
  refusals,
  form
})

/** The letters of one journalist, who names things after itself. */
export const makeWriter = (name: string) => {
  let names = 0
  const fresh = (what: string): string => `${name}-${what}${++names}`
  const bet = (
    seat: Seat,
    amount: number,
    refusals: ReadonlyArray<string>,
    id = fresh("bet"),
    roundId = fresh("round")
  ) => {
    const wanted = { kind: "bet", id, amount, roundId } as const
    return toProvider("bet", [note(seat, wanted)], betBody(seat, wanted), refusals)
  }
  return {
    fresh,
    bet,
    win: (placed: Note, amount: number) => {
      const { id: betId, roundId } = betOf(placed)
      const wanted = { kind: "win", id: fresh("win"), amount, roundId, betId } as const
      return toProvider("win", [note(placed.seat, wanted)], winBody(placed.seat, wanted), [])
    },
    betWin: (seat: Seat, amount: number, paid: number) => {
      const placed = { kind: "bet", id: fresh("bet"), amount, roundId: fresh("round") } as const
      const won = { kind: "win", id: fresh("win"), amount: paid, roundId: placed.roundId, betId: placed.id } as const
      return toProvider(
        "bet-win",
        [note(seat, placed), note(seat, won, placed.id)],
        { ...betBody(seat, placed), win: { transaction_id: won.id, amount: paid } },
        ["INSUFFICIENT_FUNDS"]
      )
    },
    rollback: (seat: Seat, targetId: string, refusals: ReadonlyArray<string> = []) => {
      const wanted = { kind: "rollback", id: fresh("rollback"), targetId } as const
      return toProvider("rollback", [note(seat, wanted)], rollbackBody(seat, wanted), refusals)
    },
    promoWin: (seat: Seat, amount: number) => {
      const wanted = { kind: "promo_win", id: fresh("promo"), amount } as const
      const body = {
        transaction_id: wanted.id,
        player_ref: seat.ref,
        amount,
        currency: "EUR",
        kind: "jackpot",
        campaign_id: "friday"
      }
      return toProvider("promo-win", [note(seat, wanted)], body, [])
    },
    /** Two bets on one round and a win on the first. */
    batch: (seat: Seat, amount: number, paid: number) => {
      const roundId = fresh("round")
      const first = { kind: "bet", id: fresh("bet"), amount, roundId } as const
      const second = { kind: "bet", id: fresh("bet"), amount: amount + 1, roundId } as const
      const won = { kind: "win", id: fresh("win"), amount: paid, roundId, betId: first.id } as const
      return toProvider(
        "batch",
        [note(seat, first), note(seat, second), note(seat, won)],
        {
          actions: [
            { action: "bet", ...betBody(seat, first) },
            { action: "bet", ...betBody(seat, second) },
            { action: "win", ...winBody(seat, won) }
          ]
        },
        ["INSUFFICIENT_FUNDS"],
        "batch"
      )
    },
    deposit: (seat: Seat, amount: number, isKeyed: boolean): Letter => {
      const id = fresh("deposit")
      const key = isKeyed ? `key-${id}` : undefined
      return {
        to: "operator",
        path: `/api/v1/operator/players/${seat.playerId}/deposits`,
        body: () => ({ amount, external_reference: id }),
        headers: key === undefined ? {} : { "Idempotency-Key": key },
        notes: [note(seat, { kind: "deposit", id, amount, key })],
        refusals: [],
        form: "payment"
      }
    }
  }
}

export const betOf = ({ wanted }: Note): Extract<Wanted, { readonly kind: "bet" }> => {
  if (wanted.kind !== "bet") throw new Error("no bet")
  return wanted
}

const isProcessed = ({ heard }: Note): boolean =>
  heard.some((answer) => answer._tag === "Settled" && answer.answer.status !== "ignored")

export interface JournalistOptions {
  readonly name: string
  readonly notebook: Notebook
  readonly seats: ReadonlyArray<Seat>
  readonly chance: Chance
  /** The ways to the service; with several, a letter goes over one of them, or over all at once. */
  readonly lines: ReadonlyArray<Line>
  readonly isOver: () => boolean
}

/** Plays until it is over: bets, wins, rollbacks of both, prizes and deposits, sent again and again. */
export const runJournalist = Effect.fnUntraced(function*(options: JournalistOptions) {
  const { chance, lines, notebook } = options
  const writer = makeWriter(options.name)
  /** Bets that may still be paid or taken back. */
  const placed: Array<Note> = []
  const won: Array<Note> = []

  const take = (notes: Array<Note>): Note | undefined => notes.splice(chance.below(notes.length), 1)[0]

  /** Sends a letter; the patient do so until they hear. Gives whether it was answered. */
  const send = Effect.fnUntraced(function*(letter: Letter, isPatient: boolean) {
    notebook.open(letter)
    const isTwice = chance.share(lines.length > 1 ? 0.5 : 0.1)
    const ways = isTwice ? [...lines, ...(lines.length > 1 ? [] : lines)] : [chance.pick(lines)]
    const answered = yield* Effect.forEach(
      ways,
      (line) => deliver(notebook, letter, line, () => !isPatient && chance.share(0.3)),
      { concurrency: "unbounded" }
    )
    return answered.includes(true)
  })

  /** A bet that nobody answers is taken back until that is answered, or left as it is. */
  const bet = Effect.fnUntraced(function*(letter: Letter) {
    const answered = yield* send(letter, false)
    for (const note of letter.notes) {
      if (note.wanted.kind !== "bet" || letter.notes.length > 1) continue
      if (answered && isProcessed(note)) placed.push(note)
      if (!answered && chance.share(0.7)) yield* send(writer.rollback(note.seat, note.wanted.id), true)
    }
  })

  const win = Effect.fnUntraced(function*(note: Note) {
    const letter = writer.win(note, chance.between(0, 400))
    const answered = yield* send(letter, chance.share(0.8))
    if (answered) won.push(...letter.notes.filter(isProcessed))
  })

  while (!options.isOver()) {
    const seat = chance.pick(options.seats)
    const draw = chance.below(100)
    if (draw < 40) {
      yield* bet(writer.bet(seat, chance.between(1, 300), ["INSUFFICIENT_FUNDS"]))
    } else if (draw < 58) {
      const note = take(placed)
      if (note !== undefined) yield* win(note)
    } else if (draw < 66) {
      const note = take(placed)
      if (note !== undefined) yield* send(writer.rollback(note.seat, note.wanted.id), true)
    } else if (draw < 71) {
      const note = take(won)
      if (note !== undefined) yield* send(writer.rollback(note.seat, note.wanted.id), true)
    } else if (draw < 76) {
      const late = writer.fresh("late")
      if (yield* send(writer.rollback(seat, late), true)) {
        yield* send(writer.bet(seat, 1, ["BET_ROLLED_BACK"], late), false)
      }
    } else if (draw < 83) {
      yield* bet(writer.betWin(seat, chance.between(1, 200), chance.between(0, 200)))
    } else if (draw < 88) {
      yield* bet(writer.batch(seat, chance.between(1, 100), chance.between(1, 200)))
    } else if (draw < 91) {
      yield* send(writer.promoWin(seat, chance.between(1, 50)), true)
    } else {
      yield* send(writer.deposit(seat, chance.between(1, 500), chance.share(0.5)), chance.share(0.8))
    }
  }
})

/** Completes when it is so. */
export const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(
    Effect.repeat({ until: (answer) => answer, schedule: Schedule.spaced("2 millis") }),
    // Stops a test that would never end.
    Effect.timeout("2 minutes")
  )

/** Sends every letter that was settled once more: each must be told that it was, and how. */
export const replayAll = (notebook: Notebook, line: Line) =>
  Effect.forEach(
    notebook.letters.filter(({ notes }) => notes.some(({ heard }) => heard.some(({ _tag }) => _tag !== "Refused"))),
    (letter) => deliver(notebook, letter, line),
    { concurrency: 16 }
  )
