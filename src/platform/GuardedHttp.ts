/** HTTP client for addresses chosen by third parties: connects to public addresses only, whatever a name resolves to, and follows no redirects. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import Undici from "@effect/platform-node/Undici"
import { Effect, FiberSet } from "effect"
import type { LookupFunction } from "node:net"
import { Resolver } from "./Resolver.ts"
import { isPublicAddress, literalAddress } from "./Targets.ts"

/** Refused connection, passed through node:net as the cause of the failed request. */
class ConnectionRefused extends Error {
  readonly code: "dns" | "target_refused"

  constructor(code: "dns" | "target_refused") {
    super(code)
    this.code = code
  }
}

/** Classifies the failure of a request without an answer, by its cause. */
export const connectionError = (cause: unknown): "dns" | "target_refused" | "connection" | "too_large" =>
  cause instanceof ConnectionRefused
    ? cause.code
    : cause instanceof Undici.errors.ResponseExceededMaxSizeError
    ? "too_large"
    : "connection"

interface GuardedOptions {
  /** Allows the own network. */
  readonly allowInsecure: boolean
  /** A longer answer fails its request and closes the connection. */
  readonly maxAnswerBytes: number
  /** Maximum connections per host; undefined: unlimited. */
  readonly connections?: number
}

/** Client with a connection pool of its own. It does not follow redirects; time-outs are up to the caller. */
export const makeGuardedClient = Effect.fnUntraced(
  function*({ allowInsecure, connections, maxAnswerBytes }: GuardedOptions) {
    const { resolve } = yield* Resolver
    const run = yield* FiberSet.makeRuntime<never>()

    /** Connects to the checked addresses, without a second look-up. */
    const lookup: LookupFunction = (hostname, options, callback) => {
      run(Effect.match(resolve(hostname), {
        onFailure: () => callback(new ConnectionRefused("dns"), []),
        onSuccess: (found) => {
          const [first] = found
          if (first === undefined) return callback(new ConnectionRefused("dns"), [])
          // a single internal address refuses the name
          if (!allowInsecure && !found.every(({ address }) => isPublicAddress(address))) {
            return callback(new ConnectionRefused("target_refused"), [])
          }
          return options.all === true ? callback(null, [...found]) : callback(null, first.address, first.family)
        }
      }))
    }

    const connect = Undici.buildConnector({ lookup, timeout: 5000, allowH2: false })

    const dispatcher = yield* NodeHttpClient.makeDispatcherOptions({
      // an IP address in the URL is not looked up, so it is checked here
      connect: (options, callback) => {
        const address = literalAddress(options.hostname)
        if (address !== undefined && !allowInsecure && !isPublicAddress(address)) {
          return callback(new ConnectionRefused("target_refused"), null)
        }
        return connect(options, callback)
      },
      pipelining: 1,
      maxResponseSize: maxAnswerBytes,
      keepAliveTimeout: 20_000,
      keepAliveMaxTimeout: 60_000,
      ...(connections === undefined ? {} : { connections })
    })
    return yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)
  }
)
