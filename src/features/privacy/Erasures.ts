/**
 * Retention status of player data, and its erasure (docs/decisions/0064-retention.md).
 *
 * An erasure locks the player's account: what the player's actor decides meanwhile is not committed, but decided again on the remaining data.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import { erasureAction } from "../../chain/Lines.ts"
import type { ErasureResult } from "../../contract/privacy/DataRequestResource.ts"
import { retentionClasses, type RetentionClass } from "../../domain/jurisdiction/Profile.ts"
import {
  type ClassPlan,
  erasureBlocking,
  type ErasureBlock,
  type RetentionFacts,
  retentionPlan,
  wholeClasses
} from "../../domain/privacy/Retention.ts"
import { dataRequestTypes, type DataRequestType } from "../../domain/privacy/DataRequests.ts"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { answer } from "../../domain/state/Decision.ts"
import { texts, times } from "../../platform/ArrayParameters.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { Ids } from "../../platform/Ids.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

/** What there is of a player, and what of it may be erased now. */
export interface PlayerRetention {
  readonly playerId: number
  readonly operatorId: number
  readonly blocking: ReadonlyArray<ErasureBlock>
  readonly plans: ReadonlyArray<ClassPlan>
  /** The profile that counts, and its version. */
  readonly basis: string
  /** Classes that were erased as a whole, and nothing was written since. */
  readonly erased: ReadonlyArray<string>
}

const instant = Schema.NullOr(Schema.Number)

const factRows = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  operatorId: Schema.Number,
  jurisdiction: Schema.String,
  erased: Schema.Array(Schema.String),
  isWrittenSince: Schema.Boolean,
  closedAt: instant,
  lastTransactionAt: instant,
  exclusionEnd: instant,
  amlEnd: instant,
  firstAmlEnd: instant,
  lastSignInAt: instant,
  firstSignInAt: instant,
  lastCheckAt: instant,
  firstCheckAt: instant,
  lastAnswerAt: instant,
  firstAnswerAt: instant,
  balance: Schema.Number,
  openRounds: Schema.Number,
  openPayments: Schema.Number,
  openCases: Schema.Number
}))

/** Epoch milliseconds of an instant; infinity of one without an end. */
const ms = (expression: string): string => `(extract(epoch FROM ${expression}) * 1000)::float8`

/** Note of the case of a data request, which says nothing about the person. */
export const requestNote = (type: DataRequestType): string => `Request for ${type}`

const requestNotes = dataRequestTypes.map((type) => `'${requestNote(type)}'`).join(", ")

/** Whether something of a kind is left of a row of `cases`. */
const isLeft = (from: string, condition: string): string =>
  `EXISTS (SELECT FROM ${from} x WHERE x.case_id = cases.id AND ${condition})`

/** Ends of a player's alerts and cases of which something is left, infinity of open ones. What a case has asked for goes with the case. */
const amlEnds = `(SELECT coalesce(closed_at, 'infinity') AS at FROM compliance_alerts
    WHERE player_id = p.id AND (status <> 'closed' OR details <> '{}' OR notes <> '[]')
  UNION ALL SELECT coalesce(closed_at, 'infinity') FROM cases WHERE player_id = p.id
    AND (status <> 'closed' AND type <> 'data_subject' OR details <> '{}'
      OR ${
  isLeft("case_notes", `x.note <> 'erased' AND (cases.type <> 'data_subject' OR x.note NOT IN (${requestNotes}))`)
}
      OR ${isLeft("case_evidence", "x.reference <> 'erased'")}
      OR ${isLeft("case_reports", "x.reference <> 'erased-' || x.id")}
      OR ${isLeft("obligations", "x.details <> '{}' AND (x.state <> 'open' OR p.status = 'closed')")}))`

/** The first or last of a player's sessions with an address, by the order of their ids. */
const session = (order: "ASC" | "DESC"): string =>
  `(SELECT s.opened_at FROM game_sessions s WHERE s.player_id = p.id AND num_nonnulls(s.ip, s.platform) > 0 ORDER BY s.id ${order} LIMIT 1)`

const registered = "CASE WHEN p.registration_ip IS NOT NULL THEN p.created_at END"

const rowsOfPlayer = (which: "min" | "max", column: string, from: string, personal: string): string =>
  `(SELECT ${which}(${column}) FROM ${from} WHERE player_id = p.id AND ${personal} IS NOT NULL)`

const closing = `CASE WHEN p.status = 'closed' THEN coalesce((SELECT max(l.at) FROM audit_log l
  WHERE l.player_id = p.id AND l.action = 'player.status'), p.created_at) END`

