/** OpenID Connect routes: `/sign-in/oidc`, which sends the browser to the identity provider, and the callback. */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { refuse } from "../../domain/Refusal.ts"
import { isRefusal } from "../../http/Refusals.ts"
import { Settings } from "../../platform/Settings.ts"
import { Oidc, OidcFailed, stateMs } from "../../features/staffSessions/Oidc.ts"
import { cookieIn } from "../../features/staffSessions/Rules.ts"
import { pathAfterSignIn } from "../../domain/PathAfterSignIn.ts"
import { refusedWith, SignInAttempts } from "./SignInLive.ts"
import { StaffSessions } from "../../features/staffSessions/StaffSessions.ts"
import { StaffSignIn } from "../../features/staffSessions/StaffSignIn.ts"

/** Sign-ins that one browser may have begun at once, in its tabs: its cookies have to fit into the headers of a request. */
const maxBegun = 8

/** Cookies of sign-ins that were begun, oldest first (RFC 6265, section 5.4). */
const begunIn = (header: string | undefined): ReadonlyArray<string> =>
  (header ?? "").match(/(?<![^;\s])pitboss_oidc_[\w-]+(?==)/g) ?? []

/** Cookie of the sign-in that was begun with a state: each has its own, so that tabs do not end each other's. */
const cookieOf = (state: string): string => `pitboss_oidc_${state.slice(0, 16)}`

/** Cookie of the sign-in that a callback answers; undefined when its state has no form of ours. */
const answeredIn = ({ url }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const state = new URL(url, "http://localhost").searchParams.get("state") ?? ""
  return /^[\w-]{16,}$/.test(state) ? cookieOf(state) : undefined
}

const noProvider = refuse("NOT_FOUND", "No identity provider is configured for staff.")

/** Characters that mean something in an attribute of HTML. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;")

/**
 * A page that goes on at once. A redirect would not do: the browser comes from the provider's site and would not send the session's cookie,
 * which is strictly of this site, along with it.
 */
const continueTo = (location: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${
    escaped(location)
  }"><title>Signing in</title></head><body><a href="${escaped(location)}">Go on</a></body></html>`

export const OidcRoutes = Layer.unwrap(Effect.gen(function*() {
  const oidc = yield* Oidc
  const attempts = yield* SignInAttempts
  const signIn = yield* StaffSignIn
  const sessions = yield* StaffSessions
  const { backofficeUrl } = yield* Settings
  const options = {
    path: "/sign-in/oidc",
    httpOnly: true,
    sameSite: "lax",
    secure: backofficeUrl?.startsWith("https:") === true
  } as const
  const forgetting = (cookies: ReadonlyArray<string>) => (response: HttpServerResponse.HttpServerResponse) =>
    cookies.reduce((answer, name) => HttpServerResponse.expireCookieUnsafe(answer, name, options), response)
  /** Forgets the sign-in that a request answers: its code is spent, or was refused. */
  const forgettingAnswered = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function*() {
      const cookie = answeredIn(yield* HttpServerRequest.HttpServerRequest)
      return forgetting(cookie === undefined ? [] : [cookie])(yield* answer)
    })
  const baseOf = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
    backofficeUrl ?? `http://${headers["host"] ?? ""}`

  /** Redirects to the sign-in page with an error code; the log has the reason. */
  const failing = Effect.catch((error: unknown) =>
    Effect.gen(function*() {
      if (error instanceof OidcFailed) {
        yield* Effect.annotateLogs(Effect.logWarning("sign-in through the identity provider failed"), {
          means: error.message,
          reason: error.reason
        })
      }
      const back = error instanceof OidcFailed
        ? refusedWith({}, "provider")
        : refusedWith(isRefusal(error) ? error : {}, "unavailable")
      return HttpServerResponse.redirect(back, { status: 302 })
    })
  )

  const begin = attempts.guard(Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const next = pathAfterSignIn(new URL(request.url, "http://localhost").searchParams.get("next") ?? undefined)
    const begun = yield* oidc.begin(baseOf(request), next, yield* Clock.currentTimeMillis)
    if (begun === undefined) return yield* Effect.fail(noProvider)
    const kept = { ...options, maxAge: stateMs }
    const tooMany = begunIn(request.headers["cookie"]).slice(0, 1 - maxBegun)
    return HttpServerResponse.redirect(begun.location, { status: 302 }).pipe(
      forgetting(tooMany),
      HttpServerResponse.setCookieUnsafe(cookieOf(begun.state), begun.sealed, kept)
    )
  })).pipe(failing)

  const complete = attempts.guard(Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const cookie = answeredIn(request)
    const sealed = cookie === undefined ? undefined : cookieIn(request.headers["cookie"], cookie)
    const now = yield* Clock.currentTimeMillis
    const identity = yield* oidc.complete(baseOf(request), request.url, sealed, now)
    const token = yield* signIn.byProvider(identity, yield* attempts.browser)
    return HttpServerResponse.text(continueTo(pathAfterSignIn(identity.next)), {
      contentType: "text/html; charset=utf-8",
      headers: { "set-cookie": sessions.cookie(token) }
    })
  })).pipe(failing, forgettingAnswered)

  return Layer.mergeAll(
    HttpRouter.add("GET", "/sign-in/oidc", begin),
    HttpRouter.add("GET", "/sign-in/oidc/callback", complete)
  )
})).pipe(Layer.provide(Oidc.layer))
