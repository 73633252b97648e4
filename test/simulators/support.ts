/** A simulated provider's player at a wallet of the test. */
import { Effect, Layer, Random } from "effect"
import { TestClock } from "effect/testing"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { openPlayerSession, type PlayerSession } from "../../scripts/simulators/PlayerSession.ts"
import { RunStats } from "../../scripts/simulators/RunStats.ts"
import { playScenario } from "../../scripts/simulators/Scenarios.ts"
import type { SimulatorError } from "../../scripts/simulators/SimulatorError.ts"

type Opened = Parameters<typeof openPlayerSession>[0]

export const textOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

export const respond = (
  request: HttpClientRequest.HttpClientRequest,
  { body, headers, status }: { readonly status: number; readonly body: object; readonly headers?: object }
) =>
  HttpClientResponse.fromWeb(
    request,
    new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })
  )

/** Plays 300 scenarios, after those of `first`, always the same; gives what differed. */
export const playAll = (
  wallet: HttpClient.HttpClient,
  about: Pick<Opened, "dialect" | "opening" | "session" | "url">,
  first: (player: PlayerSession) => Effect.Effect<unknown, SimulatorError> = () => Effect.void
) => {
  const stats = new RunStats()
  return Effect.gen(function*() {
    const player = yield* openPlayerSession({
      ...about,
      stats,
      pace: Effect.void,
      notePlayed: () => {},
      repeatDelay_ms: 0
    })
    yield* first(player)
    for (let played = 0; played < 300; played++) stats.countScenario(yield* playScenario(player))
    return stats
  }).pipe(
    Random.withSeed("a table"),
    Effect.provide(Layer.succeed(HttpClient.HttpClient, wallet)),
    TestClock.withLive
  )
}
