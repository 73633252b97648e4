/** Staff API handlers for sign-in, and for the account and sessions of the signed-in person. */
import { Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { Settings } from "../../platform/Settings.ts"
import { CurrentSession, type StaffSession } from "../../features/staffSessions/CurrentSession.ts"
import { SignInAttempts } from "./SignInLive.ts"
import { StaffSessions } from "../../features/staffSessions/StaffSessions.ts"
import { SignInTickets } from "../../features/staffSessions/SignInTickets.ts"
import { StaffSignIn } from "../../features/staffSessions/StaffSignIn.ts"

export const SignInHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "sign_in",
  Effect.fnUntraced(function*(handlers) {
    const signIn = yield* StaffSignIn
    const tickets = yield* SignInTickets
    const sessions = yield* StaffSessions
    const { oidc } = yield* Settings
    const { browser } = yield* SignInAttempts

    /** Answers with the session and gives the browser its cookie. */
    const begun = Effect.fnUntraced(function*(token: string) {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const replaced = yield* sessions.ofCookie(headers["cookie"])
      // the browser forgets its cookie: nobody could end it from here
      if (replaced !== undefined) yield* Effect.ignore(sessions.end(replaced.actor.id, replaced.session.id))
      const found = yield* sessions.authenticate(token)
      const shown = found === undefined ? undefined : yield* sessions.show(found.actor, found.session)
      return HttpServerResponse.setHeader(
        jsonResponse(201, JSON.stringify({ data: shown })),
        "set-cookie",
        sessions.cookie(token)
      )
    })

    return handlers
      .handle(
        "create",
        ({ payload: { code, name, password } }) =>
          Effect.flatMap(browser, (from) => signIn.byPassword({ name, password: Redacted.make(password), code }, from))
            .pipe(Effect.flatMap(begun))
      )
      .handle(
        "redeem",
        ({ payload }) =>
          Effect.flatMap(browser, (from) => tickets.redeem(payload.ticket, from)).pipe(Effect.flatMap(begun))
      )
      .handle("link", ({ payload }) => enveloped(tickets.show(payload.ticket)))
      .handle("show", () => Effect.succeed({ data: { oidc: oidc !== undefined } }))
  })
)

export const SessionHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "session",
  Effect.fnUntraced(function*(handlers) {
    const signIn = yield* StaffSignIn
    const sessions = yield* StaffSessions

    /** Provides the actor, and the session of a browser, to an effect. */
    const own = <A, E, R>(
      effect: (actor: CurrentStaff["Service"], session: StaffSession | undefined) => Effect.Effect<A, E, R>
    ) => asStaff((actor) => Effect.flatMap(CurrentSession, (session) => effect(actor, session)))

    /** Answers how many sessions were ended, and takes the cookie away. */
    const ended = (count: number) =>
      HttpServerResponse.setHeader(
        jsonResponse(200, JSON.stringify({ data: { ended: count } })),
        "set-cookie",
        sessions.cookie(undefined)
      )

    return handlers
      .handle("show", () => own(sessions.show))
      .handle("end", () =>
        Effect.gen(function*() {
          const { id } = yield* CurrentStaff
          const session = yield* CurrentSession
          if (session === undefined) return ended(0)
          // ended meanwhile is ended
          yield* Effect.catchIf(sessions.end(id, session.id), ({ code }) => code === "NOT_FOUND", () => Effect.void)
          return ended(1)
        }))
      .handle("list", () => own(({ id }, session) => sessions.list(id, session)))
      .handle("revoke", ({ params }) => own(({ id }) => Effect.as(sessions.end(id, params.session), { ended: 1 })))
      .handle("revoke_all", () => Effect.flatMap(CurrentStaff, ({ id }) => Effect.map(sessions.endAll(id), ended)))
      .handle(
        "step_up",
        ({ payload }) =>
          own((actor, session) =>
            Effect.flatMap(signIn.stepUp(actor, session, payload.code), (now) => sessions.show(actor, now))
          )
      )
      .handle("second_factor", () => own(signIn.beginSecondFactor))
      .handle(
        "confirm_second_factor",
        ({ payload }) =>
          own((actor, session) =>
            Effect.map(signIn.confirmSecondFactor(actor, session, payload.code), (codes) => ({ recovery_codes: codes }))
          )
      )
      .handle(
        "password",
        ({ payload: { new_password: newPassword, password } }) =>
          own((actor, session) =>
            Effect.andThen(
              signIn.setPassword(actor, session, { password, newPassword }),
              sessions.show(actor, session)
            )
          )
      )
      .handle("token", () => own(signIn.renewToken))
  })
)
