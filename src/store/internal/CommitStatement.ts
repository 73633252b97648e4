/**
 * One statement that commits any number of players: their hot rows behind the fence, and everything their decisions want
 * written. It is a transaction of its own, so that a commit is one round trip.
 *
 * The statement is put together from sections and prepared once per combination; the rows travel as one array per column, so
 * its text does not depend on how many there are. Whole numbers cross as `float8`, which holds every amount and id exactly
 * and spares both sides the conversion to arbitrary precision.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type {
  AuditRecord,
  Change,
  Entry,
  Event,
  GameSession,
  OriginalRound,
  PaymentChange,
  PlayerNote,
  PlayerSettings,
  Redemption,
  RoundChange
} from "../../domain/Change.ts"
import { type Link, type LinkedRows, rowsOfCommit } from "../../chain/Chain.ts"
import { replyPurpose, type StoredReply } from "../../domain/Idempotency.ts"
import type { SeedChange } from "../../domain/original/PlayerSeeds.ts"
import type { Player } from "../../domain/player/Player.ts"
import { roundKey, type Transaction } from "../../domain/settlement/Rounds.ts"
import type { Unit } from "../../engine/Machine.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { withoutPersonal } from "../EventData.ts"
import { type BonusRow, changedBonuses, newBonuses, redemptions } from "./BonusSections.ts"
import { encodeActivity } from "./ActivityCodec.ts"
import { encodeCounters } from "./CountersCodec.ts"
import { links } from "./LinkSections.ts"
import { notes } from "./NoteSections.ts"
import { changedSeeds, mergeSeeds, newSeeds, originalRounds } from "./OriginalSections.ts"
import { changedPayments, convertedPayments, isPayout, newPayments, toNewPayment } from "./PaymentSections.ts"
import {
  type Converted,
  converted,
  convertedSums,
  players,
  rateOfPair,
  RatePairs,
  rates,
  reportRows,
  sums
} from "./ReportSections.ts"
import {
  bytes,
  cast,
  type Column,
  columnNamed,
  flag,
  insertInto,
  json,
  number,
  numbers,
  quoted,
  type Section,
  text,
  time,
  update
} from "./StatementSections.ts"

export type PlayerUnit = Unit<Player, Change>

const accountColumns: ReadonlyArray<Column<PlayerUnit>> = [
  number("player_id", (unit) => unit.key),
  number("operator_id", (unit) => unit.after.operatorId),
  number("version", (unit) => unit.version),
  number("entry_seq", (unit) => unit.after.entrySeq),
  number("wallet_seq", (unit) => unit.after.walletSeq),
  number("withdrawn", (unit) => unit.after.withdrawn),
  number("real_balance", (unit) => unit.after.real),
  number("bonus_balance", (unit) => unit.after.bonus),
  text("counters", (unit) => encodeCounters(unit.after.counters)),
  text("activity", (unit) => encodeActivity(unit.after.activity)),
  text("provider_ids", (unit) => numbers(unit.after.providerIds), "bigint[]"),
  time("real_updated_at", (unit) => unit.after.realUpdatedAt),
  time("bonus_updated_at", (unit) => unit.after.bonusUpdatedAt)
]

const entryColumns: ReadonlyArray<Column<Entry>> = [
  number("player_id", (entry) => entry.playerId),
  number("seq", (entry) => entry.seq),
  number("id", (entry) => entry.id),
  number("operator_id", (entry) => entry.operatorId),
  text("wallet", (entry) => entry.wallet),
  text("type", (entry) => entry.type),
  number("amount", (entry) => entry.amount),
  number("balance_after", (entry) => entry.balanceAfter),
  number("payment_request_id", (entry) => entry.paymentRequestId),
  number("game_id", (entry) => entry.gameId),
  text("game_round_id", (entry) => entry.gameRoundId),
  number("player_bonus_id", (entry) => entry.playerBonusId),
  time("created_at", (entry) => entry.createdAt)
]

const transactionColumns: ReadonlyArray<Column<Transaction>> = [
  number("provider_id", (transaction) => transaction.providerId),
  text("transaction_id", (transaction) => transaction.transactionId),
  number("player_id", (transaction) => transaction.playerId),
  text("kind", (transaction) => transaction.kind),
  text("status", (transaction) => transaction.status),
  number("amount", (transaction) => transaction.amount),
  number("game_id", (transaction) => transaction.gameId),
  text("round_id", (transaction) => transaction.roundId),
  text("target_transaction_id", (transaction) => transaction.targetId),
  text("detail", (transaction) => transaction.detail),
  number("real_amount", (transaction) => transaction.realAmount),
  number("bonus_amount", (transaction) => transaction.bonusAmount),
  text("entry_ids", (transaction) => numbers(transaction.entryIds), "bigint[]"),
  number("player_bonus_id", (transaction) => transaction.bonusId),
  number("wagered", (transaction) => transaction.wagered),
  time("created_at", (transaction) => transaction.createdAt)
]

interface SettingsRow extends PlayerSettings {
  readonly playerId: number
  readonly operatorId: number
}

const settingsColumns: ReadonlyArray<Column<SettingsRow>> = [
  number("id", (row) => row.playerId),
  number("operator_id", (row) => row.operatorId),
  text("status", (row) => row.status),
  text("kyc_status", (row) => row.kycStatus),
  time("document_expires_at", (row) => row.documentExpiresAt),
  flag("can_login", (row) => row.restrictions.canLogin),
  flag("can_deposit", (row) => row.restrictions.canDeposit),
  flag("can_withdraw", (row) => row.restrictions.canWithdraw),
  flag("can_bet", (row) => row.restrictions.canBet),
  flag("excluded_from_bonuses", (row) => row.restrictions.excludedFromBonuses),
  text("withdrawal_holds", (row) => JSON.stringify(row.withdrawalHolds), "jsonb"),
  text("exclusion_type", (row) => row.exclusion?.type ?? null),
  time("exclusion_since", (row) => row.exclusion?.since ?? null),
  time("exclusion_until", (row) => row.exclusion?.until ?? null),
  time("sessions_ended_at", (row) => row.sessionsEndedAt),
  text("limits", (row) => JSON.stringify(row.limits), "jsonb"),
  text("pending_limits", (row) => JSON.stringify(row.pendingLimits), "jsonb"),
  time("updated_at", (row) => row.updatedAt)
]

interface RoundRow extends RoundChange {
  readonly playerId: number
}

const roundColumns: ReadonlyArray<Column<RoundRow>> = [
  number("player_id", (row) => row.playerId),
  number("game_id", (row) => row.round.gameId),
  text("round_id", (row) => row.round.roundId),
  number("real_stake", (row) => row.round.realStake),
  number("bonus_stake", (row) => row.round.bonusStake),
  { ...number("paid_wins", (row: RoundRow) => row.round.paidWins), type: "integer" },
  number("player_bonus_id", (row) => row.round.bonusId),
  flag("closed", (row) => row.round.closed),
  { ...flag("is_live", (row: RoundRow) => row.round.isLive === true), value: (row) => row.round.isLive },
  time("opened_at", (row) => row.round.openedAt)
]

const sessionColumns: ReadonlyArray<Column<GameSession>> = [
  number("id", (session) => session.id),
  number("player_id", (session) => session.playerId),
  number("game_id", (session) => session.gameId),
  text("mode", (session) => session.mode),
  text("platform", (session) => session.platform),
  text("ip", (session) => session.ip),
  time("opened_at", (session) => session.openedAt),
  time("expires_at", (session) => session.expiresAt)
]

const eventColumns: ReadonlyArray<Column<Event>> = [
  number("id", (event) => event.id),
  number("operator_id", (event) => event.operatorId),
  number("player_id", (event) => event.playerId),
  text("type", (event) => event.type),
  text("data", (event) => JSON.stringify(withoutPersonal(event.data)), "jsonb"),
  time("created_at", (event) => event.createdAt)
]

const auditColumns: ReadonlyArray<Column<AuditRecord>> = [
  number("id", (record) => record.id),
  time("at", (record) => record.at),
  text("actor", (record) => record.actor),
  text("action", (record) => record.action),
  number("operator_id", (record) => record.operatorId),
  number("player_id", (record) => record.playerId),
  text("subject", (record) => record.subject),
  text("before", (record) => json(record.before), "jsonb"),
  text("after", (record) => json(record.after), "jsonb"),
  text("reason", (record) => record.reason)
]

/** Seals a text so that only the same purpose opens it. */
type Seal = (purpose: string, plain: string) => Uint8Array

