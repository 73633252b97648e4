/**
 * Forwards requests about players that another node owns (`docs/decisions/0044-several-nodes.md`): this node authenticates the request, the owner
 * serves it as its own, and its response is returned.
 */
import { Context, Effect, Schema, Tracer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse, HttpTraceContext } from "effect/http"
import { type Answered, Forwarder, type NotAnswered } from "../cluster/Forwarder.ts"
import { idInPath } from "../contract/common/Fields.ts"
import { parseObject } from "../contract/common/FormErrors.ts"
import { outcomeUnknown, type Refusal, refuse } from "../domain/Refusal.ts"
import { elsewhereOf } from "../store/PlayerActors.ts"
import { refuseBody } from "./Refusals.ts"
import { RequestIds } from "./RequestIds.ts"
import { targetOf } from "./RequestTarget.ts"
import { smallBody } from "./SignedBody.ts"

/** Time limit of another node's answer in ms, lists and reports included. */
const timeoutMs = 30_000

/** Header with the name of the node that served the request. */
export const servedBy = "x-served-by"

/** Request headers sent along with a forwarded request. */
const forwardedHeaders = [
  "content-type",
  "content-length",
  "idempotency-key",
  "traceparent",
  "x-forwarded-for"
] as const

/** Principal of a forwarded request, as authenticated by the sending node; its form is the middleware's. Undefined when not forwarded. */
export const CurrentPrincipal = Context.Reference<string | undefined>("pitboss/http/CurrentPrincipal", {
  defaultValue: () => undefined
})

/** Head of a forwarded request. */
export const ForwardedHead = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  /** Escaped for the router, and as sent by the caller. */
  url: Schema.String,
  target: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  peer: Schema.optionalKey(Schema.String),
  principal: Schema.String
}))
const encodeHead = Schema.encodeSync(ForwardedHead)

const AnswerHeaders = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const decodeAnswerHeaders = Schema.decodeUnknownSync(AnswerHeaders)

/** Answer of a node that does not own the player; nothing was done. */
export const misdirected = HttpServerResponse.empty({ status: 421 })

const notTaken = refuse("TRY_AGAIN", "The player is being moved to another node. Try again in a moment.", {
  retry: "same_request"
})
const notKnown = refuse(
  "TRY_AGAIN",
  "It is not known yet whether the request took effect. Send the same request again in a moment: it never takes effect twice.",
  { retry: "same_request" }
)
const overloaded = refuse("TRY_AGAIN", "Too many requests are waiting for the player's node. Try again in a moment.", {
  retry: "same_request"
})

/** Refusal of an idempotent call that no node answered. */
export const refuseUnanswered = ({ because }: NotAnswered): Refusal<"TRY_AGAIN"> =>
  because === "lost" ? notKnown : because === "overloaded" ? overloaded : notTaken

const isGiven = (body: string, field: string | undefined): boolean =>
  field !== undefined && typeof parseObject(body)?.[field] === "string"

const onlyReads = (method: string): boolean => method === "GET" || method === "HEAD"

/** The player in the path of the request; undefined for a text that is no id, which any node refuses. */
const playerIn = (context: Context.Context<never>): number | undefined =>
  idInPath(Context.getOrUndefined(context, HttpRouter.RouteContext)?.params["player"])

const responseOf = ({ body, head, node, status }: Answered): HttpServerResponse.HttpServerResponse => {
  const { "content-length": _, "content-type": contentType = "application/json", ...headers } = decodeAnswerHeaders(
    head
  )
  return HttpServerResponse.text(body, { status, contentType, headers: { ...headers, [servedBy]: node } })
}

interface About {
  /** The player, when the path does not name one; or another number whose owner serves the request. */
  readonly ownerOf?: number
  /** The request is idempotent by an id of its own and may be retried. */
  readonly hasId?: boolean
  /** Field of the body that makes the request idempotent where it is given: the caller may retry, and hears then whether it is a repetition. */
  readonly idField?: string | undefined
  /** Whether an idempotency key makes the request idempotent; true by default. */
  readonly takesKey?: boolean
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

/** Forwarding of one server; its endpoints have the same channel at every node. */
export class Forwarding extends Context.Service<Forwarding, {
  /** Name of the server's channel. */
  readonly channel: string
  /**
   * Runs a handler, unless another node owns its player (of the path, of `about`, or the first one the handler touches): then forwards the request
   * as `principal`. A request already forwarded to this node is answered with {@link misdirected} instead.
   */
  readonly around: Around
}>()("pitboss/http/Forwarding") {
  static readonly make = (channel: string) =>
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      const ids = yield* RequestIds
      if (forwarder.node === undefined) return Forwarding.of({ channel, around: (handler) => handler })

      const send = Effect.fnUntraced(function*(playerId: number, principal: string, about: About) {
        const { hasId = false, idField, takesKey = true } = about
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers, method, url } = request
        // the player's node checks the token: until then the smaller body limit of players applies
        if (principal === "" && !onlyReads(method)) yield* smallBody(request)
        // unchanged bytes: an idempotency key is bound to them at any node
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
        const isRepeatable = hasId || method !== "POST" || takesKey && (headers["idempotency-key"] ?? "") !== ""
        return responseOf(
          yield* Effect.mapError(
            forwarder.send(playerId, channel, { head, body }, { isRepeatable, timeoutMs }),
            (unanswered) =>
              isRepeatable || unanswered.because !== "lost" || isGiven(body, idField)
                ? refuseUnanswered(unanswered)
                : outcomeUnknown
          )
        )
      })

      const around: Around = (handler, principal, about = {}) =>
        Effect.contextWith((context: Context.Context<never>) => {
          if (Context.get(context, CurrentPrincipal) !== undefined) {
            return Effect.catchIf(
              handler,
              (error) => elsewhereOf(error) !== undefined,
              () => Effect.succeed(misdirected)
            )
          }
          const named = about.ownerOf ?? playerIn(context)
          return named !== undefined && !forwarder.isHere(named)
            ? send(named, principal, about)
            : Effect.catchIf(
              handler,
              (error) => elsewhereOf(error) !== undefined,
              (error) => send(elsewhereOf(error) ?? 0, principal, about)
            )
        })
      return Forwarding.of({ channel, around })
    })
}
