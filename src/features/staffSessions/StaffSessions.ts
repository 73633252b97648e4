/** Browser sessions of staff: a cookie whose hash is in the database, valid at any node and revocable at once. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { roles } from "../../domain/staff/Staff.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Ids } from "../../platform/Ids.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { actionsOf } from "../../office/Authorisation.ts"
import type { Actor } from "../../office/Actor.ts"
import type { StaffSession } from "./CurrentSession.ts"
import {
  cookieIn,
  cookieName,
  failuresForgottenMs,
  idleEnd,
  isOver,
  maxSessions,
  seenEveryMs,
  steppedUpUntil,
  ticketMs
} from "./Rules.ts"
import type { OwnSession, Session } from "../../contract/staffSessions/StaffApi.ts"

/** Where a session begins. */
export interface Browser {
  readonly address: string
  readonly userAgent: string
}

export type SignInMethod = (typeof OwnSession.Type)["method"]

/** What a session goes back to. */
export interface SessionOrigin {
  readonly hasShownSecondFactor: boolean
  /** The account whose bearer token made the way in, as the audit log names it; null: none did. */
  readonly ofToken: string | null
}

/** Actor and session. */
export interface InSession {
  readonly actor: Actor
  readonly session: StaffSession
}

const minuteMs = 60_000

/** Rows that one run of the housekeeping removes of each kind. */
const maxRemoved = 1000

const sessionRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  lastSeenAt: Schema.Date,
  expiresAt: Schema.Date,
  secondFactorAt: Schema.NullOr(Schema.Date),
  staffId: Schema.Number,
  name: Schema.String,
  role: Schema.Literals(roles),
  operators: Schema.NullOr(Schema.Array(Schema.Number)),
  hasSecondFactor: Schema.Boolean,
  ofToken: Schema.NullOr(Schema.String)
}))

const ownRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  method: Schema.Literals(["password", "ticket", "oidc"]),
  createdAt: Schema.Date,
  lastSeenAt: Schema.Date,
  expiresAt: Schema.Date,
  address: Schema.String,
  userAgent: Schema.String
}))

const factRows = rowsOf(Schema.Struct({ hasPassword: Schema.Boolean, hasSecondFactor: Schema.Boolean }))

const noSession = refuse("NOT_FOUND", "There is no such session.")

type Unavailable = Refusal<"TRY_AGAIN">

