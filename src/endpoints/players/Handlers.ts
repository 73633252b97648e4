/** Operator API handlers for players and their session tokens. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api, OperatorApi } from "../../contract/Api.ts"
import { TokenOptions } from "../../contract/players/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { PlayerTokens } from "../../auth/PlayerTokens.ts"
import { Bonuses } from "../../features/bonuses/Bonuses.ts"
import { hasFeature } from "../../domain/state/Operator.ts"
import { numberCursors } from "../../store/Cursors.ts"
import { Idempotency } from "../../store/Idempotency.ts"
import { iso, parseIso } from "../../platform/Time.ts"
import { PlayerAccounts } from "../../features/players/PlayerAccounts.ts"
import type { PlayerProfile } from "../../features/players/PlayerProfile.ts"
import type { PlayerFilterFields } from "../../contract/players/PlayerResource.ts"
import { Registers } from "../../features/registers/Registers.ts"
import { type PlayerFilters, Players } from "../../features/players/Players.ts"
import { Profiles } from "../../features/players/Profiles.ts"
import { Endpoints, playerAlone } from "../../http/Endpoints.ts"
import { bodyObject, optionalBody } from "../../http/FormRules.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { pagedOrWalked } from "../../http/Page.ts"

/** How long a session token works unless said otherwise. */
const defaultTtlMinutes = 30

const tokenOptions = optionalBody(TokenOptions)

/** The filters of a list as they were asked for. */
export const filtersOf = (query: typeof PlayerFilterFields.Type): PlayerFilters => ({
  status: query.status,
  email: query.email,
  username: query.username,
  externalId: query.external_id,
  kycStatus: query.kyc_status,
  search: query.search,
  createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
  createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
})

const render = (player: PlayerProfile) => ({ status: 201, body: JSON.stringify({ data: player }) })

export const PlayersHandlers = HttpApiBuilder.group(
  Api,
  "players",
  Effect.fnUntraced(function*(handlers) {
    const players = yield* Players
    const registers = yield* Registers
    const profiles = yield* Profiles
    const accounts = yield* PlayerAccounts
    const tokens = yield* PlayerTokens
    const idempotency = yield* Idempotency
    const bonuses = yield* Bonuses
    const endpoints = yield* Endpoints
    endpoints.addRead(
      OperatorApi.groups.players.endpoints.get,
      ({ operator }, found) => {
        const playerId = playerAlone(found)
        return playerId === undefined ? undefined : (done) => players.startGet(operator.id, playerId, done)
      },
      (data) => ({ data })
    )
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const filters = filtersOf(query)
          return yield* pagedOrWalked(query, {
            page: (page) => players.list(operator.id, { ...filters, ...page }),
            part: (part) => players.walk(operator.id, { ...filters, ...part }),
            cursorAt: ({ id }) => numberCursors.write(id),
            toItem: (player) => player
          })
        }))
      // Taken as it came: the capability judges the fields, so that one answer names all that are wrong or taken.
      .handleRaw("register", () =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const claim = yield* CurrentClaim
          const registered = yield* players.register(operator, yield* bodyObject, { source: "api", claim, render })
          const response = jsonResponse(registered.reply.status, registered.reply.body)
          if (registered._tag === "Replayed") {
            return HttpServerResponse.setHeader(response, "idempotent-replayed", "true")
          }
          const { id, registration: { promo_code: code } } = registered.player
          if (code !== null && hasFeature(operator, "bonuses")) {
            yield* bonuses.redeemAtRegistration(operator.id, id, code)
          }
          if (claim !== undefined) idempotency.noteStored(claim)
          return response
        }), { uninterruptible: true })
      // As above. Whether the player is there comes before whether the body is an object.
      .handleRaw("update", ({ params }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          yield* players.get(operator.id, params.player)
          const body = yield* bodyObject
          return { data: yield* profiles.update(operator.id, params.player, body, `key:${apiKey.key}`) }
        }))
      .handle("setStatus", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const { reason = null, status } = payload
          yield* accounts.setStatus(operator.id, params.player, { status, reason, actor: `key:${apiKey.key}` })
          return { data: yield* players.get(operator.id, params.player) }
        }))
      .handleRaw("issueToken", ({ params }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          yield* players.get(operator.id, params.player)
          const { ttl_minutes: ttlMinutes = defaultTtlMinutes } = yield* tokenOptions
          const { expiresAt, token } = yield* registers.through(
            params.player,
            "login",
            (asked) => tokens.issue(operator.id, apiKey.key, params.player, ttlMinutes, asked)
          )
          yield* accounts.noteLogin(operator.id, params.player)
          const data = { token, token_type: "Bearer", player_id: params.player, expires_at: iso(expiresAt) }
          return jsonResponse(201, JSON.stringify({ data }))
        }))
      .handle("endSessions", ({ params }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const endedAt = yield* accounts.signOut(operator.id, params.player, {
            actor: `key:${apiKey.key}`,
            reason: null
          })
          return { data: { player_id: params.player, sessions_ended_at: iso(endedAt) } }
        }))
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* players.get(operator.id, params.player) }
        }))
  })
)