/** What a commit seals with. */
interface Sealing {
  readonly seal: Seal
  readonly personal: PersonalData["Service"]
}

/** A reply as it is stored: in clear or, where it holds a secret, sealed. */
interface ReplyRow {
  readonly reply: StoredReply
  readonly sealed: Uint8Array | null
}

const toReplyRow = (reply: StoredReply, seal: Seal): ReplyRow => ({
  reply,
  sealed: reply.isSecret === true ? seal(replyPurpose(reply), reply.body) : null
})

const replyColumns: ReadonlyArray<Column<ReplyRow>> = [
  text("scope", ({ reply }) => reply.scope),
  text("key", ({ reply }) => reply.key),
  bytes("fingerprint", ({ reply }) => reply.fingerprint),
  { ...number("status", ({ reply }: ReplyRow) => reply.status), type: "integer" },
  text("body", ({ reply, sealed }) => sealed === null ? reply.body : null),
  bytes("body_sealed", ({ sealed }) => sealed),
  time("created_at", ({ reply }) => reply.createdAt)
]

const accounts: Section<PlayerUnit> = {
  columns: accountColumns,
  query: (source) =>
    `${
      update("accounts", accountColumns, {
        keys: ["player_id", "operator_id", "version"],
        set: [
          "entry_seq",
          "wallet_seq",
          "withdrawn",
          "real_balance",
          "bonus_balance",
          "counters",
          "activity",
          "provider_ids",
          "real_updated_at",
          "bonus_updated_at"
        ],
        more: ", version = t.version + 1"
      }).query(source)
    } RETURNING 1`
}

