/**
 * Loads players from the database into memory: settings, balances, usage of limits, and open bonuses, obligations and sessions. Rounds and messages
 * are looked up when a rule needs them.
 */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type ActiveBonus, GrantedBonus, type PendingBonus } from "../../domain/state/Bonus.ts"
import { limitFields } from "../../domain/LimitFields.ts"
import type { Limits, PendingLimit } from "../../domain/state/Limits.ts"
import { exclusionScopes, exclusionSources, exclusionTypes } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import {
  endedSessionsCarried,
  openSessionsCarried,
  exclusionOf,
  kycStatuses,
  type Player,
  playerStatuses,
  Restrictions,
  withExtras
} from "../../domain/state/Player.ts"
import { movedOf } from "../../domain/jurisdiction/Moves.ts"
import { type Moved, noRules, type Rules } from "../../domain/jurisdiction/Rules.ts"
import { RecentMap } from "../../platform/RecentMap.ts"
import { packStanding, RegisterStanding } from "../../domain/register/Register.ts"
import { Obligation } from "../../domain/state/Obligation.ts"
import type { Loaded } from "../../engine/Machine.ts"
import { Instant } from "../../domain/Instant.ts"
import { emptyRecent } from "../../domain/state/Recent.ts"
import { playerBonusNames } from "../BonusRows.ts"
import { columnsOf, jsonOf } from "../Rows.ts"
import { decodeActivity } from "./ActivityCodec.ts"
import { decodeCounters } from "./CountersCodec.ts"
import { numbers } from "../../platform/ArrayParameters.ts"

/** Running or pending bonus; read as JSON, so that instants are numbers. */
const OpenBonus = Schema.Struct({
  ...GrantedBonus.fields,
  createdAt: Schema.Number,
  wagered: Schema.Number,
  openRounds: Schema.Number,
  openUntil: Schema.NullOr(Schema.Number),
  restored: Schema.Number,
  short: Schema.Number,
  held: Schema.NullOr(Schema.Number),
  remainingMs: Schema.NullOr(Schema.Number),
  startedAt: Schema.NullOr(Schema.Number),
  expiresAt: Schema.NullOr(Schema.Number)
})

const EndedSession = Schema.Struct({ id: Schema.Number, expiresAt: Schema.Number, exchanged: Schema.Boolean })

const OpenSession = Schema.Struct({ id: Schema.Number, providerId: Schema.Number, expiresAt: Schema.Number })

/** Read as JSON, so that instants are numbers. */
const OpenObligation = Schema.Struct({
  ...Obligation.fields,
  dueAt: Schema.NullOr(Schema.Number),
  createdAt: Schema.Number,
  metAt: Schema.NullOr(Schema.Number),
  caseId: Schema.NullOr(Schema.Number),
  isTold: Schema.Boolean
})

