/**
 * Requests that concern a player of another node (`docs/decisions/0044-several-nodes.md`): sent to that node when it is known who they are from,
 * served there as if they had come there, and answered with its answer.
 */
import { Context, Effect, Schema, Tracer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse, HttpTraceContext } from "effect/http"
import { type Answered, Forwarder, type NotAnswered } from "../cluster/Forwarder.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { elsewhereOf } from "../store/PlayerActors.ts"
import { refuseBody } from "./Refusals.ts"
import { RequestIds } from "./RequestIds.ts"
import { targetOf } from "./RequestTarget.ts"
import { playerBody } from "./SignedBody.ts"

/** Time for the answer of another node, milliseconds: of lists and reports as well. */
const timeoutMs = 30_000

/** The header that names the node that owned the player. */
export const servedBy = "x-served-by"

/** Headers that a node needs to serve a request which another one has authenticated. */
const forwardedHeaders = [
  "content-type",
  "content-length",
  "idempotency-key",
  "traceparent",
  "x-forwarded-for"
] as const

/** Who a forwarded request is from, as the node found that it came to; the middleware that authenticates knows its form. Undefined: not forwarded. */
export const CurrentPrincipal = Context.Reference<string | undefined>("pitboss/http/CurrentPrincipal", {
  defaultValue: () => undefined
})

/** What travels beside the body. */
export const ForwardedHead = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  /** As the router reads it, and as it was sent. */
  url: Schema.String,
  target: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  peer: Schema.optionalKey(Schema.String),
  principal: Schema.String
}))
const encodeHead = Schema.encodeSync(ForwardedHead)

const AnswerHeaders = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const decodeAnswerHeaders = Schema.decodeUnknownSync(AnswerHeaders)

/** The answer of a node that does not own the player: nothing was done. */
export const misdirected = HttpServerResponse.empty({ status: 421 })

const notTaken = refuse("TRY_AGAIN", "The player is being moved to another node. Try again in a moment.", {
  retry: "same_request"
})
const notKnown = refuse(
  "TRY_AGAIN",
  "It is not known yet whether this was done. Ask again in a moment: it is never done twice.",
  { retry: "same_request" }
)
/** Of what may be done twice when it is sent again. */
const notKnownOnce = refuse(
  "TRY_AGAIN",
  "It is not known whether this was done. See whether it was before you ask for it again.",
  { retry: "never" }
)
const overloaded = refuse("TRY_AGAIN", "Too much is waiting for the player's node. Try again in a moment.", {
  retry: "same_request"
})

/** What a caller hears when no node answered a call that may be sent again. */
export const refuseUnanswered = ({ because }: NotAnswered): Refusal<"TRY_AGAIN"> =>
  because === "unsent" ? notTaken : because === "lost" ? notKnown : overloaded

const onlyReads = (method: string): boolean => method === "GET" || method === "HEAD"

/** The player in the path of the request. */
const playerIn = (context: Context.Context<never>): number | undefined => {
  const player = Context.getOrUndefined(context, HttpRouter.RouteContext)?.params["player"]
  return player !== undefined && /^[1-9][0-9]{0,15}$/.test(player) ? Number(player) : undefined
}

const responseOf = ({ body, head, node, status }: Answered): HttpServerResponse.HttpServerResponse => {
  const { "content-length": _, "content-type": contentType = "application/json", ...headers } = decodeAnswerHeaders(
    head
  )
  return HttpServerResponse.text(body, { status, contentType, headers: { ...headers, [servedBy]: node } })
}

interface About {
  /** Whose it is, where the path does not say. */
  readonly playerId?: number
  /** What it does has an id of its own: it is done once, however often it is sent. */
  readonly hasId?: boolean
}

type Around = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  principal: string,
  about?: About
) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E | Refusal,
  R | HttpServerRequest.HttpServerRequest
>

/** The forwarding of one server, whose endpoints are behind the same door at every node. */
export class Forwarding extends Context.Service<Forwarding, {
  /** The name of the server's door. */
  readonly door: string
  /**
   * Runs a handler, unless what it concerns is elsewhere: the player of the path or of `about`, or the one that it meets first. Then the request is sent there,
   * as `principal`'s. A request that was sent here is answered with {@link misdirected} instead.
   */
  readonly around: Around
}>()("pitboss/http/Forwarding") {
  static readonly make = (door: string) =>
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      const ids = yield* RequestIds
      if (forwarder.node === undefined) return Forwarding.of({ door, around: (handler) => handler })

      const send = Effect.fnUntraced(function*(playerId: number, principal: string, hasId: boolean) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers, method, url } = request
        // a player's token is proof by itself, and the player's node judges it: until then the body is a player's
        if (principal === "" && !onlyReads(method)) yield* playerBody(request)
        // byte by byte: an idempotency key stands for these bytes, whichever node reads them
        const body = onlyReads(method)
          ? ""
          : Buffer.from(yield* Effect.mapError(request.arrayBuffer, (error) => refuseBody(error))).toString("latin1")
        const sent: Record<string, string> = { "x-request-id": ids.of(request) }
        for (const name of forwardedHeaders) {
          const value = headers[name]
          if (value !== undefined) sent[name] = value
        }
        const span = yield* Effect.contextWith((context: Context.Context<never>) =>
          Effect.succeed(Context.getOrUndefined(context, Tracer.ParentSpan))
        )
        if (span?._tag === "Span") Object.assign(sent, { traceparent: HttpTraceContext.toHeaders(span)["traceparent"] })
        const token = headers["authorization"]
        if (principal === "" && token !== undefined) sent["authorization"] = token
        const head = encodeHead({
          method,
          url,
          target: targetOf(request),
          headers: sent,
          ...(request.remoteAddress._tag === "Some" ? { peer: request.remoteAddress.value } : {}),
          principal
        })
        const isRepeatable = hasId || method !== "POST" || (headers["idempotency-key"] ?? "") !== ""
        return responseOf(
          yield* Effect.mapError(
            forwarder.send(playerId, door, { head, body }, { isRepeatable, timeoutMs }),
            (unanswered) => isRepeatable || unanswered.because !== "lost" ? refuseUnanswered(unanswered) : notKnownOnce
          )
        )
      })

      const around: Around = (handler, principal, { hasId = false, playerId } = {}) =>
        Effect.contextWith((context: Context.Context<never>) => {
          if (Context.get(context, CurrentPrincipal) !== undefined) {
            return Effect.catchIf(
              handler,
              (error) => elsewhereOf(error) !== undefined,
              () => Effect.succeed(misdirected)
            )
          }
          const named = playerId ?? playerIn(context)
          return named !== undefined && !forwarder.isHere(named)
            ? send(named, principal, hasId)
            : Effect.catchIf(
              handler,
              (error) => elsewhereOf(error) !== undefined,
              (error) => send(elsewhereOf(error) ?? 0, principal, hasId)
            )
        })
      return Forwarding.of({ door, around })
    })
}
