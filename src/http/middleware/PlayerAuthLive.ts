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
import { Endpoints } from "../Endpoints.ts"
import { makeAnswering } from "./Answering.ts"
import { playerBody } from "../SignedBody.ts"
import { playerRateLimited, rateLimited, refuseFeature, withRateLimitHeaders } from "../RateLimitHeaders.ts"

/** One answer for every reason: the holder of an invalid token learns nothing from it. */
const invalidToken = refuse(
  "INVALID_PLAYER_TOKEN",
  "Send a player session token that is still valid: Authorization: Bearer <token>."
)

/**
 * Authenticates a request with a player's token, check by check in order. It counts against the rate of the issuing key, of which one player
 * may use a part. The key's allow-list is not applied: it holds the operator's servers.
 */
export const PlayerAuthLive = Layer.effect(
  PlayerAuth,
  Effect.gen(function*() {
    const tokens = yield* PlayerTokens
    const credentials = yield* Credentials
    const endpoints = yield* Endpoints
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
        // before the key's rate: a refused player must not use up that of the others
        const share = limiter.takeOfPlayer(token.playerId, playerShare(apiKey.rateLimitPerMinute), now)
        if (!share.isAllowed) return yield* Effect.fail(playerRateLimited(share, now))
        const status = limiter.take(apiKey.id, apiKey.rateLimitPerMinute, now)
        if (!status.isAllowed) return yield* Effect.fail(rateLimited(status, now))
        const refusal = refuseFeature(operator, feature)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        // here, so that a body that is too large is not taken for a missing one
        if (endpoint.method !== "GET") yield* playerBody(yield* HttpServerRequest.HttpServerRequest)
        // failures are answered inside, where log lines carry the caller
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

      // a caller that disconnects must not interrupt a write
      const serving = endpoint.method === "GET" ? answering()(run) : Effect.uninterruptible(answering()(run))
      endpoints.add(endpoint, serving)
      return serving
    })
  })
)
