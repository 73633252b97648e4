/**
 * Clients outside the service: each records an operation (`History.ts`) before sending it, retries it until answered, records the
 * answer, and finally compares its history with the tables (`HistoryAudit.ts`).
 */
import { Clock, Effect, Fiber, Schedule, Schema } from "effect"
import type { Outcome, Operation, Line, Intent, History } from "./History.ts"
import { makeOperations } from "./Operations.ts"
import type { Chance } from "./Chance.ts"
import { dataAs, type Seat } from "./Casino.ts"
import type { Reply } from "./HttpCalls.ts"
import { Settlement } from "../../scripts/simulators/pitboss/WalletMessages.ts"
import { moves } from "./WalletRules.ts"

/** A payment request (SPEC section 2.5). */
const Payment = Schema.Struct({
  id: Schema.Int,
  type: Schema.Literals(["deposit", "withdrawal"]),
  status: Schema.String,
  player_id: Schema.Int,
  amount: Schema.Int,
  currency: Schema.String,
  payment_method: Schema.NullOr(Schema.String),
  external_reference: Schema.NullOr(Schema.String),
  info: Schema.NullOr(Schema.String),
  reject_reason: Schema.NullOr(Schema.String),
  is_reversed: Schema.Boolean,
  created_at: Schema.String,
  paid_at: Schema.NullOr(Schema.String),
  rejected_at: Schema.NullOr(Schema.String),
  cancelled_at: Schema.NullOr(Schema.String),
  updated_at: Schema.String
})

const Batch = Schema.Struct({ results: Schema.Array(Settlement) })
const LimitsShown = Schema.Struct({
  player_id: Schema.Int,
  limits: Schema.Record(Schema.String, Schema.NullOr(Schema.Int)),
  self_exclusion: Schema.NullOr(Schema.Struct({ until: Schema.NullOr(Schema.String) }))
})
const PlayerShown = Schema.Struct({ id: Schema.Int, username: Schema.String })

const isPassing = ({ code, status }: Reply): boolean => status === 503 || code === "IDEMPOTENCY_IN_PROGRESS"

/** Records an answer to an operation, or a violation of the contract. */
const write = Effect.fnUntraced(function*(history: History, operation: Operation, reply: Reply) {
  const violate = (what: string) => Effect.sync(() => void history.violations.push(`${operation.path}: ${what}`))
  const record = (outcomes: Outcome): void => {
    for (const intent of operation.intents) intent.outcomes.push(outcomes)
  }
  const isReplay = reply.headers["idempotent-replayed"] !== undefined
  const [{ command } = { command: undefined }] = operation.intents
  if (reply.status >= 400) {
    const { code = "", details } = reply
    if (
      command?.kind === "move" && code === "PAYMENT_REQUEST_INVALID" && details["status"] === moves[command.move].to
    ) {
      return record({ _tag: "Done", subject: paymentOf(operation), isNew: false })
    }
    if (!operation.refusals.includes(code)) return yield* violate(`${reply.status} ${reply.text}`)
    return record({ _tag: "Refused", code })
  }
  if (operation.mustBeRefused) return yield* violate(`was not refused: ${reply.text}`)
  switch (operation.form) {
    case "settlement":
      return record({ _tag: "Settled", answer: yield* dataAs(reply, 200, Settlement) })
    case "batch": {
      const { results } = yield* dataAs(reply, 200, Batch)
      if (results.length !== operation.intents.length) return yield* violate(reply.text)
      for (const [index, answer] of results.entries()) {
        operation.intents[index]?.outcomes.push({ _tag: "Settled", answer })
      }
      return
    }
    case "payment": {
      const payment = yield* dataAs(reply, reply.status === 200 ? 200 : 201, Payment)
      return record({ _tag: "Done", subject: payment.id, isNew: reply.status === 201 && !isReplay })
    }
    case "move": {
      const { id, status } = yield* dataAs(reply, 200, Schema.Struct({ id: Schema.Int, status: Schema.String }))
      if (command?.kind === "move" && status !== moves[command.move].to) return yield* violate(reply.text)
      return record({ _tag: "Done", subject: id, isNew: true })
    }
    case "limits": {
      const { limits, player_id: subject } = yield* dataAs(reply, 200, LimitsShown)
      if (command?.kind === "limit" && limits[command.field] !== command.value) return yield* violate(reply.text)
      return record({ _tag: "Done", subject, isNew: true })
    }
    case "player": {
      const { id, username } = yield* dataAs(reply, 201, PlayerShown)
      if (username !== command?.id) return yield* violate(reply.text)
      return record({ _tag: "Done", subject: id, isNew: !isReplay })
    }
    case "exclusion": {
      const { player_id: subject, self_exclusion: exclusion } = yield* dataAs(reply, 200, LimitsShown)
      if (command?.kind === "exclusion" && exclusion?.until !== command.until) return yield* violate(reply.text)
      return record({ _tag: "Done", subject, isNew: !isReplay })
    }
    case "balance":
      // its content is checked by the audit of the history
      yield* dataAs(reply, 200, Schema.Struct({ balance: Schema.Int }))
  }
}, Effect.catchTag("Unexpected", (error) => Effect.die(error)))

