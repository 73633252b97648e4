/**
 * Seeds of a player for the platform's own games, as plain data: the commitment, the client seed and the next nonce.
 *
 * One server seed decides all rounds of a player in all games until it is retired, and a nonce is never reused under it, not even after a new client
 * seed: the player could otherwise request an already known outcome. It is retired before it is revealed.
 */

export interface Seeds<out Sealed> {
  /** The sealed secret; never opened here. */
  readonly serverSeed: Sealed
  /** Published to the player before every bet. */
  readonly serverSeedHash: string
  readonly clientSeed: string
  /** Nonce of the next round; equals the number of rounds decided by this server seed. */
  readonly nonce: number
}

/** New server seed: the sealed secret and its hash. */
export interface ServerSeed<out Sealed> {
  readonly serverSeed: Sealed
  readonly serverSeedHash: string
}

/** Seeds of one round, as stored with it. */
export interface RoundFairness {
  readonly serverSeedHash: string
  readonly clientSeed: string
  readonly nonce: number
}

/** Server seed out of use, which may be revealed. */
export interface RetiredSeed<out Sealed> extends ServerSeed<Sealed> {
  /** Number of rounds it decided: nonces 0 to `rounds` − 1. */
  readonly rounds: number
}

const clientSeedPattern = /^[!-~]{1,64}$/

/** Validation errors of a client seed; empty when valid. ASCII only, so that all implementations hash the same bytes. */
export const clientSeedMessages = (clientSeed: string): ReadonlyArray<string> =>
  clientSeedPattern.test(clientSeed) ? [] : ["must be 1 to 64 visible ASCII characters without spaces"]

/** First seeds of a player. */
export const startSeeds = <Sealed>(fresh: ServerSeed<Sealed>, clientSeed: string): Seeds<Sealed> => ({
  serverSeed: fresh.serverSeed,
  serverSeedHash: fresh.serverSeedHash,
  clientSeed,
  nonce: 0
})

/** Takes the next nonce for a round and returns the seeds for the following one. A client seed sent with the bet takes effect in this round. */
export const takeNonce = <Sealed>(
  seeds: Seeds<Sealed>,
  clientSeed: string = seeds.clientSeed
): { readonly round: RoundFairness; readonly next: Seeds<Sealed> } => ({
  round: { serverSeedHash: seeds.serverSeedHash, clientSeed, nonce: seeds.nonce },
  next: { ...seeds, clientSeed, nonce: seeds.nonce + 1 }
})

/**
 * Retires the server seed, which may then be revealed, and continues from nonce 0 with a new, never used one. Store the retired seed in the same
 * change as `next`, and reveal it only once that is durable.
 */
export const rotateSeeds = <Sealed>(
  seeds: Seeds<Sealed>,
  fresh: ServerSeed<Sealed>,
  clientSeed: string = seeds.clientSeed
): { readonly retired: RetiredSeed<Sealed>; readonly next: Seeds<Sealed> } => ({
  retired: { serverSeed: seeds.serverSeed, serverSeedHash: seeds.serverSeedHash, rounds: seeds.nonce },
  next: startSeeds(fresh, clientSeed)
})
