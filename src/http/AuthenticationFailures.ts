/** Failed authentications: a metric by kind, a throttled log line, and the count against the caller's address. */
import { Context, Effect, Layer, Metric } from "effect"
import type { Refusal, RefusalCode } from "../domain/Refusal.ts"
import { makeLogThrottle } from "../platform/LogThrottle.ts"
import { AnonymousLimits, type Origin } from "./AnonymousLimits.ts"

const failures = Metric.counter("authentication_failures_total", {
  description: "Requests whose caller could not be authenticated, by kind",
  incremental: true
})

/** Kind of caller. */
export type CallerKind = "operator" | "player" | "provider" | "staff"

/** Codes of authentication failures, with their suffix in the metric's kind. Other codes refuse the request, not the caller. */
const endings: { readonly [code in RefusalCode]?: string } = {
  MISSING_CREDENTIALS: "missing_credentials",
  INVALID_API_KEY: "unknown_key",
  API_KEY_INACTIVE: "inactive_key",
  TIMESTAMP_OUT_OF_RANGE: "timestamp",
  INVALID_NONCE: "nonce",
  INVALID_SIGNATURE: "signature",
  REPLAYED_REQUEST: "replay",
  IP_NOT_ALLOWED: "address",
  INVALID_PLAYER_TOKEN: "token",
  INVALID_CREDENTIALS: "sign_in"
}

const kindOf = (callerKind: CallerKind, code: RefusalCode): string | undefined =>
  callerKind === "staff" && code === "INVALID_API_KEY"
    ? "staff_token"
    : endings[code] === undefined
    ? undefined
    : `${callerKind}_${endings[code]}`

/** Truncated for the log: an unknown id may be a misplaced secret. */
const shown = (key: string | undefined, code: RefusalCode): string | undefined =>
  key === undefined || code !== "INVALID_API_KEY" ? key : `${key.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, 12)}…`

export class AuthenticationFailures extends Context.Service<AuthenticationFailures, {
  /** Counts a failed authentication; returns the refusal, or RATE_LIMITED when the address has failed too often. */
  readonly note: <Code extends RefusalCode>(
    callerKind: CallerKind,
    refusal: Refusal<Code>,
    origin: Origin,
    key?: string
  ) => Effect.Effect<Refusal<Code | "RATE_LIMITED">>
}>()("pitboss/http/AuthenticationFailures") {
  static readonly layer = Layer.effect(
    AuthenticationFailures,
    Effect.gen(function*() {
      const anonymousLimits = yield* AnonymousLimits
      const throttle = makeLogThrottle(5000)
      const throttles = yield* Effect.all({ operator: throttle, player: throttle, provider: throttle, staff: throttle })
      return AuthenticationFailures.of({
        note: Effect.fnUntraced(function*(callerKind, refusal, origin, key) {
          const kind = kindOf(callerKind, refusal.code)
          if (kind === undefined) return refusal
          yield* Metric.update(Metric.withAttributes(failures, { kind }), 1)
          yield* throttles[callerKind]((others) =>
            Effect.logWarning("authentication failed").pipe(
              Effect.annotateLogs({
                kind,
                address: anonymousLimits.addressOf(origin),
                others,
                ...(key === undefined ? {} : { key: shown(key, refusal.code) })
              })
            )
          )
          return anonymousLimits.take(origin) ?? refusal
        })
      })
    })
  )
}
