/**
 * Screens players against sanctions lists and lists of politically exposed persons, in a background job: after registration, after a change of
 * identity, and periodically. A hit opens a case; a sanctions hit blocks withdrawals, play and deposits until the case is decided.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Crypto from "node:crypto"
import { Chain } from "../../chain/Chain.ts"
import { after } from "../../domain/jurisdiction/Duration.ts"
import { checkRecord } from "../../domain/player/RegisterChecks.ts"
import { type Hit, type ScreeningEvent, screeningEvents } from "../../domain/register/Register.ts"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { numbers, texts } from "../../platform/ArrayParameters.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { toDate } from "../../platform/Time.ts"
import { ofClock } from "../../store/OperatorClocks.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { makeInsertChecks } from "../../store/RegisterCheckInserts.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { CaseOrders } from "../cases/CaseOrders.ts"
import { Cases } from "../cases/Cases.ts"
import { isSamePersonAsked, nameDigest, personDigest, personOf, RegisterPeople } from "../registers/RegisterPeople.ts"
import { RegisterQuestions } from "../registers/RegisterQuestions.ts"

/** Time between two screenings of a player. */
const every = "P30D"

/** Players asked about in one run, and at the same time; players that a run of the other job finds to be asked about. */
const atMost = 64
const concurrency = 8
const maxKnown = 1000

const minuteMs = 60_000

/** A player that is being asked about is left alone for so long: a process may die before it has the answer. */
const claimedMs = 2 * minuteMs

/** Pause after a question without a proper answer: a minute, doubled each time, at most an hour. */
const pauseMs = (attempts: number): number => minuteMs * Math.min(60, 2 ** Math.min(attempts, 6))

const Due = Schema.Struct({
  playerId: Schema.Number,
  operatorId: Schema.Number,
  event: Schema.Literals(screeningEvents),
  attempts: Schema.Number
})
const dueRows = rowsOf(Due)
const subjectRows = rowsOf(Schema.Struct({
  isErased: Schema.Boolean,
  country: Schema.String,
  jurisdiction: Schema.String,
  currency: Schema.String
}))

/**
 * What a set of hits is told from another by, so that the same people are looked at once: for one identity of the player, since hits that are somebody else's
 * may be those of who the player has become.
 */
const occurrenceOf = (hits: ReadonlyArray<Hit>, identity: Uint8Array): string => {
  const people = hits.map(({ category, list, name }) => JSON.stringify([list, category, name]))
  const digest = Crypto.createHash("sha256").update(people.toSorted().join("\n")).update(identity).digest("hex")
  return `hits ${digest.slice(0, 32)}`
}

