import { type Clock, Context, type Effect, type Types } from "effect"
import { FindMyWay, HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { uncountedBytes } from "./AnonymousLimits.ts"
import type { CurrentOperator } from "../contract/Middleware.ts"
import type { Take } from "./ExpressLane.ts"
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

/**
 * Answers an operator's request without a query from memory: the body of the 200 answer; undefined when the answer needs waiting
 * or is a refusal. Changes nothing.
 */
export type FromMemory = (caller: CurrentOperator["Service"], params: Found["params"]) => string | undefined

/** Completion of a request that was started without a fiber. */
export interface Ending {
  /** Answers with status 200 and this body. `lines`: header lines in addition to the common ones. */
  readonly answer: (found: Found, lines: () => string, body: string) => void
  readonly serve: (found: Found, serving: Serving) => void
}

/** Starts a request without a fiber and completes it once, perhaps synchronously; false when nothing was done and it needs a fiber. */
export type Start = (found: Found, fromMemory: FromMemory | undefined, ending: Ending) => boolean

/** Length of the body; undefined when the router has to read it: unknown length, large, `Expect` or `Upgrade`. */
const lengthOf = ({ headers }: IncomingMessage, method: string): number | undefined => {
  const stated = headers["content-length"]
  const length = stated === undefined ? 0 : Number(stated)
  const isPlain = headers["transfer-encoding"] === undefined && headers["expect"] === undefined &&
    headers.upgrade === undefined
  return isPlain && length <= (method === "GET" ? 0 : uncountedBytes) ? length : undefined
}

/** Request targets with characters that the router needs escaped or interprets otherwise. */
const unusual = /[#;]|^[^/]/

/**
 * Endpoints of one server, and the direct path to them: from Node.js's request to the endpoint and back, without the framework's server
 * and router, whose fibers, contexts and header objects took more processor time than the read itself
 * (`docs/decisions/0041-one-way-through-http.md`). Unusual requests are left to the router, which has the same endpoints
 * behind the same middlewares.
 */
export class Endpoints extends Context.Service<Endpoints, {
  /** Registers an endpoint. Called by its authentication middleware. */
  readonly add: (
    endpoint: Named,
    serving: Serving,
    options?: { readonly isDirect?: boolean; readonly start?: Start }
  ) => void
  /** Registers an endpoint's answer from memory. Called by its handler. */
  readonly addFromMemory: (endpoint: Named, answer: FromMemory) => void
  readonly fromMemory: (endpoint: Endpoint) => FromMemory | undefined
  /** Sets the runner of requests accepted by `take`. */
  readonly runWith: (run: (found: Found) => void) => void
  readonly take: Take
  /** Endpoint of a request forwarded by another node. */
  readonly find: (method: string, url: string) => FindMyWay.FindResult<Endpoint> | undefined
}>()("pitboss/http/Endpoints") {
  /** One instance per server: endpoints must not answer on another server's port. */
  static readonly make = (clock: Clock.Clock): Endpoints["Service"] => {
    const table = FindMyWay.make<Endpoint>(routerConfig)
    const inMemory = new Map<string, FromMemory>()
    let run: ((found: Found) => void) | undefined
    return {
      add: (endpoint, serving, { isDirect = true, start } = {}) => {
        const { method, path } = endpoint
        if (!isPath(path)) return
        const route = HttpRouter.route("*", path, serving)
        table.on(method, path, { name: nameOf(endpoint), serving, isDirect, start, route })
      },
      addFromMemory: (endpoint, answer) => {
        inMemory.set(nameOf(endpoint), answer)
      },
      fromMemory: ({ name }) => inMemory.get(name),
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
