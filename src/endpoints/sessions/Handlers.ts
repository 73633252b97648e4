/** Player API handlers: the signed-in player's profile, wallet, games, limits, consents and statements. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { PlayerLaunchOptions } from "../../contract/sessions/Api.ts"
import { CurrentClaim, CurrentPlayer } from "../../contract/common/Middleware.ts"
import { Launches } from "../../features/launches/Launches.ts"
import { Originals } from "../../features/originals/Originals.ts"
import { iso } from "../../platform/Time.ts"
import { PlayerAccounts } from "../../features/players/PlayerAccounts.ts"
import { Players } from "../../features/players/Players.ts"
import { Ledger } from "../../features/wallet/Ledger.ts"
import { Wallet } from "../../features/wallet/Wallet.ts"
import { optionalBody } from "../../http/FormRules.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { renderAcknowledgement, toAcknowledge } from "../obligations/Handlers.ts"
import { changeLimits, exclude } from "../responsibleGaming/Handlers.ts"
import { Obligations } from "../../features/obligations/Obligations.ts"
import { Positions } from "../../features/position/Positions.ts"
import { ResponsibleGaming } from "../../features/responsibleGaming/ResponsibleGaming.ts"
import { renderLaunch } from "../games/Handlers.ts"
import { playerRounds } from "../originals/OriginalHandlers.ts"
import { ledgerPage } from "../wallet/Handlers.ts"
import { statementAnswer } from "../statements/Handlers.ts"
import { Consents } from "../../features/consents/Consents.ts"
import { Statements } from "../../features/statements/Statements.ts"

const launchOptions = optionalBody(PlayerLaunchOptions)

export const PlayerSessionHandlers = HttpApiBuilder.group(
  Api,
  "player_session",
  Effect.fnUntraced(function*(handlers) {
    const players = yield* Players
    const accounts = yield* PlayerAccounts
    const wallet = yield* Wallet
    const ledger = yield* Ledger
    const launches = yield* Launches
    const statements = yield* Statements
    const consents = yield* Consents
    const gaming = yield* ResponsibleGaming
    const obligations = yield* Obligations
    const positions = yield* Positions
    const rounds = playerRounds(yield* Originals)
    return handlers
      .handle("me", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return { data: yield* players.get(operator.id, playerId) }
        }))
      .handle("endSessions", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          const endedAt = yield* accounts.signOut(operator.id, playerId, { actor: `player:${playerId}`, reason: null })
          return { data: { player_id: playerId, sessions_ended_at: iso(endedAt) } }
        }))
      .handle("wallet", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          const { player } = yield* wallet.view(operator, playerId)
          return {
            data: {
              player_id: player.id,
              currency: player.currency,
              balance: player.real,
              bonus_balance: player.bonus
            }
          }
        }))
      .handle("transactions", ({ query }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return yield* ledgerPage(ledger, operator.id, playerId, query)
        }))
      .handle("statement", ({ query }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return yield* statementAnswer(statements, operator.id, playerId, query)
        }))
      .handle("consents", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return { data: yield* consents.list(operator.id, playerId) }
        }))
      .handle("changeConsents", ({ payload }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          const author = { by: "player", actor: `player:${playerId}`, reason: null } as const
          return { data: yield* consents.change(operator.id, playerId, payload.consents, author) }
        }))
      // raw body: it may be empty, and the path is checked before the body
      .handleRaw("launch", ({ params }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          yield* launches.mustExist(operator.id, playerId, params.game)
          const options = yield* launchOptions
          const launched = yield* launches.launch(operator.id, playerId, params.game, {
            mode: options.mode ?? "real",
            platform: options.platform ?? null,
            ip: null
          }, { claim: yield* CurrentClaim, render: renderLaunch })
          const { body, status } = renderLaunch(launched)
          return jsonResponse(status, body)
        }))
      .handleRaw("play", ({ params }) => rounds.play(params.game))
      .handle("fairness", () => rounds.fairness)
      .handleRaw("rotate", () => rounds.rotate)
      .handle("limits", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return { data: yield* gaming.get(operator.id, playerId) }
        }))
      // taken as it came, as of operators
      .handleRaw("setLimits", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return yield* changeLimits(gaming, operator, playerId, `player:${playerId}`)
        }))
      .handle("selfExclude", ({ payload }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return yield* exclude(gaming, operator, playerId, payload, { actor: `player:${playerId}`, source: "player" })
        }))
      .handle("position", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return { data: yield* positions.get(operator.id, playerId) }
        }))
      .handle("realityCheck", () =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return { data: yield* positions.realityCheck(operator.id, playerId) }
        }))
      .handle("setRealityCheck", ({ payload: { interval } }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          const command = { interval, actor: `player:${playerId}` }
          return { data: yield* positions.setRealityCheck(operator.id, playerId, command) }
        }))
      .handle("obligations", ({ query }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          return { data: yield* obligations.list(operator.id, playerId, query.state) }
        }))
      .handle("acknowledge", ({ payload }) =>
        Effect.gen(function*() {
          const { operator, playerId } = yield* CurrentPlayer
          const command = toAcknowledge(payload, { by: "player", actor: `player:${playerId}` })
          const made = yield* obligations.acknowledge(operator.id, playerId, command, {
            claim: yield* CurrentClaim,
            render: renderAcknowledgement
          })
          const { body, status } = renderAcknowledgement(made)
          return jsonResponse(status, body)
        }))
      .handle("round", ({ params }) => rounds.round(params.round))
  })
)