export class Screenings extends Context.Service<Screenings, {
  /** Has players screened whose operator has a screening, in the transaction that is open. */
  readonly want: (
    players: ReadonlyMap<number, ScreeningEvent>,
    now: number
  ) => Effect.Effect<void, SqlError.SqlError>
  /** Job: asks about the players who are due. Idempotent, also with several processes. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Job: finds players who have never been due, of operators that have a screening by now. */
  readonly findKnown: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/screenings/Screenings") {
  static readonly layer = Layer.effect(
    Screenings,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const questions = yield* RegisterQuestions
      const personal = yield* PersonalData
      const book = yield* ProfileBook
      const chain = yield* Chain
      const insertChecks = yield* makeInsertChecks
      const cases = yield* Cases
      const orders = yield* CaseOrders
      const ids = yield* Ids
      const people = yield* RegisterPeople

      const isConnected = (operator: string) =>
        sql`EXISTS (SELECT FROM register_connections c WHERE c.operator_id = ${sql.literal(operator)}
          AND c.kind = 'screening' AND c.active)`

      const want: Screenings["Service"]["want"] = Effect.fnUntraced(function*(players, now) {
        if (players.size === 0) return
        yield* sql`INSERT INTO screenings (player_id, operator_id, event, due_at, attempts)
          SELECT p.id, p.operator_id, u.event, ${toDate(now)}, 0
          FROM unnest(${numbers([...players.keys()])}::float8[], ${
          texts([...players.values()])
        }::text[]) AS u(id, event)
            JOIN players p ON p.id = u.id::bigint WHERE ${isConnected("p.operator_id")}
          ON CONFLICT (player_id) DO UPDATE SET event = excluded.event, due_at = excluded.due_at, attempts = 0`
      })

      /** Asks about a player, and keeps what came of it together with what follows from it. */
      const screen = Effect.fnUntraced(function*({ attempts, event, operatorId, playerId }: typeof Due.Type) {
        const person = yield* personOf(people, playerId, "generic")
        const subject = yield* oneOf(subjectRows(
          sql`SELECT erased_at IS NOT NULL AS "isErased", country, jurisdiction, currency FROM players WHERE id = ${playerId}::float8::bigint`
        ))
        if (person === undefined || subject === undefined) return
        if (subject.isErased) {
          // nobody is left to ask about
          yield* sql`UPDATE screenings SET due_at = 'infinity' WHERE player_id = ${playerId}::float8::bigint`
          return
        }
        const { country, currency, jurisdiction } = subject
        const asked = yield* questions.ask(operatorId, "screening", {
          event: "refresh",
          person: { ...person, registerCode: null, country }
        })
        const { hits = [], registerCode: _, ...answer } = asked
        const rules = book.rulesOf(jurisdiction, currency, asked.askedAt, operatorId)
        const check = {
          ...answer,
          kind: "screening" as const,
          event,
          verdict: hits.length > 0 ? "hit" as const : answer.verdict,
          profile: jurisdiction,
          profileVersion: rules?.version ?? 1,
          personDigest: personDigest(personal, person),
          askAgain: false
        }
        const now = yield* personOf(people, playerId, "generic")
        const isSame = now !== undefined && isSamePersonAsked(person, now)
        const isAnswered = answer.verdict !== "unavailable"
        const next = isAnswered ? after(every, answer.answeredAt) : answer.answeredAt + pauseMs(attempts)
        const isSanction = hits.some(({ category }) => category === "sanction")
        const id = yield* Effect.mapError(ids.reserve(2), () => temporarilyUnavailable)
        yield* inTransaction(sql)(Effect.gen(function*() {
          // somebody who has become another person meanwhile is due already
          yield* sql`UPDATE screenings SET event = ${isAnswered ? "rescreen" : event}, due_at = ${toDate(next)},
              attempts = ${isAnswered ? 0 : attempts}
            WHERE player_id = ${playerId}::float8::bigint AND event = ${event} AND attempts = ${attempts}`
          yield* insertChecks([{ ...check, id, operatorId, playerId }])
          if (hits.length > 0 && isSame) {
            const opened = yield* cases.open({
              player: playerId,
              operator: operatorId,
              type: "screening",
              by: "compliance",
              occurrence: occurrenceOf(hits, nameDigest(personal, person)),
              details: { hits, sanction: isSanction }
            })
            if (opened.isNew && isSanction) {
              yield* orders.keep(opened, "compliance", [
                { _tag: "Hold" },
                { _tag: "Impose", obligation: "screening", dueAt: null, isTold: true, text: null }
              ])
            }
          }
          yield* chain.writeAuditLines([{
            ...checkRecord(check),
            id: id + 1,
            at: answer.answeredAt,
            operatorId,
            playerId,
            subject: `player:${playerId}`
          }])
        }))
        if (isSanction) yield* orders.done(playerId)
      }, orTryAgain)

      const run = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const own = yield* ofClock(sql, "s.operator_id")
        const due = yield* dueRows(
          sql`UPDATE screenings SET due_at = ${toDate(now + claimedMs)}, attempts = attempts + 1
            WHERE player_id = ANY (ARRAY(SELECT s.player_id FROM screenings s
              WHERE s.due_at <= ${toDate(now)} AND ${own} AND ${isConnected("s.operator_id")}
              ORDER BY s.due_at LIMIT ${atMost} FOR UPDATE OF s SKIP LOCKED))
            RETURNING player_id AS "playerId", operator_id AS "operatorId", event, attempts`
        )
        const done = yield* countDone(due, screen, { concurrency })
        return { done, hasMore: done > 0 && due.length === atMost }
      }).pipe(orTryAgain, Effect.withSpan("Screenings.run"))

      const findKnown = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const added = yield* sql`INSERT INTO screenings (player_id, operator_id, event, due_at, attempts)
          SELECT p.id, p.operator_id, 'rescreen', ${toDate(now)}, 0 FROM register_connections r
            JOIN players p ON p.operator_id = r.operator_id AND p.status <> 'closed'
          WHERE r.kind = 'screening' AND r.active AND NOT EXISTS (SELECT FROM screenings s WHERE s.player_id = p.id)
          LIMIT ${maxKnown} ON CONFLICT (player_id) DO NOTHING RETURNING player_id`
        return { done: added.length, hasMore: added.length === maxKnown }
      }).pipe(orTryAgain, Effect.withSpan("Screenings.findKnown"))

      return Screenings.of({ want, run, findKnown })
    })
  )
}
