/**
 * The seeds of a player as plain data: what is promised, what the player adds, and which round comes next.
 *
 * One server seed decides all rounds of a player, whatever the game, until it is retired, and a nonce is never used twice
 * under it: not after a new client seed either, or the player could ask for an outcome that is already known. It is shown
 * before it is retired.
 */

export interface Seeds<out Sealed> {
  /** The secret as its keeper holds it. Nothing here opens it. */
  readonly serverSeed: Sealed
  /** Shown to the player before every bet. */
  readonly serverSeedHash: string
  readonly clientSeed: string
  /** The nonce of the next round, which is the number of rounds that this server seed has decided. */
  readonly nonce: number
}

/** A new server seed: the sealed secret and its hash. */
export interface ServerSeed<out Sealed> {
  readonly serverSeed: Sealed
  readonly serverSeedHash: string
}

/** The seeds that one round is decided by, as they are kept with the round. */
export interface RoundFairness {
  readonly serverSeedHash: string
  readonly clientSeed: string
  readonly nonce: number
}

/** A server seed that decides nothing any more and may be revealed. */
export interface RetiredSeed<out Sealed> extends ServerSeed<Sealed> {
  /** How many rounds it decided: those with nonce 0 to `rounds` − 1. */
  readonly rounds: number
}

const clientSeedPattern = /^[!-~]{1,64}$/

/** What is wrong with a client seed; nothing when it can be used. ASCII only, so that everybody hashes the same bytes. */
export const clientSeedMessages = (clientSeed: string): ReadonlyArray<string> =>
  clientSeedPattern.test(clientSeed) ? [] : ["must be 1 to 64 visible ASCII characters without spaces"]

/** The first seeds of a player. */
export const startSeeds = <Sealed>(fresh: ServerSeed<Sealed>, clientSeed: string): Seeds<Sealed> => ({
  serverSeed: fresh.serverSeed,
  serverSeedHash: fresh.serverSeedHash,
  clientSeed,
  nonce: 0
})

/**
 * Takes the next nonce for a round, and gives the seeds that are left for the one after. A client seed that the player
 * sends with the bet counts from this round on.
 */
export const takeNonce = <Sealed>(
  seeds: Seeds<Sealed>,
  clientSeed: string = seeds.clientSeed
): { readonly round: RoundFairness; readonly next: Seeds<Sealed> } => ({
  round: { serverSeedHash: seeds.serverSeedHash, clientSeed, nonce: seeds.nonce },
  next: { ...seeds, clientSeed, nonce: seeds.nonce + 1 }
})

/**
 * Retires the server seed, which may then be revealed, and goes on from nonce 0 with a fresh one, which must never have
 * been used before. Keep the retired seed with the change that stores `next`, and reveal it only when that is durable.
 */
export const rotateSeeds = <Sealed>(
  seeds: Seeds<Sealed>,
  fresh: ServerSeed<Sealed>,
  clientSeed: string = seeds.clientSeed
): { readonly retired: RetiredSeed<Sealed>; readonly next: Seeds<Sealed> } => ({
  retired: { serverSeed: seeds.serverSeed, serverSeedHash: seeds.serverSeedHash, rounds: seeds.nonce },
  next: startSeeds(fresh, clientSeed)
})
