/**
 * Direct path from Node.js's request to an endpoint, without the framework's server and router: their fibers, contexts and header objects took more
 * processor time than the endpoint itself (`docs/decisions/0041-one-way-through-http.md`).
 */
import { type Clock, Context, type Effect, Exit, Result, Schema, type Types } from "effect"
import { FindMyWay, HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { uncountedBytes } from "./AnonymousLimits.ts"
import { isJson, refuseOverfull, textOf } from "../protocols/ApiBodies.ts"
import { idInPath } from "../contract/common/Fields.ts"
import { parseObject } from "../contract/common/FormErrors.ts"
import type { CurrentOperator } from "../contract/common/Middleware.ts"
import type { RenderedReply } from "../domain/state/Idempotency.ts"
import type { Refusal } from "../domain/Refusal.ts"
import type { AcceptedSignature, StoredSignature } from "../domain/state/AcceptedSignature.ts"
import type { Recorded } from "../domain/state/StoringSignature.ts"
import type { Take } from "./Take.ts"
import { isPath, routerConfig } from "./Methods.ts"
import { ReadRequest } from "./ReadRequest.ts"
import { readBody } from "./RequestBody.ts"

/** Handler of an endpoint inside all middlewares except the outermost one. */
type Serving = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest
>

interface Named {
  readonly method: string
  readonly path: string
}

const nameOf = ({ method, path }: Named): string => `${method} ${path}`

interface Endpoint {
  /** Method and path. */
  readonly name: string
  readonly serving: Serving
  /** Undefined when every request needs a fiber. */
  readonly start: Start | undefined
  /** False when callers' requests go through the router, since answers may be streams. */
  readonly isDirect: boolean
  /** The router's description of it, for the log and the form rules. */
  readonly route: HttpRouter.RouteContext["Service"]["route"]
}

/** A completely read request with its endpoint. */
export interface Found extends FindMyWay.FindResult<Endpoint> {
  readonly request: ReadRequest
  readonly source: IncomingMessage
  readonly target: ServerResponse
  /** Monotonic nanoseconds at which its head was complete. */
  readonly startedAt: bigint
}

/** A read that can be served without a fiber: starts it. `done` is called once, perhaps synchronously. */
export type StartRead<A> = (done: (exit: Exit.Exit<A, Refusal>) => void) => void

/** The read that an operator's request asks for; undefined when the request needs its handler. Starts nothing and changes nothing. */
export type Read<A> = (caller: CurrentOperator["Service"], found: Found) => StartRead<A> | undefined

/** Player in the path of a request without a query; undefined for other requests. */
export const playerAlone = ({ params, request: { url } }: Found): number | undefined =>
  url.includes("?") ? undefined : idInPath(params["player"])

/** End of a command: its answer, or its refusal. */
type Done<A> = (exit: Exit.Exit<Recorded<A>, Refusal | StoredSignature>) => void

/** Posts an operator's command as `PostCommand`, decoding the request first. */
type Command = (
  caller: CurrentOperator["Service"],
  found: Found,
  accepted: AcceptedSignature,
  done: Done<RenderedReply>
) => boolean

/**
 * Posts an operator's command without a fiber, to be committed with the signature of its request: `done` is called once, perhaps
 * synchronously. False when nothing was done and the request needs its handler: something has to be looked up first.
 */
export type PostCommand<Body, A> = (
  caller: CurrentOperator["Service"],
  params: Found["params"],
  body: Body,
  accepted: AcceptedSignature,
  done: Done<A>
) => boolean

/** Parts of an endpoint that need no fiber. */
export interface AtOnce {
  readonly read?: Read<RenderedReply>
  readonly command?: Command
}

/** Completion of a request that was started without a fiber. */
export interface Ending {
  /** `lines`: header lines in addition to the common ones. */
  readonly answer: (found: Found, lines: () => string, reply: RenderedReply) => void
  readonly serve: (found: Found, serving: Serving) => void
}

/** Starts a request without a fiber and completes it once, perhaps synchronously; false when nothing was done and it needs a fiber. */
export type Start = (found: Found, atOnce: AtOnce, ending: Ending) => boolean

/** Body of an ordinary request; undefined when its handler has to refuse it, or to see whether its idempotency key is known. */
const plainBody = ({ body, source: { headers } }: ReadRequest): object | undefined =>
  (headers["idempotency-key"] ?? "") === "" && isJson(headers["content-type"]) && refuseOverfull(body) === undefined
    ? parseObject(textOf(body))
    : undefined

/** Length of the body; undefined when the router has to read it: unknown length, large, `Expect` or `Upgrade`. */
const lengthOf = ({ headers }: IncomingMessage, method: string): number | undefined => {
  const stated = headers["content-length"]
  const length = stated === undefined ? 0 : Number(stated)
  const isPlain = headers["transfer-encoding"] === undefined && headers["expect"] === undefined &&
    headers.upgrade === undefined
  return isPlain && length <= (method === "GET" ? 0 : uncountedBytes) ? length : undefined
}

const nothing: AtOnce = {}

/** As `Exit.map`; a defect of `map` is the outcome. */
const mapContained = <A, B, E>(exit: Exit.Exit<A, E>, map: (answer: A) => B): Exit.Exit<B, E> => {
  try {
    return Exit.map(exit, map)
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** Request targets with characters that the router needs escaped or interprets otherwise, or with a slash at the end of the path. */
const unusual = /[#;]|^[^/]|^[^?]*\/(?:\?|$)/

/**
 * Endpoints of one server. Unusual requests are left to the router, which has the same endpoints behind the same middlewares.
 */
export class Endpoints extends Context.Service<Endpoints, {
  /** Registers an endpoint. Called by its authentication middleware. */
  readonly add: (
    endpoint: Named,
    serving: Serving,
    options?: { readonly isDirect?: boolean; readonly start?: Start }
  ) => void
  /** Registers the read of an endpoint that answers JSON: `fields` makes the body of its 200 answer. Called by its handler. */
  readonly addRead: <A>(endpoint: Named, read: Read<A>, fields: (answer: A, found: Found) => unknown) => void
  /** Registers the command of an endpoint with a JSON body of this schema. Called by its handler. */
  readonly addCommand: <Body, A>(
    endpoint: Named,
    schema: Schema.Codec<Body, unknown>,
    post: PostCommand<Body, A>,
    render: (answer: A) => RenderedReply
  ) => void
  readonly atOnce: (endpoint: Endpoint) => AtOnce
  /** Sets the runner of requests accepted by `take`. */
  readonly runWith: (run: (found: Found) => void) => void
  readonly take: Take
  /** Endpoint of a request forwarded by another node. */
  readonly find: (method: string, url: string) => FindMyWay.FindResult<Endpoint> | undefined
}>()("pitboss/http/Endpoints") {
  /** One instance per server: endpoints must not answer on another server's port. */
  static readonly make = (clock: Clock.Clock): Endpoints["Service"] => {
    const table = FindMyWay.make<Endpoint>(routerConfig)
    // Kept: run, withoutFiber. How endpoints are run, set at the start. Several nodes: its own.
    const withoutFiber = new Map<string, AtOnce>()
    let run: ((found: Found) => void) | undefined
    return {
      add: (endpoint, serving, { isDirect = true, start } = {}) => {
        const { method, path } = endpoint
        if (!isPath(path)) return
        const route = HttpRouter.route("*", path, serving)
        table.on(method, path, { name: nameOf(endpoint), serving, isDirect, start, route })
      },
      addRead: (endpoint, read, fields) => {
        withoutFiber.set(nameOf(endpoint), {
          read: (caller, found) => {
            try {
              const start = read(caller, found)
              if (start === undefined) return undefined
              return (done) =>
                start((exit) =>
                  done(mapContained(exit, (answer) => ({ status: 200, body: JSON.stringify(fields(answer, found)) })))
                )
            } catch (defect) {
              return (done) => done(Exit.die(defect))
            }
          }
        })
      },
      addCommand: (endpoint, schema, post, render) => {
        const decode = Schema.decodeUnknownResult(schema)
        withoutFiber.set(nameOf(endpoint), {
          command: (caller, { params, request }, accepted, done) => {
            try {
              const body = plainBody(request)
              const decoded = body === undefined ? undefined : decode(body)
              if (decoded === undefined || Result.isFailure(decoded)) return false
              return post(caller, params, decoded.success, accepted, (exit) => {
                done(mapContained(exit, ({ isRecorded, reply }) => ({ isRecorded, reply: render(reply) })))
              })
            } catch (defect) {
              done(Exit.die(defect))
              return true
            }
          }
        })
      },
      atOnce: ({ name }) => withoutFiber.get(name) ?? nothing,
      runWith: (given) => {
        run = given
      },
      find: (method, url) => table.find(method, url),
      take: (source, target) => {
        const { method = "", url = "" } = source
        const length = lengthOf(source, method)
        if (run === undefined || length === undefined || unusual.test(url)) return false
        const found = table.find(method, url)
        if (found?.handler.isDirect !== true) return false
        const { handler, params, searchParams } = found
        const serve = run
        const startedAt = clock.monotonicTimeNanosUnsafe()
        readBody(
          source,
          length,
          (body) =>
            serve({
              handler,
              params,
              searchParams,
              source,
              target,
              startedAt,
              request: new ReadRequest(source, method, url, body)
            })
        )
        return true
      }
    }
  }
}
