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

/** OpenSSL's and Node.js's codes for a certificate that was refused, by either side, or a failed handshake. */
const certificateCodes =
  /^(ERR_TLS_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|HOSTNAME_MISMATCH|ERR_SSL_|ERR_OSSL_)/

/** True where TLS failed, not the way to the host: a certificate or a key is wrong. */
export const isCertificateError = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && certificateCodes.test(cause.code)

interface GuardedOptions {
  /** Allows the own network. */
  readonly allowInsecure: boolean
  /** A longer answer fails its request and closes the connection. */
  readonly maxAnswerBytes: number
  /** Maximum connections per host; undefined: unlimited. */
  readonly connections?: number
  /** PEM texts: a certificate of this client with its key, and the authority to trust instead of the known ones. */
  readonly tls?: {
    readonly cert?: string | undefined
    readonly key?: string | undefined
    readonly ca?: string | undefined
  }
}

/** Client with a connection pool of its own. It does not follow redirects; time-outs are up to the caller. */
export const makeGuardedClient = Effect.fnUntraced(
  function*({ allowInsecure, connections, maxAnswerBytes, tls = {} }: GuardedOptions) {
    const { resolve } = yield* Resolver
    // Kept: run. Fibers that look up names. Several nodes: its own.
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

    const connect = Undici.buildConnector({ ...tls, lookup, timeout: 5000, allowH2: false })

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
