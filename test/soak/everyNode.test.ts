import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { pick, startBalanced } from "../kit/ClusterProcesses.ts"
import { layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addGame, addStudio, addTenant, callWallet, launch, seat, type Seat } from "../kit/Casino.ts"
import { type Caller, callerOf, type Reply } from "../kit/HttpCalls.ts"

// Goal: a change made on one node holds on every other: for players with the answer, for keys and games soon after.
// Method: three processes; one makes the change, and each is queried.

/** Ends a wait that would never end; keys and games are refreshed within two seconds. */
const longEnough = "30 seconds"

layer(layerOwnDatabase, { excludeTestServices: true })("a change made on one of three nodes", (it) => {
  it.effect("is in force at all of them", () =>
    Effect.scoped(Effect.gen(function*() {
      const { agent, nodes, staff } = yield* startBalanced()
      const ports = nodes.map(({ port }) => port)
      const [firstPort = 0] = ports
      const { call: operator } = yield* addTenant(agent, firstPort, "acme")
      const studio = yield* addStudio(agent, firstPort, "studio")
      const game = yield* addGame(studio.id, "dice")
      const operators = ports.map((port) => callerOf(agent, port, operator.signer))
      const providers = ports.map((port) => callerOf(agent, port, studio.call.signer))

      let bets = 0
      const bet = (provider: Caller, at: Seat, amount: number) =>
        callWallet(provider, "bet", {
          request_id: `b${++bets}`,
          transaction_id: `b${bets}`,
          session_token: at.token,
          game_id: game.externalId,
          round_id: `r${bets}`,
          amount,
          currency: "EUR"
        })
      const betsAtAll = (at: Seat, amount: number) =>
        Effect.map(
          Effect.forEach(providers, (provider) => bet(provider, at, amount)),
          (replies) => replies.map(({ code, status }) => code ?? String(status))
        )
      const done = ({ status, text }: Reply) => assert.include([200, 201], status, text)

      // players of every node, each changed through another one
      for (let player = 0; player < 6; player++) {
        const at = yield* seat(operator, studio.call, game, { username: `player${player}`, balance: 10_000 })
        const path = `/api/v1/operator/players/${at.playerId}`
        assert.deepStrictEqual(yield* betsAtAll(at, 10), ["200", "200", "200"])

        const limits = yield* pick(operators, player).send(`${path}/limits`, {
          method: "PUT",
          body: { limits: { max_single_bet: 5 } }
        })
        done(limits)
        assert.deepStrictEqual(yield* betsAtAll(at, 10), ["LIMIT_EXCEEDED", "LIMIT_EXCEEDED", "LIMIT_EXCEEDED"])
        assert.deepStrictEqual(yield* betsAtAll(at, 5), ["200", "200", "200"])

        const restricted = (canBet: boolean) =>
          pick(staff, player + 1).send(`/backoffice/v1/players/${at.playerId}/restrictions`, {
            method: "PATCH",
            body: { can_bet: canBet }
          })
        done(yield* restricted(false))
        assert.deepStrictEqual(yield* betsAtAll(at, 5), ["PLAYER_RESTRICTED", "PLAYER_RESTRICTED", "PLAYER_RESTRICTED"])
        done(yield* restricted(true))
        assert.deepStrictEqual(yield* betsAtAll(at, 5), ["200", "200", "200"])

        const locked = yield* pick(operators, player + 2).send(`${path}/status`, {
          method: "PUT",
          body: { status: "locked", reason: "asked for" }
        })
        done(locked)
        for (const code of yield* betsAtAll(at, 5)) assert.include(["PLAYER_RESTRICTED", "INVALID_SESSION"], code)
        for (const [index, one] of operators.entries()) {
          const again = yield* Effect.exit(launch(one, at.playerId, game.id))
          assert.strictEqual(again._tag, "Failure", `launched at node ${index + 1}`)
        }
      }

      const until = (ask: Effect.Effect<Reply, unknown>, isSo: (reply: Reply) => boolean) =>
        Effect.repeat(ask, { until: isSo, schedule: Schedule.spaced("50 millis") }).pipe(Effect.timeout(longEnough))
      const at = yield* seat(operator, studio.call, game, { username: "last", balance: 10_000 })
      done(yield* pick(staff, 0).send(`/backoffice/v1/games/${game.id}`, { method: "PATCH", body: { active: false } }))
      for (const one of operators) {
        const path = `/api/v1/operator/players/${at.playerId}/games/${game.id}/launch`
        yield* until(one.post(path, { mode: "real" }), ({ status }) => status >= 400 && status < 500)
      }
      done(yield* pick(staff, 1).send(`/backoffice/v1/keys/${operator.signer.key}/revoke`, { method: "POST" }))
      for (const one of operators) yield* until(one.get("/api/v1/operator/me"), ({ status }) => status === 401)
    })), 240_000)
})