/** The player's short form joins here, from the row that is current when the event commits. */
const events: Section<Event> = {
  columns: eventColumns,
  query: (source) =>
    `INSERT INTO events (id, operator_id, player_id, type, data, created_at) SELECT ${
      ["id", "operator_id", "player_id", "type"].map((name) => columnNamed(eventColumns, name)).join(", ")
    }, u."data"::jsonb || jsonb_build_object('player', jsonb_build_object('id', p.id, 'external_id', p.external_id, 'username', p.username)), u."created_at" FROM ${source} JOIN players p ON p.id = u."player_id"::bigint`
}

const entries = insertInto("ledger_entries", entryColumns)
const transactions = insertInto("provider_transactions", transactionColumns)
const newRounds = insertInto("rounds", roundColumns)
const changedRounds = update("rounds", roundColumns, {
  keys: ["player_id", "game_id", "round_id"],
  set: ["real_stake", "bonus_stake", "paid_wins", "player_bonus_id", "closed"]
})
const settings = update("players", settingsColumns, {
  keys: ["id", "operator_id"],
  set: settingsColumns.slice(2).map(({ name }) => name)
})
const convertedEntries: Section<Converted<Entry>> = {
  columns: converted(entryColumns),
  query: (source) =>
    `INSERT INTO ledger_entries (${entryColumns.map(({ name }) => quoted(name)).join(", ")}, exchange_rate_id) SELECT ${
      entryColumns.map((column) => cast(column)).join(", ")
    }, ${rateOfPair} FROM ${source}`
}

const sessions = insertInto("game_sessions", sessionColumns)
const audit = insertInto("audit_log", auditColumns)
const replies = insertInto("idempotency_keys", replyColumns)