// of an exclusion that is over the line that says so is left
const lastExclusion = `CASE WHEN p.exclusion_type IS NOT NULL THEN coalesce(p.exclusion_over_at, 'infinity')
  ELSE (SELECT max(l.at) FROM audit_log l WHERE l.player_id = p.id AND l.action = 'player.self_exclusion') END`

/** When classes were last erased as a whole of a player who still has a name. */
const lastErasure = `(SELECT max(l.at) FROM audit_log l WHERE l.player_id = p.id AND l.action = '${erasureAction}'
  AND l.after -> 'classes' ?| ARRAY[${wholeClasses.map((name) => `'${name}'`).join(", ")}])`

const instants = {
  closedAt: closing,
  lastTransactionAt: "greatest(a.real_updated_at, a.bonus_updated_at)",
  exclusionEnd: lastExclusion,
  amlEnd: `(SELECT max(e.at) FROM ${amlEnds} e)`,
  firstAmlEnd: `(SELECT min(e.at) FROM ${amlEnds} e)`,
  lastSignInAt: `greatest(${registered}, ${session("DESC")})`,
  firstSignInAt: `least(${registered}, ${session("ASC")})`,
  lastCheckAt: rowsOfPlayer("max", "asked_at", "register_checks", "person_digest"),
  firstCheckAt: rowsOfPlayer("min", "asked_at", "register_checks", "person_digest"),
  lastAnswerAt: rowsOfPlayer("max", "at", "acknowledgements", "channel"),
  firstAnswerAt: rowsOfPlayer("min", "at", "acknowledgements", "channel")
} as const

/** Facts about players, as SQL columns of `players p` with its account `a`. */
const factColumns =
  `p.id::float8 AS "playerId", p.operator_id::float8 AS "operatorId", p.jurisdiction, p.erased_classes AS erased,
  p.erased_classes <> '{}' AND coalesce(p.updated_at > coalesce(p.erased_at, ${lastErasure}), false) AS "isWrittenSince",
  ${Object.entries(instants).map(([name, expression]) => `${ms(expression)} AS "${name}"`).join(", ")},
  (abs(a.real_balance) + abs(a.bonus_balance))::float8 AS balance,
  (SELECT count(*) FROM rounds r WHERE r.player_id = p.id AND NOT r.closed)::float8 AS "openRounds",
  (SELECT count(*) FROM payment_requests r WHERE r.player_id = p.id AND r.status IN ('new', 'allowed'))::float8 AS "openPayments",
  (SELECT count(*) FROM cases c WHERE c.player_id = p.id AND c.status <> 'closed' AND c.type <> 'data_subject')::float8 AS "openCases"`

const notFound = refuse("NOT_FOUND", "There is no such player.")

/** Refusal of an erasure that is blocked. */
export const refuseBlocked = (blocking: ReadonlyArray<ErasureBlock>): Refusal<"INVALID_REQUEST"> =>
  refuse("INVALID_REQUEST", `The data cannot be erased yet: ${blocking.join(", ").replaceAll("_", " ")}.`, { blocking })

/** What an erasure does now, and what it leaves. */
export const resultOf = ({ basis, plans }: PlayerRetention, now: number): ErasureResult => {
  const kept = plans.flatMap(({ class: name, period, until }): ErasureResult["kept"] =>
    until === null || until <= now ? [] : [{
      class: name,
      until: until === Infinity ? null : iso(until),
      basis: `${basis}: retention.${name} ${period ?? "is none"}`
    }]
  )
  return { erased: retentionClasses.filter((name) => !kept.some((one) => one.class === name)), kept }
}

