/** The addresses of sign-in through an identity provider: `/sign-in/oidc`, where a browser leaves, and where it comes back. */
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

const stateCookie = "pitboss_oidc"

const noProvider = refuse("NOT_FOUND", "No identity provider signs staff in here.")

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
  const secure = backofficeUrl?.startsWith("https:") === true ? "; Secure" : ""

  const cookie = (value: string, seconds: number) =>
    `${stateCookie}=${value}; Path=/sign-in/oidc; HttpOnly; SameSite=Lax${secure}; Max-Age=${seconds}`
  const baseOf = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
    backofficeUrl ?? `http://${headers["host"] ?? ""}`

  /** Redirects to the sign-in page with an error code; the log has the reason. */
  const failing = Effect.catch((error: unknown) =>
    Effect.gen(function*() {
      if (error instanceof OidcFailed) {
        yield* Effect.annotateLogs(Effect.logWarning("sign-in by the identity provider failed"), {
          means: error.message,
          reason: error.reason
        })
      }
      const back = error instanceof OidcFailed
        ? refusedWith({}, "provider")
        : refusedWith(isRefusal(error) ? error : {}, "unavailable")
      return HttpServerResponse.redirect(back, {
        status: 302,
        headers: { "set-cookie": cookie("", 0) }
      })
    })
  )

  const begin = attempts.guard(Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const next = pathAfterSignIn(new URL(request.url, "http://localhost").searchParams.get("next") ?? undefined)
    const begun = yield* oidc.begin(baseOf(request), next, yield* Clock.currentTimeMillis)
    if (begun === undefined) return yield* Effect.fail(noProvider)
    return HttpServerResponse.redirect(begun.location, {
      status: 302,
      headers: { "set-cookie": cookie(begun.state, stateMs / 1000) }
    })
  })).pipe(failing)

  const complete = attempts.guard(Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const state = cookieIn(request.headers["cookie"], stateCookie)
    const now = yield* Clock.currentTimeMillis
    const identity = yield* oidc.complete(baseOf(request), request.url, state, now)
    const token = yield* signIn.byProvider(identity, yield* attempts.browser)
    return HttpServerResponse.text(continueTo(pathAfterSignIn(identity.next)), {
      contentType: "text/html; charset=utf-8",
      headers: { "set-cookie": sessions.cookie(token) }
    })
  })).pipe(failing)

  return Layer.mergeAll(
    HttpRouter.add("GET", "/sign-in/oidc", begin),
    HttpRouter.add("GET", "/sign-in/oidc/callback", complete)
  )
})).pipe(Layer.provide(Oidc.layer))