/** Validated on load, since staff may have changed settings directly in the database. */
const PlayerRow = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  currency: Schema.String,
  baseCurrency: Schema.String,
  jurisdiction: Schema.String,
  movedFrom: Schema.NullOr(Schema.String),
  looserFrom: Schema.NullOr(Instant),
  termsVersion: Schema.NullOr(Schema.String),
  limitsReviewed: Schema.Number,
  fundsNoticed: Schema.Number,
  birthDay: Schema.Number,
  country: Schema.String,
  language: Schema.String,
  isTest: Schema.Boolean,
  status: Schema.Literals(playerStatuses),
  kycStatus: Schema.Literals(kycStatuses),
  documentExpiresAt: Schema.NullOr(Instant),
  ...Restrictions.fields,
  withdrawalHolds: Schema.Array(
    Schema.Struct({ alertId: Schema.Number, isLifted: Schema.Boolean, isCase: Schema.optionalKey(Schema.Boolean) })
  ),
  exclusionType: Schema.NullOr(Schema.Literals(exclusionTypes)),
  exclusionSince: Schema.NullOr(Instant),
  exclusionUntil: Schema.NullOr(Instant),
  exclusionReturnFrom: Schema.NullOr(Instant),
  exclusionReturnAt: Schema.NullOr(Instant),
  exclusionReturnWait: Schema.NullOr(Schema.String),
  exclusionSource: Schema.NullOr(Schema.Literals(exclusionSources)),
  exclusionScope: Schema.NullOr(Schema.Literals(exclusionScopes)),
  sessionsEndedAt: Schema.NullOr(Instant),
  walletSessionsEndedAt: Schema.NullOr(Instant),
  realityCheck: Schema.NullOr(Schema.String),
  dormantSince: Schema.NullOr(Instant),
  limits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number)),
  pendingLimits: Schema.Array(Schema.Struct({
    field: Schema.Literals(limitFields),
    value: Schema.NullOr(Schema.Number),
    effectiveAt: Schema.Number,
    confirmUntil: Schema.optionalKey(Schema.Number),
    isAnnounced: Schema.optionalKey(Schema.Literal(true))
  })),
  limitsSet: Schema.Number,
  registers: Schema.Array(RegisterStanding),
  netDepositCap: Schema.NullOr(Schema.Number),
  obligations: Schema.NullOr(Schema.Array(OpenObligation)),
  version: Schema.Number,
  entrySeq: Schema.Number,
  walletSeq: Schema.Number,
  withdrawn: Schema.Number,
  real: Schema.Number,
  bonus: Schema.Number,
  counters: Schema.String,
  activity: Schema.String,
  providerIds: Schema.Array(Schema.Number),
  endedSessions: Schema.NullOr(Schema.Array(EndedSession)),
  openSessions: Schema.NullOr(Schema.Array(OpenSession)),
  realUpdatedAt: Instant,
  bonusUpdatedAt: Instant,
  openBonuses: Schema.NullOr(Schema.Array(OpenBonus)),
  bonusGrants: Schema.NullOr(Schema.Record(Schema.String, Schema.Number))
})

/** In one pass: an effect of its own for each row takes half as long again. */
const decodePlayerRows = Schema.decodeUnknownEffect(Schema.Array(PlayerRow))

const noBonuses: ReadonlyArray<PendingBonus> = []
const noSessions: Player["endedSessions"] = []
const noOpenSessions: Player["openSessions"] = []
const noObligations: Player["obligations"] = []
const noRegisters: Player["registers"] = []
const noGrants: Player["bonusGrants"] = {}

/** Unfinished bonuses as carried by a player: the running one and the pending ones. */
const toBonuses = (
  rows: ReadonlyArray<typeof OpenBonus.Type> | null
): Pick<Player, "activeBonus" | "pendingBonuses"> => {
  let activeBonus: ActiveBonus | null = null
  if (rows === null) return { activeBonus, pendingBonuses: noBonuses }
  const pendingBonuses: Array<PendingBonus> = []
  for (const row of rows) {
    const { expiresAt, held, openRounds, openUntil, remainingMs, restored, short, startedAt, wagered, ...granted } = row
    if (startedAt === null) {
      pendingBonuses.push({ ...granted, interrupted: null })
      continue
    }
    const progress = { wagered, openRounds, openUntil, restored, short, startedAt }
    if (expiresAt !== null) activeBonus = { ...granted, ...progress, expiresAt }
    else {pendingBonuses.push({
        ...granted,
        interrupted: { ...progress, held: held ?? 0, remainingMs: remainingMs ?? 0 }
      })}
  }
  return { activeBonus, pendingBonuses }
}

/** Distinct currencies, countries, languages, jurisdictions and versions of terms that players carry, at most. */
const maxShared = 2000

// Kept: texts, unread. Codes of currencies, countries, languages and jurisdictions, and versions of terms, that many players carry, each once.
// Several nodes: its own: the same texts in every process.
const texts = new RecentMap<string, string>(maxShared)

/** A text that many players carry: one object for all of them. */
const sharedText = (text: string): string => {
  const found = texts.get(text)
  if (found === undefined) texts.set(text, text)
  return found ?? text
}

