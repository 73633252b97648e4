/**
 * Renews register answers in the background: nightly for recently active players, and within minutes for players admitted without an answer. Each
 * answer is passed to the player's actor, on whichever node that is.
 */
import { Clock, Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { RefreshReport } from "../../contract/registers/StaffApi.ts"
import { Instant } from "../../domain/Instant.ts"
import { movedOf } from "../../domain/jurisdiction/Moves.ts"
import { type Rules } from "../../domain/jurisdiction/Rules.ts"
import { type RegisterKind, registerKinds } from "../../domain/register/Register.ts"
import type { RegisterAnswer } from "../../domain/player/RegisterChecks.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { texts } from "../../platform/ArrayParameters.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { isNight, toDate } from "../../platform/Time.ts"
import type { Person } from "../../registers/Register.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { RegisterPeople } from "./RegisterPeople.ts"
import { type Asked, RegisterQuestions } from "./RegisterQuestions.ts"
import { Registers } from "./Registers.ts"

const dayMs = 86_400_000

/** Players are asked about again for this long after they were active. */
const activeForMs = 30 * dayMs

/** An answer of this age is renewed. */
const renewedAfterMs = dayMs

/** Questions one by one: ten begin in a second. */
const perSecond = 10

/** Players asked about in one run, one by one and in batches. */
const maxOneByOne = 200
const maxInBatches = 5000

/** Players asked again in one run, and how long a question stays to be asked again. */
const maxAgain = 100
const againForMs = 30 * dayMs

/** Pause between two questions about a player whom nobody answers about: each leaves a check. */
const againAfterMs = 5 * 60_000

const dueRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  jurisdiction: Schema.String,
  movedFrom: Schema.NullOr(Schema.String),
  looserFrom: Schema.NullOr(Instant),
  currency: Schema.String
}))
const againRows = rowsOf(Schema.Struct({ playerId: Schema.Number, kind: Schema.Literals(registerKinds) }))
const connectionRows = rowsOf(Schema.Struct({
  operatorId: Schema.Number,
  kind: Schema.Literals(registerKinds)
}))

type Connected = { readonly operatorId: number; readonly kind: RegisterKind }

interface Subject {
  readonly id: number
  readonly rules: Rules
}

interface Run extends RefreshReport {
  /** The last player that was asked about; null when all were. */
  readonly last: number | null
}

const nothingDone: JobResult = { done: 0, hasMore: false }

