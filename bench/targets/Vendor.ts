/** The players of the service at a vendor: a provider in the vendor's protocol, with a game that the vendor's own server launches. */
import { Effect, Layer, Queue, Schema, type Scope } from "effect"
import { makeDialect } from "../../scripts/simulators/Dialects.ts"
import { layerProviderServer, makeProviderServer, openInBrowser } from "../../scripts/simulators/ProviderServer.ts"
import { protocolOfSample, samples } from "../../scripts/simulators/Samples.ts"
import { BenchError } from "../BenchError.ts"
import { freePort } from "./FreePort.ts"
import type { Pitboss } from "./Pitboss.ts"
import { Created } from "./Service.ts"
import { makeSignedClient, signedConcurrency } from "./SignedClient.ts"
import type { Target } from "./Target.ts"

/** Text contained in the answer to an accepted bet and in no refusal. */
const marks: Readonly<Record<string, string>> = {
  hub88: "\"status\":\"RS_OK\"",
  caleta: "\"status\":\"RS_OK\"",
  pragmatic: "\"error\":0",
  slotegrator: "\"transaction_id\":",
  a8r: "\"round_id_casino\":",
  gcp: "\"transactions\":",
  evolution: "\"status\":\"OK\"",
  spribe: "\"code\":200"
}

const Launch = Schema.Struct({ session_token: Schema.String, launch_url: Schema.String })

const failed = (error: { readonly message: string }) => new BenchError({ message: error.message })

/** The service as bets of a vendor meet it; `name` is a sample's (`scripts/simulators/Samples.ts`). */
export const atVendor = Effect.fnUntraced(function*(
  pitboss: Pitboss,
  name: string,
  progress: (text: string) => void
): Effect.fn.Return<Target, BenchError, Scope.Scope> {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const sample = samples[name]?.(url)
  if (sample === undefined) return yield* new BenchError({ message: `there is no sample ${name}` })
  const protocol = protocolOfSample(name)
  const settings = { ...sample.provider, ...sample.vendor }
  const dialect = yield* Effect.mapError(makeDialect(protocol, settings), failed)
  const { providerServer, opened } = yield* makeProviderServer(url)
  yield* Effect.mapError(Layer.build(layerProviderServer(dialect, providerServer, port)), failed)
  const gameId = providerServer.games[0]?.id ?? ""
  const slug = `bench-${name}`
  const { create } = pitboss.service
  yield* create("providers", { slug, name, protocol, settings: sample.provider }, Created)
  const game = yield* create(
    "games",
    { provider: slug, external_id: gameId, name: gameId, type: "rng", category: "slots" },
    Created
  )
  const client = yield* makeSignedClient(`http://${pitboss.host}:${pitboss.port}`, "x-api-key", pitboss.operator)
  let ready = 0
  const launched = Effect.fnUntraced(function*(id: number) {
    const path = `/api/v1/operator/players/${id}/games/${game.id}/launch`
    const { launch_url, session_token } = yield* client.call("POST", path, { mode: "real" }, Launch)
    yield* Effect.mapError(openInBrowser(launch_url), failed)
    progress(`${name}: ${++ready} of ${pitboss.players.length} launches`)
    return session_token
  })
  const ids = pitboss.players.map(({ id }) => id)
  const firstToken = yield* launched(ids[0] ?? 0)
  const { session: first } = yield* Queue.take(opened)
  // a vendor without our tokens opens its sessions in the order of the launches
  const isToldToken = first.token === firstToken
  const tokens = [
    firstToken,
    ...yield* Effect.forEach(ids.slice(1), launched, { concurrency: isToldToken ? signedConcurrency : 1 })
  ]
  const others = yield* Queue.takeAll(opened)
  const inOrder = [first, ...others.map(({ session }) => session)]
  const byToken = new Map(inOrder.map((session) => [session.token, session]))
  return {
    ...pitboss,
    name,
    gameId,
    players: ids.map((id, index) => {
      const session = isToldToken ? byToken.get(tokens[index] ?? "") : inOrder[index]
      return { id, sessionToken: session?.token ?? "", playerRef: session?.playerRef ?? "" }
    }),
    vendor: { protocol, settings, path: `/api/v1/integrations/${slug}`, mark: marks[name] ?? "", ahead: 0 }
  }
})