const unread = new RecentMap<string, Rules>(maxShared)

/** Stands for the rules of a code, and is replaced by those that count before anybody sees the player. */
const unreadRules = (code: string, moved: Moved | null): Rules => {
  const rules = unread.get(code) ?? { ...noRules, code }
  unread.set(code, rules)
  return moved === null ? rules : { ...rules, moved }
}

const toPlayer = ({
  bonusGrants,
  canBet,
  canDeposit,
  canLogin,
  canWithdraw,
  dormantSince,
  endedSessions,
  excludedFromBonuses,
  exclusionReturnAt: returnAt,
  exclusionReturnFrom: returnFrom,
  exclusionReturnWait: returnWait,
  exclusionScope: scope,
  exclusionSince: since,
  exclusionSource: source,
  exclusionType: type,
  exclusionUntil: until,
  jurisdiction,
  looserFrom,
  movedFrom,
  obligations,
  openBonuses,
  openSessions,
  realityCheck,
  termsVersion,
  registers,
  walletSessionsEndedAt,
  version: _version,
  ...row
}: typeof PlayerRow.Type): Player => ({
  ...row,
  currency: sharedText(row.currency),
  baseCurrency: sharedText(row.baseCurrency),
  country: sharedText(row.country),
  language: sharedText(row.language),
  rules: unreadRules(jurisdiction, movedOf({ movedFrom, looserFrom })),
  termsVersion: termsVersion === null ? null : sharedText(termsVersion),
  restrictions: { canLogin, canDeposit, canWithdraw, canBet, excludedFromBonuses },
  exclusion: exclusionOf({ type, since, until, source, scope, returnFrom, returnAt, returnWait }),
  limits: row.limits satisfies Limits,
  pendingLimits: row.pendingLimits satisfies ReadonlyArray<PendingLimit>,
  ...decodeCounters(row.counters),
  extras: withExtras({ extras: null }, { realityCheck, walletSessionsEndedAt, dormantSince }),
  activity: decodeActivity(row.activity),
  ...toBonuses(openBonuses),
  bonusGrants: bonusGrants ?? noGrants,
  obligations: obligations ?? noObligations,
  registers: registers.length === 0 ? noRegisters : registers.map(packStanding),
  endedSessions: endedSessions ?? noSessions,
  openSessions: openSessions ?? noOpenSessions,
  rounds: emptyRecent,
  transactions: emptyRecent,
  seeds: null
})

const epochMs = (column: string): string => `round(extract(epoch FROM ${column}) * 1000)::bigint`

const epochSeconds = (column: string): string => `floor(extract(epoch FROM ${column}))::float8`

const accountColumns = {
  version: "a.version",
  entrySeq: "a.entry_seq",
  walletSeq: "a.wallet_seq",
  withdrawn: "a.withdrawn",
  real: "a.real_balance",
  bonus: "a.bonus_balance",
  counters: "a.counters",
  activity: "a.activity",
  providerIds: "a.provider_ids::float8[]",
  realUpdatedAt: "a.real_updated_at",
  bonusUpdatedAt: "a.bonus_updated_at"
}

/** The player's time at the real time `$2`: a column of the join, so that it is looked up once. */
const operatorTime = "coalesce(clock.held_at, $2 + make_interval(secs => clock.offset_ms / 1000.0), $2)"