export class RegisterRefresh extends Context.Service<RegisterRefresh, {
  /** Asks an operator's register about players whose answer is older than a day; a bounded number, `has_more` when there are others. */
  readonly now: (operatorId: number, kind: RegisterKind) => Effect.Effect<RefreshReport, Refusal<"TRY_AGAIN">>
  /** Job: the same for every register, by night. */
  readonly nightly: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Job: asks again about those who went on without an answer, until there is one. */
  readonly again: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/registers/RegisterRefresh") {
  static readonly layer = Layer.effect(
    RegisterRefresh,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const registers = yield* Registers
      const questions = yield* RegisterQuestions
      const book = yield* ProfileBook
      const people = yield* RegisterPeople

      /** Players after `after` who were active lately, under rules that have the register asked, without an answer of the last day. */
      const due = Effect.fnUntraced(function*({ kind, operatorId }: Connected, after: number, limit: number) {
        const now = yield* Clock.currentTimeMillis
        const codes = [...book.versions().keys()].filter((code) =>
          book.current(code, now)?.profile.registers.some((one) => one.kind === kind)
        )
        return yield* dueRows(
          sql`SELECT p.id, p.jurisdiction, p.moved_from AS "movedFrom", p.looser_from AS "looserFrom", p.currency
            FROM players p JOIN accounts a ON a.player_id = p.id
            WHERE p.operator_id = ${operatorId} AND p.id > ${after}::float8::bigint AND p.status = 'active'
              AND (p.jurisdiction = ANY(${texts(codes)})
                OR p.moved_from = ANY(${texts(codes)}) AND p.looser_from > ${toDate(now)})
              AND greatest(p.last_login_at, a.real_updated_at, a.bonus_updated_at) >= ${toDate(now - activeForMs)}
              AND NOT EXISTS (SELECT FROM jsonb_array_elements(p.registers) AS one
                WHERE one ->> 'kind' = ${kind} AND (one ->> 'at')::float8 > ${now - renewedAfterMs}::float8)
            ORDER BY p.id LIMIT ${limit}`
        )
      })

      /** Has an answer noted with its player; undefined when that is not possible now: the player is found again. */
      const noted = Effect.fnUntraced(function*(
        kind: RegisterKind,
        { id, person, rules }: Subject & { readonly person: Person },
        asked: Asked
      ) {
        const answer = yield* registers.answerOf(id, rules, kind, "refresh", person, asked)
        return yield* Effect.match(registers.note(id, answer), {
          onFailure: () => undefined,
          onSuccess: () => answer
        })
      })

      /** Asks about some players, in one request where the register takes batches. */
      const askAbout = Effect.fnUntraced(function*(
        { kind, operatorId }: Connected,
        subjects: ReadonlyArray<Subject>,
        isBatch: boolean
      ) {
        const known = yield* people.of(subjects.map(({ id }) => id), kind)
        const asking = subjects.flatMap((subject) => {
          const person = known.get(subject.id)
          return person === undefined ? [] : [{ ...subject, person }]
        })
        const persons = asking.map(({ person }) => person)
        const asked = yield* isBatch
          ? questions.askMany(operatorId, kind, persons, "refresh")
          : Effect.forEach(persons, (person) => questions.ask(operatorId, kind, { event: "refresh", person }), {
            concurrency: perSecond
          })
        return yield* Effect.forEach(asking, (subject, index) => {
          const one = asked[index]
          return one === undefined ? Effect.undefined : noted(kind, subject, one)
        }, { concurrency: 16 })
      })

      /** One run over the due players of a register. */
      const walk = Effect.fnUntraced(function*(connected: Connected, after: number) {
        const batch = yield* questions.batchOf(connected.operatorId, connected.kind, "refresh")
        const limit = batch === undefined ? maxOneByOne : maxInBatches
        const now = yield* Clock.currentTimeMillis
        const found = yield* due(connected, after, limit)
        const { operatorId } = connected
        const subjects = found.flatMap(({ currency, id, jurisdiction: code, ...columns }) => {
          const rules = book.rulesFor({ currency, operatorId, rules: { code, moved: movedOf(columns) } }, now)
          return rules === undefined ? [] : [{ id, rules }]
        })
        const size = batch?.maxQuestions ?? perSecond
        const pauseMs = batch?.everyMs ?? 1000
        const answers: Array<RegisterAnswer> = []
        for (let first = 0; first < subjects.length; first += size) {
          const begun = yield* Clock.currentTimeMillis
          const slice = subjects.slice(first, first + size)
          const told = yield* askAbout(connected, slice, batch !== undefined)
          for (const answer of told) if (answer !== undefined) answers.push(answer)
          const spent = (yield* Clock.currentTimeMillis) - begun
          if (first + size < subjects.length) yield* Effect.sleep(Math.max(0, pauseMs - spent))
        }
        const count = (verdict: RegisterAnswer["verdict"]) => answers.filter((one) => one.verdict === verdict).length
        return {
          asked: answers.length,
          excluded: count("excluded"),
          unavailable: count("unavailable"),
          has_more: found.length === limit,
          last: found.length === limit ? found.at(-1)?.id ?? null : null
        } satisfies Run
      }, orTryAgain)

      // Kept: places, night, turn. Where the nightly walk of each register is. Several nodes: one node runs the job; another one begins the night
      // again.
      /** One run at a time at this node: their pace is that of the register. */
      const turn = yield* Semaphore.make(1)
      const run = (connected: Connected, after: number) => turn.withPermits(1)(walk(connected, after))

      /** Where the nightly walk of each register is; a register without an entry was walked this night. */
      const places = new Map<string, number>()
      let night = -1

      const nightly = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const today = Math.floor(now / dayMs)
        if (!isNight(now)) return nothingDone
        const all = yield* orTryAgain(connectionRows(
          sql`SELECT operator_id AS "operatorId", kind FROM register_connections
            WHERE active AND kind <> 'screening' ORDER BY id`
        ))
        if (today !== night) {
          night = today
          places.clear()
          for (const { kind, operatorId } of all) places.set(`${operatorId} ${kind}`, 0)
        }
        const next = all.find(({ kind, operatorId }) => places.has(`${operatorId} ${kind}`))
        if (next === undefined) return nothingDone
        const key = `${next.operatorId} ${next.kind}`
        const { asked, last } = yield* run(next, places.get(key) ?? 0)
        if (last === null) places.delete(key)
        else places.set(key, last)
        return { done: asked, hasMore: places.size > 0 }
      }).pipe(Effect.withSpan("RegisterRefresh.nightly"))

      const again = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const waiting = yield* orTryAgain(againRows(
          // whoever was asked about the longest ago comes first: those about whom no answer is to be had are in nobody's way
          sql`SELECT c.player_id AS "playerId", c.kind FROM register_checks c
            WHERE c.ask_again AND c.asked_at > ${
            toDate(now - againForMs)
          } AND NOT EXISTS (SELECT FROM register_checks later
              WHERE later.player_id = c.player_id AND later.kind = c.kind AND (later.asked_at, later.id) > (c.asked_at, c.id)
                AND (later.verdict <> 'unavailable' OR later.asked_at > ${toDate(now - againAfterMs)}))
              AND c.asked_at <= ${toDate(now - againAfterMs)}
            GROUP BY c.player_id, c.kind
            ORDER BY (SELECT max(last.asked_at) FROM register_checks last
              WHERE last.player_id = c.player_id AND last.kind = c.kind)
            LIMIT ${maxAgain}`
        ))
        const done = yield* countDone(waiting, ({ kind, playerId }) => registers.askAnywhere(playerId, kind), {
          concurrency: perSecond
        })
        return { done, hasMore: false }
      }).pipe(Effect.withSpan("RegisterRefresh.again"))

      return RegisterRefresh.of({
        now: Effect.fn("RegisterRefresh.now")(function*(operatorId, kind) {
          const { last: _, ...report } = yield* run({ operatorId, kind }, 0)
          return report
        }),
        nightly,
        again
      })
    })
  )
}
