/**
 * The server seeds of a player as decisions see them: the one that decides now, and the one that will after the next rotation,
 * which is promised by its hash already. So a player who rotates chooses the new client seed after both hashes were shown.
 *
 * A server seed is referred to by its id. The secret itself is in the store, sealed, and never changes.
 */
import { rotateSeeds, type Seeds, type ServerSeed, startSeeds } from "./Seeds.ts"

export interface PlayerSeeds {
  readonly current: Seeds<number>
  readonly next: ServerSeed<number>
}

/** A server seed as it is made: sealed, and promised by its hash. */
export interface SealedSeed {
  readonly sealed: Uint8Array
  /** SHA-256 of its text, hexadecimal. */
  readonly hash: string
}

/**
 * What becomes of one server seed. `sealed` claims that it is new; the other fields are written where they are given, and each is
 * given once in the life of a seed.
 */
export interface SeedChange {
  readonly id: number
  readonly playerId: number
  readonly operatorId: number
  readonly hash: string
  readonly sealed: Uint8Array | null
  /** The player's client seed when this one was taken into use. */
  readonly clientSeed: string | null
  /** Epoch milliseconds: when it was made, taken into use, and retired. */
  readonly createdAt: number
  readonly startedAt: number | null
  readonly retiredAt: number | null
  /** The secret, open to everybody from its retirement on. */
  readonly serverSeed: string | null
  /** Retired because its encryption key is lost. */
  readonly isLost: boolean
}

/** The first seeds of a player, under the ids of their rows. */
export const beginWith = (
  first: ServerSeed<number>,
  second: ServerSeed<number>,
  clientSeed: string
): PlayerSeeds => ({ current: startSeeds(first, clientSeed), next: second })

/** Retires the current server seed: the promised one takes its place, and a fresh one is promised. */
export const rotate = (seeds: PlayerSeeds, fresh: ServerSeed<number>, clientSeed: string | undefined) => {
  const { next, retired } = rotateSeeds(seeds.current, seeds.next, clientSeed)
  return { retired, seeds: { current: next, next: fresh } satisfies PlayerSeeds }
}
