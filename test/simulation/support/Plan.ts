/**
 * Plan of one run: requests with their callers and times, and faults. Every item of a plan is independent, with a random source of its
 * own, so that removing one leaves the rest unchanged.
 */
import type { ExclusionPeriod } from "../../../src/domain/jurisdiction/ExclusionPeriods.ts"
import type { LimitField } from "../../../src/domain/LimitFields.ts"
import type { PaymentTransitionName } from "../../../src/domain/payment/PaymentTransitions.ts"
import type { KycStatus, PlayerStatus } from "../../../src/domain/state/Player.ts"
import type { Adjustment, Bet, Closing, Rollback, Win } from "../../../src/domain/settlement/Settlement.ts"
import { bonuses, games, operatorOfPlayer, playerIds, vendors } from "./Fixture.ts"
import { type Chance, chanceOf } from "../../kit/Chance.ts"

/** The bounds of a service (`ActorsOptions`). */
export interface ServicePlan {
  readonly maxResident: number
  readonly maxMailbox: number
  readonly maxGroup: number
  readonly maxCommit: number
  readonly idleMinutes: number
}

/**
 * Topology: one service; a primary and a standby that takes over when it fails or is replaced; two at once, for the
 * same players; or the nodes of a cluster, each player owned by one of them, any request at any of them.
 */
export const topologies = ["one", "standby", "both", "nodes"] as const
export type Topology = typeof topologies[number]

/** A message of a vendor, as its codec would make it. */
export type VendorAction = Bet | Win | Rollback | Adjustment

/** A stake on a round. */
export interface Stake {
  readonly tx: string
  readonly gameId: number
  readonly round: string
  readonly amount: number
  readonly closes: boolean
}

export interface Payout {
  readonly tx: string
  readonly betTx: string
  readonly gameId: number
  readonly round: string
  readonly amount: number
  readonly closes: boolean
}

export interface TakeBack {
  readonly tx: string
  readonly target: string
  /** Game of its target, which determines the provider. */
  readonly gameId: number
}

type Move =
  | ({ readonly kind: "bet" } & Stake)
  | ({ readonly kind: "win" } & Payout)
  | ({ readonly kind: "rollback" } & TakeBack)

export type What =
  | Move
  | ({ readonly kind: "bet_win"; readonly winTx: string; readonly winAmount: number } & Stake)
  | { readonly kind: "batch"; readonly moves: ReadonlyArray<Move> }
  | { readonly kind: "close"; readonly gameId: number; readonly round: string }
  | { readonly kind: "promo_win"; readonly tx: string; readonly amount: number; readonly isTournament: boolean }
  /** A batch in the protocol of a vendor. */
  | { readonly kind: "vendor"; readonly providerId: number; readonly actions: ReadonlyArray<VendorAction> }
  | { readonly kind: "balance" }
  | { readonly kind: "status"; readonly tx: string; readonly gameId: number }
  | { readonly kind: "deposit"; readonly amount: number; readonly reference: string; readonly hasKey: boolean }
  | {
    readonly kind: "withdraw"
    readonly amount: number
    readonly reference: string | null
    readonly hasKey: boolean
  }
  | { readonly kind: "limits"; readonly field: LimitField; readonly value: number | null }
  | { readonly kind: "exclude"; readonly period: ExclusionPeriod; readonly hasKey: boolean }
  | { readonly kind: "account"; readonly status: PlayerStatus }
  | { readonly kind: "grant"; readonly bonusId: number }
  | { readonly kind: "redeem"; readonly code: string }
  | { readonly kind: "launch"; readonly gameId: number }
  | { readonly kind: "view"; readonly isStranger: boolean }
  /** Of the payment that another action created. */
  | { readonly kind: "move"; readonly of: string; readonly move: PaymentTransitionName; readonly staff: string }
  | { readonly kind: "correct"; readonly amount: number }
  | { readonly kind: "kyc"; readonly status: KycStatus; readonly documentDays: number | null }
  | { readonly kind: "restrict"; readonly canBet: boolean; readonly canDeposit: boolean }
  /** Of the bonus that another action was granted. */
  | { readonly kind: "cancel_bonus"; readonly of: string }
  | { readonly kind: "job"; readonly job: "accounts" | "bonuses" | "idempotency-keys" }

