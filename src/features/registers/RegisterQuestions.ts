/**
 * Sends queries to exclusion registers, bounded in time and number. A slow or dead register delays its own queries only: each connection has its own
 * client, queue and circuit breaker, and no database connection is held while a query runs.
 */
import { Clock, Context, Effect, Fiber, Layer, Metric, Scope } from "effect"
import { admit, type Breaker, closedBreaker, noted } from "../../domain/register/Breaker.ts"
import type { CheckVerdict, ConnectionKind, Hit, QuestionEvent } from "../../domain/register/Register.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { type ConcurrencyLimit, makeConcurrencyLimit } from "../../platform/ConcurrencyLimit.ts"
import { Settings } from "../../platform/Settings.ts"
import type { Answer, BoundRegister, Person, Question } from "../../registers/Register.ts"
import { registers } from "../../registers/Registers.ts"
import { type RegisterConnection, RegisterConnections } from "./RegisterConnections.ts"

/** Questions under way at a register, and questions that wait for one of them to end; further ones are unavailable at once. */
const maxInFlight = 64
const maxWaiting = 256

/** The same of questions for marketing, which have their own turns and breaker: players who wait to be let in are not the worse for them. */
const maxMarketing = 16

/** Why many are asked about at once. */
type BatchEvent = "marketing" | "refresh"

/** A question that was asked, or could not be, and what came of it. Instants are epoch milliseconds. */
export interface Asked {
  readonly requestId: string
  readonly askedAt: number
  readonly answeredAt: number
  readonly verdict: CheckVerdict
  readonly responseId: string | null
  readonly registerCode: string | null
  /** HTTP status; null without an answer. */
  readonly status: number | null
  /** Why there is no proper answer; null when there is one. */
  readonly fault: string | null
  /** Of a screening: whom it found. */
  readonly hits?: ReadonlyArray<Hit>
}

interface Response {
  readonly status: number | null
  readonly answer: Answer
}

const faulty = (fault: string, status: number | null = null): Response => ({
  status,
  answer: { _tag: "Fault", fault }
})

const isAnswered = ({ answer }: Response): boolean => answer._tag === "Answered"

const requestsTotal = Metric.counter("register_requests_total", {
  description: "Requests to registers of excluded players, by register and result",
  incremental: true
})

/** State of one connection at this node. */
interface Lane {
  readonly limit: ConcurrencyLimit
  breaker: Breaker
}

/** Marks a question that got no turn: its register is not the worse for it. */
const noTurn = { _tag: "NoTurn" } as const

