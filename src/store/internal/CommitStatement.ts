/**
 * One statement that commits the decisions of any number of players: it updates their current state where the version still matches, and writes all
 * rows of their decisions. It is a transaction of its own, so that a commit is one round trip.
 *
 * Each table has a section of the statement, a CTE that writes its rows. They are passed as one array per column, so that the SQL text does not depend
 * on their number; a section without rows gets empty arrays. There are ten texts, planned once at the start: five of growing scope (provider messages,
 * then also payments, other requests, rare writes and new players), each with and without exchange rates. A text for each combination of tables would
 * make hundreds, and all commits would wait while one is planned, since they run one after the other (`docs/decisions/0042-commit-statements.md`).
 *
 * Integers are passed as `float8`, which holds every amount and id exactly and spares both sides the conversion to arbitrary precision.
 */
import { PgTypes } from "@effect/sql-pg"
import { type Link, type LinkedRows, rowsOfCommit } from "../../chain/Chain.ts"
import type { SaltedLine } from "../../chain/Lines.ts"
import type { AuditRecord, EndedSession, Entry, Event, GameSession } from "../../domain/state/Change.ts"
import { sessionDueAt } from "../../domain/obligation/Obligations.ts"
import type { Round, Transaction } from "../../domain/state/Rounds.ts"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import { columnArray } from "../../platform/ColumnArrays.ts"
import { withoutPersonal } from "../EventData.ts"
import { birthEvents, importedPlayers, newPlayersWith } from "./BirthSections.ts"
import { changedBonuses, newBonuses, redemptions } from "./BonusSections.ts"
import { encodeActivity } from "./ActivityCodec.ts"
import {
  type CommitRows,
  type PlayerUnit,
  type ReplyRow,
  type RoundRow,
  rowsOf,
  type Sealing,
  type SessionRow,
  type TransactionRow
} from "./CommitRows.ts"
import { encodeCounters } from "./CountersCodec.ts"
import { links } from "./LinkSections.ts"
import { notes } from "./NoteSections.ts"
import { acknowledgements, changedObligations, newObligations } from "./ObligationSections.ts"
import { registerChecks } from "./RegisterSections.ts"
import { settings, settingsColumns } from "./SettingsSections.ts"
import { changedSeeds, newSeeds, originalRounds } from "./OriginalSections.ts"
import { changedPayments, convertedPayments, isPayout, newPayments } from "./PaymentSections.ts"
import { type Converted, converted, convertedSums, players, rateOfPair, rates, sums } from "./ReportSections.ts"
import {
  bytes,
  cast,
  type Column,
  columnNamed,
  columnsOf,
  flag,
  insertInto,
  json,
  number,
  numbers,
  quoted,
  sourceOf,
  type Section,
  text,
  time,
  update
} from "./StatementSections.ts"

const accountColumns: ReadonlyArray<Column<PlayerUnit>> = [
  number("player_id", (unit) => unit.key),
  number("operator_id", (unit) => unit.after.operatorId),
  number("version", (unit) => unit.version),
  number("entry_seq", (unit) => unit.after.entrySeq),
  number("wallet_seq", (unit) => unit.after.walletSeq),
  number("withdrawn", (unit) => unit.after.withdrawn),
  number("real_balance", (unit) => unit.after.real),
  number("bonus_balance", (unit) => unit.after.bonus),
  text("counters", (unit) => encodeCounters(unit.after.counters, unit.after.session)),
  time("session_due_at", (unit) => sessionDueAt(unit.after)),
  text("activity", (unit) => encodeActivity(unit.after.activity)),
  text("provider_ids", (unit) => numbers(unit.after.providerIds), "bigint[]"),
  time("real_updated_at", (unit) => unit.after.realUpdatedAt),
  time("bonus_updated_at", (unit) => unit.after.bonusUpdatedAt)
]

