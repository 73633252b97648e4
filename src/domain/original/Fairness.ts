/**
 * How chance is made of seeds, so that a player can make it again (DECISIONS section 4, `originals`; the recipe is in
 * `docs/decisions/0007-originals.md`).
 *
 * The stream of a round is HMAC-SHA256 of `client_seed:nonce:cursor` under the server seed, for cursor 0, 1, 2, …, one
 * block of 32 bytes after the other. It is read as words of four bytes, the most significant first; every number drawn
 * takes the next word, or the next one that is not rejected.
 */

/** HMAC-SHA256 under the UTF-8 bytes of `key`, of the UTF-8 bytes of `message`: 32 bytes. Given from outside; pure. */
export type HmacSha256 = (key: string, message: string) => Uint8Array

/** SHA-256 of the UTF-8 bytes of `text`: 32 bytes. Given from outside; pure. */
export type Sha256 = (text: string) => Uint8Array

/** All that the outcome of a round depends on, besides what the player chose. */
export interface RoundSeeds {
  /** The opened secret: 64 hexadecimal digits, lower case. The text itself is the key, not the bytes it spells. */
  readonly serverSeed: string
  readonly clientSeed: string
  readonly nonce: number
}

/** The chance of one round, used up from front to back. */
export interface Draws {
  /** The next number: an integer from 0 to below `bound`, each exactly as likely. `bound` is from 1 to 2^32. */
  readonly below: (bound: number) => number
}

const wordValues = 2 ** 32
const wordBytes = 4

/** The hash under which a server seed is promised before a bet: SHA-256 of its text, hexadecimal, lower case. */
export const hashServerSeed = (sha256: Sha256, serverSeed: string): string =>
  Array.from(sha256(serverSeed), (byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * A number below `bound` made of a word that is one of `values` equally likely ones, or undefined when the word is
 * rejected: it lies past the last whole multiple of `bound`, where the small numbers would get one word more.
 */
export const reduceWord = (word: number, bound: number, values: number = wordValues): number | undefined =>
  word < values - values % bound ? word % bound : undefined

/** The words of a round's stream, one per call: integers from 0 to below 2^32. */
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

/** Numbers made of words. */
export const drawsFrom = (nextWord: () => number): Draws => ({
  below: (bound) => {
    for (;;) {
      const value = reduceWord(nextWord(), bound)
      if (value !== undefined) return value
    }
  }
})

/** The chance of the round that has these seeds. The same seeds give the same numbers, always. */
export const drawsOf = (hmacSha256: HmacSha256, seeds: RoundSeeds): Draws => drawsFrom(wordsOf(hmacSha256, seeds))