/** A section with its rows. */
interface Part {
  readonly name: string
  readonly section: {
    readonly columns: ReadonlyArray<{ readonly name: string; readonly wire: string }>
    readonly query: (source: string) => string
  }
  readonly parameters: ReadonlyArray<unknown>
}

const part = <Row>(name: string, section: Section<Row>, rows: ReadonlyArray<Row>): Part => ({
  name,
  section,
  parameters: section.columns.map(({ oid, value }) => Result.getOrThrow(PgTypes.array(rows.map(value), oid)))
})

const texts = new Map<string, string>()

const textOf = (parts: ReadonlyArray<Part>): string => {
  const key = parts.map(({ name }) => name).join()
  const found = texts.get(key)
  if (found !== undefined) return found
  let parameter = 0
  const queries = parts.map(({ name, section }) => {
    const arrays = section.columns.map(({ wire }) => `$${++parameter}::${wire}[]`).join(", ")
    const names = section.columns.map((column) => quoted(column.name)).join(", ")
    return `${name} AS (${section.query(`unnest(${arrays}) AS u(${names})`)})`
  })
  const composed = `WITH ${
    queries.join(", ")
  } SELECT pitboss_fence((SELECT count(*) FROM accounts_part), $${++parameter}::float8::bigint)`
  texts.set(key, composed)
  return composed
}

export interface CommitStatement {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
  readonly hasEvents: boolean
  /** What the commit adds to the chain; undefined when it writes neither entries nor audit lines. */
  readonly link: Link | undefined
}

