import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { HttpServer } from "effect/http"
import { vi } from "vitest"
import { Forwarder, NotAnswered } from "../../src/cluster/Forwarder.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { Launches } from "../../src/features/launches/Launches.ts"
import { layerBothServersOn, layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { type BothServers, dataOf, fresh, made, openCasino, staffCall, treasurerToken } from "../kit/Casino.ts"
import { browserCall, type ConnectionLost, type Reply } from "../kit/HttpCalls.ts"
import { losingCommit } from "../kit/E2eHold.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"

// Goal: callers are not told to repeat what may be done twice. Method: corrections, bonuses, plays and launches over HTTP, each cut off from its
// commit; and requests that are lost with the player's node. Payments at one node are tested in commandsAtOnce.test.ts, free rounds in
// freeRounds.test.ts.

const adviceOf = ({ code, details, headers }: Reply) => [code, details["retry"], headers["retry-after"]]

layer(layerCasinos, { excludeTestServices: true })("the answer to a request of unknown outcome", (it) => {
  it.effect("advises a retry only when an idempotency key identifies the request", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(10_000)
      const { id: bonus } = yield* casino.newBonus()
      const coin = yield* made("/games", {
        provider: casino.studio.slug,
        external_id: fresh("coin"),
        name: fresh("Coin"),
        original: "coin_flip"
      })
      const { token } = dataOf(yield* casino.post(`/players/${seat.id}/session-tokens`), 201)
      const flip = (headers = {}) =>
        browserCall(token, `/games/${coin.id}/play`, { body: { stake: 10, params: { side: "heads" } }, headers })
      const grant = (headers = {}) => casino.post(`/players/${seat.id}/bonuses`, { bonus_id: bonus }, headers)
      const launch = (headers = {}) =>
        casino.post(`/players/${seat.id}/games/${coin.id}/launch`, { mode: "real" }, headers)
      const staffPost = (path: string, body: object) =>
        staffCall("POST", `/backoffice/v1/players/${seat.id}/${path}`, body)
      // the first one has seeds made, and the game in memory
      dataOf(yield* flip())
      dataOf(yield* launch())
      const started = vi.spyOn(yield* Launches, "startLaunch")
      const requests = {
        correction: staffPost("corrections", { amount: 1, reason: "why not" }),
        grantByStaff: staffPost("bonuses", { bonus }),
        grant: grant(),
        play: flip(),
        launch: launch(),
        launchInFiber: launch({ expect: "the router" }),
        keyedGrant: grant({ "idempotency-key": fresh("grant-") }),
        keyedPlay: flip({ "idempotency-key": fresh("play-") }),
        keyedLaunch: launch({ "idempotency-key": fresh("launch-") })
      }
      const advice = yield* Effect.forEach(
        Object.entries(requests),
        ([name, request]) =>
          // in memory again after the last one: loading is cut off without an effect
          casino.balances(seat.id).pipe(
            Effect.andThen(losingCommit<Reply, ConnectionLost, BothServers | HttpServer.HttpServer>(seat.id, request)),
            Effect.map((answer) => [name, ...adviceOf(answer)])
          )
      )
      // that of `launch` alone
      if (nodesOfRun === 1) assert.deepStrictEqual(started.mock.results.map(({ value }) => value), [true])
      assert.deepStrictEqual(advice, [
        ...["correction", "grantByStaff", "grant", "play", "launch", "launchInFiber"]
          .map((name) => [name, "TRY_AGAIN", "never", undefined]),
        ...["keyedGrant", "keyedPlay", "keyedLaunch"].map((name) => [name, "TRY_AGAIN", "same_request", "1"])
      ])
    }))
})

/** Whether all players are of another node, which is lost with every request. */
let isLost = false

/** Whether what was sent to that node, and lost, might be sent again, by channel. */
const sent = new Map<string, ReadonlyArray<boolean>>()

const layerLosing = Layer.merge(
  layerSingleNode,
  Layer.succeed(
    Forwarder,
    Forwarder.of({
      node: "one",
      isHere: () => !isLost,
      ownerOf: () => "another",
      serve: () => {},
      post: () => {},
      send: (_key, channel, _call, { isRepeatable }) =>
        Effect.suspend(() => {
          sent.set(channel, [...sent.get(channel) ?? [], isRepeatable])
          return Effect.fail(new NotAnswered({ because: "lost" }))
        }),
      sendTo: () => Effect.undefined,
      sendToAll: () => Effect.succeed([])
    })
  )
)

layer(layerBothServersOn([layerLosing]), { excludeTestServices: true })("the answer after the loss of a node", (it) => {
  it.effect("advises no retry of a staff action that takes no idempotency key, even when one was sent", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      const headers = {
        authorization: `Bearer ${yield* treasurerToken}`,
        "content-type": "application/json",
        "idempotency-key": fresh("staff-")
      }
      isLost = true
      const correction = { amount: 1, reason: "why not" }
      const answer = yield* staffCall("POST", `/backoffice/v1/players/${player}/corrections`, correction, headers)
      assert.deepStrictEqual(adviceOf(answer), ["TRY_AGAIN", "never", undefined])
      // nor do the nodes send it again
      assert.deepStrictEqual(sent.get("staff"), [false])
    }).pipe(Effect.ensuring(Effect.sync(() => void (isLost = false)))))

  it.effect("advises a retry only when an idempotency key or a reference identifies the request", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      const { id: bonus } = yield* casino.newBonus()
      isLost = true
      const advice = yield* Effect.forEach([
        casino.deposit(player, 1),
        casino.withdraw(player, 1, { external_reference: "named" }),
        casino.withdraw(player, 1),
        casino.grant(player, bonus)
      ], Effect.map(adviceOf))
      assert.deepStrictEqual(advice, [
        ["TRY_AGAIN", "same_request", "1"],
        ["TRY_AGAIN", "same_request", "1"],
        ["TRY_AGAIN", "never", undefined],
        ["TRY_AGAIN", "never", undefined]
      ])
    }).pipe(Effect.ensuring(Effect.sync(() => void (isLost = false)))))
})