const entryColumns = columnsOf<Entry, Entry>({
  playerId: number("player_id", (entry) => entry.playerId),
  seq: number("seq", (entry) => entry.seq),
  id: number("id", (entry) => entry.id),
  operatorId: number("operator_id", (entry) => entry.operatorId),
  wallet: text("wallet", (entry) => entry.wallet),
  type: text("type", (entry) => entry.type),
  amount: number("amount", (entry) => entry.amount),
  balanceAfter: number("balance_after", (entry) => entry.balanceAfter),
  paymentRequestId: number("payment_request_id", (entry) => entry.paymentRequestId),
  gameId: number("game_id", (entry) => entry.gameId),
  gameRoundId: text("game_round_id", (entry) => entry.gameRoundId),
  playerBonusId: number("player_bonus_id", (entry) => entry.playerBonusId),
  createdAt: time("created_at", (entry) => entry.createdAt),
  // the player's
  currency: []
})

const transactionColumns = [
  ...columnsOf<Transaction, TransactionRow>({
    providerId: number("provider_id", ({ transaction }) => transaction.providerId),
    transactionId: text("transaction_id", ({ transaction }) => transaction.transactionId),
    playerId: number("player_id", ({ transaction }) => transaction.playerId),
    kind: text("kind", ({ transaction }) => transaction.kind),
    status: text("status", ({ transaction }) => transaction.status),
    amount: number("amount", ({ transaction }) => transaction.amount),
    gameId: number("game_id", ({ transaction }) => transaction.gameId),
    roundId: text("round_id", ({ transaction }) => transaction.roundId),
    targetId: text("target_transaction_id", ({ transaction }) => transaction.targetId),
    detail: text("detail", ({ transaction }) => transaction.detail),
    realAmount: number("real_amount", ({ transaction }) => transaction.realAmount),
    bonusAmount: number("bonus_amount", ({ transaction }) => transaction.bonusAmount),
    entryIds: text("entry_ids", ({ transaction }) => numbers(transaction.entryIds), "bigint[]"),
    bonusId: number("player_bonus_id", ({ transaction }) => transaction.bonusId),
    wagered: number("wagered", ({ transaction }) => transaction.wagered),
    createdAt: time("created_at", ({ transaction }) => transaction.createdAt),
    // known from the rollbacks of the message
    rolledBack: [],
    reinstated: []
  }),
  number("operator_id", (row: TransactionRow) => row.operatorId)
]

const roundColumns = [
  number("player_id", (row: RoundRow) => row.playerId),
  ...columnsOf<Round, RoundRow>({
    gameId: number("game_id", (row) => row.round.gameId),
    roundId: text("round_id", (row) => row.round.roundId),
    realStake: number("real_stake", (row) => row.round.realStake),
    bonusStake: number("bonus_stake", (row) => row.round.bonusStake),
    paidWins: { ...number("paid_wins", (row: RoundRow) => row.round.paidWins), type: "integer" },
    won: number("won", (row) => row.round.won),
    takenBack: { ...number("taken_back", (row: RoundRow) => row.round.takenBack), type: "integer" },
    openBets: { ...number("open_bets", (row: RoundRow) => row.round.openBets), type: "integer" },
    bonusId: number("player_bonus_id", (row) => row.round.bonusId),
    closed: flag("closed", (row) => row.round.closed),
    isLive: { ...flag("is_live", (row: RoundRow) => row.round.isLive === true), value: (row) => row.round.isLive },
    openedAt: time("opened_at", (row) => row.round.openedAt)
  }),
  number("operator_id", (row: RoundRow) => row.operatorId)
]

const sessionColumns = [
  ...columnsOf<GameSession, SessionRow>({
    id: number("id", ({ session }) => session.id),
    playerId: number("player_id", ({ session }) => session.playerId),
    gameId: number("game_id", ({ session }) => session.gameId),
    mode: text("mode", ({ session }) => session.mode),
    platform: text("platform", ({ session }) => session.platform),
    ip: text("ip", ({ session }) => session.ip),
    openedAt: time("opened_at", ({ session }) => session.openedAt),
    expiresAt: time("expires_at", ({ session }) => session.expiresAt)
  }),
  number("operator_id", (row: SessionRow) => row.operatorId)
]

const endedSessionColumns = columnsOf<EndedSession, EndedSession>({
  id: number("id", (session) => session.id),
  playerId: number("player_id", (session) => session.playerId),
  endedAt: time("ended_at", (session) => session.endedAt),
  exchanged: flag("exchanged", (session) => session.exchanged)
})