/** The statement that commits the units, and its parameters. Units stand in the order of their keys, so that two services never wait for each other in a circle. */
export const commitStatement = (
  units: ReadonlyArray<PlayerUnit>,
  { personal, seal }: Sealing,
  toLink: (rows: LinkedRows) => Link
): CommitStatement => {
  const ordered = [...units].sort((a, b) => a.key - b.key)
  const entryRows: Array<Entry> = []
  const transactionRows: Array<Transaction> = []
  const paymentRows = new Map<number, PaymentChange>()
  const bonusRows = new Map<number, BonusRow>()
  const redemptionRows: Array<Redemption> = []
  const originalRows: Array<OriginalRound> = []
  const seedRows = new Map<number, SeedChange>()
  const settingsRows: Array<SettingsRow> = []
  const sessionRows: Array<GameSession> = []
  const eventRows: Array<Event> = []
  const auditRows: Array<AuditRecord> = []
  const noteRows: Array<PlayerNote> = []
  const replyRows: Array<ReplyRow> = []
  const pairs = new RatePairs()
  const report = reportRows(ordered, pairs)
  const placeOfPlayer = new Map<number, number>()
  const newRoundRows: Array<RoundRow> = []
  const changedRoundRows: Array<RoundRow> = []
  for (const unit of ordered) {
    const place = pairs.placeOf(unit.after)
    if (place !== null) placeOfPlayer.set(unit.key, place)
    // a round that several decisions of the unit wrote is written once, as the last of them left it
    let rounds: Map<string, RoundRow> | undefined
    let lastSettings: PlayerSettings | null = null
    for (const change of unit.changes) {
      entryRows.push(...change.entries)
      transactionRows.push(...change.transactions)
      for (const { isNew, round } of change.rounds) {
        rounds ??= new Map()
        const key = roundKey(round.gameId, round.roundId)
        const earlier = rounds.get(key)
        // two claims that the same round is new cannot both be right: both are kept, and the index says so
        if (isNew && earlier?.isNew === true) newRoundRows.push(earlier)
        rounds.set(key, { playerId: unit.key, round, isNew: isNew || earlier?.isNew === true })
      }
      for (const payment of change.payments) {
        const earlier = paymentRows.get(payment.payment.id)
        paymentRows.set(payment.payment.id, { ...payment, isNew: payment.isNew || earlier?.isNew === true })
      }
      for (const { bonus, isNew, note } of change.bonuses) {
        const earlier = bonusRows.get(bonus.id)
        bonusRows.set(bonus.id, {
          bonus,
          isNew: isNew || earlier?.isNew === true,
          note: note ?? earlier?.note ?? null,
          playerId: unit.key,
          operatorId: unit.after.operatorId
        })
      }
      if (change.redemptions.length > 0) redemptionRows.push(...change.redemptions)
      if (change.originalRounds.length > 0) originalRows.push(...change.originalRounds)
      for (const seed of change.seeds) seedRows.set(seed.id, mergeSeeds(seedRows.get(seed.id), seed))
      lastSettings = change.settings ?? lastSettings
      if (change.sessions.length > 0) sessionRows.push(...change.sessions)
      if (change.events.length > 0) eventRows.push(...change.events)
      if (change.audit.length > 0) auditRows.push(...change.audit)
      if (change.notes.length > 0) noteRows.push(...change.notes)
      if (change.replies.length > 0) replyRows.push(...change.replies.map((reply) => toReplyRow(reply, seal)))
    }
    if (lastSettings !== null) {
      settingsRows.push({ ...lastSettings, playerId: unit.key, operatorId: unit.after.operatorId })
    }
    if (rounds !== undefined) {
      for (const row of rounds.values()) (row.isNew ? newRoundRows : changedRoundRows).push(row)
    }
  }
  const parts: Array<Part> = [part("accounts_part", accounts, ordered)]
  const add = <Row>(name: string, section: Section<Row>, rows: ReadonlyArray<Row>): void => {
    if (rows.length > 0) parts.push(part(name, section, rows))
  }
  const payments = [...paymentRows.values()]
  const changed = payments.filter(({ isNew }) => !isNew)
  const placeOf = (playerId: number): number | null => placeOfPlayer.get(playerId) ?? null
  if (placeOfPlayer.size === 0) {
    add("entries", entries, entryRows)
    add("sums", sums, report.sums)
    add("changed_payments", changedPayments, changed)
  } else {
    add("rates", rates, pairs.all)
    add("converted_entries", convertedEntries, entryRows.map((row) => ({ row, pair: placeOf(row.playerId) })))
    add("converted_sums", convertedSums, report.sums)
    add(
      "converted_payments",
      convertedPayments,
      changed.map((row) => ({ row, pair: isPayout(row) ? placeOf(row.payment.playerId) : null }))
    )
  }
  add("visits", players, report.players)
  add("transactions", transactions, transactionRows)
  add("new_rounds", newRounds, newRoundRows)
  add("changed_rounds", changedRounds, changedRoundRows)
  add("settings_part", settings, settingsRows)
  add("new_payments", newPayments, payments.filter(({ isNew }) => isNew).map(toNewPayment(personal)))
  if (bonusRows.size > 0) {
    const bonuses = [...bonusRows.values()]
    add("new_bonuses", newBonuses, bonuses.filter(({ isNew }) => isNew))
    add("changed_bonuses", changedBonuses, bonuses.filter(({ isNew }) => !isNew))
  }
  add("redemptions_part", redemptions, redemptionRows)
  add("original_rounds_part", originalRounds, originalRows)
  if (seedRows.size > 0) {
    const seeds = [...seedRows.values()]
    add("new_seeds", newSeeds, seeds.filter(({ sealed }) => sealed !== null))
    add("changed_seeds", changedSeeds, seeds.filter(({ sealed }) => sealed === null))
  }
  add("sessions_part", sessions, sessionRows)
  add("events_part", events, eventRows)
  add("audit_part", audit, auditRows)
  add("notes_part", notes, noteRows)
  add("replies", replies, replyRows)
  const link = entryRows.length + auditRows.length === 0 ? undefined : toLink(rowsOfCommit(entryRows, auditRows))
  if (link !== undefined) add("links", links, [link])
  return {
    link,
    hasEvents: eventRows.length > 0,
    text: textOf(parts),
    parameters: [
      ...parts.flatMap(({ parameters }) => parameters),
      PgTypes.float8(ordered.length)
    ]
  }
}
