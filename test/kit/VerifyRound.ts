/**
 * Verification of a round as by a player: an independent computation of its outcome, from docs/decisions/0007-originals.md and
 * not from the rules.
 */
import { createHash, createHmac } from "node:crypto"

export const hashOf = (serverSeed: string): string => createHash("sha256").update(serverSeed, "utf8").digest("hex")

interface Seeds {
  readonly serverSeed: string
  readonly clientSeed: string
  readonly nonce: number
}

/** The numbers of a round, below a bound each. */
const numbersOf = ({ clientSeed, nonce, serverSeed }: Seeds) => {
  let words: Array<number> = []
  let cursor = 0
  const below = (bound: number): number => {
    if (words.length === 0) {
      const block = createHmac("sha256", serverSeed).update(`${clientSeed}:${nonce}:${cursor++}`).digest()
      words = [0, 4, 8, 12, 16, 20, 24, 28].map((offset) => block.readUInt32BE(offset))
    }
    const word = words.shift() ?? 0
    const usable = 2 ** 32 - 2 ** 32 % bound
    return word < usable ? word % bound : below(bound)
  }
  return below
}

/** Random part of an outcome: the roll, the result, the side, the path or the mined cells, under its field name. */
export const chanceOfRound = (
  game: string,
  params: { readonly [name: string]: unknown },
  seeds: Seeds
): readonly [name: string, value: unknown] => {
  const below = numbersOf(seeds)
  switch (game) {
    case "dice":
      return ["roll", below(10_000) / 100]
    case "limbo": {
      const upper = below(2 ** 14)
      const chance = BigInt(upper) * 2n ** 32n + BigInt(below(2 ** 32))
      const hundredths = Number(99n * 2n ** 46n / (chance + 1n))
      return ["result", Math.min(Math.max(hundredths, 100), 100_000_000) / 100]
    }
    case "coin_flip":
      return ["result", below(2) === 0 ? "heads" : "tails"]
    case "plinko":
      return ["path", Array.from({ length: Number(params["rows"]) }, () => below(2) === 0 ? "L" : "R").join("")]
    default: {
      const cells = Array.from({ length: 25 }, (_, cell) => cell)
      const mined = Array.from({ length: Number(params["mines"]) }, () => cells.splice(below(cells.length), 1)[0] ?? -1)
      return ["mine_cells", mined.sort((a, b) => a - b)]
    }
  }
}
