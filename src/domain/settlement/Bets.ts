/** Bets: admission and debit of a stake (rules in `Settlement.ts`). */
import { countOpenRound, holdUntil } from "../bonus/BonusMoney.ts"
import { contribution } from "../state/Bonus.ts"
import { type CasinoSource, ids } from "../state/Change.ts"
import { type Knowledge, missing } from "../state/Decision.ts"
import type { Draft } from "../state/Draft.ts"
import { invalidSession, isSessionGivenUp, isSessionRunning, mayPlayAt } from "./Launch.ts"
import { bindingLimits, countPlay, refuseBet } from "../state/Limits.ts"
import type { Bet, BetCode, SettledGame } from "../state/Messages.ts"
import { noteRealityCheck } from "../obligation/Obligations.ts"
import { ageAt, stakeCap } from "../jurisdiction/Rules.ts"
import { isBalance, maxBalance } from "../Money.ts"
import type { Player } from "../state/Player.ts"
import { refuseAccount } from "../player/RefuseAccount.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { isClosedWithBet, type Round } from "../state/Rounds.ts"
import {
  currencyRefusal,
  findRound,
  findTransaction,
  isBonusUnknown,
  knowsProvider,
  newTransaction,
  noSuchGame,
  type Outcome,
  playerUnknownToProvider,
  replayUnlessRolledBack,
  settlement,
  validation
} from "./SettlementParts.ts"

/** Minor units on a game. */
type Stake = Pick<Bet, "amount" | "game">

/** Share of a stake paid by each wallet. */
export interface Funding {
  readonly real: number
  readonly bonus: number
}

/** Reasons for refusing a stake. */
export type StakeCode = "PLAYER_RESTRICTED" | "LIMIT_EXCEEDED" | "BONUS_INVALID" | "INSUFFICIENT_FUNDS"

/**
 * True when the running bonus may be staked: the game contributes to it, and the round holds no stake of an earlier bonus. A round follows one bonus,
 * so its wins would be credited to the earlier one and, once that was converted, escape all wagering.
 */
const mayStakeBonus = ({ activeBonus }: Draft, game: SettledGame, round: Round | null | undefined): boolean =>
  activeBonus !== null && contribution(activeBonus, game.id, game.type) > 0 &&
  (round === null || round === undefined || round.bonusStake === 0 || round.bonusId === activeBonus.id)

/** Bonus balance available for a stake on a game in a new round. */
export const stakeableBonus = ({ activeBonus, bonus }: Player, game: SettledGame): number =>
  activeBonus !== null && contribution(activeBonus, game.id, game.type) > 0 ? bonus : 0

/** Refuses a stake above the cap of the jurisdiction on the game's category, with what was staked in the round before. */
const refuseStakeCap = (
  { birthDay, rules }: Player,
  { amount, game }: Stake,
  round: Round | null | undefined,
  now: number
): Refusal<"LIMIT_EXCEEDED"> | undefined => {
  if (rules.stakes.length === 0) return undefined
  const cap = stakeCap(rules, game.category, ageAt(birthDay, now))
  const used = round === null || round === undefined ? 0 : round.realStake + round.bonusStake
  return cap === undefined || used + amount <= cap
    ? undefined
    : refuse("LIMIT_EXCEEDED", `The largest stake in this game is ${cap}.`, {
      limit: "stake_cap",
      value: cap,
      used,
      resets_at: null
    })
}

/** Splits a stake over the wallets: real money first, bonus money only where the running bonus may be staked. */
const fund = (
  draft: Draft,
  { amount, game }: Stake,
  round: Round | null | undefined
): Funding | Refusal<"INSUFFICIENT_FUNDS"> => {
  if (amount === 0 && draft.real >= 0) return { real: 0, bonus: 0 }
  const usable = mayStakeBonus(draft, game, round) ? draft.bonus : 0
  const real = Math.min(Math.max(draft.real, 0), amount)
  return draft.real < 0 || amount - real > usable
    ? refuse("INSUFFICIENT_FUNDS", "The balance does not cover the stake.", { balance: draft.real })
    : { real, bonus: amount - real }
}

/**
 * Checks whether the player may stake the amount now, and splits it: shared by a provider's bet and a round of an original, in the order of
 * `docs/decisions/0005-settlement.md`. `round` holds the stakes of the round so far.
 */
