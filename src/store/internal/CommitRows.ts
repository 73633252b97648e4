/** Rows of a group commit, collected from the changes of the players in it. */
import type { Link } from "../../chain/Chain.ts"
import type { AuditLine, SaltedLine } from "../../chain/Lines.ts"
import type {
  AuditRecord,
  Change,
  EndedSession,
  Entry,
  Event,
  GameSession,
  OriginalRound,
  PaymentChange,
  PlayerNote,
  PlayerSettings,
  Redemption,
  RoundChange
} from "../../domain/state/Change.ts"
import type { NewAcknowledgement, ObligationChange } from "../../domain/state/Obligation.ts"
import type { NewRegisterCheck } from "../../domain/state/RegisterCheck.ts"
import { replyPurpose, type StoredReply } from "../../domain/state/Idempotency.ts"
import type { SeedChange } from "../../domain/state/PlayerSeeds.ts"
import type { Player } from "../../domain/state/Player.ts"
import { roundKey, type Transaction } from "../../domain/state/Rounds.ts"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import type { Unit } from "../../engine/Machine.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { type BirthRow, toBirthRow } from "./BirthSections.ts"
import type { BonusRow } from "./BonusSections.ts"
import { mergeSeeds } from "./OriginalSections.ts"
import { type NewPayment, toNewPayment } from "./PaymentSections.ts"
import type { SettingsRow } from "./SettingsSections.ts"
import { type PlayersRow, type RatePair, RatePairs, reportRows, type SumsRow } from "./ReportSections.ts"

export type PlayerUnit = Unit<Player, Change>

export interface RoundRow extends RoundChange {
  readonly playerId: number
  readonly operatorId: number
}

/** Provider transaction with the operator of its player. */
export interface TransactionRow {
  readonly transaction: Transaction
  readonly operatorId: number
}

/** Session with the operator of its player. */
export interface SessionRow {
  readonly session: GameSession
  readonly operatorId: number
}

/** Encrypts a text; only the same purpose can decrypt it. */
type Seal = (purpose: string, plain: string) => Uint8Array

/** Encryption functions of a commit, and the salt of what the chain holds by a digest. */
export interface Sealing {
  readonly seal: Seal
  readonly personal: PersonalData["Service"]
  readonly salted: <Line extends AuditLine>(line: Line) => Line & SaltedLine
}

/** Reply as stored: in clear or, when it holds a secret, sealed. */
export interface ReplyRow {
  readonly reply: StoredReply
  readonly sealed: Uint8Array | null
}

const toReplyRow = (reply: StoredReply, seal: Seal): ReplyRow => ({
  reply,
  sealed: reply.isSecret === true ? seal(replyPurpose(reply), reply.body) : null
})

/** Rows of a commit, by section. */
export interface CommitRows {
  readonly units: ReadonlyArray<PlayerUnit>
  /** Units of players who are there already. */
  readonly known: ReadonlyArray<PlayerUnit>
  /** Units of players who are written for the first time. */
  readonly born: ReadonlyArray<PlayerUnit>
  readonly births: Array<BirthRow>
  readonly entries: Array<Entry>
  readonly transactions: Array<TransactionRow>
  readonly newRounds: Array<RoundRow>
  readonly changedRounds: Array<RoundRow>
  readonly sums: ReadonlyArray<SumsRow>
  readonly visits: ReadonlyArray<PlayersRow>
  readonly links: Array<Link>
  readonly rates: ReadonlyArray<RatePair>
  readonly settings: Array<SettingsRow>
  readonly newPayments: Array<NewPayment>
  readonly changedPayments: Array<PaymentChange>
  readonly sessions: Array<SessionRow>
  readonly endedSessions: Array<EndedSession>
  readonly events: Array<Event>
  readonly audit: Array<AuditRecord & SaltedLine>
  readonly replies: Array<ReplyRow>
  readonly signatures: Array<AcceptedSignature>
  readonly newBonuses: Array<BonusRow>
  readonly changedBonuses: Array<BonusRow>
  readonly redemptions: Array<Redemption>
  readonly originalRounds: Array<OriginalRound>
  readonly newSeeds: Array<SeedChange>
  readonly changedSeeds: Array<SeedChange>
  readonly notes: Array<PlayerNote>
  readonly newObligations: Array<ObligationChange>
  readonly changedObligations: Array<ObligationChange>
  readonly acknowledgements: Array<NewAcknowledgement>
  readonly registerChecks: Array<NewRegisterCheck>
  /** Index of a player's currency pair among the rates; null in the operator's currency. */
  readonly pairOf: (playerId: number) => number | null
}

const append = <A>(target: Array<A>, more: ReadonlyArray<A>): void => {
  for (const one of more) target.push(one)
}

/** Whether a unit writes its player for the first time. */
export const isBirth = ({ changes }: Pick<PlayerUnit, "changes">): boolean =>
  changes.some(({ birth }) => birth !== null)

