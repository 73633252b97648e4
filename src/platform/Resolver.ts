/** Resolves host names to IP addresses. */
import { Context, Effect, Layer, Schema } from "effect"
import * as Dns from "node:dns"
import { Settings, type SettingsShape } from "./Settings.ts"

export interface HostAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** The name has no address, or name servers did not answer in time. */
export class HostUnknown extends Schema.TaggedError<HostUnknown>()("HostUnknown", {}) {}

/** Time-out of a query, which is sent twice. */
const questionMs = 1200

const answers = (ask: () => Promise<ReadonlyArray<string>>, family: 4 | 6) =>
  Effect.tryPromise(ask).pipe(
    Effect.map((found) => found.map((address): HostAddress => ({ address, family }))),
    Effect.orElseSucceed((): ReadonlyArray<HostAddress> => [])
  )

const orUnknown = (found: Effect.Effect<ReadonlyArray<HostAddress>>) =>
  Effect.flatMap(
    found,
    (addresses) => addresses.length === 0 ? Effect.fail(new HostUnknown()) : Effect.succeed(addresses)
  )

/** Queries name servers directly: a slow name does not block the thread pool that the process shares. */
const byNameServers = Effect.sync(() => {
  const resolver = new Dns.promises.Resolver({ timeout: questionMs, tries: 2 })
  return (hostname: string) =>
    orUnknown(Effect.map(
      Effect.all([answers(() => resolver.resolve4(hostname), 4), answers(() => resolver.resolve6(hostname), 6)], {
        concurrency: 2
      }),
      (found) => found.flat()
    ))
})

/** The system's resolver, including its hosts file. */
const bySystem = (hostname: string) =>
  orUnknown(
    Effect.tryPromise(() => Dns.promises.lookup(hostname, { all: true, order: "verbatim" })).pipe(
      Effect.map((found) =>
        found.map(({ address, family }): HostAddress => ({ address, family: family === 6 ? 6 : 4 }))
      ),
      Effect.orElseSucceed((): ReadonlyArray<HostAddress> => [])
    )
  )

/** Addresses of a host name (not an IP address). */
export class Resolver extends Context.Service<Resolver, {
  readonly resolve: (hostname: string) => Effect.Effect<ReadonlyArray<HostAddress>, HostUnknown>
}>()("pitboss/platform/Resolver") {
  /** Queries name servers, or the system where insecure targets are allowed. */
  static readonly layerOf = (allowsInsecure: (settings: SettingsShape) => boolean) =>
    Layer.effect(
      Resolver,
      Effect.gen(function*() {
        return { resolve: allowsInsecure(yield* Settings) ? bySystem : yield* byNameServers }
      })
    )
}
