/**
 * Retires server seeds whose encryption key is lost, so that the player can play the platform's own games again. A lost seed is never revealed; its
 * rounds stay paid, but can no longer be proved fair.
 */
import { noChange } from "../state/Change.ts"
import { answer, type Context, type Decision } from "../state/Decision.ts"
import { isMissing, newSeed, seedsOf } from "./OriginalRounds.ts"
import type { PlayerSeeds, SealedSeed, SeedChange } from "../state/PlayerSeeds.ts"
import { type ServerSeed, startSeeds } from "../state/Seeds.ts"
import type { Player } from "../state/Player.ts"

export interface RetireLostSeeds {
  /** Ids of the seeds that cannot be decrypted. */
  readonly lost: ReadonlySet<number>
  /** New seeds, used only as needed; never to be used again. */
  readonly fresh: { readonly first: SealedSeed; readonly second: SealedSeed }
  readonly reason: string
  /** Audit log label of the actor. */
  readonly actor: string
}

export interface LostSeedsRetired {
  /** Commitments of the seeds retired by this decision. */
  readonly retired: ReadonlyArray<string>
  /** The player's seeds from now on; null when there are none. */
  readonly seeds: PlayerSeeds | null
}

/** Placeholder: seeds already stored are not sealed again. */
const none = new Uint8Array()

/** Retires the player's lost seeds: the next seed, or a new one, replaces the current one. */
export const retireLostSeedsStep =
  ({ actor, fresh, lost, reason }: RetireLostSeeds) =>
  (player: Player, context: Context): Decision<LostSeedsRetired, never> => {
    const before = seedsOf(player, context)
    if (before === null) return answer(player, { retired: [], seeds: null })
    if (isMissing(before)) return before
    const { current, next } = before
    const isCurrentLost = lost.has(current.serverSeed)
    const isNextLost = lost.has(next.serverSeed)
    if (!isCurrentLost && !isNextLost) {
      return answer({ ...player, seeds: before }, { retired: [], seeds: before })
    }
    const { clientSeed } = current
    const { now } = context
    const retire = (seed: ServerSeed<number>, startedAt: number | null): SeedChange => ({
      ...newSeed(player, context, seed.serverSeed, { hash: seed.serverSeedHash, sealed: none }, null),
      sealed: null,
      clientSeed: startedAt === null ? null : clientSeed,
      startedAt,
      retiredAt: now,
      isLost: true
    })
    const first = { serverSeed: context.firstId, serverSeedHash: fresh.first.hash }
    const second = { serverSeed: context.firstId + 1, serverSeedHash: fresh.second.hash }
    const changes: Array<SeedChange> = []
    let seeds: PlayerSeeds
    if (!isCurrentLost) {
      // never in use: begins and ends at once
      changes.push(retire(next, now), newSeed(player, context, first.serverSeed, fresh.first, null))
      seeds = { current, next: first }
    } else if (!isNextLost) {
      const start = newSeed(player, context, next.serverSeed, { hash: next.serverSeedHash, sealed: none }, clientSeed)
      changes.push(retire(current, null), { ...start, sealed: null })
      changes.push(newSeed(player, context, first.serverSeed, fresh.first, null))
      seeds = { current: startSeeds(next, clientSeed), next: first }
    } else {
      changes.push(retire(current, null), retire(next, now))
      changes.push(newSeed(player, context, first.serverSeed, fresh.first, clientSeed))
      changes.push(newSeed(player, context, second.serverSeed, fresh.second, null))
      seeds = { current: startSeeds(first, clientSeed), next: second }
    }
    const retired = [
      ...(isCurrentLost ? [current.serverSeedHash] : []),
      ...(isNextLost ? [next.serverSeedHash] : [])
    ]
    return {
      _tag: "Accept",
      state: { ...player, seeds },
      reply: { retired, seeds },
      change: {
        ...noChange,
        seeds: changes,
        audit: [{
          id: context.firstId + 2,
          at: now,
          actor,
          action: "player.retire_seeds",
          operatorId: player.operatorId,
          playerId: player.id,
          subject: `player:${player.id}`,
          before: { seed_in_use: current.serverSeedHash, seed_promised: next.serverSeedHash },
          after: {
            seed_in_use: seeds.current.serverSeedHash,
            seed_promised: seeds.next.serverSeedHash,
            lost: retired
          },
          reason
        }]
      },
      idsUsed: 3
    }
  }
