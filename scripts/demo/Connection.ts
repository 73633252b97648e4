/** The demo in a vendor's protocol: the provider simulator is connected as a provider, and players of the demo operator play its game. */
import { Effect, FileSystem, Layer, Schema } from "effect"
import { randomInt } from "node:crypto"
import { makeDialect } from "../simulators/Dialects.ts"
import { layerProviderServer, makeProviderServer, openInBrowser } from "../simulators/ProviderServer.ts"
import { protocolOfSample, samples } from "../simulators/Samples.ts"
import { SimulatorError } from "../simulators/SimulatorError.ts"
import { launchGame, openAccount } from "./Accounts.ts"
import { backoffice } from "./Backoffice.ts"
import type { Service } from "./Service.ts"

const Created = Schema.Struct({ id: Schema.Int })

const hint = ". A provider on this machine needs a service that was started with PROVIDER_ALLOW_INSECURE=on"

/** Runs a command that makes something; gives its id. */
const create = (...args: ReadonlyArray<string>) => Effect.map(backoffice(Created, args, hint), ({ id }) => id)

const failed = ({ message }: { readonly message: string }) => new SimulatorError({ message })

/** The names of protocols, and of their dialects, besides Pitboss's own. */
export const vendorNames = Object.keys(samples)

export interface ConnectOptions {
  readonly name: string
  readonly service: Service
  /** Unique to the run. */
  readonly run: string
  readonly players: number
}

/** Connects a provider that speaks a vendor's protocol, and opens its game for players. */
export const connect = Effect.fnUntraced(function*({ name, players, run, service }: ConnectOptions) {
  const sample = samples[name]
  if (sample === undefined) {
    return yield* new SimulatorError({ message: `${name} is none of ${vendorNames.join(", ")}` })
  }
  const port = randomInt(20_000, 30_000)
  const url = `http://127.0.0.1:${port}`
  const protocol = protocolOfSample(name)
  const { provider, vendor } = sample(url)
  const dialect = yield* makeDialect(protocol, { ...provider, ...vendor })
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped({ prefix: "provider-" }).pipe(
    Effect.tap((file) => fs.writeFileString(file, JSON.stringify(provider))),
    Effect.mapError(failed)
  )
  const slug = `${name}-${run}`
  yield* create("provider", "create", "--slug", slug, "--name", name, "--protocol", protocol, "--settings", file)
  const { notePlayed, opened, providerServer } = yield* makeProviderServer(url)
  const [game] = providerServer.games
  const about = ["--external-id", game?.id ?? "", "--name", game?.name ?? "", "--type", "rng", "--category", "slots"]
  const gameId = yield* create("game", "create", "--provider", slug, ...about)
  yield* Layer.build(layerProviderServer(dialect, providerServer, port)).pipe(
    Effect.mapError(() => new SimulatorError({ message: `port ${port} is taken: start the demo again` }))
  )
  yield* Effect.forEach(
    Array.from({ length: players }, (_, index) => index + 1),
    Effect.fnUntraced(function*(number) {
      const { id } = yield* openAccount({ number, run, service })
      const { launch_url: address } = yield* launchGame(service, id, gameId, "real")
      yield* openInBrowser(address ?? "")
    }),
    { concurrency: 8, discard: true }
  )
  return {
    url: `${service.url}/api/v1/integrations/${slug}`,
    dialect,
    opened,
    grants: providerServer.grants,
    notePlayed
  }
})