const eventColumns = columnsOf<Event, Event>({
  id: number("id", (event) => event.id),
  operatorId: number("operator_id", (event) => event.operatorId),
  playerId: number("player_id", (event) => event.playerId),
  type: text("type", (event) => event.type),
  data: text("data", (event) => JSON.stringify(withoutPersonal(event.data)), "jsonb"),
  createdAt: time("created_at", (event) => event.createdAt)
})

const auditColumns = columnsOf<AuditRecord & SaltedLine, AuditRecord & SaltedLine>({
  id: number("id", (record) => record.id),
  at: time("at", (record) => record.at),
  actor: text("actor", (record) => record.actor),
  action: text("action", (record) => record.action),
  operatorId: number("operator_id", (record) => record.operatorId),
  playerId: number("player_id", (record) => record.playerId),
  subject: text("subject", (record) => record.subject),
  before: text("before", (record) => json(record.before), "jsonb"),
  after: text("after", (record) => json(record.after), "jsonb"),
  reason: text("reason", (record) => record.reason),
  salt: bytes("salt", (record) => Buffer.from(record.salt, "hex"))
})

const replyColumns: ReadonlyArray<Column<ReplyRow>> = [
  text("scope", ({ reply }) => reply.scope),
  text("key", ({ reply }) => reply.key),
  bytes("fingerprint", ({ reply }) => reply.fingerprint),
  { ...number("status", ({ reply }: ReplyRow) => reply.status), type: "integer" },
  number("player_id", ({ reply }) => reply.playerId ?? null),
  text("body", ({ reply, sealed }) => sealed === null ? reply.body : null),
  bytes("body_sealed", ({ sealed }) => sealed),
  time("created_at", ({ reply }) => reply.createdAt)
]

