/** Launching a game for a player (SPEC section 4.5): the rule in the player's actor, then the address to send the browser to. */
import { Context, Effect, Layer } from "effect"
import { type Launch, type LaunchRefusal, launchStep } from "../../domain/settlement/Launch.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/Idempotency.ts"
import { storingReply } from "../../domain/StoringReply.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import type { Decision } from "../../domain/Decision.ts"
import { Games } from "./Games.ts"
import { launchUrl } from "./LaunchUrl.ts"
import { SessionTokens } from "./SessionTokens.ts"

export interface LaunchRequest {
  readonly mode: "real" | "demo"
  readonly platform: string | null
  readonly ip: string | null
}

export interface LaunchedGame {
  readonly mode: "real" | "demo"
  readonly gameId: number
  /** Null for an original, and where the provider has no address for the mode. */
  readonly launchUrl: string | null
  readonly sessionToken: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly isOriginal: boolean
}

export class Launches extends Context.Service<Launches, {
  /** Refuses a player who is not the operator's, and a game that is not on offer. */
  readonly mustExist: (
    operatorId: number,
    playerId: number,
    gameId: number
  ) => Effect.Effect<void, ActorRefusal | Refusal<"NOT_FOUND">>
  /** Opens a session of twelve hours. Real mode checks the account, its exclusion and the session limit first. */
  readonly launch: (
    operatorId: number,
    playerId: number,
    gameId: number,
    request: LaunchRequest,
    answering: {
      readonly claim: IdempotencyClaim | undefined
      readonly render: (launched: LaunchedGame) => RenderedReply
    }
  ) => Effect.Effect<LaunchedGame, LaunchRefusal | ActorRefusal | Refusal<"NOT_FOUND">>
}>()("pitboss/games/Launches") {
  static readonly layer = Layer.effect(
    Launches,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const games = yield* Games
      const sessions = yield* SessionTokens

      const launch: Launches["Service"]["launch"] = Effect.fn("Launches.launch")(
        function*(operatorId, playerId, gameId, request, answering) {
          const game = yield* games.get(gameId)
          const command: Launch = { ...request, gameId: game.id, providerId: game.provider.id }
          const open = launchStep(command)
          const step = storingReply(
            (player, context): Decision<LaunchedGame, LaunchRefusal> => {
              const decision = open(player, context)
              if (decision._tag !== "Accept") return decision
              const { expiresAt, sessionId } = decision.reply
              const sessionToken = sessions.issue({
                sessionId,
                playerId: player.id,
                operatorId: player.operatorId,
                gameId: game.id,
                providerId: game.provider.id,
                mode: request.mode,
                expiresAt
              })
              return {
                ...decision,
                reply: {
                  mode: request.mode,
                  gameId: game.id,
                  launchUrl: launchUrl(game, request.mode, sessionToken),
                  sessionToken,
                  expiresAt,
                  isOriginal: game.original !== null
                }
              }
            },
            answering.claim,
            answering.render
          )
          return yield* actors.ask(operatorId, playerId, step)
        }
      )

      const mustExist: Launches["Service"]["mustExist"] = Effect.fn("Launches.mustExist")(
        function*(operatorId, playerId, gameId) {
          yield* actors.read(operatorId, playerId)
          yield* games.get(gameId)
        }
      )

      return Launches.of({ mustExist, launch })
    })
  )
}