/** The payment in the path of an operation of staff. */
const paymentOf = ({ path }: Operation): number => Number(/payments\/(\d+)/.exec(path)?.[1])

/** Leaves a service that starts again, or two that compete, the time to do so. */
const pause = Effect.sleep("30 millis")

/** Stops a test that would never end; the longest outage of any test is a small part of it. */
const maxAttempts = 5000

/**
 * Sends an operation until it is answered, or, when the connection broke and `givesUp` says so, no more. Gives whether it was
 * answered.
 */
export const deliver = Effect.fnUntraced(function*(
  history: History,
  operation: Operation,
  line: Line,
  givesUp: () => boolean = () => false
) {
  const { headers, method, path } = operation
  for (let count = 1; count <= maxAttempts; count++) {
    const body = operation.body(count)
    const attempt = history.begin(operation, body)
    const exit = yield* Effect.result(line[operation.to].send(path, { method, headers, body }))
    if (exit._tag === "Failure") {
      history.lose(attempt, exit.failure.reason)
      if (exit.failure.isSilence) history.violations.push(`${exit.failure.message}: ${exit.failure.reason}`)
      if (givesUp()) {
        history.abandoned++
        return false
      }
    } else if (isPassing(exit.success)) {
      history.end(attempt, exit.success, false)
      history.triedAgain++
    } else {
      history.end(attempt, exit.success, true)
      history.answers++
      yield* write(history, operation, exit.success)
      history.onEvent()
      return true
    }
    yield* pause
  }
  history.violations.push(`${operation.path}: never answered`)
  return false
})

const isProcessed = ({ outcomes }: Intent): boolean =>
  outcomes.some((answer) => answer._tag === "Settled" && answer.answer.status !== "ignored")

/** The subject of an acknowledged operation. */
const subjectOf = ({ intents }: Operation): number | undefined => {
  for (const { outcomes } of intents) {
    for (const answer of outcomes) if (answer._tag === "Done") return answer.subject
  }
  return undefined
}

/** Limits far above the stakes. Each client has its own, changed by no other. */
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

export interface ClientOptions {
  readonly name: string
  /** Which of several at one table it is; each has another number. */
  readonly number: number
  readonly history: History
  readonly seats: ReadonlyArray<Seat>
  readonly chance: Chance
  /** The ways to the service; with several, an operation goes over one of them, or over all at once. */
  readonly lines: ReadonlyArray<Line>
  /** How often the same operation may go out at once, and the share of operations that do; over several lines, all at once. */
  readonly atOnce?: { readonly max: number; readonly share: number }
  /** Rest between two turns; without one, the service is kept as busy as it can be. */
  readonly restMs?: number
  readonly isOver: () => boolean
}

