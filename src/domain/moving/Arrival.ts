/** Imported players: initial state, and the opening entries, bonuses and withdrawal requests (docs/decisions/0068-moving-in.md). */
import { Schema, Struct } from "effect"
import { limitFields } from "../LimitFields.ts"
import { exclusionScopes, exclusionSources, exclusionTypes } from "../jurisdiction/ExclusionPeriods.ts"
import { dayNumber, noRules } from "../jurisdiction/Rules.ts"
import { movedCounters } from "../limit/LimitUsage.ts"
import { newPayment, paymentFields } from "../payment/Payments.ts"
import { isAmount, isBalance, maxAmount, maxBalance } from "../Money.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"
import { type Birth, BornMarketing, BornTexts, ImportedFacts } from "../state/Birth.ts"
import { ConsentStatement } from "../state/ConsentStatement.ts"
import { type ActiveBonus, asActivated, asPending, dayMs, GrantedBonus, type PendingBonus } from "../state/Bonus.ts"
import { type BonusChange, type Change, type Entry, noChange, type Payment } from "../state/Change.ts"
import { answer, type Context, type Decision, missing, refused, type Step } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { emptyCounters, setBits } from "../state/Limits.ts"
import {
  emptyPlayer,
  type Exclusion,
  exclusionOf,
  kycStatuses,
  type Player,
  playerStatuses,
  Restrictions,
  withExtras
} from "../state/Player.ts"

/** Sums of the windows of limits; absent: none. Minor units. */
const UsedSums = Schema.Struct({ at: Schema.Number, ...Struct.Record(movedCounters, Schema.Number) })

export type UsedSums = typeof UsedSums.Type

/** Terms of a bonus; its entry of the catalogue is the run's. */
const terms = Struct.pick(GrantedBonus.fields, [
  "bonusId",
  "name",
  "type",
  "amount",
  "wagerRequirement",
  "maxBet",
  "maxConversion"
])

/** A bonus that runs. Minor units, epoch milliseconds. */
const ArrivingBonus = Schema.Struct({
  ...terms,
  balance: Schema.Number,
  wagered: Schema.Number,
  startedAt: Schema.Number,
  expiresAt: Schema.Number
})

/** A bonus that waits for its turn. Minor units, epoch milliseconds. */
const ArrivingPending = Schema.Struct({
  ...terms,
  validDays: GrantedBonus.fields.validDays,
  createdAt: Schema.Number,
  /** Null: it has never run. */
  interrupted: Schema.NullOr(Schema.Struct({
    held: Schema.Number,
    wagered: Schema.Number,
    startedAt: Schema.Number,
    remainingMs: Schema.Number
  }))
})

/** Plain data, which travels between nodes. Minor units, epoch milliseconds. */
export const Arrival = Schema.Struct({
  operatorId: Schema.Number,
  /** Name of the batch, for the audit log. */
  batch: Schema.String,
  /** Audit log label of the actor. */
  actor: Schema.String,
  currency: Schema.String,
  baseCurrency: Schema.String,
  jurisdiction: Schema.String,
  termsVersion: Schema.NullOr(Schema.String),
  birthDate: Schema.String,
  country: Schema.String,
  language: Schema.String,
  isTest: Schema.Boolean,
  texts: BornTexts,
  marketing: BornMarketing,
  personalId: Schema.NullOr(Schema.String),
  documentNumber: Schema.NullOr(Schema.String),
  passwordHash: Schema.String,
  createdAt: Schema.Number,
  lastLoginAt: Schema.NullOr(Schema.Number),
  status: Schema.Literals(playerStatuses),
  kycStatus: Schema.Literals(kycStatuses),
  documentExpiresAt: Schema.NullOr(Schema.Number),
  restrictions: Restrictions,
  balance: Schema.Number,
  bonus: Schema.NullOr(ArrivingBonus),
  pendingBonuses: Schema.Array(ArrivingPending),
  /** What was last said of consents to marketing; null: what `marketing` says. */
  consents: Schema.NullOr(Schema.Array(ConsentStatement)),
  netDepositCap: Schema.NullOr(Schema.Number),
  limits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number)),
  /** Those of them that were chosen for the player. */
  limitsChosen: Schema.Array(Schema.Literals(limitFields)),
  /** The player's own interval between reality checks. */
  realityCheck: Schema.NullOr(Schema.String),
  /** The jurisdiction that the player was moved from lately, and until when what is stricter there counts. */
  moved: Schema.NullOr(Schema.Struct({ from: Schema.String, until: Schema.Number })),
  pendingLimits: Schema.Array(Schema.Struct({
    field: Schema.Literals(limitFields),
    value: Schema.NullOr(Schema.Number),
    effectiveAt: Schema.Number,
    confirmUntil: Schema.NullOr(Schema.Number)
  })),
  exclusion: Schema.NullOr(Schema.Struct({
    type: Schema.Literals(exclusionTypes),
    since: Schema.Number,
    until: Schema.NullOr(Schema.Number),
    source: Schema.NullOr(Schema.Literals(exclusionSources)),
    scope: Schema.NullOr(Schema.Literals(exclusionScopes)),
    returnFrom: Schema.NullOr(Schema.Number),
    returnAt: Schema.NullOr(Schema.Number),
    returnWait: Schema.NullOr(Schema.String)
  })),
  used: Schema.NullOr(UsedSums),
  imported: ImportedFacts,
  /** Whether `player.registered` is sent. */
  sendsEvents: Schema.Boolean
})

