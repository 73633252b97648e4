/**
 * Random numbers of originals (the platform's own games), derived from seeds so that a player can reproduce them
 * (`docs/decisions/0007-originals.md`).
 *
 * The stream of a round is HMAC-SHA256 of `client_seed:nonce:cursor` under the server seed, for cursor 0, 1, 2, …, concatenated blocks of 32 bytes.
 * It is read as big-endian words of four bytes; every number drawn takes the next word that is not rejected.
 */

/** HMAC-SHA256 under the UTF-8 bytes of `key`, of the UTF-8 bytes of `message`: 32 bytes. Injected; pure. */
export type HmacSha256 = (key: string, message: string) => Uint8Array

/** SHA-256 of the UTF-8 bytes of `text`: 32 bytes. Injected; pure. */
export type Sha256 = (text: string) => Uint8Array

/** Inputs of a round's outcome beside the player's choice. */
export interface RoundSeeds {
  /** Revealed secret: 64 hexadecimal digits, lower case. The key is this text, not the bytes it encodes. */
  readonly serverSeed: string
  readonly clientSeed: string
  readonly nonce: number
}

/** Random numbers of one round, consumed in order. */
export interface Draws {
  /** Next number: a uniform integer from 0 to below `bound`; `bound` is from 1 to 2^32. */
  readonly below: (bound: number) => number
}

const wordValues = 2 ** 32
const wordBytes = 4

/** Commitment to a server seed, published before a bet: SHA-256 of its text, hexadecimal, lower case. */
export const hashServerSeed = (sha256: Sha256, serverSeed: string): string =>
  Array.from(sha256(serverSeed), (byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * Reduces a word, uniform over `values` values, to a number below `bound`; undefined when rejected: a word past the last whole multiple of `bound`
 * would favour small numbers.
 */
export const reduceWord = (word: number, bound: number, values: number = wordValues): number | undefined =>
  word < values - values % bound ? word % bound : undefined

/** Generator of the words of a round's stream: integers from 0 to below 2^32. */
export const wordsOf = (hmacSha256: HmacSha256, seeds: RoundSeeds): () => number => {
  let cursor = 0
  let block: DataView = new DataView(new ArrayBuffer(0))
  let offset = 0
  return () => {
    if (offset === block.byteLength) {
      const bytes = hmacSha256(seeds.serverSeed, `${seeds.clientSeed}:${seeds.nonce}:${cursor}`)
      block = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      cursor += 1
      offset = 0
    }
    const word = block.getUint32(offset)
    offset += wordBytes
    return word
  }
}

/** Draws from a generator of words. */
export const drawsFrom = (nextWord: () => number): Draws => ({
  below: (bound) => {
    for (;;) {
      const value = reduceWord(nextWord(), bound)
      if (value !== undefined) return value
    }
  }
})

/** Draws of the round with these seeds; deterministic. */
export const drawsOf = (hmacSha256: HmacSha256, seeds: RoundSeeds): Draws => drawsFrom(wordsOf(hmacSha256, seeds))