export class StaffSessions extends Context.Service<StaffSessions, {
  /** Opens a session of an account; gives the value of its cookie, shown here and never again. One too many ends the oldest. */
  readonly open: (
    staffId: number,
    method: SignInMethod,
    browser: Browser,
    origin: SessionOrigin
  ) => Effect.Effect<string, Unavailable>
  /**
   * Authenticates a cookie value; undefined when the session has ended or the account is not active. Records the use, except for unattended requests:
   * a stream that re-authenticates does not keep its session alive.
   */
  readonly authenticate: (token: string, isUse?: boolean) => Effect.Effect<InSession | undefined, Unavailable>
  /** As `authenticate`, of a `Cookie` header. */
  readonly ofCookie: (header: string | undefined) => Effect.Effect<InSession | undefined, Unavailable>
  /** The `Set-Cookie` header that gives a browser its session, or takes it away. */
  readonly cookie: (token: string | undefined) => string
  /** The session resource of the pages. */
  readonly show: (
    actor: Actor,
    session: StaffSession | undefined
  ) => Effect.Effect<typeof Session.Type, Unavailable>
  /** Sessions of an account that last, the newest first. */
  readonly list: (
    staffId: number | null,
    current: StaffSession | undefined
  ) => Effect.Effect<ReadonlyArray<typeof OwnSession.Type>, Unavailable>
  /** Ends one session of an account. */
  readonly end: (staffId: number | null, sessionId: number) => Effect.Effect<void, Refusal<"NOT_FOUND"> | Unavailable>
  /** Ends all sessions of an account, but one if it is named; gives how many. */
  readonly endAll: (staffId: number | null, but?: number) => Effect.Effect<number, Unavailable>
  /** Notes that the second factor was shown. */
  readonly stepUp: (session: StaffSession) => Effect.Effect<StaffSession, Unavailable>
  /** Removes sessions, links and failed attempts that are over: a bounded number, `hasMore` when it was reached. */
  readonly prune: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Unavailable>
}>()("pitboss/staffSessions/StaffSessions") {
  static readonly layer = Layer.effect(
    StaffSessions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const ids = yield* Ids
      const { backofficeUrl, oidc, staffSessionHours, staffSessionIdleMinutes } = yield* Settings
      const idleMs = staffSessionIdleMinutes * minuteMs
      const lastsMs = staffSessionHours * 60 * minuteMs
      const secure = backofficeUrl?.startsWith("https:") === true ? "; Secure" : ""

      const cookie = (token: string | undefined): string =>
        `${cookieName}=${token ?? ""}; Path=/; HttpOnly; SameSite=Strict${secure}; Max-Age=${
          token === undefined ? 0 : lastsMs / 1000
        }`

      const open = Effect.fn("StaffSessions.open")(function*(
        staffId: number,
        method: SignInMethod,
        { address, userAgent }: Browser,
        { hasShownSecondFactor, ofToken }: SessionOrigin
      ) {
        const token = entropy.token("", 43)
        const id = yield* Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)
        const now = yield* Clock.currentTimeMillis
        yield* orTryAgain(Effect.andThen(
          sql`INSERT INTO staff_sessions (id, token_hash, staff_id, method, created_at, last_seen_at, expires_at,
              second_factor_at, address, user_agent, of_token)
            VALUES (${id}, ${sha256(token)}, ${staffId}, ${method}, ${toDate(now)}, ${toDate(now)},
              ${toDate(now + lastsMs)}, ${
            hasShownSecondFactor ? toDate(now) : null
          }, ${address}, ${userAgent}, ${ofToken})`,
          sql`DELETE FROM staff_sessions WHERE id IN (SELECT id FROM staff_sessions WHERE staff_id = ${staffId}
            ORDER BY created_at DESC, id DESC OFFSET ${maxSessions})`
        ))
        yield* Effect.annotateLogs(Effect.logInfo("staff signed in"), { staff: `staff:${staffId}`, method, address })
        return token
      })

      const authenticate = Effect.fn("StaffSessions.authenticate")(function*(token: string, isUse = true) {
        const row = yield* orTryAgain(oneOf(sessionRows(
          sql`SELECT s.id, s.last_seen_at AS "lastSeenAt", s.expires_at AS "expiresAt",
              s.second_factor_at AS "secondFactorAt", a.id AS "staffId", a.name, a.role, a.operator_ids AS operators,
              a.totp_sealed IS NOT NULL AS "hasSecondFactor", s.of_token AS "ofToken"
            FROM staff_sessions s JOIN staff a ON a.id = s.staff_id
            WHERE s.token_hash = ${sha256(token)} AND a.active`
        )))
        const now = yield* Clock.currentTimeMillis
        if (row === undefined) return undefined
        const { hasSecondFactor, id, name, ofToken, operators, role, staffId } = row
        const times = { lastSeenAt: row.lastSeenAt.getTime(), expiresAt: row.expiresAt.getTime() }
        if (isOver(times, idleMs, now)) return undefined
        const isNoted = !isUse || times.lastSeenAt + seenEveryMs > now
        if (!isNoted) {
          // a request goes on where this cannot be written
          yield* Effect.ignore(Effect.andThen(
            sql`UPDATE staff_sessions SET last_seen_at = ${toDate(now)} WHERE id = ${id}`,
            sql`UPDATE staff SET last_used_at = ${toDate(now)} WHERE id = ${staffId}`
          ))
        }
        return {
          actor: { id: staffId, name, role, operators, label: `staff:${staffId}` },
          session: {
            id,
            lastSeenAt: isNoted ? times.lastSeenAt : now,
            expiresAt: times.expiresAt,
            secondFactorAt: row.secondFactorAt?.getTime() ?? null,
            hasSecondFactor,
            isOfToken: ofToken === `staff:${staffId}`
          }
        } satisfies InSession
      })

      const ofCookie = Effect.fnUntraced(function*(header: string | undefined) {
        const token = cookieIn(header, cookieName)
        return token === undefined ? undefined : yield* authenticate(token)
      })

      const show = Effect.fn("StaffSessions.show")(function*(actor: Actor, session: StaffSession | undefined) {
        const facts = actor.id === null ? undefined : yield* orTryAgain(oneOf(factRows(
          sql`SELECT password_hash IS NOT NULL AS "hasPassword", totp_sealed IS NOT NULL AS "hasSecondFactor"
            FROM staff WHERE id = ${actor.id}`
        )))
        const now = yield* Clock.currentTimeMillis
        const until = steppedUpUntil(session?.secondFactorAt ?? null, now)
        const { id, name, operators, role } = actor
        return {
          staff: { id, name, role, operators },
          actions: actionsOf(actor),
          has_password: facts?.hasPassword ?? false,
          has_second_factor: facts?.hasSecondFactor ?? false,
          stepped_up_until: until === undefined ? null : iso(until),
          expires_at: session === undefined ? null : iso(session.expiresAt),
          idle_expires_at: session === undefined ? null : iso(idleEnd(session, idleMs)),
          service: { oidc: oidc !== undefined }
        } satisfies typeof Session.Type
      })

      const list = Effect.fn("StaffSessions.list")(
        function*(staffId: number | null, current: StaffSession | undefined) {
          const now = yield* Clock.currentTimeMillis
          const rows = yield* ownRows(
            sql`SELECT id, method, created_at AS "createdAt", last_seen_at AS "lastSeenAt", expires_at AS "expiresAt",
                address, user_agent AS "userAgent"
              FROM staff_sessions WHERE staff_id = ${staffId}::float8::bigint AND expires_at > ${toDate(now)}
                AND last_seen_at > ${toDate(now - idleMs)}
              ORDER BY created_at DESC, id DESC LIMIT ${maxSessions}`
          )
          return rows.map((row) => ({
            id: row.id,
            is_current: row.id === current?.id,
            method: row.method,
            created_at: iso(row.createdAt.getTime()),
            last_seen_at: iso(row.lastSeenAt.getTime()),
            expires_at: iso(row.expiresAt.getTime()),
            address: row.address,
            user_agent: row.userAgent
          }))
        },
        orTryAgain
      )

      const end = Effect.fn("StaffSessions.end")(function*(staffId: number | null, sessionId: number) {
        const gone = yield* orTryAgain(
          sql`DELETE FROM staff_sessions WHERE id = ${sessionId}::float8::bigint
            AND staff_id = ${staffId}::float8::bigint RETURNING 1`
        )
        if (gone.length === 0) return yield* Effect.fail(noSession)
      })

      const endAll = Effect.fn("StaffSessions.endAll")((staffId: number | null, but = 0) =>
        orTryAgain(Effect.map(
          sql`DELETE FROM staff_sessions WHERE staff_id = ${staffId}::float8::bigint AND id <> ${but}::float8::bigint
            RETURNING 1`,
          (gone) => gone.length
        ))
      )

      const stepUp = Effect.fn("StaffSessions.stepUp")(function*(session: StaffSession) {
        const now = yield* Clock.currentTimeMillis
        yield* orTryAgain(sql`UPDATE staff_sessions SET second_factor_at = ${toDate(now)} WHERE id = ${session.id}`)
        return { ...session, secondFactorAt: now }
      })

      const prune = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const removed = yield* Effect.all([
          sql`DELETE FROM staff_sessions WHERE id IN (SELECT id FROM staff_sessions
            WHERE expires_at < ${toDate(now)} ORDER BY expires_at LIMIT ${maxRemoved}) RETURNING 1`,
          // used tickets are kept as long as unused ones: a second use differs from an unknown ticket
          sql`DELETE FROM staff_tickets WHERE token_hash IN (SELECT token_hash FROM staff_tickets
            WHERE expires_at < ${toDate(now - ticketMs)} ORDER BY expires_at LIMIT ${maxRemoved}) RETURNING 1`,
          sql`DELETE FROM staff_attempts WHERE subject IN (SELECT subject FROM staff_attempts
            WHERE last_at < ${toDate(now - failuresForgottenMs)} ORDER BY last_at LIMIT ${maxRemoved}) RETURNING 1`
        ])
        const counts = removed.map(({ length }) => length)
        return { done: counts.reduce((sum, count) => sum + count, 0), hasMore: Math.max(...counts) >= maxRemoved }
      }).pipe(orTryAgain)

      return StaffSessions.of({ open, authenticate, ofCookie, cookie, show, list, end, endAll, stepUp, prune })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
