/** How a player is read from the database. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type ActiveBonus, bonusTypes, type GrantedBonus } from "../../domain/bonus/Bonus.ts"
import type { Change } from "../../domain/Change.ts"
import type { Knowledge } from "../../domain/Decision.ts"
import { limitFields, type Limits, type PendingLimit } from "../../domain/limit/Limits.ts"
import type { Player } from "../../domain/player/Player.ts"
import type { Query } from "../../domain/settlement/Rounds.ts"
import type { Store } from "../../engine/Machine.ts"
import { decodeActivity } from "./ActivityCodec.ts"
import { decodeCounters } from "./CountersCodec.ts"
import { orUnavailable } from "./StoreFailures.ts"

const nullable = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)

const ExclusionType = Schema.Literals(["time_out", "self_exclusion", "self_closure"])

/** A bonus that runs or waits; instants are epoch milliseconds. */
const OpenBonus = Schema.Struct({
  id: Schema.Number,
  bonusId: Schema.Number,
  name: Schema.String,
  type: Schema.Literals(bonusTypes),
  amount: Schema.Number,
  wagerRequirement: Schema.Number,
  maxBet: Schema.Number,
  maxConversion: Schema.Number,
  validDays: Schema.Number,
  contributions: Schema.Record(Schema.String, Schema.Number),
  createdAt: Schema.Number,
  wagered: Schema.Number,
  openRounds: Schema.Number,
  restored: Schema.Number,
  startedAt: nullable(Schema.Number),
  expiresAt: nullable(Schema.Number)
})

/** Settings of a player that staff may have changed by hand in the database: they are checked when read. */
const PlayerRow = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  currency: Schema.String,
  baseCurrency: Schema.String,
  country: Schema.String,
  language: Schema.String,
  isTest: Schema.Boolean,
  status: Schema.Literals(["active", "locked", "closed"]),
  kycStatus: Schema.Literals(["not_started", "pending_review", "verified", "rejected", "expired"]),
  documentExpiresAt: nullable(Schema.Date),
  canLogin: Schema.Boolean,
  canDeposit: Schema.Boolean,
  canWithdraw: Schema.Boolean,
  canBet: Schema.Boolean,
  excludedFromBonuses: Schema.Boolean,
  withdrawalHolds: Schema.Array(Schema.Struct({ alertId: Schema.Number, isLifted: Schema.Boolean })),
  exclusionType: nullable(ExclusionType),
  exclusionSince: nullable(Schema.Date),
  exclusionUntil: nullable(Schema.Date),
  sessionsEndedAt: nullable(Schema.Date),
  limits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number)),
  pendingLimits: Schema.Array(Schema.Struct({
    field: Schema.Literals(limitFields),
    value: nullable(Schema.Number),
    effectiveAt: Schema.Number
  })),
  version: Schema.Number,
  entrySeq: Schema.Number,
  walletSeq: Schema.Number,
  withdrawn: Schema.Number,
  real: Schema.Number,
  bonus: Schema.Number,
  counters: Schema.String,
  activity: Schema.String,
  providerIds: Schema.Array(Schema.Number),
  realUpdatedAt: Schema.Date,
  bonusUpdatedAt: Schema.Date,
  openBonuses: nullable(Schema.Array(OpenBonus)),
  bonusGrants: nullable(Schema.Record(Schema.String, Schema.Number))
})

const decodePlayerRow = Schema.decodeUnknownEffect(PlayerRow)

const noBonuses: ReadonlyArray<GrantedBonus> = []
const noGrants: Player["bonusGrants"] = {}

/** The bonuses that are not finished, as a player carries them: the one that has started, and those that wait. */
const toBonuses = (
  rows: ReadonlyArray<typeof OpenBonus.Type> | null
): Pick<Player, "activeBonus" | "pendingBonuses"> => {
  let activeBonus: ActiveBonus | null = null
  if (rows === null) return { activeBonus, pendingBonuses: noBonuses }
  const pendingBonuses: Array<GrantedBonus> = []
  for (const { expiresAt, openRounds, restored, startedAt, wagered, ...granted } of rows) {
    if (startedAt === null || expiresAt === null) pendingBonuses.push(granted)
    else activeBonus = { ...granted, wagered, openRounds, restored, startedAt, expiresAt }
  }
  return { activeBonus, pendingBonuses }
}

