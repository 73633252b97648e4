/** Staff API handlers for the bonus catalogue, promo codes and bonus grants. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { leftToWager } from "../../domain/bonus/BonusTermsText.ts"
import { refuse } from "../../domain/Refusal.ts"
import { StaffBulk } from "../../office/StaffBulk.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { rolesFor } from "../../office/Authorisation.ts"
import { mapPart } from "../../store/Cursors.ts"
import { walked } from "../../http/Page.ts"
import { BonusCatalogue } from "../../features/bonuses/BonusCatalogue.ts"
import { BonusGrants } from "../../features/bonuses/BonusGrants.ts"
import { Bonuses } from "../../features/bonuses/Bonuses.ts"
import { ownedBonusFields } from "./Handlers.ts"

/** roles that may correct a balance may set the amount of a grant */
const setsAmounts = rolesFor("player.correct")

const ownAmountOnly = refuse(
  "INSUFFICIENT_SCOPE",
  `Granting another amount than the bonus defines requires one of the roles ${setsAmounts.join(", ")}.`,
  { required_roles: setsAmounts }
)

const wageredOnly = refuse(
  "INSUFFICIENT_SCOPE",
  `A bonus without wagering is paid as real money at once: granting it requires one of the roles ${
    setsAmounts.join(", ")
  }.`,
  { required_roles: setsAmounts }
)

export const BonusHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "bonus",
  Effect.fnUntraced(function*(handlers) {
    const onOffer = yield* BonusCatalogue
    const bonuses = yield* Bonuses
    const grants = yield* BonusGrants
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => onOffer.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => onOffer.update(actor, params.bonus, payload)))
      .handle("list", ({ query }) => asStaff((actor) => onOffer.list(actor, query.operator)))
      .handle("show", ({ params }) => enveloped(grants.show(params.bonus)))
      .handle(
        "granted",
        ({ params }) =>
          enveloped(Effect.map(grants.granted(params.bonus), ({ sentences, ...owned }) => ({
            ...ownedBonusFields(owned),
            left_to_wager: owned.bonus.state === "finished" ? 0 : leftToWager(owned.bonus),
            max_conversion: owned.bonus.maxConversion,
            valid_days: owned.bonus.validDays,
            contributions: owned.bonus.contributions,
            sentences
          })))
      )
      .handle("grants", ({ params, query }) =>
        Effect.gen(function*() {
          const { cursor, per_page: limit, state } = query
          const part = yield* grants.walk(params.bonus, { state, cursor, limit })
          return yield* walked(limit, mapPart(part, ownedBonusFields))
        }))
      .handle("grant", ({ params, payload }) =>
        asStaff((actor) =>
          Effect.gen(function*() {
            const { amount = null, bonus, note = null } = payload
            const setsAmount = setsAmounts.includes(actor.role)
            if (amount !== null && !setsAmount) return yield* Effect.fail(ownAmountOnly)
            const request = { bonusId: bonus, amount, note }
            return ownedBonusFields(
              yield* bonuses.staffGrant(params.player, request, actor, setsAmount ? undefined : wageredOnly)
            )
          })
        ))
      .handle(
        "cancel",
        ({ params, payload }) =>
          asStaff(({ label }) =>
            Effect.map(bonuses.cancel(params.bonus, payload.reason ?? null, label), ownedBonusFields)
          )
      )
  })
)

export const PromoHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "promo",
  Effect.fnUntraced(function*(handlers) {
    const onOffer = yield* BonusCatalogue
    const bulk = yield* StaffBulk
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => onOffer.createPromo(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => onOffer.updatePromo(actor, params.promo, payload)))
      .handle(
        "update_many",
        ({ payload: { promos, ...update } }) =>
          bulk.run("promo", promos, (id, actor) => onOffer.updatePromo(actor, id, update))
      )
      .handle("list", ({ query }) => asStaff((actor) => onOffer.listPromos(actor, query.operator)))
  })
)