const signatureColumns: ReadonlyArray<Column<AcceptedSignature>> = [
  bytes("signature", ({ signature }) => Buffer.from(signature, "hex")),
  time("accepted_at", ({ acceptedAt }) => acceptedAt)
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
          "session_due_at",
          "activity",
          "provider_ids",
          "real_updated_at",
          "bonus_updated_at"
        ],
        more: ", version = t.version + 1"
      }).query(source)
    } RETURNING 1`
}

/** Accounts of players who are written for the first time, with the version that other accounts get by their update. */
const newAccounts: Section<PlayerUnit> = {
  columns: accountColumns,
  query: (source) =>
    `INSERT INTO accounts (${accountColumns.map(({ name }) => quoted(name)).join(", ")}) SELECT ${
      accountColumns.map((column) => column.name === "version" ? `${cast(column)} + 1` : cast(column)).join(", ")
    } FROM ${source} RETURNING 1`
}

/** The player summary is joined here, from the row current at the commit, and the version that the commit makes. */
const events: Section<Event> = {
  columns: eventColumns,
  query: (source) =>
    `INSERT INTO events (id, operator_id, player_id, type, data, created_at, player_version) SELECT ${
      ["id", "operator_id", "player_id", "type"].map((name) => columnNamed(eventColumns, name)).join(", ")
    }, u."data"::jsonb || jsonb_build_object('player', jsonb_build_object('id', p.id, 'external_id', p.external_id, 'username', p.username)), u."created_at", (SELECT a.version + 1 FROM accounts a WHERE a.player_id = p.id) FROM ${source} JOIN players p ON p.id = u."player_id"::bigint`
}

const entries = insertInto("ledger_entries", entryColumns)
const transactions = insertInto("provider_transactions", transactionColumns)
const newRounds = insertInto("rounds", roundColumns)
const changedRounds = update("rounds", roundColumns, {
  keys: ["player_id", "game_id", "round_id"],
  set: [
    "real_stake",
    "bonus_stake",
    "paid_wins",
    "won",
    "taken_back",
    "open_bets",
    "player_bonus_id",
    "closed",
    "is_live"
  ]
})
const newPlayers = newPlayersWith(settingsColumns)
const convertedEntries: Section<Converted<Entry>> = {
  columns: converted(entryColumns),
  query: (source) =>
    `INSERT INTO ledger_entries (${entryColumns.map(({ name }) => quoted(name)).join(", ")}, exchange_rate_id) SELECT ${
      entryColumns.map((column) => cast(column)).join(", ")
    }, ${rateOfPair} FROM ${source}`
}

const sessions = insertInto("game_sessions", sessionColumns)
// a session is ended by a holder of its token, and so in a later commit than its own
const endedSessions = update("game_sessions", endedSessionColumns, {
  keys: ["id", "player_id"],
  set: ["ended_at", "exchanged"]
})
const audit = insertInto("audit_log", auditColumns)
const replies = insertInto("idempotency_keys", replyColumns)
const signatures = insertInto("accepted_signatures", signatureColumns)

/** Section of a statement, with its rows of a commit. */
interface Part {
  readonly name: string
  readonly columns: ReadonlyArray<{ readonly name: string; readonly wire: string }>
  readonly query: (source: string) => string
  readonly parameters: (rows: CommitRows) => ReadonlyArray<PgTypes.Parameter>
  /** Its rows are the accounts that the commit has to write. */
  readonly counts?: true
}

const part = <Row>(name: string, section: Section<Row>, rowsOf: (rows: CommitRows) => ReadonlyArray<Row>): Part => ({
  name,
  columns: section.columns,
  query: section.query,
  parameters: (rows) => {
    const own = rowsOf(rows)
    return section.columns.map(({ value, wire }) => columnArray(wire, own, value))
  }
})

/** Text with its parameters. The same parts give the same text. */
interface Statement {
  readonly text: string
  readonly parameters: (rows: CommitRows) => ReadonlyArray<PgTypes.Parameter>
}

const statementOf = (parts: ReadonlyArray<Part>): Statement => {
  let parameter = 0
  const queries = parts.map(({ columns, name, query }) => {
    const source = sourceOf(columns, parameter + 1)
    parameter += columns.length
    return `${name} AS (${query(source)})`
  })
  return {
    text: `WITH ${queries.join(", ")} SELECT pitboss_fence(${
      parts.flatMap(({ counts, name }) => counts === true ? [`(SELECT count(*) FROM ${name})`] : []).join(" + ")
    }, $${++parameter}::float8::bigint)`,
    parameters: (rows) => [
      ...parts.flatMap(({ parameters }) => parameters(rows)),
      PgTypes.float8(rows.units.length)
    ]
  }
}

/** Sections of every statement: writes of provider messages. */
const playParts = [
  { ...part("accounts_part", accounts, ({ known }) => known), counts: true as const },
  part("visits", players, ({ visits }) => visits),
  part("transactions", transactions, (rows) => rows.transactions),
  part("new_rounds", newRounds, (rows) => rows.newRounds),
  part("changed_rounds", changedRounds, (rows) => rows.changedRounds),
  part("links", links, (rows) => rows.links)
]

const plainMoney = [
  part("entries", entries, (rows) => rows.entries),
  part("sums", sums, (rows) => rows.sums)
]

const convertedMoney = [
  part("rates", rates, (rows) => rows.rates),
  part(
    "converted_entries",
    convertedEntries,
    ({ entries, pairOf }) => entries.map((row) => ({ row, pair: pairOf(row.playerId) }))
  ),
  part("converted_sums", convertedSums, (rows) => rows.sums)
]

const plainPayouts = part("changed_payments", changedPayments, (rows) => rows.changedPayments)

const convertedPayouts = part(
  "converted_payments",
  convertedPayments,
  (rows) => rows.changedPayments.map((row) => ({ row, pair: isPayout(row) ? rows.pairOf(row.payment.playerId) : null }))
)

/** Writes of deposits and withdrawals. */
const paymentParts = [
  part("new_payments", newPayments, (rows) => rows.newPayments),
  part("events_part", events, (rows) => rows.events),
  part("replies", replies, (rows) => rows.replies),
  part("signatures", signatures, (rows) => rows.signatures)
]

/** Common writes of other requests of operators, players and staff. */
const requestParts = [
  part("settings_part", settings, (rows) => rows.settings),
  part("sessions_part", sessions, (rows) => rows.sessions),
  part("ended_sessions", endedSessions, (rows) => rows.endedSessions),
  part("audit_part", audit, (rows) => rows.audit)
]

const rareParts = [
  part("new_bonuses", newBonuses, (rows) => rows.newBonuses),
  part("changed_bonuses", changedBonuses, (rows) => rows.changedBonuses),
  part("redemptions_part", redemptions, (rows) => rows.redemptions),
  part("original_rounds_part", originalRounds, (rows) => rows.originalRounds),
  part("new_seeds", newSeeds, (rows) => rows.newSeeds),
  part("changed_seeds", changedSeeds, (rows) => rows.changedSeeds),
  part("notes_part", notes, (rows) => rows.notes),
  part("new_obligations", newObligations, (rows) => rows.newObligations),
  part("changed_obligations", changedObligations, (rows) => rows.changedObligations),
  part("acknowledgements_part", acknowledgements, (rows) => rows.acknowledgements),
  part("register_checks_part", registerChecks, (rows) => rows.registerChecks)
]

/** Writes of players for the first time; those that refer to players are checked when the statement ends. */
const birthParts = [
  { ...part("new_accounts", newAccounts, ({ born }) => born), counts: true as const },
  part("new_players", newPlayers, ({ births }) => births),
  part("imported_players_part", importedPlayers, ({ births }) => births),
  part("birth_events", birthEvents, ({ births }) => births.filter(({ birth }) => birth.event !== null))
]

/** Statements by their sections. */
const statementsOver = (money: ReadonlyArray<Part>, payouts: Part) => ({
  play: statementOf([...playParts, ...money]),
  payments: statementOf([...playParts, ...money, ...paymentParts]),
  requests: statementOf([...playParts, ...money, payouts, ...paymentParts, ...requestParts]),
  everything: statementOf([...playParts, ...money, payouts, ...paymentParts, ...requestParts, ...rareParts]),
  births: statementOf([
    ...playParts,
    ...money,
    payouts,
    ...paymentParts,
    ...requestParts,
    ...rareParts,
    ...birthParts
  ])
})

const plain = statementsOver(plainMoney, plainPayouts)
const withRates = statementsOver(convertedMoney, convertedPayouts)

const hasRareRows = (rows: CommitRows): boolean =>
  rows.newBonuses.length + rows.changedBonuses.length + rows.redemptions.length + rows.originalRounds.length +
      rows.newSeeds.length + rows.changedSeeds.length + rows.notes.length + rows.newObligations.length +
      rows.changedObligations.length + rows.acknowledgements.length + rows.registerChecks.length > 0

const hasRequestRows = (rows: CommitRows): boolean =>
  rows.settings.length + rows.changedPayments.length + rows.sessions.length + rows.endedSessions.length +
      rows.audit.length > 0

const hasPaymentRows = (rows: CommitRows): boolean =>
  rows.newPayments.length + rows.events.length + rows.replies.length + rows.signatures.length > 0

const statementFor = (rows: CommitRows): Statement => {
  const statements = rows.rates.length === 0 ? plain : withRates
  return rows.births.length > 0
    ? statements.births
    : hasRareRows(rows)
    ? statements.everything
    : hasRequestRows(rows)
    ? statements.requests
    : hasPaymentRows(rows)
    ? statements.payments
    : statements.play
}

export interface CommitStatement {
  readonly text: string
  readonly parameters: ReadonlyArray<PgTypes.Parameter>
  readonly hasEvents: boolean
  /** Link that the commit adds to the chain; undefined when it writes neither entries nor audit lines. */
  readonly link: Link | undefined
}

const statement = (rows: CommitRows, { parameters, text }: Statement): CommitStatement => ({
  link: rows.links[0],
  hasEvents: rows.events.length > 0 || rows.births.some(({ birth }) => birth.event !== null),
  text,
  parameters: parameters(rows)
})

/** Statement that commits the units, with its parameters. */
export const commitStatement = (
  units: ReadonlyArray<PlayerUnit>,
  sealing: Sealing,
  toLink: (rows: LinkedRows) => Link
): CommitStatement => {
  const rows = rowsOf(units, sealing)
  if (rows.entries.length + rows.audit.length > 0) rows.links.push(toLink(rowsOfCommit(rows.entries, rows.audit)))
  return statement(rows, statementFor(rows))
}

/** Every statement with empty parameters: running them plans them. */
export const emptyStatements = (sealing: Sealing): ReadonlyArray<CommitStatement> => {
  const rows = rowsOf([], sealing)
  return [plain, withRates].flatMap(Object.values<Statement>).map((one) => statement(rows, one))
}