export interface Action {
  readonly id: string
  /** Milliseconds after the beginning. */
  readonly at: number
  readonly playerId: number
  readonly what: What
  /** Number of repetitions although it was answered. */
  readonly repeats: number
  /** Number of attempts of a bet before its rollback. */
  readonly patience: number
}

/** Faults last from `at`, in milliseconds after the beginning, for `forMs`. */
export interface StoreTrouble {
  readonly kind: "store"
  readonly id: string
  readonly at: number
  readonly forMs: number
  readonly probability: number
  readonly fates: ReadonlyArray<readonly ["refused" | "cut" | "unheard" | "late" | "slow" | "silent" | "busy", number]>
}

export interface NetworkTrouble {
  readonly kind: "network"
  readonly id: string
  readonly at: number
  readonly forMs: number
  readonly drop: number
  readonly duplicate: number
  readonly slow: number
}

/** A service loses power after a number of further tasks, is stopped gracefully, or is replaced by the other. */
export interface Outage {
  readonly kind: "crash" | "stop" | "failover"
  readonly id: string
  readonly at: number
  readonly forMs: number
  readonly tasks: number
  readonly isPrimary: boolean
  /** Index of the node, among nodes. */
  readonly host: number
  /** Of a crash: the machine loses power, so that its connections are not closed. */
  readonly isSilent: boolean
}

/**
 * A node is paused and resumed; it and another one, or it and the database (-1), lose their connection; its database sessions are
 * ended; its wall clock is set.
 */
export interface NodeTrouble {
  readonly kind: "pause" | "cut" | "session" | "clock"
  readonly id: string
  readonly at: number
  readonly forMs: number
  readonly tasks: number
  readonly host: number
  readonly other: number
  readonly shiftMs: number
  /** Of a pause: it begins when the next commit is to be sent. */
  readonly isAtCommit: boolean
}

/** A version of the players' profile begins: a higher cap on stakes counts from some time later. */
export interface ProfileChange {
  readonly kind: "profile"
  readonly id: string
  readonly at: number
  readonly forMs: number
  readonly cap: number
  readonly looserAfterMs: number
}

/** The register excludes a player for a time, or answers nobody, or slowly. */
export interface RegisterTrouble {
  readonly kind: "register"
  readonly id: string
  readonly at: number
  readonly forMs: number
  readonly effect: "excludes" | "is silent" | "is slow"
  /** Whom it excludes. */
  readonly playerId: number
}

export type Fault = StoreTrouble | NetworkTrouble | Outage | NodeTrouble | ProfileChange | RegisterTrouble

