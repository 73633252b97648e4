/** The demo in a vendor's protocol: the vendor simulator is the provider, and players of the demo operator play its game. */
import { Effect, FileSystem, Layer, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { randomInt } from "node:crypto"
import { join } from "node:path"
import { makeDialect } from "../simulators/Dialects.ts"
import { layerVendorServer, makeVendorServer, openInBrowser } from "../simulators/VendorServer.ts"
import { play } from "../simulators/Play.ts"
import { printSummary } from "../simulators/Report.ts"
import { protocolOfSample, samples } from "../simulators/Samples.ts"
import { DemoError } from "./DemoError.ts"
import { launchGame, openAccount, type Service } from "./Setup.ts"

const commandLine = join(import.meta.dirname, "..", "..", "src", "cli.ts")

const Created = Schema.fromJsonString(Schema.Struct({ id: Schema.Int }))

/** Runs a command of the back office that makes something; gives its id. */
const create = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { output, problems } = yield* Effect.gen(function*() {
    const child = yield* ChildProcess.make(process.execPath, [commandLine, ...args, "--json"])
    const text = (stream: typeof child.stdout) => Stream.mkString(Stream.decodeText(stream))
    const [output, problems] = yield* Effect.all([text(child.stdout), text(child.stderr)], { concurrency: 2 })
    return { output, problems }
  }).pipe(Effect.scoped, Effect.mapError(({ message }) => new DemoError({ message })))
  const { id } = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Created)(output),
    () =>
      new DemoError({
        message: `${args.slice(0, 2).join(" ")}: ${(problems || output).replaceAll(/\s+/g, " ").trim()}. ` +
          "A vendor on this machine needs a service that was started with PROVIDER_ALLOW_INSECURE=on"
      })
  )
  return id
})

export interface VendorDemo {
  readonly name: string
  readonly service: Service
  /** Unique to the run. */
  readonly run: string
  readonly players: number
  readonly callsPerSecond: number
  readonly seconds: number
  readonly seed: number
}

/** The names that the demo can play by. */
export const vendorNames = Object.keys(samples)

/** Connects a vendor, opens its game for players, and plays; gives how much disagreed. */
export const playVendor = Effect.fnUntraced(function*(demo: VendorDemo) {
  const { name, players, run, service } = demo
  const sample = samples[name]
  if (sample === undefined) {
    return yield* new DemoError({ message: `${name} is none of ${vendorNames.join(", ")}` })
  }
  const port = randomInt(20_000, 30_000)
  const url = `http://127.0.0.1:${port}`
  const protocol = protocolOfSample(name)
  const { provider, vendor } = sample(url)
  const dialect = yield* Effect.mapError(
    makeDialect(protocol, { ...provider, ...vendor }),
    ({ message }) => new DemoError({ message })
  )
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped({ prefix: "vendor-" }).pipe(
    Effect.tap((file) => fs.writeFileString(file, JSON.stringify(provider))),
    Effect.mapError(({ message }) => new DemoError({ message }))
  )
  const slug = `${name}-${run}`
  yield* create("provider", "create", "--slug", slug, "--name", name, "--protocol", protocol, "--settings", file)
  const { vendorServer, notePlayed, opened } = yield* makeVendorServer(url)
  const [game] = vendorServer.games
  const about = ["--external-id", game?.id ?? "", "--name", game?.name ?? "", "--type", "rng", "--category", "slots"]
  const gameId = yield* create("game", "create", "--provider", slug, ...about)
  yield* Layer.build(layerVendorServer(dialect, vendorServer, port)).pipe(
    Effect.mapError(() => new DemoError({ message: `port ${port} is taken: start the demo again` }))
  )
  yield* Effect.forEach(
    Array.from({ length: players }, (_, index) => index + 1),
    Effect.fnUntraced(function*(number) {
      const { id } = yield* openAccount({ number, run, service })
      const { launch_url: address } = yield* launchGame(service, id, gameId, "real")
      yield* Effect.mapError(openInBrowser(address ?? ""), ({ message }) => new DemoError({ message }))
    }),
    { concurrency: 8, discard: true }
  )
  const result = yield* play({
    ...demo,
    url: `${service.url}/api/v1/integrations/${slug}`,
    dialect,
    opened,
    grants: vendorServer.grants,
    notePlayed
  })
  yield* printSummary({ protocol, ...result }, false)
  return result.tally.differenceCount
})
