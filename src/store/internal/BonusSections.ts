/** How a commit writes players' bonuses and the promo codes that granted them. */
import type { BonusChange, Redemption } from "../../domain/Change.ts"
import { cast, type Column, insertInto, number, quoted, type Section, text, time, update } from "./StatementSections.ts"

export interface BonusRow extends BonusChange {
  readonly playerId: number
  readonly operatorId: number
}

const bonusColumns: ReadonlyArray<Column<BonusRow>> = [
  number("id", ({ bonus }) => bonus.id),
  number("operator_id", (row) => row.operatorId),
  number("player_id", (row) => row.playerId),
  number("bonus_id", ({ bonus }) => bonus.bonusId),
  text("name", ({ bonus }) => bonus.name),
  text("type", ({ bonus }) => bonus.type),
  text("state", ({ bonus }) => bonus.state),
  text("result", ({ bonus }) => bonus.result),
  number("amount", ({ bonus }) => bonus.amount),
  number("wager_requirement", ({ bonus }) => bonus.wagerRequirement),
  number("wagered", ({ bonus }) => bonus.wagered),
  number("max_bet", ({ bonus }) => bonus.maxBet),
  number("max_conversion", ({ bonus }) => bonus.maxConversion),
  { ...number("valid_days", ({ bonus }: BonusRow) => bonus.validDays), type: "integer" },
  text("contributions", ({ bonus }) => JSON.stringify(bonus.contributions), "jsonb"),
  { ...number("open_rounds", ({ bonus }: BonusRow) => bonus.openRounds), type: "integer" },
  number("converted", ({ bonus }) => bonus.converted),
  number("forfeited", ({ bonus }) => bonus.forfeited),
  number("late_amount", ({ bonus }) => bonus.late),
  number("restored_amount", ({ bonus }) => bonus.restored),
  text("note", (row) => row.note),
  time("started_at", ({ bonus }) => bonus.startedAt),
  time("expires_at", ({ bonus }) => bonus.expiresAt),
  time("finished_at", ({ bonus }) => bonus.finishedAt),
  time("created_at", ({ bonus }) => bonus.createdAt)
]

const redemptionColumns: ReadonlyArray<Column<Redemption>> = [
  number("id", (redemption) => redemption.id),
  number("promo_code_id", (redemption) => redemption.promoCodeId),
  number("operator_id", (redemption) => redemption.operatorId),
  number("player_id", (redemption) => redemption.playerId),
  number("player_bonus_id", (redemption) => redemption.playerBonusId),
  time("created_at", (redemption) => redemption.createdAt)
]

export const newBonuses = insertInto("player_bonuses", bonusColumns)
export const changedBonuses = update("player_bonuses", bonusColumns, {
  keys: ["id", "player_id", "operator_id"],
  set: [
    "state",
    "result",
    "wagered",
    "open_rounds",
    "converted",
    "forfeited",
    "late_amount",
    "restored_amount",
    "started_at",
    "expires_at",
    "finished_at"
  ]
})

/** The code's own row counts: it does not count past its cap, whoever commits beside. */
export const redemptions: Section<Redemption> = {
  columns: redemptionColumns,
  query: (source) =>
    `INSERT INTO promo_redemptions (${redemptionColumns.map(({ name }) => quoted(name)).join(", ")}) SELECT ${
      redemptionColumns.map((column) => cast(column)).join(", ")
    } FROM ${source} RETURNING promo_code_id), promo_counts AS (UPDATE promo_codes c SET redemptions = c.redemptions + n.redeemed FROM (SELECT promo_code_id, count(*) AS redeemed FROM redemptions_part GROUP BY promo_code_id) n WHERE c.id = n.promo_code_id`
}
