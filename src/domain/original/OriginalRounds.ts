/**
 * Plays of originals (the platform's own games): bet, outcome and payout in one step, and the seeds that decide it
 * (`docs/decisions/0007-originals.md`, `docs/decisions/0013-original-rounds.md`).
 *
 * A play is a provider's bet and its win in a round closed at once, by the same rules, except that the outcome is drawn here. The nonce is taken by
 * the commit of the bet, so no outcome is drawn twice; refusals do not depend on the outcome and so reveal nothing about it.
 */
import { admitStake, type StakeCode, takeStake } from "../settlement/Bets.ts"
import { type Entry, noChange, type OriginalRound } from "../state/Change.ts"
import { answer, type Context, type Decision, type Missing, missing, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import type { SettledGame } from "../state/Messages.ts"
import { isBalance, maxBalance, multiplyDivideFloor } from "../Money.ts"
import type { OriginalBounds } from "../state/Operator.ts"
import { drawsOf, type HmacSha256 } from "./Fairness.ts"
import type { CheckedBet } from "./Original.ts"
import { beginWith, type PlayerSeeds, rotate, type SealedSeed, type SeedChange } from "../state/PlayerSeeds.ts"
import { type RetiredSeed, type RoundFairness, takeNonce } from "../state/Seeds.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuseFields } from "../Refusal.ts"
import { payOut } from "../settlement/Wins.ts"

export interface Play {
  readonly game: SettledGame
  readonly original: string
  readonly bet: CheckedBet
  /** Minor units of the player's currency; absent: the bounds of the game alone. */
  readonly bounds?: OriginalBounds
  /** In effect from this round on; undefined keeps the current one. */
  readonly clientSeed: string | undefined
}

/** Impure parts of a play: opening a server seed by its id (undefined when not loaded), and hashing. */
export interface Chance {
  readonly open: (seedId: number) => string | undefined
  readonly hmacSha256: HmacSha256
}

/** The player has no seeds yet. */
export interface NoSeeds {
  readonly _tag: "NoSeeds"
}

/** The server seed is not loaded. Nothing was done: load it and retry. */
export interface SeedClosed {
  readonly _tag: "SeedClosed"
  readonly seedId: number
}

export interface PlayedRound {
  readonly _tag: "Played"
  readonly round: OriginalRound
  readonly fairness: RoundFairness
  readonly currency: string
  /** Real and bonus balance after the round, minor units. */
  readonly balance: number
  readonly bonusBalance: number
  readonly walletSeq: number
  /** All ledger entries of the play, including those of a bonus that ended with it. */
  readonly entries: ReadonlyArray<Entry>
}

export type PlayRefusal = Refusal<StakeCode | "VALIDATION_FAILED">

/** The player's seeds as carried or looked up: null when there are none, `Missing` when not looked up. */
export const seedsOf = (player: Player, { known }: Context): PlayerSeeds | null | Missing =>
  player.seeds ?? (known?.seeds === undefined ? missing({ seeds: true }) : known.seeds)

export const isMissing = (seeds: PlayerSeeds | Missing): seeds is Missing => "_tag" in seeds

const noSeeds: NoSeeds = { _tag: "NoSeeds" }

/** Reason for refusing a bet whose stake or possible payout exceeds the bounds of one round; names the bound, so that a smaller bet can be sent. */
const refuseBounds = (bet: CheckedBet, { maxPayout, maxStake }: OriginalBounds) => {
  if (bet.stake > maxStake) return refuseFields({ stake: [`must be at most ${maxStake}`] })
  return bet.maxPayout > maxPayout
    ? refuseFields({
      stake: [
        `must be at most ${multiplyDivideFloor(bet.stake, maxPayout, bet.maxPayout)}: a round pays ${maxPayout} at most`
      ]
    })
    : undefined
}

/** Plays one round. */
export const playStep =
  (play: Play, chance: Chance) =>
  (player: Player, context: Context): Decision<PlayedRound | NoSeeds | SeedClosed, PlayRefusal> => {
    const { bet, bounds, game } = play
    const bounded = bounds === undefined ? undefined : refuseBounds(bet, bounds)
    if (bounded !== undefined) return refused(bounded)
    const draft = new Draft(player, context)
    const funding = admitStake(draft, { game, amount: bet.stake }, null)
    if ("_tag" in funding) return refused(funding)
    // checks the largest payout and not the actual one: a refusal must not reveal an outcome
    if (!isBalance(draft.real + bet.maxPayout) || !isBalance(draft.bonus + bet.maxPayout)) {
      return refused(refuseFields({ stake: [`must keep the balance at or below ${maxBalance}, whatever the outcome`] }))
    }
    const seeds = seedsOf(player, context)
    if (seeds === null) return answer(player, noSeeds)
    if (isMissing(seeds)) return seeds
    const seedId = seeds.current.serverSeed
    const serverSeed = chance.open(seedId)
    if (serverSeed === undefined) return answer({ ...player, seeds }, { _tag: "SeedClosed", seedId })

    const { next, round: fairness } = takeNonce(seeds.current, play.clientSeed)
    const { multiplier, outcome, payout } = bet.play(drawsOf(chance.hmacSha256, { serverSeed, ...fairness }))
    const id = draft.takeId()
    const roundId = String(id)
    const source = { providerId: game.providerId, isLive: false }
    const { bonusId } = takeStake(draft, game, source, roundId, bet.stake, funding)
    draft.countRound(source)
    const stakes = { gameId: game.id, roundId, realStake: funding.real, bonusStake: funding.bonus, bonusId }
    payOut(draft, stakes, source, payout)
    // one action, whatever the number of entries
    draft.walletSeq = Math.min(draft.walletSeq, player.walletSeq + 1)

    const round: OriginalRound = {
      id,
      playerId: player.id,
      operatorId: player.operatorId,
      gameId: game.id,
      original: play.original,
      seedId,
      nonce: fairness.nonce,
      clientSeed: fairness.clientSeed,
      stake: bet.stake,
      payout,
      multiplier,
      params: bet.params,
      outcome,
      createdAt: draft.now
    }
    const decision = draft.accept(undefined, { originalRounds: [round] }, { seeds: { ...seeds, current: next } })
    return {
      ...decision,
      reply: {
        _tag: "Played",
        round,
        fairness,
        currency: player.currency,
        balance: decision.state.real,
        bonusBalance: decision.state.bonus,
        walletSeq: decision.state.walletSeq,
        entries: decision.change?.entries ?? []
      }
    }
  }

export const newSeed = (
  player: Player,
  { now }: Context,
  id: number,
  { hash, sealed }: SealedSeed,
  clientSeed: string | null
): SeedChange => ({
  id,
  playerId: player.id,
  operatorId: player.operatorId,
  hash,
  sealed,
  clientSeed,
  createdAt: now,
  startedAt: clientSeed === null ? null : now,
  retiredAt: null,
  serverSeed: null,
  isLost: false
})

/** Creates the first seeds of a player; returns existing ones unchanged. */
export const startSeedsStep =
  (fresh: { readonly first: SealedSeed; readonly second: SealedSeed; readonly clientSeed: string }) =>
  (player: Player, context: Context): Decision<PlayerSeeds, never> => {
    const earlier = seedsOf(player, context)
    if (earlier !== null) {
      return isMissing(earlier) ? earlier : answer({ ...player, seeds: earlier }, earlier)
    }
    const { first, second, clientSeed } = fresh
    const [firstId, secondId] = [context.firstId, context.firstId + 1]
    const seeds = beginWith(
      { serverSeed: firstId, serverSeedHash: first.hash },
      { serverSeed: secondId, serverSeedHash: second.hash },
      clientSeed
    )
    return {
      _tag: "Accept",
      state: { ...player, seeds },
      reply: seeds,
      change: {
        ...noChange,
        seeds: [
          newSeed(player, context, firstId, first, clientSeed),
          newSeed(player, context, secondId, second, null)
        ]
      },
      idsUsed: 2
    }
  }

export interface RotatedSeeds {
  readonly _tag: "Rotated"
  /** Revealed by this answer, which is sent only once the retirement is durable. */
  readonly retired: RetiredSeed<string>
  readonly seeds: PlayerSeeds
}

/** Retires the server seed and takes the next one into use; `clientSeed` undefined keeps the current one. */
export const rotateSeedsStep =
  (command: { readonly fresh: SealedSeed; readonly clientSeed: string | undefined }, chance: Pick<Chance, "open">) =>
  (player: Player, context: Context): Decision<RotatedSeeds | NoSeeds | SeedClosed, never> => {
    const before = seedsOf(player, context)
    if (before === null) return answer(player, noSeeds)
    if (isMissing(before)) return before
    const seedId = before.current.serverSeed
    const serverSeed = chance.open(seedId)
    if (serverSeed === undefined) return answer({ ...player, seeds: before }, { _tag: "SeedClosed", seedId })
    const { fresh } = command
    const freshId = context.firstId
    const { retired, seeds } = rotate(
      before,
      { serverSeed: freshId, serverSeedHash: fresh.hash },
      command.clientSeed
    )
    const ofPlayer = {
      playerId: player.id,
      operatorId: player.operatorId,
      sealed: null,
      createdAt: context.now,
      isLost: false
    }
    return {
      _tag: "Accept",
      state: { ...player, seeds },
      reply: { _tag: "Rotated", retired: { ...retired, serverSeed }, seeds },
      change: {
        ...noChange,
        seeds: [
          {
            ...ofPlayer,
            id: seedId,
            hash: retired.serverSeedHash,
            clientSeed: null,
            startedAt: null,
            retiredAt: context.now,
            serverSeed
          },
          {
            ...ofPlayer,
            id: seeds.current.serverSeed,
            hash: seeds.current.serverSeedHash,
            clientSeed: seeds.current.clientSeed,
            startedAt: context.now,
            retiredAt: null,
            serverSeed: null
          },
          newSeed(player, context, freshId, fresh, null)
        ]
      },
      idsUsed: 1
    }
  }
