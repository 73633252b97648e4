/**
 * Extends an exclusion to the same person's accounts at all operators of a licensee: the excluded account is compared with those at the other
 * operators, and each match is excluded by its own actor (`docs/decisions/0059-licensees.md`).
 *
 * The commit of an exclusion, or of a new identity, queues the player in its own transaction, and a comparison looks both ways: if an exclusion and
 * a registration happen at the same moment, the one compared later sees the other.
 */
import { Cause, Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { exclusionTypes } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { excludeForLicenseeStep, type LicenseeExclusion } from "../../domain/limit/Exclusions.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { toDate } from "../../platform/Time.ts"
import { afterCommits } from "../../store/Outbox.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeSamePersons } from "../../store/SamePersons.ts"

/** Players compared in one run, and at once. */
const maxComparisons = 200
const concurrency = 8

/** Accounts of one person at one operator that are read at once, and exclusions of a walk. */
const accountsPerPage = 100
const exclusionsPerPage = 500

/** Delay after a failure: one second, doubled each time, at most ten minutes. A comparison is never given up. */
const pauseMs = (attempts: number): number => Math.min(600_000, 1000 * 2 ** Math.min(attempts, 10))

/** Longest pause, plus a minute: a later time was written by a clock that has been set back since. */
const longestPauseMs = 660_000

/** How soon a postponed comparison has to be due for the process to wait for it. */
const soonMs = 10_000

/** Longest time until a process looks for comparisons that another one queued. */
const lookEveryMs = 3000

const queueRows = rowsOf(Schema.Struct({ id: Schema.Number, playerId: Schema.Number, attempts: Schema.Number }))
const walkRows = rowsOf(Schema.Struct({ operatorId: Schema.Number, after: Schema.Number }))
const lastRows = rowsOf(Schema.Struct({ count: Schema.Number, last: Schema.NullOr(Schema.Number) }))
const foundRows = rowsOf(Schema.Struct({ isFound: Schema.Boolean }))

const Account = Schema.Struct({
  playerId: Schema.Number,
  type: Schema.NullOr(Schema.Literals(exclusionTypes)),
  until: Schema.NullOr(Schema.Date),
  returnFrom: Schema.NullOr(Schema.Date),
  returnWait: Schema.NullOr(Schema.String),
  /** Whether it has an exclusion in force that holds at every operator of the licensee. */
  isExcluded: Schema.Boolean
})
const accountRows = rowsOf(Account)

type Account = typeof Account.Type

/** What an account's exclusion asks of the others; undefined where it asks nothing. */
const askedBy = ({ isExcluded, returnFrom, returnWait, type, until }: Account): LicenseeExclusion | undefined =>
  !isExcluded || type === null ? undefined : {
    type,
    until: until?.getTime() ?? null,
    returnFrom: returnFrom?.getTime() ?? null,
    ...(returnWait === null ? {} : { wait: returnWait })
  }

const noAccount = refuse("NOT_FOUND", "There is no such player.")

export class LicenseeExclusions extends Context.Service<LicenseeExclusions, {
  /** Compares the players that wait. Bounded; can be interrupted anywhere and is idempotent, also with several services. A job. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Whether there is something to do within some seconds. */
  readonly isDueSoon: Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
}>()("pitboss/responsibleGaming/LicenseeExclusions") {
  static readonly layer = Layer.effect(
    LicenseeExclusions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const personOf = yield* makeSamePersons

      const exclude = (yield* RemoteCommands).define({
        name: "player.licensee_exclusion",
        payload: Schema.Struct({
          type: Schema.Literals(exclusionTypes),
          until: Schema.NullOr(Schema.Number),
          returnFrom: Schema.NullOr(Schema.Number),
          wait: Schema.optionalKey(Schema.String)
        }),
        run: (playerId, exclusion) => actors.ask(null, playerId, excludeForLicenseeStep(exclusion))
      })

      const accountColumns = (now: number) =>
        sql`p.id AS "playerId", p.exclusion_type AS type, p.exclusion_until AS until, p.exclusion_return_from AS "returnFrom",
          p.exclusion_return_wait AS "returnWait",
          coalesce(p.exclusion_scope = 'licensee', false) AND (p.exclusion_over_at IS NULL OR p.exclusion_over_at > ${
          toDate(now)
        }) AS "isExcluded"`

      /** Whether the player has come back from an exclusion that may be ended from then on. Of a former one nothing else is kept. */
      const hasReturned = (playerId: number, returnFrom: number) =>
        Effect.map(
          foundRows(sql`SELECT EXISTS (SELECT FROM acknowledgements WHERE player_id = ${playerId}::float8::bigint
            AND kind = 'return_to_play' AND answer = 'accept' AND at >= ${toDate(returnFrom)}) AS "isFound"`),
          ([row]) => row?.isFound === true
        )

      const apply = Effect.fnUntraced(function*(playerId: number, asked: LicenseeExclusion | undefined, now: number) {
        if (asked === undefined) return
        const { returnFrom } = asked
        if (returnFrom !== null && returnFrom <= now && (yield* hasReturned(playerId, returnFrom))) return
        yield* exclude(playerId, asked)
      })

      /** Compares a player with the accounts of the same person at the other operators of the licensee. */
      const compare = Effect.fnUntraced(function*(playerId: number, now: number) {
        const person = yield* personOf(playerId)
        if (person === undefined) return
        const own = yield* oneOf(
          accountRows(sql`SELECT ${accountColumns(now)} FROM players p WHERE p.id = ${playerId}::float8::bigint`)
        )
        if (own === undefined) return yield* Effect.fail(noAccount)
        for (const operatorId of person.operators) {
          let after = 0
          for (;;) {
            const page: ReadonlyArray<Account> = yield* accountRows(
              sql`SELECT ${accountColumns(now)} FROM (
                  SELECT DISTINCT f.player_id FROM ${person.facts}
                  JOIN player_facts f ON f.operator_id = ${operatorId}::float8::bigint AND f.kind = u.kind AND f.digest = u.digest
                  WHERE f.player_id > ${after}::float8::bigint ORDER BY f.player_id LIMIT ${accountsPerPage}
                ) same JOIN players p ON p.id = same.player_id ORDER BY p.id`
            )
            for (const account of page) {
              yield* apply(account.playerId, askedBy(own), now)
              yield* apply(playerId, askedBy(account), now)
              after = account.playerId
            }
            if (page.length < accountsPerPage) break
          }
        }
      })

      const postpone = (
        { attempts, id, playerId }: { readonly id: number; readonly playerId: number; readonly attempts: number },
        cause: Cause.Cause<unknown>,
        now: number
      ) =>
        Effect.annotateLogs(Effect.logWarning("licensee-wide exclusion check of a player postponed", cause), {
          player_id: playerId,
          attempts: attempts + 1
        }).pipe(
          Effect.andThen(sql`UPDATE licensee_comparisons SET attempts = attempts + 1,
            not_before = ${toDate(now + pauseMs(attempts))} WHERE id = ${id}::float8::bigint`)
        )

      /** A player who cannot be asked now is compared again later, and delays no other. */
      const take = (
        queued: { readonly id: number; readonly playerId: number; readonly attempts: number },
        now: number
      ) =>
        compare(queued.playerId, now).pipe(
          Effect.andThen(sql`DELETE FROM licensee_comparisons WHERE id = ${queued.id}::float8::bigint`),
          Effect.as(1),
          Effect.catchCause((cause) =>
            Cause.hasInterrupts(cause) ? Effect.interrupt : Effect.as(postpone(queued, cause, now), 0)
          )
        )

      /** Queues the next page of running exclusions of an operator whose licensee has one operator more; how many there were. */
      const walk = inTransaction(sql)(Effect.gen(function*() {
        const next = yield* oneOf(walkRows(
          sql`SELECT operator_id AS "operatorId", after::float8 AS after FROM licensee_walks
            ORDER BY operator_id LIMIT 1 FOR UPDATE SKIP LOCKED`
        ))
        if (next === undefined) return 0
        const { operatorId } = next
        const queued = yield* oneOf(lastRows(
          sql`WITH queued AS (
              INSERT INTO licensee_comparisons (player_id)
              SELECT id FROM players WHERE operator_id = ${operatorId}::float8::bigint AND exclusion_scope = 'licensee'
                AND id > ${next.after}::float8::bigint
              ORDER BY players.id LIMIT ${exclusionsPerPage} RETURNING player_id
            )
            SELECT count(*)::float8 AS count, max(player_id)::float8 AS last FROM queued`
        ))
        const { count, last } = queued ?? { count: 0, last: null }
        if (last === null || count < exclusionsPerPage) {
          yield* sql`DELETE FROM licensee_walks WHERE operator_id = ${operatorId}::float8::bigint`
        } else {
          yield* sql`UPDATE licensee_walks SET after = ${last}::float8::bigint WHERE operator_id = ${operatorId}::float8::bigint`
        }
        return 1
      }))

      const run = Effect.gen(function*() {
        const walked = yield* walk
        const now = yield* Clock.currentTimeMillis
        const queued = yield* queueRows(
          sql`SELECT id, player_id AS "playerId", attempts FROM licensee_comparisons
            WHERE not_before <= ${toDate(now)} OR not_before > ${toDate(now + longestPauseMs)}
            ORDER BY licensee_comparisons.id LIMIT ${maxComparisons}`
        )
        const outcomes = yield* Effect.forEach(queued, (one) => take(one, now), { concurrency })
        const done = outcomes.filter((one) => one === 1).length
        // a bound that was met without anything done would be met again at once, and again
        return { done, hasMore: walked > 0 || done > 0 && queued.length === maxComparisons }
      }).pipe(orTryAgain, Effect.withSpan("LicenseeExclusions.run"))

      const isDueSoon = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* foundRows(
          sql`SELECT EXISTS (SELECT FROM licensee_comparisons WHERE not_before <= ${toDate(now + soonMs)})
            OR EXISTS (SELECT FROM licensee_walks) AS "isFound"`
        )
        return row?.isFound === true
      }).pipe(orTryAgain)

      return LicenseeExclusions.of({ run, isDueSoon })
    })
  )

  /** Compares soon after commits that write events, and what others have left at the latest after some seconds, until the scope closes. */
  static readonly layerWakes = Layer.effectDiscard(Effect.flatMap(LicenseeExclusions, ({ isDueSoon, run }) => {
    const runAll = Effect.repeat(run, { while: ({ hasMore }) => hasMore })
    const untilNothingIsDue = Effect.repeat(Effect.andThen(runAll, isDueSoon), {
      while: (isDue) => isDue,
      schedule: Schedule.spaced("1 second")
    })
    return afterCommits(Effect.when(untilNothingIsDue, isDueSoon), {
      everyMs: lookEveryMs,
      postponed: (cause) => Effect.logWarning("licensee-wide exclusion checks postponed", cause)
    })
  }))
}
