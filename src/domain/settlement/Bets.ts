/** Taking a stake (the rules of `Settlement.ts`). */
import { countOpenRound } from "../bonus/ConvertedBonuses.ts"
import { contribution } from "../bonus/Bonus.ts"
import type { CasinoSource } from "../Change.ts"
import { type Knowledge, missing } from "../Decision.ts"
import type { Draft } from "../Draft.ts"
import { invalidSession, isSessionGivenUp, isSessionRunning } from "./Launch.ts"
import { count, effectiveLimits, notePlay, refuseBet } from "../limit/Limits.ts"
import type { Bet, BetCode, SettledGame } from "../Messages.ts"
import { isBalance, maxBalance } from "../Money.ts"
import type { Player } from "../player/Player.ts"
import { refuseAccount } from "../player/RefuseAccount.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { isClosedAfter, type Round, withOpenBet } from "./Rounds.ts"
import {
  currencyRefusal,
  findRound,
  findTransaction,
  ids,
  knowsProvider,
  neverPlayedHere,
  newTransaction,
  noSuchGame,
  type Outcome,
  replayUnlessRolledBack,
  settlement,
  validation
} from "./SettlementParts.ts"

/** Minor units on a game. */
type Stake = Pick<Bet, "amount" | "game">

/** What of a stake each wallet pays. */
export interface Funding {
  readonly real: number
  readonly bonus: number
}

/** Reasons to refuse a stake. */
export type StakeCode = "PLAYER_RESTRICTED" | "LIMIT_EXCEEDED" | "BONUS_INVALID" | "INSUFFICIENT_FUNDS"

/**
 * Whether the running bonus may be staked: its game counts towards it, and the round holds no stake of an earlier bonus. A round
 * follows one bonus, so its wins would go the way of the earlier one: out of all wagering where that one was converted.
 */
const mayStakeBonus = ({ activeBonus }: Draft, game: SettledGame, round: Round | null | undefined): boolean =>
  activeBonus !== null && contribution(activeBonus, game.id, game.type) > 0 &&
  (round === null || round === undefined || round.bonusStake === 0 || round.bonusId === activeBonus.id)

/** How much of the bonus balance could be staked on a game in a round of its own. */
export const stakeableBonus = ({ activeBonus, bonus }: Player, game: SettledGame): number =>
  activeBonus !== null && contribution(activeBonus, game.id, game.type) > 0 ? bonus : 0

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
 * Whether the player may stake so much now, and how it is paid for: the checks that a provider's bet and a round of an original
 * share, in the order of `docs/decisions/0005-settlement.md`. `round` is what the round holds so far.
 */
export const admitStake = (
  draft: Draft,
  stake: Stake,
  round: Round | null | undefined
): Funding | Refusal<StakeCode> => {
  const { amount } = stake
  const { now, player } = draft
  const account = refuseAccount(player, "canBet", now)
  if (account !== undefined) return account
  const funding = fund(draft, stake, round)
  // the split says how much real money is at stake, which the loss limits count; when it fails, the checks before it still win
  const realStake = "_tag" in funding ? Math.min(Math.max(draft.real, 0), amount) : funding.real
  const limits = effectiveLimits(player.limits, player.pendingLimits, now)
  const limit = refuseBet(limits, draft.counters, amount, realStake, now)
  if (limit !== undefined) return limit
  const bonus = draft.activeBonus
  if (bonus !== null && bonus.maxBet > 0 && amount > bonus.maxBet) {
    return refuse("BONUS_INVALID", "The stake is larger than the running bonus allows.", { max_bet: bonus.maxBet })
  }
  return funding
}

/** What a stake that was taken has left behind. */
interface Staked {
  readonly entryIds: ReadonlyArray<number>
  /** The bonus that paid a part of it. */
  readonly bonusId: number | null
  /** The bonus that it counts towards, and by how much. */
  readonly wageredBonusId: number | null
  readonly wagered: number
}

