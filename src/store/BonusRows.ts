/** Row shapes and columns of bonuses: catalogue bonuses with their currency, granted ones with their player. */
import { Schema, Struct } from "effect"
import { PlayerBonus } from "../domain/state/Bonus.ts"
import { CatalogueBonus } from "../domain/bonus/BonusGrants.ts"
import { wire } from "../domain/WireNames.ts"
import { columnsOf } from "./Rows.ts"

/** Columns of {@link CatalogueBonus} from `bonuses b JOIN operators o`. */
export const catalogueColumns = columnsOf(CatalogueBonus, "b", { isActive: "b.active", currency: "o.currency" })

/** Catalogue entry as operators see it (SPEC section 2.8). */
export const catalogueFields = Schema.encodeSync(
  wire(CatalogueBonus.mapFields(Struct.omit(["operatorId", "contributions", "currency"])))
)

/** Columns of `player_bonuses` named differently from the fields. */
export const playerBonusNames = {
  late: "b.late_amount",
  restored: "b.restored_amount",
  short: "b.short_amount",
  held: "b.held_amount"
}

export const PlayerBonusRow = Schema.Struct({ playerId: Schema.Number, currency: Schema.String, ...PlayerBonus.fields })

/** Columns of {@link PlayerBonusRow} from `player_bonuses b JOIN players p`. */
export const playerBonusColumns = columnsOf(PlayerBonusRow, "b", { ...playerBonusNames, currency: "p.currency" })

/** Player's bonus with its owner and the owner's currency. */
export interface OwnedBonus {
  readonly playerId: number
  readonly currency: string
  readonly bonus: PlayerBonus
}

export const toOwnedBonus = ({ currency, playerId, ...bonus }: typeof PlayerBonusRow.Type): OwnedBonus => ({
  playerId,
  currency,
  bonus
})
