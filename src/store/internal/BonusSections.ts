/** CTEs of the commit statement that write bonuses and promo-code redemptions. */
import type { PlayerBonus } from "../../domain/state/Bonus.ts"
import type { BonusChange, Redemption } from "../../domain/state/Change.ts"
import {
  cast,
  type Column,
  columnsOf,
  insertInto,
  number,
  quoted,
  type Section,
  text,
  time,
  update
} from "./StatementSections.ts"

export interface BonusRow extends BonusChange {
  readonly playerId: number
  readonly operatorId: number
}

const bonusColumns: ReadonlyArray<Column<BonusRow>> = [
  ...columnsOf<PlayerBonus, BonusRow>({
    id: number("id", ({ bonus }) => bonus.id),
    bonusId: number("bonus_id", ({ bonus }) => bonus.bonusId),
    name: text("name", ({ bonus }) => bonus.name),
    type: text("type", ({ bonus }) => bonus.type),
    state: text("state", ({ bonus }) => bonus.state),
    result: text("result", ({ bonus }) => bonus.result),
    amount: number("amount", ({ bonus }) => bonus.amount),
    wagerRequirement: number("wager_requirement", ({ bonus }) => bonus.wagerRequirement),
    wagered: number("wagered", ({ bonus }) => bonus.wagered),
    maxBet: number("max_bet", ({ bonus }) => bonus.maxBet),
    maxConversion: number("max_conversion", ({ bonus }) => bonus.maxConversion),
    validDays: { ...number("valid_days", ({ bonus }: BonusRow) => bonus.validDays), type: "integer" },
    contributions: text("contributions", ({ bonus }) => JSON.stringify(bonus.contributions), "jsonb"),
    openRounds: { ...number("open_rounds", ({ bonus }: BonusRow) => bonus.openRounds), type: "integer" },
    openUntil: time("open_until", ({ bonus }) => bonus.openUntil),
    converted: number("converted", ({ bonus }) => bonus.converted),
    forfeited: number("forfeited", ({ bonus }) => bonus.forfeited),
    late: number("late_amount", ({ bonus }) => bonus.late),
    restored: number("restored_amount", ({ bonus }) => bonus.restored),
    short: number("short_amount", ({ bonus }) => bonus.short),
    held: number("held_amount", ({ bonus }) => bonus.held),
    remainingMs: number("remaining_ms", ({ bonus }) => bonus.remainingMs),
    startedAt: time("started_at", ({ bonus }) => bonus.startedAt),
    expiresAt: time("expires_at", ({ bonus }) => bonus.expiresAt),
    finishedAt: time("finished_at", ({ bonus }) => bonus.finishedAt),
    createdAt: time("created_at", ({ bonus }) => bonus.createdAt)
  }),
  number("operator_id", (row) => row.operatorId),
  number("player_id", (row) => row.playerId),
  text("note", (row) => row.note),
  number("imported_balance", ({ imported }) => imported?.balance ?? null),
  number("imported_wagered", ({ imported }) => imported?.wagered ?? null)
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
    "open_until",
    "converted",
    "forfeited",
    "late_amount",
    "restored_amount",
    "short_amount",
    "held_amount",
    "remaining_ms",
    "started_at",
    "expires_at",
    "finished_at"
  ]
})

/** The update of the code's own row counts: it cannot exceed its cap under concurrent commits. */
export const redemptions: Section<Redemption> = {
  columns: redemptionColumns,
  query: (source) =>
    `INSERT INTO promo_redemptions (${redemptionColumns.map(({ name }) => quoted(name)).join(", ")}) SELECT ${
      redemptionColumns.map((column) => cast(column)).join(", ")
    } FROM ${source} RETURNING promo_code_id), promo_counts AS (UPDATE promo_codes c SET redemptions = c.redemptions + n.redeemed FROM (SELECT promo_code_id, count(*) AS redeemed FROM redemptions_part GROUP BY promo_code_id) n WHERE c.id = n.promo_code_id`
}