export type Arrival = typeof Arrival.Type

/** The exclusion that a player arrives with. */
export const arrivingExclusion = ({ exclusion }: Pick<Arrival, "exclusion">): Exclusion | null =>
  exclusion === null ? null : exclusionOf(exclusion)

/** The player before the first commit: no entry, no time of one. */
export const arrivingPlayer = (id: number, arrival: Arrival): Player => ({
  ...emptyPlayer,
  id,
  operatorId: arrival.operatorId,
  currency: arrival.currency,
  baseCurrency: arrival.baseCurrency,
  // replaced by those that count, as of any player that is loaded
  rules: { ...noRules, code: arrival.jurisdiction, moved: arrival.moved },
  termsVersion: arrival.termsVersion,
  limitsReviewed: Math.floor(arrival.createdAt / 1000),
  fundsNoticed: Math.floor(arrival.createdAt / 1000),
  birthDay: dayNumber(arrival.birthDate),
  country: arrival.country,
  language: arrival.language,
  isTest: arrival.isTest,
  status: arrival.status,
  restrictions: arrival.restrictions,
  kycStatus: arrival.kycStatus,
  documentExpiresAt: arrival.documentExpiresAt,
  exclusion: arrivingExclusion(arrival),
  limits: arrival.limits,
  pendingLimits: arrival.pendingLimits.map(({ confirmUntil, ...raise }) => ({
    ...raise,
    ...(confirmUntil === null ? {} : { confirmUntil })
  })),
  limitsSet: setBits(arrival.limitsChosen),
  netDepositCap: arrival.netDepositCap,
  extras: withExtras({ extras: null }, { realityCheck: arrival.realityCheck }),
  counters: arrival.used === null ? emptyCounters : { ...emptyCounters, ...arrival.used },
  withdrawn: arrival.imported.unverifiedWithdrawn
})

const isBorn = ({ realUpdatedAt }: Player): boolean => realUpdatedAt !== 0

const taken = refuseFields({ external_id: ["or another unique field has been taken in the meantime"] })

/** Opening entry of a wallet: a correction, so that no report takes it for a deposit. */
const opening = (
  player: Player,
  of: Pick<Entry, "id" | "seq" | "wallet" | "amount" | "playerBonusId">,
  now: number
): Entry => ({
  ...of,
  playerId: player.id,
  operatorId: player.operatorId,
  type: of.wallet === "bonus" ? "bonus_correction_up" : of.amount > 0 ? "correction_up" : "correction_down",
  balanceAfter: of.amount,
  currency: player.currency,
  paymentRequestId: null,
  gameId: null,
  gameRoundId: null,
  createdAt: now
})

