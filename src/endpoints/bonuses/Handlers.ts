/** Operator API handlers for bonuses and promo codes. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { catalogueFields, type OwnedBonus } from "../../store/BonusRows.ts"
import { Bonuses, type Redeemed } from "../../features/bonuses/Bonuses.ts"
import { playerBonusFields } from "../../domain/state/Bonus.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { numberCursors } from "../../store/Cursors.ts"
import { pagedOrWalked } from "../../http/Page.ts"

/** A player's bonus as it is shown (SPEC section 2.8). */
export const ownedBonusFields = ({ bonus, currency, playerId }: OwnedBonus) =>
  playerBonusFields(playerId, currency, bonus)

const created = (data: object) => ({ status: 201, body: JSON.stringify({ data }) })

const renderGrant = (owned: OwnedBonus) => created(ownedBonusFields(owned))

const renderRedemption = ({ code, owned, redemptionId }: Redeemed) =>
  created({ redemption_id: redemptionId, code, bonus: ownedBonusFields(owned) })

export const BonusesHandlers = HttpApiBuilder.group(
  Api,
  "bonuses",
  Effect.fnUntraced(function*(handlers) {
    const bonuses = yield* Bonuses
    return handlers
      .handle("catalogue", () =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: (yield* bonuses.catalogue(operator.id)).map((bonus) => catalogueFields(bonus)) }
        }))
      .handle("list", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const { state } = query
          return yield* pagedOrWalked(query, {
            page: (page) => bonuses.list(operator.id, params.player, { state, ...page }),
            part: (part) => bonuses.walk(operator.id, params.player, { state, ...part }),
            cursorAt: ({ bonus }) => numberCursors.write(bonus.id),
            toItem: ownedBonusFields
          })
        }))
      .handle("grant", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const granted = yield* bonuses.grant(operator.id, params.player, {
            bonusId: payload.bonus_id,
            amount: payload.amount ?? null,
            note: payload.note ?? null
          }, { claim: yield* CurrentClaim, render: renderGrant })
          const { body, status } = renderGrant(granted)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
      .handle("redeem", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const redeemed = yield* bonuses.redeem(operator.id, params.player, payload.code, {
            claim: yield* CurrentClaim,
            render: renderRedemption
          })
          const { body, status } = renderRedemption(redeemed)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
  })
)
