/**
 * Nightly erasure of personal data, class by class, after its retention period, and the report of what is due. Only players whose jurisdiction
 * profile sets periods are examined: without a period, data is erased on request only.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import type { RetentionReport } from "../../contract/privacy/StaffApi.ts"
import { before } from "../../domain/jurisdiction/Duration.ts"
import { retentionClasses, type RetentionClass } from "../../domain/jurisdiction/Profile.ts"
import { personalColumns } from "../../domain/privacy/PersonalColumns.ts"
import { type ClassPlan, wholeClasses } from "../../domain/privacy/Retention.ts"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { Actor } from "../../office/Actor.ts"
import { makeReferences } from "../../office/References.ts"
import { texts } from "../../platform/ArrayParameters.ts"
import { describeSqlError } from "../../platform/Database.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { iso, isNight, toDate } from "../../platform/Time.ts"
import { within, type Scope } from "../../store/OperatorScope.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Erasures, type PlayerRetention } from "./Erasures.ts"

/** Players read together, and in one run of the job. */
const perPage = 200
const perRun = 2000

/** Checks of refused registrations erased in one run, of each profile. */
const checksPerRun = 5000

/** Players that one report looks at. */
const perReport = 100_000

const dayMs = 86_400_000

/** Name in the audit log. */
const actor = "scheduler"

const counts = rowsOf(Schema.Struct({ count: Schema.Number }))

/** Columns of each class, `table.column`. */
const columnsOf = new Map(retentionClasses.map((name) => [
  name,
  Object.entries(personalColumns).flatMap(([table, classes]) =>
    (classes[name]?.split(" ") ?? []).map((column) => `${table}.${column}`)
  )
]))

/** Plans with something to do at `now`: the period is over, and not everything was erased. */
const due = ({ blocking, erased, plans }: PlayerRetention): ReadonlyArray<ClassPlan> =>
  plans.filter((plan) =>
    plan.period !== null && plan.erasable !== null &&
    (!wholeClasses.includes(plan.class) || blocking.length === 0 && !erased.includes(plan.class))
  )

/** What a night has done so far. */
interface Night {
  readonly after: number
  readonly players: number
  readonly classes: { readonly [name: string]: number }
  readonly checks: number
}

const begin: Night = { after: 0, players: 0, classes: {}, checks: 0 }

export class Retention extends Context.Service<Retention, {
  /** What is due and kept of each class, of the players of the operators that the actor may see. */
  readonly report: (
    actor: Pick<Actor, "operators">,
    operator: string | undefined
  ) => Effect.Effect<RetentionReport, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Erases what is due of some thousand players, from where the last run was, then of refused registrations; `hasMore` until all were looked at. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Job: the same, by night. */
  readonly nightly: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/privacy/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const book = yield* ProfileBook
      const chain = yield* Chain
      const ids = yield* Ids
      const erasures = yield* Erasures
      const references = yield* makeReferences
      // Kept: night, doneOn. Where the nightly walk over players is, and the day of the last one. Several nodes: one node runs the job; another one
      // begins the night again.
      /** Where the walk of this night is; undefined between two walks. The day of the last one that came to its end. */
      let night: Night | undefined
      let doneOn = 0

      const profilesWithPeriods = (now: number) =>
        [...book.versions().keys()].flatMap((code) => {
          const retention = book.current(code, now)?.profile.retention
          return retention === undefined || retention === null ? [] : [{ code, retention }]
        })

      const pageAfter = (after: number, codes: ReadonlyArray<string>, scope: Scope, now: number) =>
        erasures.read(
          sql`p.id IN (SELECT id FROM players WHERE ${
            sql.and([
              sql`jurisdiction = ANY(${texts(codes)}::text[]) AND id > ${after}::float8::bigint`,
              ...within(sql, scope)
            ])
          } ORDER BY id LIMIT ${perPage})`,
          now
        )

      const eraseOne = Effect.fnUntraced(function*({ playerId }: PlayerRetention, now: number) {
        const classes = yield* inTransaction(sql)(Effect.gen(function*() {
          const locked = yield* erasures.lock(null, playerId, now)
          return yield* erasures.write({ ...locked, plans: due(locked) }, { actor, reason: "retention", now })
        }))
        if (classes.some((name) => wholeClasses.includes(name))) yield* erasures.forget(playerId)
        return classes
      })

