/** Job that marks unused accounts as dormant, and the list of dormant accounts with their balances. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { DormantAccount } from "../../contract/reports/DormantResource.ts"
import { Instant } from "../../domain/Instant.ts"
import { wakeStep } from "../../domain/player/AccountStatus.ts"
import { markDormantStep } from "../../domain/player/DormantAccounts.ts"
import type { Player } from "../../domain/state/Player.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { iso, isoOrNull, toDate } from "../../platform/Time.ts"
import { counterIn } from "../../store/CounterColumns.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { listOf } from "../../store/Lists.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import { ClockOwner, ofClock } from "../../store/OperatorClocks.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { columnsOf, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Players examined in one run, of all those under a jurisdiction one after the other, and marked at the same time. */
const examinedAtOnce = 5000
const atOnce = 16

const slices = rowsOf(Schema.Struct({ last: Schema.NullOr(Schema.Number), players: Schema.Number }))

const Unused = Schema.Struct({ entrySeq: Schema.Number, lastBetAt: Schema.Number })

const lastBetAt = counterIn("a.counters", "lastBetAt")

const unusedRows = rowsOf(Schema.Struct({ playerId: Schema.Number, ...Unused.fields }))

const DormantRow = Schema.Struct({
  ...DormantAccount.fields,
  dormant_since: Instant,
  last_login_at: Schema.NullOr(Instant)
})

const dormantRows = rowsOf(DormantRow)

const columns = columnsOf(DormantRow, "p", {
  player_id: "p.id",
  balance: "a.real_balance",
  bonus_balance: "a.bonus_balance"
})

export class DormantAccounts extends Context.Service<DormantAccounts, {
  /** Examines some more of the players under jurisdictions. Idempotent, also with several processes at once. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Dormant accounts of operators, the last registered first; null: of all. */
  readonly list: (
    scope: Scope,
    query: PartQuery
  ) => Effect.Effect<Part<typeof DormantAccount.Type>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/position/DormantAccounts") {
  static readonly layer = Layer.effect(
    DormantAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const book = yield* ProfileBook
      const actors = yield* PlayerActors
      const mark = (yield* RemoteCommands).define({
        name: "player.dormant",
        payload: Schema.Struct({ ...Unused.fields, foundAt: Schema.Number }),
        run: Effect.fnUntraced(function*(playerId, seen) {
          yield* actors.ask<Player, never>(null, playerId, markDormantStep(seen))
          // a sign-in since then is written beside the player's state: it may have come before the mark, and its row after the search
          const [signedIn] = yield* orTryAgain(
            sql`SELECT FROM players WHERE id = ${playerId} AND last_login_at >= ${toDate(seen.foundAt)}`
          )
          if (signedIn !== undefined) yield* actors.ask<Player, never>(null, playerId, wakeStep)
        })
      })
      const listed = listOf<typeof DormantRow.Type, object, "last">(sql, {
        operator: "p.operator_id",
        read: (where, end) =>
          dormantRows(sql`SELECT ${sql.literal(columns)} FROM players p JOIN accounts a ON a.player_id = p.id
            WHERE p.dormant_since IS NOT NULL AND ${where} ${end}`),
        filters: {},
        orders: { last: { keys: [{ column: "p.id", kind: "integer", of: (row) => row.player_id }], descending: true } }
      })
      // Kept: walks. How far the look for dormant accounts has come. Several nodes: its own: a process that takes the job over begins anew.
      /** How far the walk by each clock is: the last player of the run before. Begins anew behind the last one. */
      const walks = new Map<number | null, number>()

      /** Condition of players who have not used the account for as long as the rules of a code say; undefined where it says nothing. */
      const unusedUnder = (code: string, now: number): Statement.Fragment | undefined => {
        const period = book.current(code, now)?.profile.dormant.after ?? null
        if (period === null) return undefined
        const [length, at] = [sql`${period}::text::interval`, sql`${toDate(now)}::timestamptz`]
        const isOver = (column: string) => sql`coalesce(${sql.literal(column)}, p.created_at) + ${length} <= ${at}`
        return sql`(p.jurisdiction = ${code} AND ${isOver("p.created_at")} AND ${isOver("p.last_login_at")}
          AND ${isOver(`to_timestamp(nullif(${lastBetAt}, 0) / 1000)`)} AND NOT EXISTS (SELECT FROM payment_requests d
            WHERE d.player_id = p.id AND d.type = 'deposit' AND d.created_at > ${at} - ${length}))`
      }

      const run = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const clock = yield* ClockOwner
        const own = yield* ofClock(sql)
        const ownPlayers = yield* ofClock(sql, "p.operator_id")
        const walked = walks.get(clock) ?? 0
        const unused = [...book.versions().keys()].flatMap((code) => unusedUnder(code, now) ?? [])
        if (unused.length === 0) return { done: 0, hasMore: false }
        const slice = yield* oneOf(slices(
          sql`SELECT max(id)::float8 AS last, count(*)::float8 AS players FROM (SELECT id FROM players
            WHERE jurisdiction <> 'none' AND ${own} AND id > ${walked}::float8::bigint ORDER BY id LIMIT ${examinedAtOnce}) next`
        ))
        const last = slice?.last ?? 0
        const found = last === 0 ? [] : yield* unusedRows(
          sql`SELECT p.id::float8 AS "playerId", a.entry_seq::float8 AS "entrySeq",
              coalesce(${sql.literal(lastBetAt)}, 0) AS "lastBetAt"
            FROM players p JOIN accounts a ON a.player_id = p.id
            WHERE p.id > ${walked}::float8::bigint AND p.id <= ${last}::float8::bigint AND p.dormant_since IS NULL
              AND p.jurisdiction <> 'none' AND ${ownPlayers} AND ${sql.or(unused)}`
        )
        const done = yield* countDone(found, ({ playerId, ...seen }) => mark(playerId, { ...seen, foundAt: now }), {
          concurrency: atOnce
        })
        const isOver = (slice?.players ?? 0) < examinedAtOnce
        if (isOver) walks.delete(clock)
        else walks.set(clock, last)
        // who advances a clock goes on when all that is due has been found
        return { done, hasMore: clock !== null && !isOver }
      }).pipe(orTryAgain, Effect.withSpan("DormantAccounts.run"))

      return DormantAccounts.of({
        run,
        list: Effect.fn("DormantAccounts.list")((scope, query) =>
          Effect.map(orTryAgain(listed.part(scope, query, "last")), (part) =>
            mapPart(part, (row) => ({
              ...row,
              dormant_since: iso(row.dormant_since),
              last_login_at: isoOrNull(row.last_login_at)
            })))
        )
      })
    })
  )
}