export class RegisterQuestions extends Context.Service<RegisterQuestions, {
  /** Asks an operator's register about a person. Never fails: what is no proper answer is `unavailable`, within `REGISTER_TIMEOUT_MS`. */
  readonly ask: (
    operatorId: number,
    kind: ConnectionKind,
    about: { readonly event: QuestionEvent; readonly person: Person }
  ) => Effect.Effect<Asked>
  /**
   * As `ask`, about many in one request, which begins when the register's pace allows it, and is the request of each of them; all are `unavailable`
   * where the register takes no batches.
   */
  readonly askMany: (
    operatorId: number,
    kind: ConnectionKind,
    people: ReadonlyArray<Person>,
    event: BatchEvent
  ) => Effect.Effect<ReadonlyArray<Asked>>
  /** Bounds of a batch; undefined where the register is asked one by one at an event. */
  readonly batchOf: (
    operatorId: number,
    kind: ConnectionKind,
    event: BatchEvent
  ) => Effect.Effect<BoundRegister["batch"]>
}>()("pitboss/registers/RegisterQuestions") {
  static readonly layer = Layer.effect(
    RegisterQuestions,
    Effect.gen(function*() {
      const connections = yield* RegisterConnections
      const entropy = yield* Entropy
      const { registerTimeoutMs } = yield* Settings
      const scope = yield* Scope.Scope
      // Kept: lanes, paces. Questions under way at each register, and its breaker. Several nodes: its own: a register is asked at most 64 questions
      // at once by each node.
      const lanes = new Map<string, Lane>()
      /** When the next batch may begin, by connection. */
      const paces = new Map<number, number>()

      const laneOf = Effect.fnUntraced(function*({ id }: RegisterConnection, isMarketing: boolean) {
        const name = `${id} ${isMarketing}`
        const known = lanes.get(name)
        if (known !== undefined) return known
        const limit = yield* makeConcurrencyLimit({
          maxRunning: isMarketing ? maxMarketing : maxInFlight,
          maxWaiting,
          maxWait: registerTimeoutMs
        })
        const lane = lanes.get(name) ?? { limit, breaker: closedBreaker }
        lanes.set(name, lane)
        return lane
      })

      /** Waits until the connection's next batch may begin. */
      const paced = Effect.fnUntraced(function*({ id }: RegisterConnection, everyMs: number) {
        const now = yield* Clock.currentTimeMillis
        const begins = Math.max(now, paces.get(id) ?? 0)
        paces.set(id, begins + everyMs)
        if (begins > now) yield* Effect.sleep(begins - now)
      })

      const timeLeft = ({ at }: Question) =>
        Effect.map(Clock.currentTimeMillis, (now) => Math.max(1, at + registerTimeoutMs - now))

      const exchange = (connection: RegisterConnection, question: Question) =>
        Effect.flatMap(
          timeLeft(question),
          (deadlineMs) => connection.send(connection.bound.request(question), deadlineMs)
        ).pipe(
          Effect.map((response): ReadonlyArray<Response> => [{
            status: response.status,
            answer: connection.bound.read(question, response)
          }]),
          Effect.catch(({ word }) => Effect.succeed([faulty(word)]))
        )

      const exchangeMany = (
        { send }: RegisterConnection,
        batch: NonNullable<BoundRegister["batch"]>,
        questions: readonly [Question, ...ReadonlyArray<Question>]
      ) =>
        Effect.flatMap(timeLeft(questions[0]), (deadlineMs) => send(batch.request(questions), deadlineMs)).pipe(
          Effect.map((response): ReadonlyArray<Response> =>
            batch.read(questions, response).map((answer) => ({ status: response.status, answer }))
          ),
          Effect.catch(({ word }) => Effect.succeed(questions.map(() => faulty(word))))
        )

      /** One exchange under the bounds of its register; undefined when it got no turn. */
      const inLane = Effect.fnUntraced(function*(
        connection: RegisterConnection,
        event: QuestionEvent,
        exchanging: Effect.Effect<ReadonlyArray<Response>>
      ) {
        const lane = yield* laneOf(connection, event === "marketing")
        const before = admit(lane.breaker, yield* Clock.currentTimeMillis)
        lane.breaker = before.breaker
        if (!before.isAdmitted) return faulty("the register did not answer several times in a row")
        const told = Effect.tap(exchanging, (responses) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            lane.breaker = noted(lane.breaker, responses.some(isAnswered), now)
          }))
        // the turn has its longest wait and the exchange its deadline: one more bound would end both before the breaker hears of it
        return yield* lane.limit(noTurn)(told).pipe(
          Effect.catch(() => Effect.succeed(faulty("too many queries are waiting for the register")))
        )
      })

      /** Runs an exchange in a fiber of its own: its time-out works where its caller is not to be interrupted. */
      const detached = (kind: ConnectionKind, exchanging: ReturnType<typeof inLane>) =>
        Effect.flatMap(
          Effect.forkIn(Effect.interruptible(exchanging), scope),
          (fiber) => Effect.catchCause(Fiber.join(fiber), () => Effect.succeed(faulty("the service is shutting down")))
        ).pipe(Effect.tap((outcome) => {
          const result = !isFault(outcome) && outcome.some(isAnswered) ? "answered" : "unavailable"
          return Metric.update(Metric.withAttributes(requestsTotal, { register: kind, result }), 1)
        }))

      const isFault = (outcome: Response | ReadonlyArray<Response>): outcome is Response => "answer" in outcome

      const askedOf = (
        { at: askedAt, requestId }: Question,
        answeredAt: number,
        { answer, status }: Response
      ): Asked => {
        const about = { requestId, askedAt, answeredAt, status }
        return answer._tag === "Answered"
          ? {
            ...about,
            verdict: answer.verdict,
            responseId: answer.responseId,
            registerCode: answer.registerCode,
            fault: null,
            ...(answer.hits === undefined ? {} : { hits: answer.hits })
          }
          : { ...about, verdict: "unavailable", responseId: null, registerCode: null, fault: answer.fault }
      }

      const noConnection = faulty("no active connection to the register")

      /** Why a person cannot be asked about; undefined when that is possible. */
      const impossible = (kind: ConnectionKind, person: Person): Response | undefined => {
        const lacking = Object.keys(registers[kind].problems(person))
        return lacking.length === 0
          ? undefined
          : faulty(`missing or malformed for the register: ${lacking.join(", ")}`)
      }

      const ask: RegisterQuestions["Service"]["ask"] = Effect.fn("RegisterQuestions.ask")(
        function*(operatorId, kind, { event, person }) {
          const at = yield* Clock.currentTimeMillis
          const question = { requestId: entropy.uuid(), event, at, person }
          const connection = yield* connections.find(operatorId, kind)
          const outcome = connection === undefined
            ? noConnection
            : impossible(kind, person) ??
              (yield* detached(kind, inLane(connection, event, exchange(connection, question))))
          const answeredAt = yield* Clock.currentTimeMillis
          const response = isFault(outcome) ? outcome : outcome[0]
          return askedOf(question, answeredAt, response ?? noConnection)
        }
      )

      const askMany: RegisterQuestions["Service"]["askMany"] = Effect.fn("RegisterQuestions.askMany")(
        function*(operatorId, kind, people, event) {
          const connection = yield* connections.find(operatorId, kind)
          const batch = connection?.bound.batch
          if (connection !== undefined && batch !== undefined) yield* paced(connection, batch.everyMs)
          const at = yield* Clock.currentTimeMillis
          const requestId = entropy.uuid()
          const questions = people.map((person): Question => ({ requestId, event, at, person }))
          // a register refuses the whole batch for one person that it cannot be asked about
          const possible = questions.filter(({ person }) => impossible(kind, person) === undefined)
          const [first, ...others] = possible
          const outcome = connection === undefined || batch === undefined || first === undefined
            ? noConnection
            : yield* detached(kind, inLane(connection, event, exchangeMany(connection, batch, [first, ...others])))
          const answeredAt = yield* Clock.currentTimeMillis
          const told = new Map(
            possible.map((question, index) =>
              [question, isFault(outcome) ? outcome : outcome[index] ?? faulty("an answer is missing")] as const
            )
          )
          return questions.map((question) =>
            askedOf(question, answeredAt, told.get(question) ?? impossible(kind, question.person) ?? noConnection)
          )
        }
      )

      const batchOf: RegisterQuestions["Service"]["batchOf"] = (operatorId, kind, event) =>
        Effect.map(connections.find(operatorId, kind), (connection) => {
          const batch = connection?.bound.batch
          return batch?.events.includes(event) === true ? batch : undefined
        })

      return RegisterQuestions.of({ ask, askMany, batchOf })
    })
  )
}
