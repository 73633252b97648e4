/**
 * Checks players at national exclusion registers (`docs/decisions/0060-registers.md`): before a registration and wherever the jurisdiction requires
 * it. Each answer is stored with its player as proof.
 */
import { Clock, Context, Deferred, Effect, Exit, Layer, Schema, Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import type { AuditLine } from "../../chain/Lines.ts"
import type { Rules } from "../../domain/jurisdiction/Rules.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import {
  type AskedRegisters,
  asksAt,
  nobodyAsked,
  questionIn,
  registerUnavailable
} from "../../domain/player/RegisterAdmission.ts"
import { checkRecord, noteCheckStep, type RegisterAnswer } from "../../domain/player/RegisterChecks.ts"
import {
  type QuestionEvent,
  type RegisterEvent,
  registerEvents,
  type RegisterKind,
  type RegisterStanding
} from "../../domain/register/Register.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import type { Player } from "../../domain/state/Player.ts"
import { RegisterCheck } from "../../domain/state/RegisterCheck.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { toDate } from "../../platform/Time.ts"
import type { Person, PersonProblems } from "../../registers/Register.ts"
import { registers } from "../../registers/Registers.ts"
import { makeBatches } from "../../store/Batches.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { makeInsertChecks } from "../../store/RegisterCheckInserts.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { isSamePersonAsked, personDigest, personOf, registerCodePurpose, RegisterPeople } from "./RegisterPeople.ts"
import { type Asked, RegisterQuestions } from "./RegisterQuestions.ts"

type Unavailable = Refusal<"TRY_AGAIN">

/** An answer between nodes. */
const Note = Schema.Struct({
  ...RegisterCheck.fields,
  askedAt: Schema.Number,
  answeredAt: Schema.Number,
  personDigest: Schema.Uint8ArrayFromBase64,
  askAgain: Schema.Boolean
})

const excludedPerson = refuse("SELF_EXCLUDED_IDENTITY", "A national register excludes this person from play.", {
  source: "register"
})

/** What registers said before a registration, to be written with the player. */
export interface Registering {
  readonly standings: ReadonlyArray<RegisterStanding>
  /** Writes the checks of the player in the open transaction, as its last statements. */
  readonly write: (playerId: number) => Effect.Effect<void, SqlError.SqlError>
  /** Writes the checks without a player, where the registration came to nothing after them. */
  readonly writeAlone: Effect.Effect<void, SqlError.SqlError>
}

const nothingAsked: Registering = { standings: [], write: () => Effect.void, writeAlone: Effect.void }

/** A question under way, with the events of all who wait for its answer: whoever may go on without one has it asked again. */
interface SharedQuestion {
  readonly events: Set<QuestionEvent>
  readonly answer: Effect.Effect<RegisterAnswer, ActorRefusal>
}

/**
 * Checks of refused registrations are gathered for this long, and as few registrations share a transaction as let the last of those that wait end within
 * a quarter of a second: as many answers leave in one turn of the event loop, before which a bet waits.
 */
const gatherRefusedMs = 25
const refusedAtOnce = (waiting: number): number => Math.max(8, Math.ceil(waiting / 8))

/** Check that no actor writes, to be written with its audit line under the next id. */
interface KeptCheck {
  readonly answer: RegisterAnswer
  readonly id: number
  readonly operatorId: number
  readonly playerId: number | null
}

/** Checks of audiences that share a transaction. */
const maxMarketingAtOnce = 500

/** An answer to a question for marketing, and whom it is about. */
export interface MarketingAnswer {
  readonly playerId: number
  readonly rules: Rules
  readonly kind: RegisterKind
  readonly person: Person
  readonly asked: Asked
}

/** What became of an answer about somebody whose name or birth date is another one by now. */
const changedMeanwhile = {
  verdict: "unavailable",
  registerCode: null,
  fault: "the player's identity changed meanwhile"
} as const

const isRegisterEvent = (event: QuestionEvent): event is RegisterEvent => registerEvents.some((one) => one === event)

/** Whether a player may go on without an answer at an event: the register is asked again until it gives one. */
const goesOn = ({ registers }: Rules, kind: RegisterKind, event: QuestionEvent): boolean => {
  const use = isRegisterEvent(event) ? registers.find((one) => one.kind === kind)?.on[event] : undefined
  return use !== undefined && use.unavailable !== "refuse"
}

