/** Operator API endpoints for bonuses, grants and promo codes (SPEC section 4.6). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { bonusStates } from "../../domain/state/Bonus.ts"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { Bonus, PlayerBonus } from "./BonusResource.ts"
import { refusals } from "../common/Errors.ts"
import { amountFrom, integer, lines, oneOf, pathId, text } from "../common/Fields.ts"
import { created, list, pageOrWalk, walkQuery } from "../common/Pagination.ts"
import { id } from "../common/Resource.ts"

/** A grant. */
const BonusGrant = Schema.Struct({
  bonus_id: integer(1, Number.MAX_SAFE_INTEGER),
  amount: Schema.optionalKey(
    amountFrom(1, "Minor units; the bonus's own amount when left out.")
  ),
  note: Schema.optionalKey(lines(2000))
}).annotate({ identifier: "BonusGrant", examples: [{ bonus_id: 71, amount: 1000, note: "Welcome back." }] })

const PromoRedemption = Schema.Struct({
  redemption_id: id,
  code: Schema.String.annotate({ examples: ["WELCOME10"] }),
  bonus: PlayerBonus
}).annotate({ identifier: "PromoRedemption" })

export const BonusesGroup = HttpApiGroup.make("bonuses")
  .add(
    HttpApiEndpoint.get("catalogue", "/bonuses", { success: list(Bonus) })
      .annotate(RequiredScope, "bonuses:read")
      .annotateMerge(about("Bonuses on offer", "Active ones. Amounts are minor units of the operator's currency.")),
    HttpApiEndpoint.get("list", "/players/:player/bonuses", {
      params: { player: pathId },
      query: Schema.Struct({ ...walkQuery, state: Schema.optionalKey(oneOf(bonusStates)) }),
      success: pageOrWalk(PlayerBonus)
    })
      .annotate(RequiredScope, "bonuses:read")
      .annotateMerge(about(
        "A player's bonuses, newest first",
        "Running ones, waiting ones and those that ended, with how far they were wagered."
      )),
    HttpApiEndpoint.post("grant", "/players/:player/bonuses", {
      params: { player: pathId },
      payload: BonusGrant,
      success: created(PlayerBonus),
      error: refusals("BONUS_INVALID")
    })
      .annotate(RequiredScope, "bonuses:write")
      .annotateMerge(about(
        "Grant a bonus",
        "Credited at once, or queued while another bonus is wagered; one without wagering is paid to the real wallet."
      )),
    HttpApiEndpoint.post("redeem", "/players/:player/promo-codes", {
      params: { player: pathId },
      payload: Schema.Struct({
        code: text(64, { description: "In any case of its letters.", examples: ["WELCOME10"] })
      })
        .annotate({ identifier: "PromoCode", examples: [{ code: "WELCOME10" }] }),
      success: created(PromoRedemption),
      error: refusals("PROMO_CODE_INVALID", "BONUS_INVALID")
    })
      .annotate(RequiredScope, "bonuses:write")
      .annotateMerge(about(
        "Redeem a promo code",
        "Grants the bonus that the code stands for. A player redeems a code once."
      ))
  )
  .annotate(RequiredFeature, "bonuses")
  .annotateMerge(OpenApi.annotations({ title: "Bonuses", description: "What is on offer, granting, and promo codes." }))
