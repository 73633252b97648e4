/** Authenticates staff by bearer token, with a back-off per address, or by session; authorises them by role and second factor. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { StaffAuth } from "../../contract/StaffApi.ts"
import { CurrentStaff, StaffIdempotentPost } from "../../contract/common/StaffMiddleware.ts"
import { mayStream } from "../../contract/common/StreamedAnswers.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { AuthenticationFailures } from "../../http/AuthenticationFailures.ts"
import { makeBackOff } from "../../http/BackOff.ts"
import { Endpoints } from "../../http/Endpoints.ts"
import { CurrentPrincipal, Forwarding } from "../../http/Forwarding.ts"
import { asCsv, columnsOfList, exportFormOf } from "../../http/CsvExport.ts"
import { fieldsOfQuery } from "../../http/QueryParameters.ts"
import { readsOfChanges, staffReadTerms } from "../../http/StaffReadTerms.ts"
import { withFormRules } from "../../http/FormRules.ts"
import { answerCause } from "../../http/Refusals.ts"
import { RequestIds } from "../../http/RequestIds.ts"
import { bearer, originOf } from "../../http/RequestOrigin.ts"
import { routedValues } from "../../http/RequestTarget.ts"
import { AnonymousLimits, type Origin } from "../../http/AnonymousLimits.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { monotonicClock } from "../../platform/MonotonicClock.ts"
import { roles as allRoles } from "../../domain/staff/Staff.ts"
import { CurrentAuthentication } from "../../office/CurrentAuthentication.ts"
import { OperatorCheck } from "./OperatorBoundsLive.ts"
import { Settings } from "../../platform/Settings.ts"
import { CurrentSession, secondFactorRefusal, type StaffSession } from "../../features/staffSessions/CurrentSession.ts"
import { cookieIn, cookieName, isOwnRequest } from "../../features/staffSessions/Rules.ts"
import { StaffSessions } from "../../features/staffSessions/StaffSessions.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { isAction, needsStepUp, rolesFor } from "../../office/Authorisation.ts"
import type { Actor } from "../../office/Actor.ts"
import { StaffAccounts } from "../../features/staff/Staff.ts"
import { StaffReads } from "../../office/StaffReads.ts"

/** Actor and session of a forwarded request: the player's node decides by both. */
const SentStaff = Schema.fromJsonString(Schema.Struct({
  actor: Schema.Struct({
    id: Schema.NullOr(Schema.Number),
    name: Schema.String,
    role: Schema.Literals(allRoles),
    operators: Schema.NullOr(Schema.Array(Schema.Number)),
    label: Schema.String
  }),
  session: Schema.optional(Schema.Struct({
    id: Schema.Number,
    lastSeenAt: Schema.Number,
    expiresAt: Schema.Number,
    secondFactorAt: Schema.NullOr(Schema.Number),
    hasSecondFactor: Schema.Boolean,
    isOfToken: Schema.Boolean
  }))
}))
const encodeStaff = Schema.encodeSync(SentStaff)
const decodeStaff = Schema.decodeUnknownSync(SentStaff)

/** Whose owner serves all requests of an actor under an idempotency key: it knows whether the first is under way. */
const numberOfKey = (label: string, key: string): number => Buffer.from(sha256(`${label}\n${key}`)).readUIntBE(0, 6)

/** Tokens that are remembered as having worked. */
const maxWorked = 1000

const noToken = refuse("MISSING_CREDENTIALS", "Send a staff token: Authorization: Bearer <token>.")
const noSession = refuse("MISSING_CREDENTIALS", "The session is over. Sign in again.", { reason: "session_over" })
const foreign = refuse(
  "INSUFFICIENT_SCOPE",
  "A request that changes something in a browser session needs the header X-Requested-With: pitboss.",
  { reason: "other_origin" }
)
const unknownToken = refuse("INVALID_API_KEY", "The staff token is unknown or no longer valid.")

