/**
 * Server seeds of a player for the platform's own games, as the rules see them: the current one, and the one that follows when the player changes
 * seeds, whose hash is already published. A player therefore chooses the next client seed with both hashes known.
 *
 * A server seed is referred to by its id. The secret itself is in the database, encrypted, and never changes.
 */
import { rotateSeeds, type Seeds, type ServerSeed, startSeeds } from "./Seeds.ts"

export interface PlayerSeeds {
  readonly current: Seeds<number>
  readonly next: ServerSeed<number>
}

/** New server seed: sealed, with its commitment. */
export interface SealedSeed {
  readonly sealed: Uint8Array
  /** SHA-256 of its text, hexadecimal. */
  readonly hash: string
}

/** Change of one server seed. `sealed` claims that it is new; the other fields are written where given, each once in the life of a seed. */
export interface SeedChange {
  readonly id: number
  readonly playerId: number
  readonly operatorId: number
  readonly hash: string
  readonly sealed: Uint8Array | null
  /** The player's client seed when this one was taken into use. */
  readonly clientSeed: string | null
  /** Creation, first use and retirement, epoch milliseconds. */
  readonly createdAt: number
  readonly startedAt: number | null
  readonly retiredAt: number | null
  /** The secret, public from its retirement on. */
  readonly serverSeed: string | null
  /** Retired because its encryption key is lost. */
  readonly isLost: boolean
}

/** First seeds of a player, under the ids of their rows. */
export const beginWith = (
  first: ServerSeed<number>,
  second: ServerSeed<number>,
  clientSeed: string
): PlayerSeeds => ({ current: startSeeds(first, clientSeed), next: second })

/** Retires the current server seed: the next one replaces it, and a new one is committed to. */
export const rotate = (seeds: PlayerSeeds, fresh: ServerSeed<number>, clientSeed: string | undefined) => {
  const { next, retired } = rotateSeeds(seeds.current, seeds.next, clientSeed)
  return { retired, seeds: { current: next, next: fresh } satisfies PlayerSeeds }
}