export class Registers extends Context.Service<Registers, {
  /**
   * Runs a command that may need an answer of registers: it is decided first, then what it wants asked is asked and kept, and it is decided again. A
   * replay, a refusal for another reason and a fresh stored answer ask nobody.
   */
  readonly through: <A, E>(
    playerId: number,
    event: RegisterEvent,
    run: (asked: AskedRegisters) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | ActorRefusal>
  /** Whether a command at an event may have to wait for a register: it is not started without a fiber then. */
  readonly mayAsk: (operator: Operator, playerId: number, event: RegisterEvent) => boolean
  /** Asks one register about a player and keeps the answer, in the background and at whatever node the player is of. */
  readonly askAnywhere: (playerId: number, kind: RegisterKind) => Effect.Effect<void, Refusal>
  /**
   * The answer that a question about a player came to; the register's own code of the player is kept. Unless it excludes, none about a player whose name
   * or birth date has changed since.
   */
  readonly answerOf: (
    playerId: number,
    rules: Rules,
    kind: RegisterKind,
    event: QuestionEvent,
    person: Person,
    asked: Asked
  ) => Effect.Effect<RegisterAnswer, SqlError.SqlError>
  /** Keeps answers to questions for marketing as proof. They say nothing about play, and no player carries them. */
  readonly keepMarketing: (
    operatorId: number,
    told: ReadonlyArray<MarketingAnswer>
  ) => Effect.Effect<void, SqlError.SqlError | Unavailable>
  /** Keeps an answer with its player, at whatever node that is. */
  readonly note: (playerId: number, answer: RegisterAnswer) => Effect.Effect<void, Refusal>
  /**
   * Asks the registers of a jurisdiction about a person who registers. Refused: what a register needs is missing or impossible, it excludes the person, or
   * it does not answer. A refusal leaves a check without a player.
   */
  readonly beforeRegistration: (
    operatorId: number,
    rules: Rules,
    person: Person
  ) => Effect.Effect<Registering, Refusal<"VALIDATION_FAILED" | "SELF_EXCLUDED_IDENTITY"> | Unavailable>
}>()("pitboss/registers/Registers") {
  static readonly layer = Layer.effect(
    Registers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const book = yield* ProfileBook
      const questions = yield* RegisterQuestions
      const personal = yield* PersonalData
      const secrets = yield* Secrets
      const chain = yield* Chain
      const insertChecks = yield* makeInsertChecks
      const ids = yield* Ids
      const people = yield* RegisterPeople
      const scope = yield* Scope.Scope
      const clock = yield* Clock.Clock
      const clocks = yield* OperatorClocks

      const answerOf = (
        rules: Rules,
        kind: RegisterKind,
        event: QuestionEvent,
        person: Person,
        { registerCode: _, ...asked }: Asked
      ): RegisterAnswer => ({
        ...asked,
        kind,
        event,
        profile: rules.code,
        profileVersion: rules.version,
        personDigest: personDigest(personal, person),
        askAgain: asked.verdict === "unavailable" && goesOn(rules, kind, event)
      })

      const keptAnswer: Registers["Service"]["answerOf"] = Effect.fnUntraced(
        function*(playerId, rules, kind, event, person, asked) {
          const now = yield* personOf(people, playerId, kind)
          const isOther = now === undefined || !isSamePersonAsked(person, now)
          const counting = isOther && asked.verdict !== "excluded" ? { ...asked, ...changedMeanwhile } : asked
          yield* keepCode(playerId, kind, counting)
          return answerOf(rules, kind, event, person, counting)
        }
      )

      const keepCode = (playerId: number, kind: RegisterKind, { answeredAt, registerCode }: Asked) =>
        registerCode === null
          ? Effect.void
          : Effect.asVoid(
            sql`INSERT INTO register_codes (player_id, kind, code_sealed, updated_at) VALUES (${playerId}, ${kind},
              ${secrets.seal(registerCodePurpose(playerId, kind), registerCode)}, ${toDate(answeredAt)})
            ON CONFLICT (player_id, kind) DO UPDATE SET code_sealed = EXCLUDED.code_sealed, updated_at = EXCLUDED.updated_at`
          )

      /** `joined` ends the sharing, and gives the events of all who share it. */
      const ask = Effect.fnUntraced(function*(
        playerId: number,
        kind: RegisterKind,
        event: QuestionEvent,
        joined: () => ReadonlySet<QuestionEvent>
      ) {
        const { operatorId, rules } = yield* actors.read(null, playerId)
        const person = yield* personOf(people, playerId, kind)
        if (person === undefined) return yield* Effect.fail(refuse("NOT_FOUND", "There is no such player."))
        const asked = yield* questions.ask(operatorId, kind, { event, person })
        const told = yield* keptAnswer(playerId, rules, kind, event, person, asked)
        const events = [...joined()]
        const answer = {
          ...told,
          askAgain: told.verdict === "unavailable" && events.some((one) => goesOn(rules, kind, one))
        }
        yield* actors.ask<Player, never>(operatorId, playerId, noteCheckStep(answer))
        return answer
      }, orTryAgain)

      // Kept: underWay. Questions about players that others wait for as well. Several nodes: its own: of the players that the node owns.
      /** Questions under way, so that one answer serves all who wait for it. A question for marketing is answered by another register of persons. */
      const underWay = new Map<string, SharedQuestion>()

      /** Asks one register about a player, and keeps the answer. */
      const askAbout = Effect.fn("Registers.askAbout")(
        function*(playerId: number, kind: RegisterKind, event: QuestionEvent) {
          const key = `${playerId} ${kind} ${event === "marketing"}`
          const shared = underWay.get(key)
          if (shared !== undefined) {
            shared.events.add(event)
            return yield* shared.answer
          }
          const events = new Set([event])
          const answer = yield* Deferred.make<RegisterAnswer, ActorRefusal>()
          const question: SharedQuestion = { events, answer: Deferred.await(answer) }
          underWay.set(key, question)
          const close = () => {
            if (underWay.get(key) === question) underWay.delete(key)
            return events
          }
          // a fiber of its own: whoever asked first may be gone before the answer, which others wait for
          yield* ask(playerId, kind, event, close).pipe(
            Effect.ensuring(Effect.sync(close)),
            Effect.onExit((exit) => Deferred.done(answer, exit)),
            Effect.forkIn(scope)
          )
          return yield* question.answer
        }
      )

      const through: Registers["Service"]["through"] = (playerId, event, run) =>
        run(nobodyAsked).pipe(
          Effect.catch((error) => {
            const asks = questionIn(error)
            if (asks === undefined) return Effect.fail(error)
            return Effect.forEach(asks, (kind) =>
              Effect.map(
                askAbout(playerId, kind, event),
                ({ verdict }) => [kind, verdict !== "unavailable"] as const
              ), { concurrency: "unbounded" }).pipe(Effect.flatMap((answers) => run(new Map(answers))))
          })
        )

      const mayAsk: Registers["Service"]["mayAsk"] = (operator, playerId, event) => {
        const player = actors.peek(operator.id, playerId)
        if (player !== undefined) return asksAt(player.rules, event)
        const now = clocks.at(operator.id, clock.currentTimeMillisUnsafe())
        return operator.profiles.some((code) => {
          const rules = book.rulesOf(code, operator.currency, now, operator.id)
          return rules === undefined || asksAt(rules, event)
        })
      }

      /** Checks that no actor writes, with their lines of the audit log, in the open transaction. */
      const writeChecks = Effect.fnUntraced(function*(checks: ReadonlyArray<KeptCheck>) {
        if (checks.length === 0) return
        yield* insertChecks(
          checks.map(({ answer, id, operatorId, playerId }) => ({ ...answer, id, operatorId, playerId }))
        )
        yield* chain.writeAuditLines(checks.map(({ answer, id, operatorId, playerId }): AuditLine => ({
          ...checkRecord(answer),
          id: id + 1,
          at: answer.answeredAt,
          operatorId,
          playerId,
          subject: playerId === null ? `register_check:${id}` : `player:${playerId}`
        })))
      })

      const keepMarketing: Registers["Service"]["keepMarketing"] = Effect.fn("Registers.keepMarketing")(
        function*(operatorId, told) {
          for (let first = 0; first < told.length; first += maxMarketingAtOnce) {
            const slice = told.slice(first, first + maxMarketingAtOnce)
            const firstId = yield* Effect.mapError(ids.reserve(2 * slice.length), () => temporarilyUnavailable)
            yield* inTransaction(sql)(writeChecks(slice.map(({ asked, kind, person, playerId, rules }, index) => ({
              answer: { ...answerOf(rules, kind, "marketing", person, asked), askAgain: false },
              id: firstId + 2 * index,
              operatorId,
              playerId
            }))))
          }
        }
      )

      /** Checks of registrations that came to nothing: several share a transaction, since those with audit lines follow one another. */
      const refused = yield* makeBatches<ReadonlyArray<KeptCheck>, void, SqlError.SqlError>({
        run: (registrations) =>
          Effect.as(inTransaction(sql)(writeChecks(registrations.flat())), registrations.map(() => Exit.void)),
        gatherMs: gatherRefusedMs,
        maxBatch: refusedAtOnce
      })

      const beforeRegistration: Registers["Service"]["beforeRegistration"] = Effect.fn("Registers.beforeRegistration")(
        function*(operatorId, rules, person) {
          const problems: PersonProblems = Object.assign(
            {},
            ...rules.registers.map(({ kind }) => registers[kind].problems(person))
          )
          if (Object.keys(problems).length > 0) return yield* Effect.fail(refuseFields(problems))
          const asking = rules.registers.filter(({ on }) => on.registration !== undefined)
          if (asking.length === 0) return nothingAsked
          const firstId = yield* Effect.mapError(ids.reserve(2 * asking.length), () => temporarilyUnavailable)
          const answered = yield* Effect.forEach(asking, ({ kind }) =>
            Effect.map(
              questions.ask(operatorId, kind, { event: "registration", person }),
              (asked) => ({ asked, answer: answerOf(rules, kind, "registration", person, asked) })
            ), { concurrency: "unbounded" })
          const answers = answered.map(({ answer }) => answer)
          const refusal = answers.some(({ verdict }) => verdict === "excluded")
            ? excludedPerson
            : answered.some(({ answer }) =>
                answer.verdict === "unavailable" &&
                rules.registers.find(({ kind }) => kind === answer.kind)?.on.registration?.unavailable !== "allow"
              )
            // nobody has an earlier answer about whom nobody knows
            ? registerUnavailable
            : undefined
          const checksOf = (playerId: number | null): ReadonlyArray<KeptCheck> =>
            answers.map((answer, index) => ({ answer, id: firstId + 2 * index, operatorId, playerId }))
          const writeAlone = Effect.suspend(() =>
            refused.put(checksOf(null).map((check) => ({ ...check, answer: { ...check.answer, askAgain: false } })))
          )
          if (refusal !== undefined) {
            yield* writeAlone
            return yield* Effect.fail(refusal)
          }
          const registering: Registering = {
            standings: answers.flatMap(({ answeredAt: at, kind, verdict }) =>
              verdict === "unavailable" ? [] : [{ kind, verdict, at }]
            ),
            write: (playerId) =>
              Effect.andThen(
                Effect.forEach(answered, ({ answer, asked }) => keepCode(playerId, answer.kind, asked), {
                  discard: true
                }),
                writeChecks(checksOf(playerId))
              ),
            writeAlone
          }
          return registering
        },
        orTryAgain
      )

      const commands = yield* RemoteCommands
      const askAnywhere = commands.define({
        name: "register.ask",
        payload: Schema.Struct({ kind: RegisterCheck.fields.kind }),
        run: (playerId, { kind }) => Effect.asVoid(askAbout(playerId, kind, "refresh"))
      })
      const note = commands.define({
        name: "register.note",
        payload: Note,
        run: (playerId, answer) => Effect.asVoid(actors.ask<Player, never>(null, playerId, noteCheckStep(answer)))
      })

      return Registers.of({
        through,
        mayAsk,
        askAnywhere: (playerId, kind) => askAnywhere(playerId, { kind }),
        answerOf: keptAnswer,
        keepMarketing,
        note,
        beforeRegistration
      })
    })
  )
}