      /** Is found again the next night. */
      const notErased = ({ playerId }: PlayerRetention) => (failure: SqlError.SqlError | Refusal) =>
        Effect.logWarning("personal data of a player was not erased").pipe(
          Effect.annotateLogs({
            player_id: playerId,
            reason: failure instanceof SqlError.SqlError ? describeSqlError(failure) : failure.message
          }),
          Effect.as<ReadonlyArray<RetentionClass>>([])
        )

      /** Digests of checks of registrations that were refused. */
      const eraseChecks = Effect.fnUntraced(function*(now: number) {
        let done = 0
        let hasMore = false
        for (const { code, retention } of profilesWithPeriods(now)) {
          if (retention.checks === undefined) continue
          const [{ count } = { count: 0 }] = yield* counts(
            sql`SELECT erase_refused_checks(${code}, ${
              toDate(before(retention.checks, now))
            }, ${checksPerRun})::float8 AS count`
          )
          done += count
          hasMore ||= count === checksPerRun
        }
        return { done, hasMore }
      })

      /** The line of the audit log of a night that erased something. */
      const record = Effect.fnUntraced(function*({ checks, classes, players }: Night, now: number) {
        if (players + checks === 0) return
        const id = yield* Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)
        yield* inTransaction(sql)(chain.writeAuditLines([{
          id,
          at: now,
          actor,
          action: "retention",
          operatorId: null,
          playerId: null,
          subject: "job:retention",
          before: null,
          after: { players, classes, refused_registrations: checks },
          reason: null
        }]))
      })

      const run: Retention["Service"]["run"] = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const codes = profilesWithPeriods(now).map(({ code }) => code)
        let walk = night ?? begin
        let done = 0
        let isAtEnd = codes.length === 0
        for (let looked = 0; looked < perRun && !isAtEnd; looked += perPage) {
          const page = yield* pageAfter(walk.after, codes, null, now)
          for (const one of page) {
            if (due(one).length === 0) continue
            const classes = yield* eraseOne(one, now).pipe(Effect.catch(notErased(one)))
            if (classes.length === 0) continue
            done++
            const counted: { [name: string]: number } = { ...walk.classes }
            for (const name of classes) counted[name] = (counted[name] ?? 0) + 1
            walk = { ...walk, players: walk.players + 1, classes: counted }
          }
          walk = { ...walk, after: page.at(-1)?.playerId ?? walk.after }
          night = walk
          isAtEnd = page.length < perPage
        }
        if (!isAtEnd) return { done, hasMore: true }
        const checks = yield* eraseChecks(now)
        done += checks.done
        walk = { ...walk, checks: walk.checks + checks.done }
        night = walk
        if (checks.hasMore) return { done, hasMore: true }
        yield* record(walk, now)
        night = undefined
        doneOn = Math.floor(now / dayMs)
        return { done, hasMore: false }
      }).pipe(orTryAgain, Effect.withSpan("Retention.run"))

      const nightly: Retention["Service"]["nightly"] = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const isDone = doneOn === Math.floor(now / dayMs)
        return isDone || !isNight(now) ? { done: 0, hasMore: false } : yield* run
      })

      const report: Retention["Service"]["report"] = Effect.fn("Retention.report")(function*(of, operator) {
        const now = yield* Clock.currentTimeMillis
        const scope = yield* references.scope(of, operator)
        const codes = profilesWithPeriods(now).map(({ code }) => code)
        const found = new Map(retentionClasses.map((name) => [name, { due: 0, kept: 0, next: Infinity }]))
        let examined = 0
        let after = 0
        let isComplete = codes.length === 0
        while (!isComplete && examined < perReport) {
          const page: ReadonlyArray<PlayerRetention> = yield* pageAfter(after, codes, scope, now)
          examined += page.length
          after = page.at(-1)?.playerId ?? after
          isComplete = page.length < perPage
          for (const one of page) {
            const isDue = new Set(due(one).map((plan) => plan.class))
            for (const plan of one.plans) {
              const counted = found.get(plan.class)
              if (counted === undefined || plan.period === null || plan.until === null) continue
              if (isDue.has(plan.class)) counted.due++
              else if (!one.erased.includes(plan.class)) {
                counted.kept++
                if (plan.until > now && plan.until < counted.next) counted.next = plan.until
              }
            }
          }
        }
        return {
          classes: retentionClasses.map((name) => {
            const { due, kept, next } = found.get(name) ?? { due: 0, kept: 0, next: Infinity }
            return {
              class: name,
              due,
              kept,
              next_at: next === Infinity ? null : iso(next),
              columns: columnsOf.get(name) ?? []
            }
          }),
          examined,
          is_complete: isComplete
        }
      }, orTryAgain)

      return Retention.of({ report, run, nightly })
    })
  )
}
