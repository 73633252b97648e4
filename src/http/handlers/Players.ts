/** Registering and reading players, for operators. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../api/Middleware.ts"
import { Bonuses } from "../../bonuses/Bonuses.ts"
import { hasFeature } from "../../domain/Operator.ts"
import { Idempotency } from "../../idempotency/Idempotency.ts"
import { parseIso } from "../../platform/Time.ts"
import type { PlayerProfile } from "../../players/PlayerProfile.ts"
import { Players } from "../../players/Players.ts"
import { bodyObject } from "../FormRules.ts"
import { jsonResponse } from "../Refusals.ts"
import { paginated } from "./Page.ts"

const render = (player: PlayerProfile) => ({ status: 201, body: JSON.stringify({ data: player }) })

export const PlayersHandlers = HttpApiBuilder.group(
  Api,
  "players",
  Effect.fnUntraced(function*(handlers) {
    const players = yield* Players
    const idempotency = yield* Idempotency
    const bonuses = yield* Bonuses
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const { items, total } = yield* players.list(operator.id, {
            page: query.page,
            perPage: query.per_page,
            status: query.status,
            email: query.email,
            username: query.username,
            externalId: query.external_id,
            kycStatus: query.kyc_status,
            search: query.search,
            createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
            createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
          })
          return yield* paginated(query, total, items)
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
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* players.get(operator.id, params.player) }
        }))
  })
)
