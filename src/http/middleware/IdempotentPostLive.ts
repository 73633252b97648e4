/** Idempotency of POST requests: each runs once per key, in the scope of its caller (SPEC section 8). */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Crypto from "node:crypto"
import { PersonalData } from "../../platform/PersonalData.ts"
import { SecretAnswer } from "../../contract/common/Annotations.ts"
import {
  CurrentClaim,
  CurrentOperator,
  CurrentPlayer,
  IdempotentPost,
  PlayerIdempotentPost
} from "../../contract/common/Middleware.ts"
import { CurrentStaff, StaffIdempotentPost } from "../../contract/common/StaffMiddleware.ts"
import { operatorScope } from "../../domain/state/Idempotency.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { type Answer, Idempotency } from "../../store/Idempotency.ts"
import { elsewhereOf } from "../../store/PlayerActors.ts"
import { refusalBody, statusOf } from "../../contract/common/Envelope.ts"
import { bodyText, isRefusal, jsonResponse, refuseBody } from "../Refusals.ts"
import { targetOf } from "../RequestTarget.ts"

const maxKeyLength = 255

const invalidKey = refuse("INVALID_IDEMPOTENCY_KEY", "An idempotency key has at most 255 characters.", {
  max_length: maxKeyLength
})

interface HttpAnswer extends Answer {
  readonly response: HttpServerResponse.HttpServerResponse
}

const answered = (response: HttpServerResponse.HttpServerResponse): HttpAnswer => ({
  status: response.status,
  code: undefined,
  body: bodyText(response),
  response
})

const refused = (refusal: Refusal): HttpAnswer => {
  const status = statusOf(refusal)
  const body = refusalBody(refusal)
  return { status, code: refusal.code, body, response: jsonResponse(status, body) }
}

/** Fingerprint of a request: SHA-256 over method, path with query, and raw body. */
const fingerprintOf = (method: string, url: string, body: ArrayBuffer): Uint8Array =>
  new Uint8Array(
    Crypto.createHash("sha256").update(`${method}\n${url}\n`, "latin1").update(new Uint8Array(body)).digest()
  )

/** The player whom a call names in its path or is made by. */
const playerOf = (scope: string, target: string): number | undefined => {
  // the router takes an escaped digit for what it is
  const path = target.replaceAll(/%3(\d)/g, "$1")
  const [, id] = /^player:(\d{1,16})$/.exec(scope) ?? /\/players\/(\d{1,16})(?:[/?]|$)/.exec(path) ?? []
  return id === undefined ? undefined : Number(id)
}

/** Runs a POST under its idempotency key, in the scope of its caller. */
const runOnce = <E, R, E2, R2>(
  { idempotency, personal }: {
    readonly idempotency: Idempotency["Service"]
    readonly personal: PersonalData["Service"]
  },
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  scopeOf: Effect.Effect<string, E2, R2>,
  isSecret: boolean,
  refusalBytesPerMinute: number
) => {
  // Refusals become answers here, so that they can be stored.
  const run = handler.pipe(
    Effect.map(answered),
    Effect.catch((error) =>
      // another node stores its own answer
      isRefusal(error) && elsewhereOf(error) === undefined ? Effect.succeed(refused(error)) : Effect.fail(error)
    )
  )
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const key = request.headers["idempotency-key"]
    if (key === undefined || key === "") return yield* handler
    if (key.length > maxKeyLength) return yield* Effect.fail(invalidKey)
    const scope = yield* scopeOf
    const body = yield* Effect.mapError(request.arrayBuffer, (error) => refuseBody(error))
    const claim = {
      scope,
      key,
      fingerprint: personal.fingerprint(fingerprintOf(request.method, targetOf(request), body)),
      isSecret,
      playerId: playerOf(scope, targetOf(request))
    }
    const guarded = yield* idempotency.guard(
      claim,
      Effect.provideService(run, CurrentClaim, claim),
      refusalBytesPerMinute
    )
    return guarded._tag === "Answered"
      ? guarded.answer.response
      : HttpServerResponse.setHeader(
        jsonResponse(guarded.reply.status, guarded.reply.body),
        "idempotent-replayed",
        "true"
      )
  })
}

interface Annotated {
  readonly annotations: Context.Context<never>
}

/** Runs each POST of a scope once. */
const makeIdempotent = <E, R>(scopeOf: Effect.Effect<string, E, R>, refusalBytesPerMinute: number) =>
  Effect.map(Effect.all({ idempotency: Idempotency, personal: PersonalData }), (kept) =>
  <E2, R2>(
    handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E2, R2>,
    { endpoint, group }: { readonly endpoint: Annotated & { readonly method: string }; readonly group: Annotated }
  ) => {
    const annotations = Context.merge(group.annotations, endpoint.annotations)
    const isSecret = Context.getOrUndefined(annotations, SecretAnswer) ?? false
    return endpoint.method === "POST" ? runOnce(kept, handler, scopeOf, isSecret, refusalBytesPerMinute) : handler
  })

/** Idempotency keys are scoped to the operator: they survive a rotation of the API key. */
export const IdempotentPostLive = Layer.effect(
  IdempotentPost,
  makeIdempotent(Effect.map(CurrentOperator, ({ operator }) => operatorScope(operator.id)), 1024 * 1024)
)

/** Idempotency keys of players are scoped to the player, whichever token is used. */
export const PlayerIdempotentPostLive = Layer.effect(
  PlayerIdempotentPost,
  makeIdempotent(Effect.map(CurrentPlayer, ({ playerId }) => `player:${playerId}`), 64 * 1024)
)

/** Idempotency keys of staff are scoped to the account. */
export const StaffIdempotentPostLive = Layer.effect(
  StaffIdempotentPost,
  makeIdempotent(Effect.map(CurrentStaff, ({ label }) => label), 64 * 1024)
)