/** Takes a stake that was admitted: entries, wagering, the sums that limits look at. */
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
  const entryIds = ids(
    draft.post("real", "casino_bet", -real, references),
    draft.post("bonus", "casino_bet", -bonus, { ...references, playerBonusId: bonusId })
  )
  // a free bet posts no entry and is a bet all the same
  draft.visit(source.isLive ? "live" : "rng")
  if (entryIds.length > 0) draft.walletSeq++
  const wagered = draft.wager(amount, game.id, game.type)
  draft.counters = notePlay(count(draft.counters, draft.now, amount, real, draft.now), draft.now, true)
  return { entryIds, bonusId, wageredBonusId: running, wagered }
}

/** Whether the session of a bet runs. One whose protocol names none needs an earlier session of the player with the provider. */
const refuseSession = (
  player: Player,
  { providerId, session }: Bet,
  now: number
): Refusal<"INVALID_SESSION" | "NOT_FOUND"> | undefined => {
  if (session === "none") return knowsProvider(player, providerId) ? undefined : neverPlayedHere
  if (session === null || now >= session.expiresAt) return invalidSession
  // one that was ended with the account says so only once the account is open again: until then the account's refusal says more
  if (isSessionGivenUp(player, session.id)) return invalidSession
  return isSessionRunning(player, session.expiresAt, now) || refuseAccount(player, "canBet", now) !== undefined
    ? undefined
    : invalidSession
}

/** Every check of a new bet, and how it is paid for. */
const admit = (draft: Draft, bet: Bet, round: Round | null | undefined): Funding | Refusal<BetCode> => {
  const { now, player } = draft
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
    // a refusal must be sure that this is not the retry of a bet that was taken: only an acceptance proves it in its commit
    return earlier === null && round !== undefined ? funding : missing({
      providerId: bet.providerId,
      transactionIds: [bet.transactionId],
      rounds: [{ gameId: bet.game.id, roundId: bet.roundId }]
    })
  }
  const { bonus, real } = funding
  // a round stays what its game was when it was opened, whatever staff make of the game meanwhile
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
  // one that was closed or adjusted before a bet came is no round of a game yet
  if (round?.isLive === undefined || round.isLive === null) draft.countRound(source, round?.openedAt)
  const openBets = round === null || round === undefined ? 1 : withOpenBet(round.openBets)
  const closed = isClosedAfter(round?.closed === true, bet.closesRound, openBets)
  writeRound(draft, round ?? null, {
    gameId: bet.game.id,
    roundId: bet.roundId,
    realStake: (round?.realStake ?? 0) + real,
    bonusStake: (round?.bonusStake ?? 0) + bonus,
    paidWins: round?.paidWins ?? 0,
    openBets,
    bonusId: round !== null && round !== undefined && round.bonusStake > 0 ? round.bonusId : bonusId,
    closed,
    isLive: source.isLive,
    openedAt: round?.openedAt ?? draft.now
  })
  draft.closeBonusWhenDue()
  return settlement(draft, bet.transactionId, "processed", closed ? "closed" : "open", transaction)
}

type Holding = Pick<Round, "bonusStake" | "bonusId" | "closed">

/** The bonus that has a stake in an open round. */
const heldBy = (round: Holding | null): number | null =>
  round !== null && !round.closed && round.bonusStake > 0 ? round.bonusId : null

/** Keeps a bonus's count of the open rounds that it funds: while there is one, an empty bonus is not lost. */
export const holdBonus = (draft: Draft, before: Holding | null, after: Holding): void => {
  const [earlier, later] = [heldBy(before), heldBy(after)]
  if (earlier === later) return
  if (earlier !== null) countOpenRound(draft, earlier, -1)
  if (later !== null) countOpenRound(draft, later, 1)
}

/** Writes a round and keeps the count of the open rounds of the bonus that funds it. */
export const writeRound = (draft: Draft, before: Round | null, after: Round): void => {
  holdBonus(draft, before, after)
  draft.writeRound(after, before === null)
}