export interface Plan {
  readonly seed: number
  /** Epoch milliseconds. */
  readonly beginning: number
  readonly topology: Topology
  readonly service: ServicePlan
  /** Clocks of the nodes. */
  readonly nodes: ReadonlyArray<{ readonly speed: number; readonly wallOffset: number }>
  /** Lease in ms: time for which a silent node keeps its players. */
  readonly leaseMs: number
  /** Whether a restarted node keeps its address. */
  readonly keepsAddresses: boolean
  /** Opening balance of each player, in minor units. */
  readonly opening: number
  /** Of players under a profile with a register: the opening cap on a stake, in minor units; null where players are under no profile. */
  readonly licence: { readonly cap: number } | null
  /** Maximum latency of a database operation in ms, each way. */
  readonly storeMs: number
  /** Average number of operations after which a fiber yields; 0: never. */
  readonly pauseEvery: number
  readonly network: Pick<NetworkTrouble, "drop" | "duplicate" | "slow">
  readonly actions: ReadonlyArray<Action>
  readonly faults: ReadonlyArray<Fault>
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Midday, and shortly before the end of a week, of a month, of a year. */
const beginnings: ReadonlyArray<readonly [number, number]> = [
  [Date.UTC(2026, 10, 18, 12), 5],
  [Date.UTC(2026, 10, 22, 23, 59, 58), 1],
  [Date.UTC(2026, 10, 30, 23, 59, 57), 1],
  [Date.UTC(2026, 11, 31, 23, 59, 59), 1]
]

const kinds: ReadonlyArray<readonly [What["kind"], number]> = [
  ["bet", 26],
  ["win", 12],
  ["rollback", 8],
  ["bet_win", 4],
  ["batch", 4],
  ["close", 2],
  ["promo_win", 2],
  ["vendor", 14],
  ["balance", 4],
  ["status", 1],
  ["deposit", 8],
  ["withdraw", 5],
  ["limits", 2],
  ["exclude", 0.5],
  ["account", 1],
  ["grant", 4],
  ["redeem", 2],
  ["launch", 1.5],
  ["view", 5],
  ["move", 6],
  ["correct", 1],
  ["kyc", 1.5],
  ["restrict", 1],
  ["cancel_bonus", 1],
  ["job", 3]
]

/** Among nodes: more actions without retries, and more that reveal stale state. */
const moreOfNodes: { readonly [Kind in What["kind"]]?: number } = { correct: 6, view: 3, balance: 3 }

const limitChoices: ReadonlyArray<readonly [LimitField, ReadonlyArray<number>]> = [
  ["max_single_bet", [80, 150]],
  ["max_daily_bet", [300, 600]],
  ["max_weekly_bet", [500, 900]],
  ["max_monthly_bet", [700]],
  ["casino_max_daily_bet", [350]],
  ["max_daily_loss", [150, 300]],
  ["max_weekly_loss", [300]],
  ["max_single_deposit", [400]],
  ["max_daily_deposit", [500, 900]],
  ["max_monthly_deposit", [1200]],
  ["max_balance", [2500]],
  ["max_session_minutes", [5]]
]

const kycStatuses: ReadonlyArray<KycStatus> = ["pending_review", "verified", "rejected", "expired"]

/** Targets left by the actions so far. */
interface Past {
  readonly stakes: Array<Stake & { readonly playerId: number }>
  readonly payouts: Array<Payout & { readonly playerId: number }>
  readonly payments: Array<{ readonly id: string; readonly playerId: number; readonly isDeposit: boolean }>
  readonly grants: Array<{ readonly id: string; readonly playerId: number }>
  readonly vendor: Array<{ readonly playerId: number; readonly action: VendorAction }>
}

/** One of the last few, most often the very last. */
const recent = <A>(chance: Chance, items: ReadonlyArray<A>): A | undefined =>
  items.length === 0
    ? undefined
    : items[items.length - 1 - Math.min(items.length - 1, chance.below(chance.pick([2, 4, 12])))]

const stakeOf = (chance: Chance, id: string, past: Past, playerId: number): Stake => {
  const earlier = recent(chance, past.stakes.filter((stake) => stake.playerId === playerId))
  const joins = earlier !== undefined && chance.happens(0.3)
  return {
    tx: id,
    gameId: joins ? earlier.gameId : chance.pick(games).id,
    round: joins ? earlier.round : `r${id}`,
    amount: chance.pick([10, 20, 50, 50, 100, 100, 200, 900]),
    closes: chance.happens(0.1)
  }
}

const payoutOf = (chance: Chance, id: string, stake: Stake): Payout => ({
  tx: id,
  betTx: stake.tx,
  gameId: stake.gameId,
  round: stake.round,
  amount: chance.pick([0, 10, 50, 150, 400]),
  closes: chance.happens(0.4)
})

/** One message of a vendor, mostly about earlier ones of its round. */
const vendorActionOf = (
  chance: Chance,
  tx: string,
  known: ReadonlyArray<VendorAction>,
  round: Pick<Adjustment, "policy" | "providerId" | "game" | "roundId">
): VendorAction => {
  const { policy, providerId } = round
  const message = { ...round, transactionId: tx, currency: "EUR" }
  const closesRound = chance.pick<Closing>([false, false, false, true, "when_settled"])
  const bets = known.filter((action) => action.action === "bet")
  const early = `${tx}-early`
  switch (chance.pickBy<VendorAction["action"]>([["bet", 5], ["win", 4], ["rollback", 4], ["adjust", 1]])) {
    case "bet": {
      // sometimes the bet of an earlier win or rollback
      const missed = known.flatMap((action) =>
        action.action === "rollback"
          ? [action.targetTransactionId]
          : action.action === "win"
          ? [action.betTransactionId ?? tx]
          : []
      ).filter((id) => id.endsWith("-early"))
      const transactionId = chance.happens(0.5) ? recent(chance, missed) ?? tx : tx
      const amount = chance.pick([10, 20, 50, 100])
      return { ...message, transactionId, action: "bet", amount, session: "none", closesRound }
    }
    case "win": {
      const bet = recent(chance, bets)?.transactionId ?? early
      const betTransactionId = chance.pick([bet, bet, null, early])
      return { ...message, action: "win", betTransactionId, amount: chance.pick([0, 10, 60, 300]), closesRound }
    }
    case "rollback": {
      const target = recent(chance, known)?.transactionId ?? early
      const targetTransactionId = chance.happens(0.85) ? target : early
      return { action: "rollback", policy, providerId, transactionId: tx, targetTransactionId, closesRound }
    }
    case "adjust":
      return { ...message, action: "adjust", amount: chance.pick([30, -10, -200]) }
  }
}

const vendorListOf = (chance: Chance, id: string, past: Past, playerId: number): Extract<What, { kind: "vendor" }> => {
  const own = past.vendor.filter((one) => one.playerId === playerId).map(({ action }) => action)
  const earlier = chance.happens(0.75)
    ? recent(chance, own.filter((action) => action.action !== "rollback"))
    : undefined
  const vendor = vendors.find(({ providerId }) => providerId === earlier?.providerId) ?? chance.pick(vendors)
  const roundId = earlier !== undefined && "roundId" in earlier ? earlier.roundId : `v${id}`
  const actions: Array<VendorAction> = []
  const count = chance.pick([1, 1, 1, 2, 3])
  for (let number = 0; number < count; number++) {
    const ofRound = [...own, ...actions].filter((action) =>
      action.providerId === vendor.providerId && (action.action === "rollback" || action.roundId === roundId)
    )
    actions.push(vendorActionOf(chance, `${id}v${number}`, ofRound, { ...vendor, roundId }))
  }
  return { kind: "vendor", providerId: vendor.providerId, actions }
}

const whatOf = (
  chance: Chance,
  kind: What["kind"],
  id: string,
  playerId: number,
  past: Past
): What | undefined => {
  const ownStakes = past.stakes.filter((stake) => stake.playerId === playerId)
  const ownPayouts = past.payouts.filter((payout) => payout.playerId === playerId)
  const stake = recent(chance, ownStakes)
  switch (kind) {
    case "bet":
      return { kind, ...stakeOf(chance, id, past, playerId) }
    case "bet_win":
      return {
        kind,
        ...stakeOf(chance, id, past, playerId),
        winTx: `${id}w`,
        winAmount: chance.pick([0, 20, 100])
      }
    case "win":
      return stake === undefined ? undefined : { kind, ...payoutOf(chance, id, stake) }
    case "rollback": {
      const payout = recent(chance, ownPayouts)
      const target = chance.happens(0.3) ? payout ?? stake : stake
      return target === undefined ? undefined : { kind, tx: id, target: target.tx, gameId: target.gameId }
    }
    case "batch": {
      const first = { ...stakeOf(chance, `${id}x`, past, playerId), closes: false }
      const other = { ...first, tx: `${id}y`, amount: chance.pick([10, 30]) }
      return {
        kind,
        moves: [
          { kind: "bet", ...first },
          chance.happens(0.5)
            ? { kind: "bet", ...other }
            : { kind: "rollback", tx: `${id}y`, target: first.tx, gameId: first.gameId },
          ...(chance.happens(0.5) ? [{ kind: "win" as const, ...payoutOf(chance, `${id}z`, first) }] : [])
        ]
      }
    }
    case "close":
      return stake === undefined ? undefined : { kind, gameId: stake.gameId, round: stake.round }
    case "promo_win":
      return { kind, tx: id, amount: chance.pick([20, 70]), isTournament: chance.happens(0.5) }
    case "vendor":
      return vendorListOf(chance, id, past, playerId)
    case "balance":
      return { kind }
    case "status":
      return stake === undefined ? undefined : { kind, tx: stake.tx, gameId: stake.gameId }
    case "deposit":
      return { kind, amount: chance.pick([50, 100, 300, 700]), reference: id, hasKey: chance.happens(0.6) }
    case "withdraw": {
      const hasReference = chance.happens(0.5)
      return {
        kind,
        amount: chance.pick([50, 200, 800]),
        reference: hasReference ? id : null,
        hasKey: !hasReference || chance.happens(0.5)
      }
    }
    case "limits": {
      const [field, values] = chance.pick(limitChoices)
      return { kind, field, value: chance.happens(0.2) ? null : chance.pick(values) }
    }
    case "exclude":
      return { kind, period: chance.pick(["24_hours", "24_hours", "7_days", "3_months"]), hasKey: chance.happens(0.5) }
    case "account":
      return { kind, status: chance.pick(["locked", "locked", "active", "active", "active", "closed"]) }
    case "grant":
      return { kind, bonusId: chance.pick(bonuses.filter((one) => one.operatorId === operatorOfPlayer(playerId))).id }
    case "redeem":
      return { kind, code: chance.pick(["hello", "second"]) }
    case "launch":
      return { kind, gameId: chance.pick(games).id }
    case "view":
      return { kind, isStranger: chance.happens(0.1) }
    case "move": {
      const payment = recent(chance, past.payments)
      if (payment === undefined) return undefined
      const move: PaymentTransitionName = payment.isDeposit
        ? "chargeback"
        : chance.pick(["approve", "pay", "reject", "cancel"])
      return { kind, of: payment.id, move, staff: chance.pick(["staff:1", "staff:2"]) }
    }
    case "correct":
      return { kind, amount: chance.pick([-300, -20, 40, 500]) }
    case "kyc":
      return { kind, status: chance.pick(kycStatuses), documentDays: chance.happens(0.3) ? 1 : null }
    case "restrict":
      return { kind, canBet: chance.happens(0.6), canDeposit: chance.happens(0.7) }
    case "cancel_bonus": {
      const grant = recent(chance, past.grants)
      return grant === undefined ? undefined : { kind, of: grant.id }
    }
    case "job":
      return { kind, job: chance.pick(["accounts", "bonuses", "bonuses", "idempotency-keys"]) }
  }
}

/** Stores targets for later actions. */
const remember = (past: Past, id: string, playerId: number, what: What): void => {
  const rememberMove = (move: What): void => {
    if (move.kind === "bet") past.stakes.push({ ...move, playerId })
    if (move.kind === "win") past.payouts.push({ ...move, playerId })
  }
  rememberMove(what)
  if (what.kind === "batch") { for (const move of what.moves) rememberMove(move) }
  if (what.kind === "bet_win") {
    past.stakes.push({ ...what, playerId })
    past.payouts.push({ ...what, tx: what.winTx, betTx: what.tx, amount: what.winAmount, playerId })
  }
  if (what.kind === "deposit" || what.kind === "withdraw") {
    past.payments.push({ id, playerId, isDeposit: what.kind === "deposit" })
  }
  if (what.kind === "grant") past.grants.push({ id, playerId })
  if (what.kind === "vendor") { for (const action of what.actions) past.vendor.push({ playerId, action }) }
}

interface Follower {
  readonly id: string
  readonly afterMs: number
  readonly what: What
}

/** Frequent successors of an action: the win of a bet, the moves of a withdrawal. */
const followersOf = (chance: Chance, id: string, what: What): ReadonlyArray<Follower> => {
  if (what.kind === "bet" && chance.happens(0.3)) {
    return [{
      id: `${id}f`,
      afterMs: chance.between(5, 400),
      what: { kind: "win", ...payoutOf(chance, `${id}f`, what) }
    }]
  }
  if (what.kind !== "withdraw" || chance.happens(0.5)) return []
  const moves = chance.pick<ReadonlyArray<PaymentTransitionName>>([
    ["approve", "approve", "pay"],
    ["approve", "pay", "pay"],
    ["approve", "reject"],
    ["cancel", "approve"]
  ])
  const pace = chance.pick([5, 200, 1500])
  return moves.map((move, index) => ({
    id: `${id}f${index}`,
    afterMs: (index + 1) * pace,
    what: { kind: "move", of: id, move, staff: `staff:${index % 2 + 1}` }
  }))
}

const whoseIs = (past: Past, what: What, playerId: number): number => {
  if (what.kind === "move") return past.payments.find(({ id }) => id === what.of)?.playerId ?? playerId
  if (what.kind === "cancel_bonus") return past.grants.find(({ id }) => id === what.of)?.playerId ?? playerId
  return playerId
}

const makeActions = (seed: number, steps: number, topology: Topology): ReadonlyArray<Action> => {
  const swarm = chanceOf(seed, "swarm")
  // handovers take seconds, and leases are renewed all the time: incompatible with milliseconds or days between actions
  const isSlow = topology === "nodes"
  // retried writes hide stale nodes: some worlds have few, and one player
  const isQuiet = isSlow && chanceOf(seed, "quiet").happens(0.3)
  // every run omits some kinds and has more of others, so that combinations differ from run to run
  const weights = kinds.map(([kind, weight]): readonly [What["kind"], number] => [
    kind,
    swarm.happens(0.15)
      ? 0
      : weight * swarm.pick([0.5, 1, 1, 2]) *
        (isSlow ? (moreOfNodes[kind] ?? 1) * (isQuiet && moreOfNodes[kind] === undefined ? 0.02 : 1) : 1)
  ])
  const pace = swarm.pick([1, 5, 15, 60]) * (isSlow ? 8 : 1)
  const crowd = playerIds.slice(0, swarm.between(1, playerIds.length))
  let longPauses = swarm.pick([0, 1, 2, 3]) * (isSlow ? 0 : 1)
  const past: Past = { stakes: [], payouts: [], payments: [], grants: [], vendor: [] }
  const actions: Array<Action> = []
  // bonuses in every world: one for each player, and mostly another one that waits
  for (const playerId of playerIds) {
    const chance = chanceOf(seed, "grants", playerId)
    const own = bonuses.filter((one) => one.operatorId === operatorOfPlayer(playerId) && one.wageringMultiplier > 0)
    for (const number of chance.happens(0.7) ? [1, 2] : [1]) {
      const [id, what] = [`g${playerId}${number}`, { kind: "grant" as const, bonusId: chance.pick(own).id }]
      remember(past, id, playerId, what)
      actions.push({ id, at: 40 * number + chance.below(20), playerId, what, repeats: 0, patience: 3 })
    }
  }
  const granted = actions.length
  let at = 100
  for (let number = 0; actions.length - granted < steps && number < 4 * steps; number++) {
    const chance = chanceOf(seed, "action", number)
    const playerId = isQuiet || swarm.happens(0.4) ? playerIds[0] ?? 0 : swarm.pick([...crowd, ...playerIds.slice(3)])
    const id = `a${number}`
    const what = whatOf(chance, swarm.pickBy(weights), id, playerId, past)
    if (what === undefined) continue
    at += swarm.below(2 * pace)
    if (swarm.happens(0.02)) at += swarm.pick([2 * second, 20 * second])
    if (longPauses > 0 && swarm.happens(4 / steps)) {
      longPauses--
      at += swarm.pick([2 * minute, 20 * minute, 2 * hour, 13 * hour, 25 * hour, 37 * hour])
      // due account changes are committed only by the jobs
      for (const job of ["accounts", "bonuses", "idempotency-keys"] as const) {
        const jobChance = chanceOf(seed, "job", number, job)
        if (jobChance.happens(0.3)) continue
        const jobAt = at + jobChance.below(300)
        actions.push({
          id: `j${number}${job}`,
          at: jobAt,
          playerId,
          what: { kind: "job", job },
          repeats: 0,
          patience: 1
        })
      }
    }
    remember(past, id, playerId, what)
    const isRepeated = chance.happens(0.15)
    actions.push({
      id,
      at,
      playerId: whoseIs(past, what, playerId),
      what,
      repeats: isRepeated ? chance.between(1, 2) : 0,
      patience: chance.between(2, 6)
    })
    for (const follower of followersOf(chance, id, what)) {
      actions.push({
        id: follower.id,
        at: at + follower.afterMs,
        playerId,
        what: follower.what,
        repeats: 0,
        patience: 3
      })
      remember(past, follower.id, playerId, follower.what)
    }
  }
  return actions
}

const storeTroubleOf = (chance: Chance, topology: Topology): Pick<StoreTrouble, "probability" | "fates"> =>
  chance.pick([
    // slower than a handover
    ...topology === "nodes" ? [{ probability: 0.5, fates: [["slow", 1] as const] }] : [],
    { probability: 1, fates: [["refused", 1]] },
    { probability: 0.5, fates: [["unheard", 1], ["cut", 1]] },
    { probability: 0.4, fates: [["late", 1]] },
    { probability: 0.2, fates: [["silent", 1]] },
    { probability: 0.5, fates: [["refused", 3], ["cut", 2], ["unheard", 3], ["late", 2], ["silent", 1], ["busy", 3]] }
  ])

const makeFaults = (
  seed: number,
  { leaseMs, nodes, topology }: Pick<Plan, "leaseMs" | "nodes" | "topology">,
  actions: ReadonlyArray<Action>
): ReadonlyArray<Fault> => {
  const swarm = chanceOf(seed, "faults")
  const count = swarm.pick(topology === "nodes" ? [0, 2, 4, 6, 8, 10] : [0, 1, 2, 3, 5, 8])
  const ofNodes = topology === "nodes" ? 1 : 0
  // a session that ends frees its locks before their holder's lease expires
  const endsSessions = ofNodes === 1 && chanceOf(seed, "sessions").happens(0.3)
  return Array.from({ length: count }, (_, number): Fault => {
    const chance = chanceOf(seed, "fault", number)
    const id = `f${number}`
    const at = Math.max(0, (actions.length === 0 ? 0 : chance.pick(actions).at) - chance.below(40))
    const kind = chance.pickBy<Exclude<Fault["kind"], (ProfileChange | RegisterTrouble)["kind"]>>([
      ["store", 5],
      ["network", 3],
      ["crash", 4],
      ["stop", 1],
      ["failover", topology === "standby" ? 4 : 0],
      ["stop", 3 * ofNodes],
      ["pause", 9 * ofNodes],
      ["cut", 5 * ofNodes],
      ["session", endsSessions ? 12 : 0],
      ["clock", ofNodes]
    ])
    const forMs = chance.pick([40, 120, 400, 400, 1500, 4000])
    const host = chance.below(Math.max(1, nodes.length))
    switch (kind) {
      case "store":
        return { kind, id, at, forMs, ...storeTroubleOf(chance, topology) }
      case "network":
        return {
          kind,
          id,
          at,
          forMs,
          ...chance.pick([{ drop: 1, duplicate: 0, slow: 0 }, { drop: 0.3, duplicate: 0.3, slow: 0.5 }])
        }
      case "pause":
      case "cut":
      case "session":
      case "clock":
        return {
          kind,
          id,
          at,
          // often it resumes shortly after another one has taken over
          forMs: chance.happens(0.5)
            ? leaseMs + chance.between(200, 1600)
            : Math.floor(leaseMs * chance.pick([0.1, 0.5, 1, 1.5, 2])),
          tasks: chance.below(60),
          host,
          other: chance.happens(0.5) ? -1 : (host + 1) % Math.max(2, nodes.length),
          shiftMs: chance.pick([-3000, -200, 200, 3000, -600_000, 600_000, 259_200_000]),
          isAtCommit: chance.happens(0.5)
        }
      default:
        return {
          kind,
          id,
          at,
          forMs,
          tasks: chance.below(60),
          isPrimary: chance.happens(0.8),
          host,
          isSilent: chance.happens(0.5)
        }
    }
  })
}

/** Clock speeds of two machines agree within a twentieth; their wall clocks differ by seconds, and one in twenty by minutes. */
const makeNodes = (seed: number): Plan["nodes"] => {
  const swarm = chanceOf(seed, "nodes")
  const count = swarm.pick([2, 3, 3, 4])
  return Array.from({ length: count }, (_, number) => {
    const chance = chanceOf(seed, "node", number)
    return {
      speed: 1 + chance.between(-20, 20) / 1000,
      wallOffset: chance.pick([0, 0, chance.between(-900, 900)]) + (chance.happens(0.05) ? 600_000 : 0)
    }
  })
}

/** More launches than players make otherwise, at which the register is asked. */
const makeLaunches = (seed: number, actions: ReadonlyArray<Action>): ReadonlyArray<Action> =>
  Array.from({ length: Math.ceil(actions.length / 10) }, (_, number) => {
    const chance = chanceOf(seed, "licensed launch", number)
    const { at } = chance.pick(actions)
    const what = { kind: "launch" as const, gameId: chance.pick(games).id }
    const playerId = chance.pick(playerIds)
    return { id: `l${number}`, at: at + chance.below(50), playerId, what, repeats: 0, patience: 3 }
  })

const makeLicensing = (
  seed: number,
  actions: ReadonlyArray<Action>
): ReadonlyArray<ProfileChange | RegisterTrouble> => {
  const swarm = chanceOf(seed, "licensing")
  return Array.from({ length: swarm.pick([1, 3, 6, 9]) }, (_, number) => {
    const chance = chanceOf(seed, "licensing", number)
    const [id, at] = [`p${number}`, Math.max(1, chance.pick(actions).at - chance.below(40))]
    return chance.happens(0.5)
      ? {
        kind: "profile",
        id,
        at,
        forMs: 0,
        cap: chance.pick([20, 60, 110, 300]),
        looserAfterMs: chance.pick([0, 3000, hour])
      }
      : {
        kind: "register",
        id,
        at,
        forMs: chance.pick([120, 1500, 4000, minute]),
        effect: chance.pick(["excludes", "excludes", "is silent", "is slow"]),
        playerId: chance.pick(playerIds)
      }
  })
}

/** Share of the worlds whose players are under a profile. */
const licensed = 0.35

/** Plan of a seed, of about `steps` actions; with a topology, of that one. */
export const planOf = (seed: number, steps: number, wanted?: Topology): Plan => {
  const chance = chanceOf(seed, "plan")
  const drawn = chance.pickBy<Topology>([["one", 4], ["standby", 4], ["both", 2], ["nodes", 2]])
  const topology = wanted ?? drawn
  const usual = makeActions(seed, steps, topology)
  // of a stream of its own: the other worlds stay as they are
  const licence = chanceOf(seed, "licence")
  const isLicensed = usual.length > 0 && licence.happens(licensed)
  const actions = isLicensed ? [...usual, ...makeLaunches(seed, usual)] : usual
  const nodes = topology === "nodes" ? makeNodes(seed) : []
  const leaseMs = chanceOf(seed, "lease").pick([2000, 4000])
  return {
    seed,
    beginning: chance.pickBy(beginnings),
    topology,
    nodes,
    leaseMs,
    keepsAddresses: chanceOf(seed, "addresses").happens(0.5),
    service: {
      maxResident: chance.pick([2, 1000, 1000, 1000]),
      maxMailbox: chance.pick([4, 2048, 2048, 2048]),
      maxGroup: chance.pick([1, 4, 256]),
      maxCommit: chance.pick([2, 1024]),
      idleMinutes: chance.pick([1, 30])
    },
    opening: chance.pick([0, 60, 400, 2000]),
    licence: isLicensed ? { cap: licence.pick([60, 110, 300]) } : null,
    storeMs: chance.pick([2, 2, 12, 40]),
    pauseEvery: chance.pick([0, 200, 40, 8]),
    network: {
      drop: chance.pick([0, 0.02, 0.1]),
      duplicate: chance.pick([0, 0.05, 0.2]),
      slow: chance.pick([0, 0.1, 0.3])
    },
    actions,
    faults: [
      ...makeFaults(seed, { topology, nodes, leaseMs }, usual),
      ...(isLicensed ? makeLicensing(seed, usual) : [])
    ]
  }
}