const bonusOf = (id: number, bonus: NonNullable<Arrival["bonus"]>): ActiveBonus => ({
  id,
  bonusId: bonus.bonusId,
  name: bonus.name,
  type: bonus.type,
  amount: bonus.amount,
  wagerRequirement: bonus.wagerRequirement,
  maxBet: bonus.maxBet,
  maxConversion: bonus.maxConversion,
  validDays: Math.max(1, Math.ceil((bonus.expiresAt - bonus.startedAt) / dayMs)),
  contributions: {},
  createdAt: bonus.startedAt,
  wagered: bonus.wagered,
  startedAt: bonus.startedAt,
  openRounds: 0,
  openUntil: null,
  restored: 0,
  short: 0,
  expiresAt: bonus.expiresAt
})

/** All are of the run's own entry of the catalogue. */
const grantsOf = (bonuses: ReadonlyArray<{ readonly bonusId: number }>): Player["bonusGrants"] => {
  const [first] = bonuses
  return first === undefined ? {} : { [first.bonusId]: bonuses.length }
}

/** Rounds of before are not known here: none of them is open. */
const pendingOf = (id: number, { interrupted, ...bonus }: typeof ArrivingPending.Type): PendingBonus => ({
  ...bonus,
  id,
  contributions: {},
  interrupted: interrupted === null ? null : { ...interrupted, openRounds: 0, openUntil: null, restored: 0, short: 0 }
})

/** The ledger has nothing of what a bonus holds until that runs again. */
const pendingChange = (bonus: PendingBonus): BonusChange => ({
  bonus: asPending(bonus),
  isNew: true,
  note: null,
  ...(bonus.interrupted === null ? {} : { imported: { balance: 0, wagered: bonus.interrupted.wagered } })
})

/**
 * First step of a player who arrives, on {@link arrivingPlayer}. A player who is there already came with an earlier try of it. `event`: data of
 * `player.registered`.
 */
export const arriveStep =
  (arrival: Arrival, event: { readonly [field: string]: unknown } | null) =>
  (player: Player, context: Context): Decision<undefined, Refusal<"VALIDATION_FAILED">> => {
    if (isBorn(player)) return answer(player, undefined)
    // asked for again with what the store holds: another one has its names
    if (context.known !== undefined) return refused(taken)
    const { now } = context
    let id = context.firstId
    let seq = 0
    const entries: Array<Entry> = []
    const real = arrival.balance
    if (real !== 0) {
      entries.push(opening(player, { id: id++, seq: ++seq, wallet: "real", amount: real, playerBonusId: null }, now))
    }
    // one that was interrupted takes the place of a later one: ids are in the order of grants
    const earlier = arrival.pendingBonuses.findLastIndex(({ interrupted }) => interrupted !== null) + 1
    const waitingBefore = arrival.pendingBonuses.slice(0, earlier).map((bonus) => pendingOf(id++, bonus))
    const active = arrival.bonus === null ? null : bonusOf(id++, arrival.bonus)
    const pendingBonuses = [
      ...waitingBefore,
      ...arrival.pendingBonuses.slice(earlier).map((bonus) => pendingOf(id++, bonus))
    ]
    const bonus = arrival.bonus?.balance ?? 0
    if (active !== null && bonus !== 0) {
      entries.push(
        opening(player, { id: id++, seq: ++seq, wallet: "bonus", amount: bonus, playerBonusId: active.id }, now)
      )
    }
    const birth: Birth = {
      id: player.id,
      operatorId: player.operatorId,
      texts: arrival.texts,
      marketing: arrival.marketing,
      consents: arrival.consents,
      numbers: { personalId: arrival.personalId, documentNumber: arrival.documentNumber },
      birthDate: arrival.birthDate,
      createdAt: arrival.createdAt,
      lastLoginAt: arrival.lastLoginAt,
      passwordHash: arrival.passwordHash,
      imported: arrival.imported,
      event: event === null ? null : { id: id++, data: event }
    }
    const change: Change = {
      ...noChange,
      birth,
      entries,
      bonuses: [
        ...active === null ? [] : [{
          bonus: asActivated(active),
          isNew: true,
          note: null,
          imported: { balance: bonus, wagered: active.wagered }
        }],
        ...pendingBonuses.map(pendingChange)
      ],
      audit: [{
        id: id++,
        at: now,
        actor: arrival.actor,
        action: "player.import",
        operatorId: player.operatorId,
        playerId: player.id,
        subject: `import:${arrival.imported.runId}`,
        before: null,
        after: { balance: real, bonus_balance: bonus },
        reason: arrival.batch
      }]
    }
    return {
      _tag: "Accept",
      state: {
        ...player,
        real,
        bonus,
        realUpdatedAt: now,
        bonusUpdatedAt: now,
        entrySeq: seq,
        walletSeq: seq === 0 ? 0 : 1,
        activeBonus: active,
        pendingBonuses,
        bonusGrants: grantsOf([...active === null ? [] : [active], ...pendingBonuses])
      },
      reply: undefined,
      change,
      idsUsed: id - context.firstId
    }
  }