export const admitStake = (
  draft: Draft,
  stake: Stake,
  round: Round | null | undefined
): Funding | Refusal<StakeCode> => {
  const { amount } = stake
  const { now, player } = draft
  const account = refuseAccount(player, "canBet", now) ?? refuseStakeCap(player, stake, round, now)
  if (account !== undefined) return account
  const funding = fund(draft, stake, round)
  // the loss limits count the real-money part; the checks before the split take precedence over its failure
  const realStake = "_tag" in funding ? Math.min(Math.max(draft.real, 0), amount) : funding.real
  const limits = bindingLimits(player, now)
  const limit = refuseBet(limits, draft.counters, amount, realStake, now)
  if (limit !== undefined) return limit
  const bonus = draft.activeBonus
  if (bonus !== null && bonus.maxBet > 0 && amount > bonus.maxBet) {
    return refuse("BONUS_INVALID", "The stake is larger than the running bonus allows.", { max_bet: bonus.maxBet })
  }
  return funding
}

/** Result of a stake taken. */
interface Staked {
  readonly entryIds: ReadonlyArray<number>
  /** Bonus that paid a part of it. */
  readonly bonusId: number | null
  /** Bonus that it counts towards, and the amount counted. */
  readonly wageredBonusId: number | null
  readonly wagered: number
}

/** Takes an admitted stake: ledger entries, wagering, limit counters. */
export const takeStake = (
  draft: Draft,
  game: SettledGame,
  source: CasinoSource,
  roundId: string,
  amount: number,
  { bonus, real }: Funding
): Staked => {
  const running = draft.activeBonus?.id ?? null
  const bonusId = bonus > 0 ? running : null
  const references = { gameId: game.id, gameRoundId: roundId, source }
  draft.counters = countPlay(draft.counters, draft.now, amount, real, draft.now)
  draft.recordBet()
  const entryIds = ids(
    draft.post("real", "casino_bet", -real, references),
    draft.post("bonus", "casino_bet", -bonus, { ...references, playerBonusId: bonusId })
  )
  // a free bet posts no entry but counts as a bet
  draft.visit(source.isLive ? "live" : "rng")
  if (entryIds.length > 0) draft.walletSeq++
  const wagered = draft.wager(amount, game.id, game.type)
  noteRealityCheck(draft)
  return { entryIds, bonusId, wageredBonusId: running, wagered }
}

/** Refuses a bet without a running session: its own or, where the protocol's calls name none, one of the player at the provider. */
const refuseSession = (
  player: Player,
  { providerId, session }: Bet,
  now: number
): Refusal<"INVALID_SESSION" | "NOT_FOUND"> | undefined => {
  if (session === "none") {
    if (!knowsProvider(player, providerId)) return playerUnknownToProvider
    return mayPlayAt(player, providerId, now) || refuseAccount(player, "canBet", now) !== undefined
      ? undefined
      : invalidSession
  }
  if (session === null || now >= session.expiresAt) return invalidSession
  // a session ended with the account: the account's own refusal takes precedence while it is not active
  if (isSessionGivenUp(player, session.id)) return invalidSession
  return isSessionRunning(player, session.expiresAt, now) || refuseAccount(player, "canBet", now) !== undefined
    ? undefined
    : invalidSession
}

/** All checks of a new bet, and its split. */
const admit = (draft: Draft, bet: Bet, round: Round | null | undefined): Funding | Refusal<BetCode> => {
  const { now, player } = draft
  if (bet.isFree === true && bet.amount > 0) {
    return validation("amount", "must be 0 with is_free: a free bet costs nothing")
  }
  const session = refuseSession(player, bet, now)
  if (session !== undefined) return session
  if (bet.currency !== player.currency) return currencyRefusal(player)
  if (!bet.game.active) return noSuchGame
  if (!isBalance((round?.realStake ?? 0) + (round?.bonusStake ?? 0) + bet.amount)) {
    return validation("amount", `must keep the stakes of the round at or below ${maxBalance}`)
  }
  if (round?.closed === true && bet.policy.closedRounds === "refuse") {
    return refuse("ROUND_CLOSED", "The round is closed.", { round_id: bet.roundId })
  }
  return admitStake(draft, bet, round)
}

