/** Originals for tests of rules: seeds derived from a number, and bets with outcomes set by the test. */
import { createHash, createHmac } from "node:crypto"
import { type Chance, type Play, startSeedsStep } from "../../src/domain/original/OriginalRounds.ts"
import type { SettledGame } from "../../src/domain/state/Messages.ts"
import type { Draws } from "../../src/domain/original/Fairness.ts"
import type { CheckedBet } from "../../src/domain/original/Original.ts"
import type { SealedSeed } from "../../src/domain/state/PlayerSeeds.ts"
import { slot } from "./Messages.ts"

export const hmacSha256 = (key: string, message: string): Uint8Array =>
  createHmac("sha256", key).update(message).digest()

/** The text of a server seed. */
export const serverSeedOf = (name: string): string => createHash("sha256").update(name).digest("hex")

/** A server seed identified by its name, without encryption. */
export const sealedSeedOf = (name: string): SealedSeed => ({
  sealed: new TextEncoder().encode(name),
  hash: createHash("sha256").update(serverSeedOf(name)).digest("hex")
})

/** Gives a player seeds: `<name> 1` is in use, `<name> 2` promised. */
export const startSeedsOf = (name: string) =>
  startSeedsStep({ first: sealedSeedOf(`${name} 1`), second: sealedSeedOf(`${name} 2`), clientSeed: "lucky" })

/** Every seed is open: its text is made of its id. */
export const openChance: Chance = { open: (seedId) => serverSeedOf(String(seedId)), hmacSha256 }

/** A bet with a fixed payout for every draw. */
export const betPaying = (
  stake: number,
  payout: number | ((draws: Draws) => number),
  maxPayout = 1_000_000
): CheckedBet => ({
  _tag: "Checked",
  stake,
  params: { choice: "any" },
  maxPayout,
  play: (draws) => {
    const paid = typeof payout === "number" ? payout : payout(draws)
    return { payout: paid, multiplier: paid / stake, outcome: { paid } }
  }
})

export const playOf = (
  bet: CheckedBet,
  clientSeed?: string,
  game: SettledGame = slot
): Play => ({ game, original: "dice", bet, clientSeed })
