/**
 * Journalists: callers from outside who write down what they want before they ask for it (`E2eJournal.ts`), ask again until they
 * hear, write down what they heard, and in the end compare the books (`E2eAudit.ts`).
 */
import { Clock, Effect, Fiber, Schedule, Schema } from "effect"
import type { Heard, Letter, Line, Note, Notebook } from "./E2eJournal.ts"
import { makeWriter } from "./E2eLetters.ts"
import type { Chance } from "./E2eRandom.ts"
import { dataOf, Payment, type Seat, Settled } from "./E2eWorld.ts"
import type { Reply } from "./HttpCalls.ts"

const Batch = Schema.Struct({ results: Schema.Array(Settled) })
const LimitsShown = Schema.Struct({
  player_id: Schema.Int,
  limits: Schema.Record(Schema.String, Schema.NullOr(Schema.Int)),
  self_exclusion: Schema.NullOr(Schema.Struct({ until: Schema.NullOr(Schema.String) }))
})
const PlayerShown = Schema.Struct({ id: Schema.Int, username: Schema.String })

const isPassing = ({ code, status }: Reply): boolean => status === 503 || code === "IDEMPOTENCY_IN_PROGRESS"

/** Where a move leads: a retry of one that went through is refused, and told that the payment is there already. */
const ledTo = { approve: "allowed", pay: "paid", reject: "rejected", cancel: "cancelled" } as const

/** Writes down an answer to a letter, or that it is none that could have been expected. */
const write = Effect.fnUntraced(function*(notebook: Notebook, letter: Letter, reply: Reply) {
  const surprise = (what: string) => Effect.sync(() => void notebook.surprises.push(`${letter.path}: ${what}`))
  const hear = (heard: Heard): void => {
    for (const note of letter.notes) note.heard.push(heard)
  }
  const isReplay = reply.headers["idempotent-replayed"] !== undefined
  const [{ wanted } = { wanted: undefined }] = letter.notes
  if (reply.status >= 400) {
    const { code = "", details } = reply
    if (wanted?.kind === "move" && code === "PAYMENT_REQUEST_INVALID" && details["status"] === ledTo[wanted.move]) {
      return hear({ _tag: "Done", subject: paymentOf(letter), isNew: false })
    }
    if (!letter.refusals.includes(code)) return yield* surprise(`${reply.status} ${reply.text}`)
    return hear({ _tag: "Refused", code })
  }
  if (letter.mustBeRefused) return yield* surprise(`was not refused: ${reply.text}`)
  switch (letter.form) {
    case "settlement":
      return hear({ _tag: "Settled", answer: yield* dataOf(reply, 200, Settled) })
    case "batch": {
      const { results } = yield* dataOf(reply, 200, Batch)
      if (results.length !== letter.notes.length) return yield* surprise(reply.text)
      for (const [index, answer] of results.entries()) letter.notes[index]?.heard.push({ _tag: "Settled", answer })
      return
    }
    case "payment": {
      const payment = yield* dataOf(reply, reply.status === 200 ? 200 : 201, Payment)
      return hear({ _tag: "Done", subject: payment.id, isNew: reply.status === 201 && !isReplay })
    }
    case "move": {
      const { id, status } = yield* dataOf(reply, 200, Schema.Struct({ id: Schema.Int, status: Schema.String }))
      if (wanted?.kind === "move" && status !== ledTo[wanted.move]) return yield* surprise(reply.text)
      return hear({ _tag: "Done", subject: id, isNew: true })
    }
    case "limits": {
      const { limits, player_id: subject } = yield* dataOf(reply, 200, LimitsShown)
      if (wanted?.kind === "limit" && limits[wanted.field] !== wanted.value) return yield* surprise(reply.text)
      return hear({ _tag: "Done", subject, isNew: true })
    }
    case "player": {
      const { id, username } = yield* dataOf(reply, 201, PlayerShown)
      if (username !== wanted?.id) return yield* surprise(reply.text)
      return hear({ _tag: "Done", subject: id, isNew: !isReplay })
    }
    case "exclusion": {
      const { player_id: subject, self_exclusion: exclusion } = yield* dataOf(reply, 200, LimitsShown)
      if (wanted?.kind === "exclusion" && exclusion?.until !== wanted.until) return yield* surprise(reply.text)
      return hear({ _tag: "Done", subject, isNew: !isReplay })
    }
    case "balance":
      // what it says is compared with everything else by whoever looks at the history
      yield* dataOf(reply, 200, Schema.Struct({ balance: Schema.Int }))
  }
}, Effect.catchTag("Unexpected", (error) => Effect.die(error)))