const playerColumns = columnsOf(PlayerRow, "p", {
  ...accountColumns,
  limitsReviewed: epochSeconds("coalesce(p.limits_reviewed_at, p.created_at)"),
  fundsNoticed: epochSeconds("coalesce(p.funds_noticed_at, p.created_at)"),
  birthDay: "to_char(p.birth_date, 'YYYYMMDD')::integer",
  baseCurrency: "coalesce(operator.currency, p.currency)",
  openBonuses: `(SELECT jsonb_agg(${
    jsonOf(OpenBonus, "b", {
      ...playerBonusNames,
      createdAt: epochMs("b.created_at"),
      openUntil: epochMs("b.open_until"),
      startedAt: epochMs("b.started_at"),
      expiresAt: epochMs("b.expires_at")
    })
  } ORDER BY b.id)
    FROM player_bonuses b WHERE b.player_id = p.id AND b.state <> 'finished')`,
  obligations: `(SELECT jsonb_agg(${
    jsonOf(OpenObligation, "o", {
      dueAt: epochMs("o.due_at"),
      createdAt: epochMs("o.created_at"),
      metAt: epochMs("o.met_at")
    })
  } ORDER BY o.id) FROM obligations o WHERE o.player_id = p.id AND o.state = 'open')`,
  endedSessions: `(SELECT jsonb_agg(${jsonOf(EndedSession, "s", { expiresAt: epochMs("s.expires_at") })} ORDER BY s.id)
    FROM (SELECT id, expires_at, exchanged FROM game_sessions
      WHERE player_id = p.id AND ended_at IS NOT NULL AND expires_at > ${operatorTime} ORDER BY id DESC LIMIT ${endedSessionsCarried}) s)`,
  openSessions: `(SELECT jsonb_agg(${jsonOf(OpenSession, "s", { expiresAt: epochMs("s.expires_at") })} ORDER BY s.id)
    FROM (SELECT o.id, g.provider_id, o.expires_at, row_number() OVER (PARTITION BY g.provider_id ORDER BY o.id DESC) AS place
      FROM game_sessions o JOIN games g ON g.id = o.game_id
      WHERE o.player_id = p.id AND o.mode = 'real' AND o.ended_at IS NULL AND o.expires_at > ${operatorTime}) s
    WHERE s.place <= ${openSessionsCarried})`,
  bonusGrants: `(SELECT jsonb_object_agg(g.bonus_id, g.granted) FROM (SELECT b.bonus_id, count(*) AS granted
    FROM player_bonuses b WHERE b.player_id = p.id GROUP BY b.bonus_id) g)`
})

const loadText = `SELECT ${playerColumns} FROM players p JOIN accounts a ON a.player_id = p.id
    LEFT JOIN operators operator ON operator.id = p.operator_id
    LEFT JOIN operator_clocks clock ON clock.operator_id = p.operator_id
  WHERE p.id = ANY ($1::float8[]::bigint[])`

/** Loads players, each with the version that a commit must name; undefined when not found. */
export const loadPlayers = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function*(keys: ReadonlyArray<number>) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* Effect.flatMap(
      sql.unsafe(loadText, [numbers(keys), PgTypes.timestamptz(new Date(now))]),
      decodePlayerRows
    )
    const found = new Map<number, Loaded<Player>>()
    for (const row of rows) found.set(row.id, { state: toPlayer(row), version: row.version })
    return keys.map((key) => ({ loaded: found.get(key) }))
  })

/**
 * Raises the version, so that every commit on the old one fails. A row still locked by a commit, which may yet happen, is skipped, so that it does
 * not delay other players. A separate statement: a subsequent load sees everything that the earlier commit wrote, in every table.
 */
const fenceText = `UPDATE accounts SET version = version + 1 WHERE player_id IN (
    SELECT player_id FROM accounts WHERE player_id = ANY ($1::float8[]::bigint[]) ORDER BY player_id
    FOR NO KEY UPDATE SKIP LOCKED)
  RETURNING player_id::float8 AS "playerId"`

const decodeFenced = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ playerId: Schema.Number })))

/** Makes every commit on an older version fail; returns for each player whether that succeeded. */
export const fencePlayers = (sql: SqlClient.SqlClient) => (keys: ReadonlyArray<number>) =>
  sql.unsafe(fenceText, [numbers(keys)]).pipe(
    Effect.flatMap(decodeFenced),
    Effect.map((rows) => {
      const fenced = new Set(rows.map(({ playerId }) => playerId))
      return keys.map((key) => fenced.has(key))
    })
  )