/** A withdrawal that was requested elsewhere, and is open. Minor units, epoch milliseconds. */
export const ArrivingWithdrawal = Schema.Struct({
  amount: Schema.Number,
  paymentMethod: Schema.String,
  externalReference: Schema.String,
  createdAt: Schema.Number,
  runId: Schema.Number,
  batch: Schema.String,
  actor: Schema.String,
  sendsEvents: Schema.Boolean
})

export type ArrivingWithdrawal = typeof ArrivingWithdrawal.Type

type WithdrawalArrivalRefusal = Refusal<"DUPLICATE_TRANSACTION" | "VALIDATION_FAILED">

const isSame = (payment: Payment, player: Player, { amount, createdAt, paymentMethod }: ArrivingWithdrawal): boolean =>
  payment.type === "withdrawal" && payment.playerId === player.id && payment.amount === amount &&
  payment.paymentMethod === paymentMethod && payment.createdAt === createdAt

/**
 * Credits the amount by a correction and holds it by the request's own entry: the balance stays as it is. Counters stay as well: `used` of the player's
 * line has what was requested.
 */
export const arrivingWithdrawalStep =
  (withdrawal: ArrivingWithdrawal): Step<"arrived" | "known", WithdrawalArrivalRefusal> =>
  (player, context): Decision<"arrived" | "known", WithdrawalArrivalRefusal> => {
    const { amount, externalReference } = withdrawal
    const earlier = context.known?.payments.get(externalReference)
    if (earlier === undefined) return missing({ externalReference })
    if (earlier !== null) {
      return isSame(earlier, player, withdrawal)
        ? answer(player, "known")
        : refused(refuse("DUPLICATE_TRANSACTION", "differs", { external_reference: externalReference }))
    }
    if (player.real < 0) return refused(refuseFields({ amount: ["cannot be held while the balance is below zero"] }))
    if (!isBalance(player.real + amount) || !isAmount(player.withdrawn + amount)) {
      return refused(
        refuseFields({
          amount: [
            `must keep the balance at or below ${maxBalance}, and the sum of all withdrawals at or below ${maxAmount}`
          ]
        })
      )
    }
    const draft = new Draft(player, context)
    const id = draft.takeId()
    draft.post("real", "correction_up", amount, {})
    draft.post("real", "withdrawal", -amount, { paymentRequestId: id })
    draft.walletSeq++
    const payment = newPayment(player, {
      id,
      type: "withdrawal",
      status: "new",
      amount,
      paymentMethod: withdrawal.paymentMethod,
      externalReference,
      createdAt: withdrawal.createdAt,
      updatedAt: context.now
    })
    if (withdrawal.sendsEvents) draft.emit("withdrawal.requested", { payment: paymentFields(payment) })
    const audit = {
      id: draft.takeId(),
      at: context.now,
      actor: withdrawal.actor,
      action: "player.import",
      operatorId: player.operatorId,
      playerId: player.id,
      subject: `import:${withdrawal.runId}`,
      before: null,
      after: { withdrawal: amount, payment_request_id: id },
      reason: withdrawal.batch
    }
    return draft.accept(
      "arrived",
      { payments: [{ payment, isNew: true }], audit: [audit] },
      { withdrawn: player.withdrawn + amount }
    )
  }
