/** HTTP client for addresses that others name: connects to public addresses only, whatever a name resolves to, and follows nothing. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import Undici from "@effect/platform-node/Undici"
import { Effect, FiberSet } from "effect"
import type { LookupFunction } from "node:net"
import { Resolver } from "./Resolver.ts"
import { isPublicAddress, literalAddress } from "./Targets.ts"

/** A refused connection, passed through node:net as the cause of the failed request. */
class ConnectionRefused extends Error {
  readonly code: "dns" | "target_refused"

  constructor(code: "dns" | "target_refused") {
    super(code)
    this.code = code
  }
}

/** Why a request failed that has no answer, from the cause of its failure. */
export const connectionError = (cause: unknown): "dns" | "target_refused" | "connection" =>
  cause instanceof ConnectionRefused ? cause.code : "connection"

interface GuardedOptions {
  /** Lets the own network in. */
  readonly allowInsecure: boolean
  /** A longer answer fails its request and closes the connection. */
  readonly maxAnswerBytes: number
  /** Connections to one host; undefined: as many as there are requests. */
  readonly connections?: number
}

/** A client with a connection pool of its own. It does not follow redirects; a time-out is its user's. */
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
          // one internal address refuses all
          if (!allowInsecure && !found.every(({ address }) => isPublicAddress(address))) {
            return callback(new ConnectionRefused("target_refused"), [])
          }
          return options.all === true ? callback(null, [...found]) : callback(null, first.address, first.family)
        }
      }))
    }

    const connect = Undici.buildConnector({ lookup, timeout: 5000, allowH2: false })

    const dispatcher = yield* NodeHttpClient.makeDispatcherOptions({
      // an address in the URL is not looked up, so it is judged here
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