const tooManyFailures = (seconds: number) =>
  refuse("RATE_LIMITED", "Too many wrong staff tokens came from this address.", { retry_after_seconds: seconds })

/**
 * Looks up staff tokens. An address that tries wrong ones waits longer and longer; a token that has worked is looked up all the same, so
 * that a stranger behind the same proxy locks out no staff.
 */
export class StaffTokens extends Context.Service<StaffTokens, {
  readonly authenticate: (
    token: string | undefined,
    origin: Origin
  ) => Effect.Effect<Actor, Refusal<"MISSING_CREDENTIALS" | "INVALID_API_KEY" | "RATE_LIMITED" | "TRY_AGAIN">>
}>()("pitboss/staff/StaffTokens") {
  static readonly layer = Layer.effect(
    StaffTokens,
    Effect.gen(function*() {
      const accounts = yield* StaffAccounts
      const anonymousLimits = yield* AnonymousLimits
      const failures = yield* AuthenticationFailures
      const clock = monotonicClock(yield* Clock.Clock)
      const backOff = makeBackOff()
      // Kept: worked. Digests of staff tokens that have worked: exempt from the back-off of their address. Several nodes: its own: every token is
      // looked up all the same, so a revoked one ends at once at every node.
      /** Digests, the one that worked first in front. */
      const worked = new Set<string>()

      const remember = (digest: string): void => {
        worked.delete(digest)
        for (const first of worked) {
          if (worked.size < maxWorked) break
          worked.delete(first)
        }
        worked.add(digest)
      }

      const authenticate = Effect.fnUntraced(function*(token: string | undefined, origin: Origin) {
        if (token === undefined) return yield* Effect.fail(yield* failures.note("staff", noToken, origin))
        const caller = anonymousLimits.callerOf(origin)
        const digest = Buffer.from(sha256(token)).toString("base64")
        const leftMs = worked.has(digest) ? 0 : backOff.leftMs(caller, clock.currentTimeMillisUnsafe())
        if (leftMs > 0) {
          yield* failures.note("staff", unknownToken, origin)
          return yield* Effect.fail(tooManyFailures(Math.ceil(leftMs / 1000)))
        }
        const actor = yield* accounts.authenticate(token)
        if (actor !== undefined) {
          remember(digest)
          return actor
        }
        backOff.fail(caller, clock.currentTimeMillisUnsafe())
        return yield* Effect.fail(yield* failures.note("staff", unknownToken, origin))
      })

      return StaffTokens.of({ authenticate })
    })
  )
}