const toPlayer = (row: typeof PlayerRow.Type): Player => ({
  id: row.id,
  operatorId: row.operatorId,
  currency: row.currency,
  baseCurrency: row.baseCurrency,
  country: row.country,
  language: row.language,
  isTest: row.isTest,
  status: row.status,
  restrictions: {
    canLogin: row.canLogin,
    canDeposit: row.canDeposit,
    canWithdraw: row.canWithdraw,
    canBet: row.canBet,
    excludedFromBonuses: row.excludedFromBonuses
  },
  withdrawalHolds: row.withdrawalHolds,
  kycStatus: row.kycStatus,
  documentExpiresAt: row.documentExpiresAt?.getTime() ?? null,
  exclusion: row.exclusionType === null || row.exclusionSince === null ? null : {
    type: row.exclusionType,
    since: row.exclusionSince.getTime(),
    until: row.exclusionUntil?.getTime() ?? null
  },
  sessionsEndedAt: row.sessionsEndedAt?.getTime() ?? null,
  limits: row.limits satisfies Limits,
  pendingLimits: row.pendingLimits satisfies ReadonlyArray<PendingLimit>,
  counters: decodeCounters(row.counters),
  real: row.real,
  bonus: row.bonus,
  realUpdatedAt: row.realUpdatedAt.getTime(),
  bonusUpdatedAt: row.bonusUpdatedAt.getTime(),
  entrySeq: row.entrySeq,
  walletSeq: row.walletSeq,
  withdrawn: row.withdrawn,
  activity: decodeActivity(row.activity),
  ...toBonuses(row.openBonuses),
  bonusGrants: row.bonusGrants ?? noGrants,
  providerIds: row.providerIds,
  rounds: [],
  transactions: [],
  seeds: null
})

const epochMs = (column: string): string => `round(extract(epoch FROM ${column}) * 1000)::bigint`

const playerColumns =
  `p.id, p.operator_id AS "operatorId", p.currency, coalesce((SELECT o.currency FROM operators o WHERE o.id = p.operator_id), p.currency) AS "baseCurrency", p.country, p.language,
  p.is_test AS "isTest", p.status, p.kyc_status AS "kycStatus", p.document_expires_at AS "documentExpiresAt", p.can_login AS "canLogin", p.can_deposit AS "canDeposit",
  p.can_withdraw AS "canWithdraw", p.can_bet AS "canBet", p.excluded_from_bonuses AS "excludedFromBonuses",
  p.withdrawal_holds AS "withdrawalHolds",
  p.exclusion_type AS "exclusionType", p.exclusion_since AS "exclusionSince", p.exclusion_until AS "exclusionUntil",
  p.sessions_ended_at AS "sessionsEndedAt", p.limits, p.pending_limits AS "pendingLimits", a.version, a.entry_seq AS "entrySeq",
  a.wallet_seq AS "walletSeq", a.withdrawn, a.real_balance AS real, a.bonus_balance AS bonus, a.counters, a.activity,
  a.provider_ids::float8[] AS "providerIds", a.real_updated_at AS "realUpdatedAt", a.bonus_updated_at AS "bonusUpdatedAt",
  (SELECT jsonb_agg(jsonb_build_object('id', b.id, 'bonusId', b.bonus_id, 'name', b.name, 'type', b.type, 'amount', b.amount,
    'wagerRequirement', b.wager_requirement, 'maxBet', b.max_bet, 'maxConversion', b.max_conversion, 'validDays', b.valid_days,
    'contributions', b.contributions, 'wagered', b.wagered, 'openRounds', b.open_rounds, 'restored', b.restored_amount,
    'createdAt', ${epochMs("b.created_at")}, 'startedAt', ${epochMs("b.started_at")}, 'expiresAt', ${
    epochMs("b.expires_at")
  }) ORDER BY b.id) FROM player_bonuses b WHERE b.player_id = p.id AND b.state <> 'finished') AS "openBonuses",
  (SELECT jsonb_object_agg(g.bonus_id, g.granted) FROM (SELECT b.bonus_id, count(*) AS granted FROM player_bonuses b
    WHERE b.player_id = p.id GROUP BY b.bonus_id) g) AS "bonusGrants"`

const loadText =
  `SELECT ${playerColumns} FROM players p JOIN accounts a ON a.player_id = p.id WHERE p.id = $1::float8::bigint`

/**
 * Raising the version waits for a commit that still holds the row, and makes every later one of the old version fail. A
 * statement of its own: what is loaded after it sees all that the commit before it wrote, in every table.
 */
const fenceText = `UPDATE accounts SET version = version + 1 WHERE player_id = $1::float8::bigint`

/** Loads a player with the version that a commit must name; `fence` makes every commit of an older version fail. */
export const loadPlayer = (sql: SqlClient.SqlClient): Store<Player, Change, Query, Knowledge>["load"] =>
  Effect.fnUntraced(function*(key, fence) {
    if (fence) yield* orUnavailable(sql.unsafe(fenceText, [PgTypes.float8(key)]))
    const rows = yield* orUnavailable(sql.unsafe(loadText, [PgTypes.float8(key)]))
    const [row] = rows
    if (row === undefined) return undefined
    const decoded = yield* orUnavailable(decodePlayerRow(row))
    return { state: toPlayer(decoded), version: decoded.version }
  })