/** The payment that a letter to staff names in its path. */
const paymentOf = ({ path }: Letter): number => Number(/payments\/(\d+)/.exec(path)?.[1])

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
  const { headers, method, path } = letter
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const body = letter.body(attempt)
    const operation = notebook.begin(letter, body)
    const exit = yield* Effect.result(line[letter.to].send(path, { method, headers, body }))
    if (exit._tag === "Failure") {
      notebook.lose(operation, exit.failure.reason)
      if (exit.failure.isSilence) notebook.surprises.push(`${exit.failure.message}: ${exit.failure.reason}`)
      if (givesUp()) {
        notebook.abandoned++
        return false
      }
    } else if (isPassing(exit.success)) {
      notebook.end(operation, exit.success, false)
      notebook.triedAgain++
    } else {
      notebook.end(operation, exit.success, true)
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

const isProcessed = ({ heard }: Note): boolean =>
  heard.some((answer) => answer._tag === "Settled" && answer.answer.status !== "ignored")

/** The subject of an acknowledged letter. */
const subjectOf = ({ notes }: Letter): number | undefined => {
  for (const { heard } of notes) {
    for (const answer of heard) if (answer._tag === "Done") return answer.subject
  }
  return undefined
}

/** Limits far above what is played for. Each journalist has one of its own, which only it changes. */
const limitFields = [
  "max_yearly_deposit",
  "max_monthly_deposit",
  "max_weekly_deposit",
  "max_daily_deposit",
  "max_single_deposit",
  "max_monthly_bet",
  "max_weekly_bet",
  "max_daily_bet",
  "max_single_bet",
  "casino_max_daily_bet",
  "casino_max_single_bet",
  "max_monthly_loss",
  "max_weekly_loss",
  "max_daily_loss",
  "max_balance"
]
const highestLimit = 9_000_000_000_000_000

const dayMs = 86_400_000

export interface JournalistOptions {
  readonly name: string
  /** Which of several at one table it is; each has another number. */
  readonly number: number
  readonly notebook: Notebook
  readonly seats: ReadonlyArray<Seat>
  readonly chance: Chance
  /** The ways to the service; with several, a letter goes over one of them, or over all at once. */
  readonly lines: ReadonlyArray<Line>
  /** How often the same letter may go out at once, and the share of letters that do; over several lines, all at once. */
  readonly atOnce?: { readonly most: number; readonly share: number }
  readonly isOver: () => boolean
}

/** Plays until it is over: money in and out, bets, wins, rollbacks of both, prizes, limits and guests, sent again and again. */
export const runJournalist = Effect.fnUntraced(function*(options: JournalistOptions) {
  const { chance, lines, notebook } = options
  const { most, share } = options.atOnce ?? { most: 2, share: lines.length > 1 ? 0.5 : 0.1 }
  const writer = makeWriter(options.name)
  /** Bets that may still be paid or taken back. */
  const placed: Array<Note> = []
  const won: Array<Note> = []
  const field = limitFields[options.number]
  let limit = highestLimit

  const take = (notes: Array<Note>): Note | undefined => notes.splice(chance.below(notes.length), 1)[0]

  /** Sends a letter; the patient do so until they hear. Gives whether it was answered. */
  const send = Effect.fnUntraced(function*(letter: Letter, isPatient: boolean) {
    notebook.open(letter)
    const ways = !chance.share(share)
      ? [chance.pick(lines)]
      : lines.length > 1
      ? lines
      : Array.from({ length: chance.between(2, most) }, () => lines).flat()
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

  /** Money goes out, and staff see to it; or it comes back. */
  const withdraw = Effect.fnUntraced(function*(seat: Seat) {
    const letter = writer.withdrawal(seat, chance.between(1, 300))
    yield* send(letter, true)
    const paymentId = subjectOf(letter)
    const [{ wanted } = { wanted: undefined }] = letter.notes
    if (paymentId === undefined || wanted === undefined) return
    const ways = [["approve", "pay"], ["approve", "reject"], ["reject"], ["cancel"], ["approve"], []] as const
    for (const move of chance.pick(ways)) yield* send(writer.move(seat, move, wanted.id, paymentId), true)
  })

  /** Somebody comes, pays in, goes for long, and cannot pay in any more. */
  const receiveGuest = Effect.fnUntraced(function*(at: Seat) {
    const arrival = writer.registration({ ...at, playerId: 0 })
    yield* send(arrival, true)
    const playerId = subjectOf(arrival)
    if (playerId === undefined) return
    const guest: Seat = { ...at, playerId, token: "", ref: "" }
    yield* send(writer.deposit(guest, chance.between(1, 500), chance.share(0.5)), true)
    const until = new Date((yield* Clock.currentTimeMillis) + 100 * dayMs).toISOString()
    yield* send(writer.exclusion(guest, until), true)
    yield* send(writer.forbiddenDeposit(guest, chance.between(1, 500)), true)
  })

  const lowerLimit = Effect.fnUntraced(function*(seat: Seat) {
    if (field !== undefined) yield* send(writer.limit(seat, field, --limit), true)
  })

  // everybody's first word, so that each kind of letter is there however short the work
  yield* lowerLimit(chance.pick(options.seats.slice(0, 1)))
  while (!options.isOver()) {
    const seat = chance.pick(options.seats)
    const draw = chance.below(100)
    if (draw < 34) {
      yield* bet(writer.bet(seat, chance.between(1, 300), ["INSUFFICIENT_FUNDS"]))
    } else if (draw < 50) {
      const note = take(placed)
      if (note !== undefined) yield* win(note)
    } else if (draw < 57) {
      const note = take(placed)
      if (note !== undefined) yield* send(writer.rollback(note.seat, note.wanted.id), true)
    } else if (draw < 62) {
      const note = take(won)
      if (note !== undefined) yield* send(writer.rollback(note.seat, note.wanted.id), true)
    } else if (draw < 66) {
      const late = writer.fresh("late")
      if (yield* send(writer.rollback(seat, late), true)) {
        yield* send(writer.bet(seat, 1, ["BET_ROLLED_BACK"], late), false)
      }
    } else if (draw < 72) {
      yield* bet(writer.betWin(seat, chance.between(1, 200), chance.between(0, 200)))
    } else if (draw < 76) {
      yield* bet(writer.batch(seat, chance.between(1, 100), chance.between(1, 200)))
    } else if (draw < 79) {
      yield* send(writer.promoWin(seat, chance.between(1, 50)), true)
    } else if (draw < 86) {
      yield* send(writer.deposit(seat, chance.between(1, 500), chance.share(0.5)), chance.share(0.8))
    } else if (draw < 90) {
      yield* withdraw(seat)
    } else if (draw < 92) {
      // one player's, and each journalist a limit of its own: whoever lowers it knows what it was
      yield* lowerLimit(chance.pick(options.seats.slice(0, 1)))
    } else if (draw < 93) {
      yield* receiveGuest(seat)
    } else {
      yield* send(writer.look(seat, chance.pick(["provider", "operator"])), false)
    }
  }
})

/** Sets journalists to work; they play until it is over. The streams of chance 1, 2, … are theirs. */
export const playAll = (
  count: number,
  options: Omit<JournalistOptions, "name" | "number" | "chance"> & {
    readonly chanceOf: (stream: number) => Chance
    readonly prefix?: string
  }
) =>
  Effect.forkChild(Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) =>
      runJournalist({
        ...options,
        name: `${options.prefix ?? ""}j${index}`,
        number: index,
        chance: options.chanceOf(index + 1)
      }),
    { concurrency: "unbounded", discard: true }
  ))

/**
 * Waits for something as long as those who are to bring it about are there to do it: when one of them fails, so does this, at
 * once and with that very failure.
 */
export const whilePlaying = <A, E, R, A2, E2>(
  playing: Fiber.Fiber<A2, E2>,
  wait: Effect.Effect<A, E, R>
): Effect.Effect<A, E | E2, R> => Effect.raceFirst(wait, Effect.andThen(Fiber.join(playing), Effect.never))

/** Asks for whatever nobody has answered, until it is: from then on it is known what became of everything. */
export const settleAll = (notebook: Notebook, line: Line) => {
  const takenBack = new Set(
    notebook.notes.flatMap(({ heard, wanted }) => wanted.kind === "rollback" && heard.length > 0 ? wanted.targetId : [])
  )
  const left = notebook.unanswered().filter(({ notes }) => notes.every(({ wanted }) => !takenBack.has(wanted.id)))
  return Effect.as(
    Effect.forEach(left, (letter) => deliver(notebook, letter, line), { concurrency: 16, discard: true }),
    left.length
  )
}

/** Completes when it is so. With `playing`, fails when those on whom it depends do. */
export const until = <A = never, E = never>(isSo: () => boolean, playing?: Fiber.Fiber<A, E>) => {
  const wait = Effect.sync(isSo).pipe(
    Effect.repeat({ until: (answer) => answer, schedule: Schedule.spaced("2 millis") }),
    // Stops a test that would never end.
    Effect.timeout("2 minutes")
  )
  return playing === undefined ? wait : whilePlaying(playing, wait)
}

/** A limit sent again after a lower one would be a raise, and a move of staff means what the payment is then. */
const canBeReplayed = ({ form, notes }: Letter): boolean =>
  form !== "limits" && form !== "move" && notes.some(({ heard }) => heard.some(({ _tag }) => _tag !== "Refused"))

/** Sends every letter that was settled once more: each must be told that it was, and how. */
export const replayAll = (notebook: Notebook, line: Line) =>
  Effect.forEach(
    notebook.letters.filter(canBeReplayed),
    (letter) => deliver(notebook, letter, line),
    { concurrency: 16, discard: true }
  )