/** Authentication and role check; the endpoint's name is the action's name. */
export const StaffAuthLive = Layer.effect(
  StaffAuth,
  Effect.gen(function*() {
    const ids = yield* RequestIds
    const accounts = yield* StaffAccounts
    const reads = yield* StaffReads
    const tokens = yield* StaffTokens
    const forwarding = yield* Forwarding
    const endpoints = yield* Endpoints
    const { refuseForeign } = yield* OperatorCheck
    const sessions = yield* StaffSessions
    const auditLog = yield* AuditLog
    const failures = yield* AuthenticationFailures
    const { backofficeUrl } = yield* Settings

    /** Actor of the bearer token, or else of the session cookie. */
    const authenticate = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, isUse = true) {
      const { authorization, cookie, host, origin } = request.headers
      const requestedWith = request.headers["x-requested-with"]
      const token = authorization === undefined ? cookieIn(cookie, cookieName) : undefined
      if (token === undefined) {
        return { actor: yield* tokens.authenticate(bearer(authorization), originOf(request)), session: undefined }
      }
      const found = yield* sessions.authenticate(token, isUse)
      if (found === undefined) return yield* Effect.fail(yield* failures.note("staff", noSession, originOf(request)))
      if (
        request.method !== "GET" && request.method !== "HEAD" &&
        !isOwnRequest({ host, origin, requestedWith }, backofficeUrl)
      ) {
        return yield* Effect.fail(foreign)
      }
      return found
    })

    const refuseWithoutSecondFactor = Effect.fnUntraced(function*(session: StaffSession | undefined, action: string) {
      const refusal = needsStepUp(action) ? secondFactorRefusal(session, yield* Clock.currentTimeMillis) : undefined
      if (refusal !== undefined) return yield* Effect.fail(refusal)
    })

    /** Audits an export; the request log has it where the audit log cannot be written. */
    const noteExport =
      (actor: Actor, action: string) => (lines: number, filters: ReadonlyArray<string>): Effect.Effect<void> =>
        isAction(action)
          ? Effect.ignore(
            auditLog.change(
              actor,
              ({ record }) => record({ action, subject: `export:${action}`, before: null, after: { filters, lines } })
            )
          )
          : Effect.void

    return StaffAuth.of((handler, { endpoint, group }) => {
      const action = `${group.identifier}.${endpoint.identifier}`
      const roles = rolesFor(action)
      const columns = endpoint.method === "GET" ? columnsOfList(endpoint.success) : undefined
      const query = fieldsOfQuery(endpoint.query)
      const isStreamed = mayStream(endpoint)
      const read = staffReadTerms.get(action)
      const readOfChange = readsOfChanges.get(action)
      const withForm = withFormRules(handler, { endpoint })
      const takesKey = endpoint.middlewares.has(StaffIdempotentPost)
      const forwarded = (staff: typeof SentStaff.Type) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
          const key = headers["idempotency-key"] ?? ""
          const about = takesKey && key !== "" ? { ownerOf: numberOfKey(staff.actor.label, key) } : { takesKey }
          return forwarding.around(withForm, encodeStaff(staff), about)
        })
      const served = ({ actor, session }: typeof SentStaff.Type) =>
        (isStreamed ? withForm : forwarded({ actor, session })).pipe(
          Effect.provideService(CurrentStaff, actor),
          Effect.provideService(CurrentSession, session)
        )

      const runHere = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const startedAt = yield* Clock.currentTimeMillis
        // unattended polling by a page does not extend its session
        const { actor, session } = yield* authenticate(request, request.headers["x-unattended"] === undefined)
        if (!roles.includes(actor.role)) {
          return yield* Effect.fail(
            refuse("INSUFFICIENT_SCOPE", `This action requires one of the roles ${roles.join(", ")}.`, {
              required_roles: roles
            })
          )
        }
        yield* refuseWithoutSecondFactor(session, action)
        yield* accounts.refuseBootstrap(actor, action)
        yield* refuseForeign(actor.operators, action)
        const again = Effect.map(authenticate(request, false), (found) => found.actor)
        const answer = Effect.provideService(served({ actor, session }), CurrentAuthentication, again)
        const form = columns === undefined ? undefined : exportFormOf(request)
        const response = columns === undefined || form === undefined
          ? yield* answer
          : yield* asCsv(answer, form, { columns, query, name: action.replace(".", "-") }, noteExport(actor, action))
        if (response.status < 300 && read !== undefined) yield* reads.note(actor, read, yield* routedValues)
        // what was changed is answered all the same
        if (response.status < 300 && readOfChange !== undefined) {
          yield* Effect.ignore(reads.note(actor, readOfChange, yield* routedValues, startedAt))
        }
        return response
      })

      const run = Effect.flatMap(
        CurrentPrincipal,
        (principal) => principal === undefined ? runHere : served(decodeStaff(principal))
      ).pipe(Effect.catchCause((cause) => Effect.provideService(answerCause(cause), RequestIds, ids)))

      // a disconnecting caller must not interrupt a write
      const serving = endpoint.method === "GET" ? run : Effect.uninterruptible(run)
      endpoints.add(endpoint, serving, { isDirect: false })
      return serving
    })
  })
)