/** Plays until it is over: money in and out, bets, wins, rollbacks of both, prizes, limits and guests, sent again and again. */
export const runClient = Effect.fnUntraced(function*(options: ClientOptions) {
  const { chance, lines, history } = options
  const { max, share } = options.atOnce ?? { max: 2, share: lines.length > 1 ? 0.5 : 0.1 }
  const make = makeOperations(options.name)
  /** Bets that may still be paid or taken back. */
  const placed: Array<Intent> = []
  const won: Array<Intent> = []
  const field = limitFields[options.number]
  let limit = highestLimit

  const take = (intents: Array<Intent>): Intent | undefined => intents.splice(chance.below(intents.length), 1)[0]

  /** Sends an operation; a patient client until it is answered. Gives whether it was. */
  const send = Effect.fnUntraced(function*(operation: Operation, isPatient: boolean) {
    history.open(operation)
    const ways = !chance.happens(share)
      ? [chance.pick(lines)]
      : lines.length > 1
      ? lines
      : Array.from({ length: chance.between(2, max) }, () => lines).flat()
    const answered = yield* Effect.forEach(
      ways,
      (line) => deliver(history, operation, line, () => !isPatient && chance.happens(0.3)),
      { concurrency: "unbounded" }
    )
    return answered.includes(true)
  })

  /** Bets; an unanswered bet is rolled back until the rollback is answered, or left as it is. */
  const bet = Effect.fnUntraced(function*(operation: Operation) {
    const answered = yield* send(operation, false)
    for (const intent of operation.intents) {
      if (intent.command.kind !== "bet" || operation.intents.length > 1) continue
      if (answered && isProcessed(intent)) placed.push(intent)
      if (!answered && chance.happens(0.7)) yield* send(make.rollback(intent.seat, intent.command.id), true)
    }
  })

  const win = Effect.fnUntraced(function*(intent: Intent) {
    const operation = make.win(intent, chance.between(0, 400))
    const answered = yield* send(operation, chance.happens(0.8))
    if (answered) won.push(...operation.intents.filter(isProcessed))
  })

  /** Money goes out, and staff see to it; or it comes back. */
  const withdraw = Effect.fnUntraced(function*(seat: Seat) {
    const operation = make.withdrawal(seat, chance.between(1, 300))
    yield* send(operation, true)
    const paymentId = subjectOf(operation)
    const [{ command } = { command: undefined }] = operation.intents
    if (paymentId === undefined || command === undefined) return
    const ways = [["approve", "pay"], ["approve", "reject"], ["reject"], ["cancel"], ["approve"], []] as const
    for (const move of chance.pick(ways)) yield* send(make.move(seat, move, command.id, paymentId), true)
  })

  /** Registers a player who deposits, self-excludes, and is then refused further deposits. */
  const receiveGuest = Effect.fnUntraced(function*(at: Seat) {
    const arrival = make.registration({ ...at, playerId: 0 })
    yield* send(arrival, true)
    const playerId = subjectOf(arrival)
    if (playerId === undefined) return
    const guest: Seat = { ...at, playerId, token: "", ref: "" }
    yield* send(make.deposit(guest, chance.between(1, 500), chance.happens(0.5)), true)
    const until = new Date((yield* Clock.currentTimeMillis) + 100 * dayMs).toISOString()
    yield* send(make.exclusion(guest, until), true)
    yield* send(make.forbiddenDeposit(guest, chance.between(1, 500)), true)
  })

  const lowerLimit = Effect.fnUntraced(function*(seat: Seat) {
    if (field !== undefined) yield* send(make.limit(seat, field, --limit), true)
  })

  // first, so that each kind of operation is there however short the run
  yield* lowerLimit(chance.pick(options.seats.slice(0, 1)))
  while (!options.isOver()) {
    const seat = chance.pick(options.seats)
    const draw = chance.below(100)
    if (draw < 34) {
      yield* bet(make.bet(seat, chance.between(1, 300), ["INSUFFICIENT_FUNDS"]))
    } else if (draw < 50) {
      const intent = take(placed)
      if (intent !== undefined) yield* win(intent)
    } else if (draw < 57) {
      const intent = take(placed)
      if (intent !== undefined) yield* send(make.rollback(intent.seat, intent.command.id), true)
    } else if (draw < 62) {
      const intent = take(won)
      if (intent !== undefined) yield* send(make.rollback(intent.seat, intent.command.id), true)
    } else if (draw < 66) {
      const late = make.fresh("late")
      if (yield* send(make.rollback(seat, late), true)) {
        yield* send(make.bet(seat, 1, ["BET_ROLLED_BACK"], late), false)
      }
    } else if (draw < 72) {
      yield* bet(make.betWin(seat, chance.between(1, 200), chance.between(0, 200)))
    } else if (draw < 76) {
      yield* bet(make.batch(seat, chance.between(1, 100), chance.between(1, 200)))
    } else if (draw < 79) {
      yield* send(make.promoWin(seat, chance.between(1, 50)), true)
    } else if (draw < 86) {
      yield* send(make.deposit(seat, chance.between(1, 500), chance.happens(0.5)), chance.happens(0.8))
    } else if (draw < 90) {
      yield* withdraw(seat)
    } else if (draw < 92) {
      // one limit per client of one player: the client that lowers it knows its earlier value
      yield* lowerLimit(chance.pick(options.seats.slice(0, 1)))
    } else if (draw < 93) {
      yield* receiveGuest(seat)
    } else {
      yield* send(make.look(seat, chance.pick(["provider", "operator"])), false)
    }
    if (options.restMs !== undefined) yield* Effect.sleep(options.restMs)
  }
})

