/**
 * Definition of an original, a game of the platform itself: a rule from stake, the player's choice and random numbers to a payout.
 *
 * A multiplier has four decimals, stored in ten-thousandths; a payout is floor(stake × multiplier) in minor units. All arithmetic is integer, so a
 * player can recompute the payout from the multiplier shown.
 */
import { maxAmount, multiplyDivideFloor } from "../Money.ts"
import type { JsonObject } from "../state/Change.ts"
import type { Draws } from "./Fairness.ts"
import { type FieldMessages, type ParamsReader, readParams } from "./ParamsReader.ts"

export interface Played {
  /** Minor units, 0 for a lost bet. */
  readonly payout: number
  /** Multiplier of the stake, with at most four decimals; 0 for a lost bet. */
  readonly multiplier: number
  /** The player's choice and the drawn result: with the seeds, sufficient to verify the round. */
  readonly outcome: JsonObject
}

/** Validated bet, ready to be drawn. */
export interface CheckedBet<out Params extends JsonObject = JsonObject> {
  readonly _tag: "Checked"
  readonly stake: number
  readonly params: Params
  /** Largest possible payout with these params, in minor units. */
  readonly maxPayout: number
  readonly play: (draws: Draws) => Played
}

/** Validation errors of a bet by field: `stake`, `params`, `params.target`, … */
interface InvalidBet {
  readonly _tag: "Invalid"
  readonly fields: FieldMessages
}

export interface Original<out Params extends JsonObject = JsonObject> {
  /** Name in the catalogue and on the command line. */
  readonly name: string
  /**
   * Stated return to player in percent. Every choice of params returns this, or less by at most the fourth decimal of its multiplier, before the
   * payout is rounded down to a minor unit.
   */
  readonly returnPercent: number
  /** Largest multiplier over all params. */
  readonly maxMultiplier: number
  /** Largest stake in minor units whose largest payout is exactly representable. */
  readonly maxStake: number
  /** Validates a bet: its stake in minor units and the game's unparsed params. */
  readonly check: (params: unknown, stake: number) => CheckedBet<Params> | InvalidBet
}

/** Stated return of all originals, in percent: a house edge of 1 %. */
export const returnPercent = 99

/** Units of a multiplier in 1. */
export const multiplierUnits = 10_000

/** Multiplier in ten-thousandths, rounded down, by which `winning` of `outcomes` equally likely ones return the stated percentage. */
export const fairMultiplier = (outcomes: number, winning: number): number =>
  multiplyDivideFloor(returnPercent * multiplierUnits / 100, outcomes, winning)

interface Rules<Params extends JsonObject> {
  readonly name: string
  /** Ten-thousandths. */
  readonly maxMultiplier: number
  /** Parses the params; undefined when the reader has recorded an error. */
  readonly read: (params: ParamsReader) => Params | undefined
  /** Largest multiplier with these params, in ten-thousandths. */
  readonly highest: (params: Params) => number
  /** Plays with valid params. The multiplier is in ten-thousandths. */
  readonly play: (params: Params, draws: Draws) => { readonly multiplier: number; readonly outcome: JsonObject }
}

/** Makes an original of its own rules and the shared ones of stakes and payouts. */
export const makeOriginal = <Params extends JsonObject>(rules: Rules<Params>): Original<Params> => {
  const maxStake = multiplyDivideFloor(maxAmount, multiplierUnits, rules.maxMultiplier)
  return {
    name: rules.name,
    returnPercent,
    maxMultiplier: rules.maxMultiplier / multiplierUnits,
    maxStake,
    check: (input, stake) => {
      const reader = readParams(input)
      const params = rules.read(reader)
      const wrong = reader.wrong()
      if (!Number.isSafeInteger(stake) || stake < 1 || stake > maxStake) {
        return { _tag: "Invalid", fields: { stake: [`must be an integer between 1 and ${maxStake}`], ...wrong } }
      }
      if (params === undefined || wrong !== undefined) return { _tag: "Invalid", fields: wrong ?? {} }
      return {
        _tag: "Checked",
        stake,
        params,
        maxPayout: multiplyDivideFloor(stake, rules.highest(params), multiplierUnits),
        play: (draws) => {
          const { multiplier, outcome } = rules.play(params, draws)
          return {
            payout: multiplyDivideFloor(stake, multiplier, multiplierUnits),
            multiplier: multiplier / multiplierUnits,
            outcome
          }
        }
      }
    }
  }
}