/** Adds the rounds of a unit: one written by several decisions is written once, in its last state. */
const addRounds = (rows: CommitRows, { after: { operatorId }, changes, key: playerId }: PlayerUnit): void => {
  const first = changes[0]
  if (first !== undefined && changes.length === 1 && first.rounds.length <= 1) {
    for (const { isNew, round } of first.rounds) {
      ;(isNew ? rows.newRounds : rows.changedRounds).push({ playerId, operatorId, round, isNew })
    }
    return
  }
  const rounds = new Map<string, RoundRow>()
  for (const change of changes) {
    for (const { isNew, round } of change.rounds) {
      const key = roundKey(round.gameId, round.roundId)
      const earlier = rounds.get(key)
      // two claims that the same round is new conflict: both are kept, and the unique index rejects them
      if (isNew && earlier?.isNew === true) rows.newRounds.push(earlier)
      rounds.set(key, { playerId, operatorId, round, isNew: isNew || earlier?.isNew === true })
    }
  }
  for (const row of rounds.values()) (row.isNew ? rows.newRounds : rows.changedRounds).push(row)
}

const noUnits: ReadonlyArray<PlayerUnit> = []

/** Rows of the units. Units are ordered by key, so that two services cannot deadlock. */
export const rowsOf = (units: ReadonlyArray<PlayerUnit>, sealing: Sealing): CommitRows => {
  const { personal, salted, seal } = sealing
  const ordered = [...units].sort((a, b) => a.key - b.key)
  const pairs = new RatePairs()
  const report = reportRows(ordered, pairs)
  const pairByPlayer = new Map<number, number>()
  const payments = new Map<number, PaymentChange>()
  const obligations = new Map<number, ObligationChange>()
  const bonuses = new Map<number, BonusRow>()
  const seeds = new Map<number, SeedChange>()
  const hasBirths = ordered.some(isBirth)
  const rows: CommitRows = {
    units: ordered,
    known: hasBirths ? ordered.filter((unit) => !isBirth(unit)) : ordered,
    born: hasBirths ? ordered.filter(isBirth) : noUnits,
    births: [],
    entries: [],
    transactions: [],
    newRounds: [],
    changedRounds: [],
    sums: report.sums,
    visits: report.players,
    links: [],
    rates: pairs.all,
    settings: [],
    newPayments: [],
    changedPayments: [],
    sessions: [],
    endedSessions: [],
    events: [],
    audit: [],
    replies: [],
    signatures: [],
    newBonuses: [],
    changedBonuses: [],
    redemptions: [],
    originalRounds: [],
    newSeeds: [],
    changedSeeds: [],
    notes: [],
    newObligations: [],
    changedObligations: [],
    acknowledgements: [],
    registerChecks: [],
    pairOf: (playerId) => pairByPlayer.get(playerId) ?? null
  }
  for (const unit of ordered) {
    const { operatorId } = unit.after
    const pair = pairs.placeOf(unit.after)
    if (pair !== null) pairByPlayer.set(unit.key, pair)
    let lastSettings: PlayerSettings | null = null
    for (const change of unit.changes) {
      if (change.birth !== null) rows.births.push(toBirthRow(unit, change.birth, sealing))
      append(rows.entries, change.entries)
      for (const transaction of change.transactions) rows.transactions.push({ transaction, operatorId })
      for (const payment of change.payments) {
        const earlier = payments.get(payment.payment.id)
        payments.set(payment.payment.id, { ...payment, isNew: payment.isNew || earlier?.isNew === true })
      }
      for (const { bonus, imported: before, isNew, note } of change.bonuses) {
        const earlier = bonuses.get(bonus.id)
        const imported = before ?? earlier?.imported
        bonuses.set(bonus.id, {
          bonus,
          isNew: isNew || earlier?.isNew === true,
          note: note ?? earlier?.note ?? null,
          ...(imported === undefined ? {} : { imported }),
          playerId: unit.key,
          operatorId
        })
      }
      append(rows.redemptions, change.redemptions)
      append(rows.originalRounds, change.originalRounds)
      for (const seed of change.seeds) seeds.set(seed.id, mergeSeeds(seeds.get(seed.id), seed))
      lastSettings = change.settings ?? lastSettings
      for (const session of change.sessions) rows.sessions.push({ session, operatorId })
      append(rows.endedSessions, change.endedSessions)
      append(rows.events, change.events)
      for (const line of change.audit) rows.audit.push(salted(line))
      append(rows.notes, change.notes)
      for (const one of change.obligations) {
        const { id } = one.obligation
        obligations.set(id, { ...one, isNew: one.isNew || obligations.get(id)?.isNew === true })
      }
      append(rows.acknowledgements, change.acknowledgements)
      append(rows.registerChecks, change.registerChecks)
      append(rows.signatures, change.signatures)
      for (const reply of change.replies) rows.replies.push(toReplyRow(reply, seal))
    }
    if (lastSettings !== null && !(hasBirths && isBirth(unit))) {
      rows.settings.push({ ...lastSettings, playerId: unit.key, operatorId })
    }
    addRounds(rows, unit)
  }
  const toNew = toNewPayment(personal)
  for (const payment of payments.values()) {
    if (payment.isNew) rows.newPayments.push(toNew(payment))
    else rows.changedPayments.push(payment)
  }
  for (const row of obligations.values()) (row.isNew ? rows.newObligations : rows.changedObligations).push(row)
  for (const row of bonuses.values()) (row.isNew ? rows.newBonuses : rows.changedBonuses).push(row)
  for (const seed of seeds.values()) (seed.sealed === null ? rows.changedSeeds : rows.newSeeds).push(seed)
  return rows
}
