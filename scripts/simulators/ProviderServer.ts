/** The provider's own server: what an operator asks it for, and what it remembers of it. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Clock, Effect, Layer, Queue } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { Dialect, Grant, OfferedGame, PlayedTransaction, ProviderServer } from "./Dialect.ts"
import type { Entrant } from "./Play.ts"
import { SimulatorError } from "./SimulatorError.ts"

/** Transactions that the feed still has; older ones go first. */
const maxPlayed = 200_000

const games: ReadonlyArray<OfferedGame> = [
  { id: "gold-rush", name: "Gold Rush" },
  { id: "deep-sea", name: "Deep Sea" },
  { id: "lucky-dice", name: "Lucky Dice" }
]

/** What the provider keeps, and the sessions that were opened and are not played yet. */
export const makeProviderServer = Effect.fnUntraced(function*(url: string) {
  const opened = yield* Queue.unbounded<Entrant>()
  const played: Array<PlayedTransaction> = []
  const playing = new Set<string>()
  const providerServer: ProviderServer = {
    url,
    games,
    open: (session) => {
      // one game of a player is played at a time: each answer's balance is held against one expected state
      const name = session.playerRef === "" ? session.token : session.playerRef
      if (!playing.has(name)) Queue.offerUnsafe(opened, { session })
      playing.add(name)
      return `${url}/play?game=${encodeURIComponent(session.gameId)}`
    },
    grants: new Map<string, Grant>(),
    played: (fromMs, toMs) => played.filter(({ at }) => at >= fromMs && at < toMs),
    newId: randomUUID
  }
  const notePlayed = (transaction: PlayedTransaction): void => {
    if (played.length >= maxPlayed) played.splice(0, maxPlayed / 10)
    played.push(transaction)
  }
  return { providerServer, opened, notePlayed }
})

/** The player's browser goes to the address of a launch. Vendors that are asked for no address hear of the player only then. */
export const openInBrowser = (address: string): Effect.Effect<void, SimulatorError> =>
  Effect.tryPromise({
    try: async (signal) => {
      const page = await fetch(address, { signal })
      await page.text()
    },
    catch: () => new SimulatorError({ message: `${address} does not answer` })
  })

/** Serves the provider's side on a port, until its scope ends. */
export const layerProviderServer = (dialect: Dialect, providerServer: ProviderServer, port: number) => {
  const answer = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const url = new URL(request.url, providerServer.url)
    const body = yield* request.text
    if (url.pathname === "/play") return HttpServerResponse.text("The game is played by the provider simulator.\n")
    const answered = dialect.serve({
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      header: (name) => request.headers[name.toLowerCase()],
      body,
      now: yield* Clock.currentTimeMillis
    }, providerServer)
    return answered === undefined
      ? HttpServerResponse.text("There is no such call.\n", { status: 404 })
      : HttpServerResponse.text(answered.body, {
        status: answered.status,
        contentType: answered.contentType ?? "application/json"
      })
  })
  return HttpRouter.serve(HttpRouter.add("*", "/*", answer), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { port }))
  )
}
