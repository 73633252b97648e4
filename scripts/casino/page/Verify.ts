/** Proof of a round in the browser: what chance gave, made again from the seeds by the published recipe, on the Web Crypto API alone. */
import type { RoundProof } from "../../package/client/src/browser.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const sha256 = async (text: string): Promise<string> =>
  Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(text))))
    .map((byte) => byte.toString(16).padStart(2, "0")).join("")

interface Seeds {
  readonly serverSeed: string
  readonly clientSeed: string
  readonly nonce: number
}

/** Numbers of a round, each below a bound: words of blocks, without those that would make some numbers likelier. */
const numbersOf = ({ clientSeed, nonce, serverSeed }: Seeds) => {
  const key = crypto.subtle.importKey("raw", bytesOf(serverSeed), { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const words: Array<number> = []
  let cursor = 0
  const below = async (bound: number): Promise<number> => {
    if (words.length === 0) {
      const block = await crypto.subtle.sign("HMAC", await key, bytesOf(`${clientSeed}:${nonce}:${cursor++}`))
      const view = new DataView(block)
      for (let at = 0; at < 32; at += 4) words.push(view.getUint32(at))
    }
    const word = words.shift() ?? 0
    return word < 2 ** 32 - 2 ** 32 % bound ? word % bound : below(bound)
  }
  return below
}

/** Field of the outcome that is chance, and its value. */
const chanceOf = async (
  original: string,
  params: RoundProof["params"],
  below: (bound: number) => Promise<number>
): Promise<readonly [field: string, value: unknown]> => {
  switch (original) {
    case "dice":
      return ["roll", await below(10_000) / 100]
    case "limbo": {
      const chance = BigInt(await below(2 ** 14)) * 2n ** 32n + BigInt(await below(2 ** 32))
      const hundredths = Number(99n * 2n ** 46n / (chance + 1n))
      return ["result", Math.min(Math.max(hundredths, 100), 100_000_000) / 100]
    }
    case "coin_flip":
      return ["result", await below(2) === 0 ? "heads" : "tails"]
    case "plinko": {
      let path = ""
      while (path.length < Number(params["rows"])) path += await below(2) === 0 ? "L" : "R"
      return ["path", path]
    }
    default: {
      const cells = Array.from({ length: 25 }, (_, cell) => cell)
      const mined: Array<number> = []
      while (mined.length < Number(params["mines"])) mined.push(...cells.splice(await below(cells.length), 1))
      return ["mine_cells", mined.sort((one, other) => one - other)]
    }
  }
}

/** Whether a round came of the seed that was promised before it. Needs its server seed, which is told once it is retired. */
export const isFair = async ({ fairness, original, outcome, params }: RoundProof): Promise<boolean> => {
  const { client_seed: clientSeed, nonce, server_seed: serverSeed, server_seed_hash } = fairness
  if (serverSeed === null || await sha256(serverSeed) !== server_seed_hash) return false
  const [field, value] = await chanceOf(original, params, numbersOf({ clientSeed, nonce, serverSeed }))
  return JSON.stringify(outcome[field]) === JSON.stringify(value)
}