export const placeBet = (draft: Draft, bet: Bet, known: Knowledge | undefined): Outcome<BetCode> => {
  const earlier = findTransaction(draft, known, bet.providerId, bet.transactionId)
  if (earlier !== undefined && earlier !== null) {
    const round = earlier.gameId === bet.game.id && earlier.roundId === bet.roundId
    const content = round && earlier.amount === bet.amount && bet.currency === draft.player.currency
    return replayUnlessRolledBack(draft, known, earlier, bet.policy, { kind: "bet", content, round })
  }
  const round = findRound(draft, known, bet.game.id, bet.roundId)
  const funding = admit(draft, bet, round)
  if ("_tag" in funding) {
    // a refusal must exclude a retry of a settled bet: only an acceptance proves that in its commit
    return earlier === null && round !== undefined ? funding : missing({
      providerId: bet.providerId,
      transactionIds: [bet.transactionId],
      rounds: [{ gameId: bet.game.id, roundId: bet.roundId }]
    })
  }
  const reopened = bet.closesRound === "when_settled" && round?.closed === true ? round : null
  if (isBonusUnknown(draft, reopened)) {
    return missing({
      providerId: bet.providerId,
      transactionIds: [bet.transactionId],
      rounds: [{ gameId: bet.game.id, roundId: bet.roundId }],
      bonusIds: reopened === null || reopened.bonusId === null ? [] : [reopened.bonusId]
    })
  }
  const { bonus, real } = funding
  // a round keeps the type of its game at opening, whatever staff change later
  const source = { providerId: bet.providerId, isLive: round?.isLive ?? bet.game.type === "live" }
  const { bonusId, entryIds, wagered, wageredBonusId } = takeStake(
    draft,
    bet.game,
    source,
    bet.roundId,
    bet.amount,
    funding
  )
  const transaction = newTransaction(draft, "bet", bet, {
    amount: bet.amount,
    gameId: bet.game.id,
    roundId: bet.roundId,
    realAmount: 0 - real,
    bonusAmount: 0 - bonus,
    entryIds,
    bonusId: bonusId ?? (wagered > 0 ? wageredBonusId : null),
    wagered
  })
  draft.record(transaction)
  // closed or adjusted before any bet, it does not yet count as a round of a game
  if (round?.isLive === undefined || round.isLive === null) draft.countRound(source, round?.openedAt)
  const openBets = (round?.openBets ?? 0) + 1
  const { wonWithinMs } = bet.policy
  const closed = isClosedWithBet(wonWithinMs !== null || round?.closed === true, bet.closesRound)
  if (bonus > 0 && closed && bet.closesRound !== true) holdUntil(draft, draft.now + (wonWithinMs ?? lateBetMs))
  writeRound(draft, round ?? null, {
    gameId: bet.game.id,
    roundId: bet.roundId,
    realStake: (round?.realStake ?? 0) + real,
    bonusStake: (round?.bonusStake ?? 0) + bonus,
    paidWins: round?.paidWins ?? 0,
    won: round?.won ?? 0,
    takenBack: round?.takenBack ?? 0,
    openBets,
    bonusId: round !== null && round !== undefined && round.bonusStake > 0 ? round.bonusId : bonusId,
    closed,
    isLive: source.isLive,
    openedAt: round?.openedAt ?? draft.now
  })
  return settlement(draft, bet.transactionId, "processed", closed ? "closed" : "open", transaction)
}

/** Time in which a bet placed in a closed round is won: no close will tell that it was lost. */
const lateBetMs = 10 * 60_000

type Holding = Pick<Round, "bonusStake" | "bonusId" | "closed">

/** Bonus with a stake in an open round. A bet placed in a closed round holds its bonus by time. */
const heldBy = (round: Holding | null): number | null =>
  round !== null && !round.closed && round.bonusStake > 0 ? round.bonusId : null

/** Updates the number of open rounds of the bonus that funds the round: while there is one, an empty bonus is not lost. */
const holdBonus = (draft: Draft, before: Holding | null, after: Holding): void => {
  const [earlier, later] = [heldBy(before), heldBy(after)]
  if (earlier === later) return
  if (earlier !== null) countOpenRound(draft, earlier, -1)
  if (later !== null) countOpenRound(draft, later, 1)
}

/** Writes a round and updates the number of open rounds of its bonus. */
export const writeRound = (draft: Draft, before: Round | null, after: Round): void => {
  holdBonus(draft, before, after)
  draft.writeRound(after, before === null)
}