export class Erasures extends Context.Service<Erasures, {
  /** Players by a condition on `players p`, with what is kept of them, in the order of their ids. */
  readonly read: (
    condition: Statement.Fragment,
    now: number
  ) => Effect.Effect<ReadonlyArray<PlayerRetention>, SqlError.SqlError>
  /** Locks the account of a player and reads what is kept of the player. In the open transaction. */
  readonly lock: (
    operatorId: number | null,
    playerId: number,
    now: number
  ) => Effect.Effect<PlayerRetention, Refusal<"NOT_FOUND"> | SqlError.SqlError>
  /**
   * Erases what may be erased of a locked player and writes its line of the audit log, in the open transaction. The commit is followed by
   * {@link forget}. Nothing happens where nothing may be erased.
   */
  readonly write: (
    locked: PlayerRetention,
    by: { readonly actor: string; readonly reason: string; readonly now: number }
  ) => Effect.Effect<ReadonlyArray<RetentionClass>, Refusal<"TRY_AGAIN"> | SqlError.SqlError>
  /** Has the player read again by the node that owns it. */
  readonly forget: (playerId: number) => Effect.Effect<void>
  /** Erases what may be erased of a player; with `dryRun` says what would be. Refused while something blocks it. */
  readonly erase: (
    playerId: number,
    options: { readonly actor: string; readonly dryRun: boolean }
  ) => Effect.Effect<
    ErasureResult & { readonly operatorId: number },
    Refusal<"NOT_FOUND" | "INVALID_REQUEST" | "TRY_AGAIN">
  >
}>()("pitboss/privacy/Erasures") {
  static readonly layer = Layer.effect(
    Erasures,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const book = yield* ProfileBook
      const auditLog = yield* AuditLog
      const chain = yield* Chain
      const ids = yield* Ids
      const columns = sql.literal(factColumns)

      const toRetention = (
        row: RetentionFacts & {
          readonly playerId: number
          readonly operatorId: number
          readonly jurisdiction: string
          readonly erased: ReadonlyArray<string>
          readonly isWrittenSince: boolean
        },
        now: number
      ): PlayerRetention => {
        const counting = book.current(row.jurisdiction, now)
        return {
          playerId: row.playerId,
          operatorId: row.operatorId,
          blocking: erasureBlocking(row, now),
          plans: retentionPlan(counting?.profile.retention ?? null, row, now),
          basis: counting === undefined ? row.jurisdiction : `${row.jurisdiction} version ${counting.version}`,
          erased: row.isWrittenSince ? [] : row.erased
        }
      }

      const read: Erasures["Service"]["read"] = (condition, now) =>
        Effect.map(
          factRows(
            sql`SELECT ${columns} FROM players p JOIN accounts a ON a.player_id = p.id WHERE ${condition} ORDER BY p.id`
          ),
          (rows) => rows.map((row) => toRetention(row, now))
        )

      const lock: Erasures["Service"]["lock"] = Effect.fnUntraced(function*(operatorId, playerId, now) {
        const own = operatorId === null ? sql`true` : sql`operator_id = ${operatorId}`
        yield* sql`SELECT FROM accounts WHERE player_id = ${playerId}::float8::bigint AND ${own} FOR UPDATE`
        const found = yield* oneOf(read(
          operatorId === null
            ? sql`p.id = ${playerId}::float8::bigint`
            : sql`p.id = ${playerId}::float8::bigint AND p.operator_id = ${operatorId}`,
          now
        ))
        return found === undefined ? yield* Effect.fail(notFound) : found
      })

      const write: Erasures["Service"]["write"] = Effect.fnUntraced(function*(locked, { actor, now, reason: cause }) {
        const plans = locked.plans.filter(({ erasable }) => erasable !== null)
        if (plans.length === 0) return []
        const id = yield* Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)
        const { operatorId, playerId } = locked
        const classes = plans.map((plan) => plan.class)
        const reason = `${cause}, under ${locked.basis}`
        const line = chain.salted({
          id,
          at: now,
          actor,
          action: erasureAction,
          operatorId,
          playerId,
          subject: `player:${playerId}`,
          before: null,
          after: { classes },
          reason
        })
        yield* sql`SELECT erase_personal_data(${playerId}::float8::bigint, ${texts(classes)}::text[],
          ${times(plans.map(({ erasable }) => erasable ?? now))}::timestamptz[], ${toDate(now)}, ${id}::float8::bigint,
          ${actor}, ${reason}, decode(${line.salt}, 'hex'))`
        yield* chain.writeAuditLines([], [line])
        return classes
      })

      const forgetHere = (yield* RemoteCommands).define({
        name: "player.erased",
        payload: Schema.Null,
        run: (playerId) => {
          actors.renew(playerId, () => true)
          return Effect.asVoid(actors.ask(null, playerId, (player) => answer(player, undefined)))
        }
      })
      // a node that cannot be reached reads the player again within two seconds, by the end of the sessions
      const forget = (playerId: number) => Effect.ignore(forgetHere(playerId, null))

      const erase = Effect.fn("Erasures.erase")(function*(
        playerId: number,
        { actor, dryRun }: { readonly actor: string; readonly dryRun: boolean }
      ) {
        const now = yield* Clock.currentTimeMillis
        const locked = yield* auditLog.change({ label: actor }, ({ record }) =>
          Effect.gen(function*() {
            const locked = yield* lock(null, playerId, now)
            if (locked.blocking.length > 0) return yield* Effect.fail(refuseBlocked(locked.blocking))
            if (dryRun) return locked
            const { operatorId } = locked
            const erased = yield* write(locked, { actor, reason: "data erase", now })
            yield* record({
              action: "data.erase",
              operatorId,
              playerId,
              subject: `player:${playerId}`,
              before: null,
              after: { erased }
            })
            return locked
          }))
        if (!dryRun) yield* forget(playerId)
        return { operatorId: locked.operatorId, ...resultOf(locked, now) }
      }, orTryAgain)

      return Erasures.of({ read, lock, write, forget, erase })
    })
  )
}
