import { type Clock, Context, type Effect, type Types } from "effect"
import { FindMyWay, HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { uncountedBytes } from "./AnonymousLimits.ts"
import type { CurrentOperator } from "../contract/Middleware.ts"
import type { Take } from "./ExpressLane.ts"
import { isPath, routerConfig } from "./Methods.ts"
import { ReadRequest } from "./ReadRequest.ts"
import { readBody } from "./RequestBody.ts"

/** An endpoint with everything around its handler but the outermost middleware. */
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
  /** Undefined: each request needs a fiber. */
  readonly start: Start | undefined
  /** False: what callers send goes the ordinary way, since its answers may be streams. */
  readonly isDirect: boolean
  /** What the router would tell of it, for the log and the form rules. */
  readonly route: HttpRouter.RouteContext["Service"]["route"]
}

/** A request of an endpoint, read to its end. */
export interface Found extends FindMyWay.FindResult<Endpoint> {
  readonly request: ReadRequest
  readonly source: IncomingMessage
  readonly target: ServerResponse
  /** Monotonic nanoseconds when its head had come. */
  readonly startedAt: bigint
}

/**
 * An operator's endpoint from memory: the body of its 200 answer to a request without a query; undefined where something has to be waited
 * for, or is refused. Changes nothing.
 */
export type FromMemory = (caller: CurrentOperator["Service"], params: Found["params"]) => string | undefined

/** How a request that was started without a fiber ends. */
export interface Ending {
  /** With status 200 and this body. `lines`: header lines beside those of every answer. */
  readonly answer: (found: Found, lines: string, body: string) => void
  readonly serve: (found: Found, serving: Serving) => void
}

/** Starts a request without a fiber and ends it once, perhaps at once; false: nothing was done, and it goes the ordinary way. */
export type Start = (found: Found, fromMemory: FromMemory | undefined, ending: Ending) => boolean

/** Length of the body, undefined when the router shall read it: of unknown length, large, or to be asked for. */
const lengthOf = ({ headers }: IncomingMessage, method: string): number | undefined => {
  const stated = headers["content-length"]
  const length = stated === undefined ? 0 : Number(stated)
  const isPlain = headers["transfer-encoding"] === undefined && headers["expect"] === undefined &&
    headers.upgrade === undefined
  return isPlain && length <= (method === "GET" ? 0 : uncountedBytes) ? length : undefined
}

/** Characters of a target that the router needs escaped, or knows another meaning of. */
const unusual = /[#;]|^[^/]/

/**
 * The endpoints of one server, and the direct way to them: from Node.js's request to the endpoint and back, without the framework's server
 * and router, whose fibers, contexts and header objects took more of a read's processor time than the read
 * (`docs/decisions/0041-one-way-through-http.md`). What is unusual about a request is left to the router, which finds the same endpoints
 * behind the same middlewares.
 */
export class Endpoints extends Context.Service<Endpoints, {
  /** Notes an endpoint. Authentication, the outermost middleware of each, does that. */
  readonly add: (
    endpoint: Named,
    serving: Serving,
    options?: { readonly isDirect?: boolean; readonly start?: Start }
  ) => void
  /** Notes how an endpoint is answered from memory. Its handler does that. */
  readonly addFromMemory: (endpoint: Named, answer: FromMemory) => void
  readonly fromMemory: (endpoint: Endpoint) => FromMemory | undefined
  /** Sets what runs the requests that `take` takes. */
  readonly runWith: (run: (found: Found) => void) => void
  readonly take: Take
  /** The endpoint of a request that another node sent. */
  readonly find: (method: string, url: string) => FindMyWay.FindResult<Endpoint> | undefined
}>()("pitboss/http/Endpoints") {
  /** Of one server: they must not answer on another one's port. */
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