/** Sets clients to work; they play until it is over. The streams of chance 1, 2, … are theirs. */
export const playAll = (
  count: number,
  options: Omit<ClientOptions, "name" | "number" | "chance"> & {
    readonly chanceOf: (stream: number) => Chance
    readonly prefix?: string
    /** Of the first of them, where others play at the same table. */
    readonly firstNumber?: number
  }
) =>
  Effect.forkChild(Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) =>
      runClient({
        ...options,
        name: `${options.prefix ?? ""}j${index}`,
        number: (options.firstNumber ?? 0) + index,
        chance: options.chanceOf(index + 1)
      }),
    { concurrency: "unbounded", discard: true }
  ))

/**
 * Waits for an effect while the clients that it depends on run: fails with the failure of the first client to fail, at
 * once.
 */
export const whilePlaying = <A, E, R, A2, E2>(
  playing: Fiber.Fiber<A2, E2>,
  wait: Effect.Effect<A, E, R>
): Effect.Effect<A, E | E2, R> => Effect.raceFirst(wait, Effect.andThen(Fiber.join(playing), Effect.never))

/** Repeats all unanswered operations until answered, so that every outcome is known. */
export const settleAll = (history: History, line: Line) => {
  const takenBack = new Set(
    history.intents.flatMap(({ outcomes, command }) =>
      command.kind === "rollback" && outcomes.length > 0 ? command.targetId : []
    )
  )
  const left = history.unanswered().filter(({ intents }) => intents.every(({ command }) => !takenBack.has(command.id)))
  return Effect.as(
    Effect.forEach(left, (operation) => deliver(history, operation, line), { concurrency: 16, discard: true }),
    left.length
  )
}

/** Completes when the condition holds. With `playing`, fails with the clients it depends on. */
export const until = <A = never, E = never>(isSo: () => boolean, playing?: Fiber.Fiber<A, E>) => {
  const wait = Effect.sync(isSo).pipe(
    Effect.repeat({ until: (answer) => answer, schedule: Schedule.spaced("2 millis") }),
    // Stops a test that would never end.
    Effect.timeout("2 minutes")
  )
  return playing === undefined ? wait : whilePlaying(playing, wait)
}

/** A limit repeated after a lower one would be a raise, and a staff transition depends on the payment's status then. */
const canBeReplayed = ({ form, intents }: Operation): boolean =>
  form !== "limits" && form !== "move" &&
  intents.some(({ outcomes }) => outcomes.some(({ _tag }) => _tag !== "Refused"))

/** Sends every settled operation once more: each must be answered as replayed. */
export const replayAll = (history: History, line: Line) =>
  Effect.forEach(
    history.operations.filter(canBeReplayed),
    (operation) => deliver(history, operation, line),
    { concurrency: 16, discard: true }
  )
