import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { RequiredFeature } from "../../contract/Annotations.ts"
import { CurrentPlayer, PlayerAuth } from "../../contract/Middleware.ts"
import { refuseInactiveKey } from "../../auth/Checks.ts"
import { Credentials, type OperatorCredential } from "../../auth/Credentials.ts"
import { type PlayerToken, PlayerTokens } from "../../auth/PlayerTokens.ts"
import { playerShare, RateLimiter } from "../../auth/RateLimiter.ts"
import { worksStill } from "../../domain/player/AccountStatus.ts"
import { refuse } from "../../domain/Refusal.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { bearer } from "../RequestOrigin.ts"
import { makeAnswering } from "./Answering.ts"
import { playerBody } from "../SignedBody.ts"
import { playerRateLimited, rateLimited, refuseFeature, withRateLimitHeaders } from "../RateLimitHeaders.ts"

/** One answer for every reason: who holds a token that does not work learns nothing from it. */
const invalidToken = refuse(
  "INVALID_PLAYER_TOKEN",
  "Send a player session token that is still valid: Authorization: Bearer <token>."
)

/**
 * Every check of a request with a player's token in its order. It counts against the rate of the key that issued the token, of which
 * one player may use a part. The
 * addresses of that key are not asked for: they are those of the operator's servers, and this call comes from a player.
 */
export const PlayerAuthLive = Layer.effect(
  PlayerAuth,
  Effect.gen(function*() {
    const tokens = yield* PlayerTokens
    const credentials = yield* Credentials
    const actors = yield* PlayerActors
    const limiter = yield* RateLimiter
    const { answering, counting } = yield* makeAnswering("player")

    /** Fails unless the token still works at `now`. */
    const checkToken = Effect.fnUntraced(function*(
      token: PlayerToken,
      { caller }: OperatorCredential,
      now: number
    ) {
      const { rotatedAt } = caller.apiKey
      const isRotated = rotatedAt !== null && token.issuedAt <= rotatedAt
      if (now >= token.expiresAt || isRotated || refuseInactiveKey(caller, now) !== undefined) {
        return yield* Effect.fail(invalidToken)
      }
      const player = yield* Effect.mapError(
        actors.read(token.operatorId, token.playerId),
        (refusal) => refusal.code === "NOT_FOUND" ? invalidToken : refusal
      )
      if (!worksStill(player, token.issuedAt)) return yield* Effect.fail(invalidToken)
    })

    return PlayerAuth.of((handler, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const feature = Context.getOrUndefined(annotations, RequiredFeature)

      const serve = Effect.fnUntraced(function*(token: PlayerToken, credential: OperatorCredential, now: number) {
        yield* checkToken(token, credential, now)
        const { apiKey, operator } = credential.caller
        // Before the key's: what a player may not have must not be taken from everybody else.
        const share = limiter.takeOfPlayer(token.playerId, playerShare(apiKey.rateLimitPerMinute), now)
        if (!share.isAllowed) return yield* Effect.fail(playerRateLimited(share, now))
        const status = limiter.take(apiKey.id, apiKey.rateLimitPerMinute, now)
        if (!status.isAllowed) return yield* Effect.fail(rateLimited(status, now))
        const refusal = refuseFeature(operator, feature)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        // Here, so that one that is too large is refused for that and not taken for none.
        if (endpoint.method !== "GET") yield* playerBody(yield* HttpServerRequest.HttpServerRequest)
        // what goes wrong is answered within, where the log knows for whom
        return yield* Effect.provideService(answering()(handler), CurrentPlayer, { playerId: token.playerId, operator })
      })

      const run = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = tokens.read(bearer(request.headers["authorization"]) ?? "")
        if (token === undefined) return yield* counting(request)(Effect.fail(invalidToken))
        const credential = yield* credentials.operator(token.key)
        if (credential === undefined || credential.caller.operator.id !== token.operatorId) {
          return yield* counting(request, token.key)(Effect.fail(invalidToken))
        }
        const now = yield* Clock.currentTimeMillis
        const response = yield* answering()(counting(request, token.key)(serve(token, credential, now)))
        return withRateLimitHeaders(limiter, response, credential.caller.apiKey, yield* Clock.currentTimeMillis)
      })

      // A caller that goes away must not stop halfway what it asked for.
      return endpoint.method === "GET" ? answering()(run) : Effect.uninterruptible(answering()(run))
    })
  })
)
