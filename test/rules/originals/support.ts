import { assert } from "@effect/vitest"
import { createHash, createHmac } from "node:crypto"
import type { Draws } from "../../../src/domain/original/Fairness.ts"
import type { CheckedBet, Original } from "../../../src/domain/original/Original.ts"
import type { JsonObject } from "../../../src/domain/state/Change.ts"

export const hmacSha256 = (key: string, message: string): Uint8Array =>
  createHmac("sha256", key).update(message).digest()

export const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest()

/** Draws that give exactly these numbers: fails on a number outside the requested bound and on one too many. */
export const scripted = (...numbers: ReadonlyArray<number>): Draws & { readonly bounds: ReadonlyArray<number> } => {
  const bounds: Array<number> = []
  return {
    bounds,
    below: (bound) => {
      const value = numbers[bounds.length]
      bounds.push(bound)
      if (value === undefined || value >= bound) throw new Error(`no number for draw ${bounds.length} below ${bound}`)
      return value
    }
  }
}

/** Parses a bet that must be valid. */
export const bet = <Params extends JsonObject>(
  original: Original<Params>,
  params: JsonObject,
  stake = 10_000
): CheckedBet<Params> => {
  const checked = original.check(params, stake)
  if (checked._tag === "Checked") return checked
  assert.fail(`${JSON.stringify(params)}: ${JSON.stringify(checked.fields)}`)
}

/** Validation errors of a bet that must be refused. */
export const wrongs = (original: Original, params: unknown, stake = 10_000) => {
  const checked = original.check(params, stake)
  if (checked._tag === "Invalid") return checked.fields
  assert.fail(`accepted ${JSON.stringify(params)} with stake ${stake}`)
}

/** A multiplier as an integer of ten-thousandths. */
export const units = (multiplier: number): number => {
  const rounded = Math.round(multiplier * 10_000)
  assert.strictEqual(rounded / 10_000, multiplier)
  return rounded
}

/** C(from, count), exactly. */
export const choose = (from: number, count: number): bigint => {
  let ways = 1n
  for (let index = 1; index <= count; index++) ways = ways * BigInt(from - count + index) / BigInt(index)
  return ways
}

/** Fails unless `winning` of `outcomes`, each paying that many ten-thousandths, return 99 % less under 0.01 % × P(winning). */
export const assertReturn = (multiplier: number, winning: bigint, outcomes: bigint, of: string): void => {
  const shortfall = 9_900n * outcomes - BigInt(multiplier) * winning
  assert.isTrue(shortfall >= 0n && shortfall < winning, `${of}: ${multiplier} × ${winning} ÷ ${outcomes}`)
}
