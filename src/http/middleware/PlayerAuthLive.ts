/** Authenticates requests with a player's token, check by check in a fixed order. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { RequiredFeature } from "../../contract/common/Annotations.ts"
import { CurrentPlayer, PlayerAuth } from "../../contract/common/Middleware.ts"
import { mayStream } from "../../contract/common/StreamedAnswers.ts"
import { refuseInactiveKey } from "../../auth/Checks.ts"
import { Credentials, type OperatorCredential } from "../../auth/Credentials.ts"
import { type PlayerToken, PlayerTokens } from "../../auth/PlayerTokens.ts"
import { playerShare, RateLimiter } from "../../auth/RateLimiter.ts"
import { isTokenValid } from "../../domain/player/AccountStatus.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { bearer } from "../RequestOrigin.ts"
import { Endpoints } from "../Endpoints.ts"
import { Forwarding } from "../Forwarding.ts"
import { makeAnswering } from "./Answering.ts"
import { smallBody } from "../SignedBody.ts"
import {
  playerRateLimited,
  rateLimited,
  refuseFeature,
  withRateLimit,
  withRateLimitHeaders
} from "../RateLimitHeaders.ts"

/** Same refusal for every reason, so that an invalid token reveals nothing. */
const invalidToken = refuse(
  "INVALID_PLAYER_TOKEN",
  "Send a player session token that is still valid: Authorization: Bearer <token>."
)

const refused = Effect.fail(invalidToken)

/** Which tokens of a player are meant. `issuedAt`: epoch milliseconds. */
const Issued = Schema.Struct({ operatorId: Schema.Number, issuedAt: Schema.Number })

type Checked = Effect.Effect<void, Refusal>
type Served = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest.HttpServerRequest>

/**
 * Counts against the rate limit of the issuing key, of which one player may use a share. The key's allow-list is not applied: it lists the operator's
 * servers.
 */
export const PlayerAuthLive = Layer.effect(
  PlayerAuth,
  Effect.gen(function*() {
    const tokens = yield* PlayerTokens
    const credentials = yield* Credentials
    const endpoints = yield* Endpoints
    const clock = yield* Clock.Clock
    const clocks = yield* OperatorClocks
    const actors = yield* PlayerActors
    const limiter = yield* RateLimiter
    const forwarding = yield* Forwarding
    const { answering, answeringHere, counting } = yield* makeAnswering("player")

    /** Fails unless the player's tokens of that instant are valid. Revocations are in the player's state. */
    const checkPlayer = (playerId: number, { issuedAt, operatorId }: typeof Issued.Type): Checked =>
      Effect.matchEffect(actors.read(operatorId, playerId), {
        onFailure: (refusal): Checked => refusal.code === "NOT_FOUND" ? refused : Effect.fail(refusal),
        onSuccess: (player): Checked => isTokenValid(player, issuedAt) ? Effect.void : refused
      })
    const checkPlayerAnywhere = (yield* RemoteCommands).define({
      name: "player.token",
      payload: Issued,
      run: checkPlayer
    })

    /** Fails unless the token is valid at `now`. */
    const checkToken = (
      { expiresAt, issuedAt, operatorId, playerId }: PlayerToken,
      { caller }: OperatorCredential,
      now: number,
      check: typeof checkPlayer
    ): Checked => {
      const { rotatedAt } = caller.apiKey
      const isRotated = rotatedAt !== null && issuedAt <= rotatedAt
      if (clocks.at(operatorId, now) >= expiresAt || isRotated || refuseInactiveKey(caller, now) !== undefined) {
        return refused
      }
      return check(playerId, { operatorId, issuedAt })
    }

    return PlayerAuth.of((handler, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const feature = Context.getOrUndefined(annotations, RequiredFeature)
      const onlyReads = endpoint.method === "GET"
      const isStreamed = mayStream(endpoint)
      const check = isStreamed ? checkPlayerAnywhere : checkPlayer
      // failures are answered inside, so that log lines carry the caller
      const answered = answeringHere(handler)

      const serveChecked = (
        request: HttpServerRequest.HttpServerRequest,
        { playerId }: PlayerToken,
        { caller: { apiKey, operator } }: OperatorCredential,
        now: number
      ): Served =>
        // before the key's rate: a refused player must not use up that of other players
        Effect.flatMap(limiter.takeOfPlayer(playerId, playerShare(apiKey.rateLimitPerMinute), now), (share): Served => {
          if (!share.isAllowed) {
            // answered here: its headers are those of the limit that refuses
            const refusal = counting(request, apiKey.key)(Effect.fail(playerRateLimited(share, now)))
            return Effect.map(answeringHere(refusal), (response) => withRateLimit(response, share, now))
          }
          return Effect.flatMap(limiter.take(apiKey.id, apiKey.rateLimitPerMinute, now), (status): Served => {
            if (!status.isAllowed) return Effect.fail(rateLimited(status, now))
            const refusal = refuseFeature(operator, feature)
            if (refusal !== undefined) return Effect.fail(refusal)
            const provided = clocks.around(operator.id)(
              Effect.provideService(answered, CurrentPlayer, { playerId, operator })
            )
            // read here: a body that is too large must not count as a missing one
            return onlyReads ? provided : Effect.andThen(smallBody(request), provided)
          })
        })

      const run = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request): Served => {
        const token = tokens.read(bearer(request.headers["authorization"]) ?? "")
        if (token === undefined) return counting(request)(refused)
        const serveAs = (credential: OperatorCredential | undefined, now: number): Served => {
          if (credential?.caller.operator.id !== token.operatorId) return counting(request, token.key)(refused)
          const served: Served = Effect.flatMap(
            checkToken(token, credential, now, check),
            () => serveChecked(request, token, credential, now)
          )
          return Effect.map(
            answeringHere(counting(request, token.key)(served)),
            (response) =>
              withRateLimitHeaders(limiter, response, credential.caller.apiKey, clock.currentTimeMillisUnsafe())
          )
        }
        const now = clock.currentTimeMillisUnsafe()
        const remembered = credentials.rememberedOperator(token.key, now)
        const serving = remembered === undefined
          ? Effect.flatMap(
            credentials.operator(token.key),
            (found) => serveAs(found, clock.currentTimeMillisUnsafe())
          )
          : serveAs(remembered, now)
        // the player's node checks the token
        return isStreamed ? serving : forwarding.around(serving, "", { ownerOf: token.playerId })
      }).pipe(answering)

      // a disconnect must not interrupt a write
      const serving = onlyReads ? run : Effect.uninterruptible(run)
      endpoints.add(endpoint, serving, { isDirect: !isStreamed })
      return serving
    })
  })
)
