/**
 * What an original game is: a rule that turns a stake, the player's choice and chance into a payout.
 *
 * A multiplier has four decimals and is counted in ten-thousandths; a payout is floor(stake × multiplier) in minor units.
 * All of it is integer arithmetic, so a player who multiplies what was shown gets what was paid.
 */
import { maxAmount, multiplyDivideFloor } from "../Money.ts"
import type { Draws } from "./Fairness.ts"
import { type FieldMessages, type ParamsReader, readParams } from "./ParamsReader.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export interface Played {
  /** Minor units, 0 when the bet is lost. */
  readonly payout: number
  /** What the stake was multiplied by, with at most four decimals; 0 when the bet is lost. */
  readonly multiplier: number
  /** The player's choice and what chance made of it: with the seeds, all that is needed to verify the round. */
  readonly outcome: JsonObject
}

/** A bet whose stake and params hold: only chance is missing. */
export interface CheckedBet<out Params extends JsonObject = JsonObject> {
  readonly _tag: "Checked"
  readonly stake: number
  readonly params: Params
  /** Minor units: the most that chance can make of it with these params. */
  readonly maxPayout: number
  readonly play: (draws: Draws) => Played
}

/** A bet that cannot be played, with what is wrong by field: `stake`, `params`, `params.target`, … */
interface InvalidBet {
  readonly _tag: "Invalid"
  readonly fields: FieldMessages
}

export interface Original<out Params extends JsonObject = JsonObject> {
  /** As the catalogue and the command line know it. */
  readonly name: string
  /**
   * The stated return to player in percent. Every choice of params returns this or less by the fourth decimal of its
   * multiplier at most, before the payout is rounded down to a minor unit.
   */
  readonly returnPercent: number
  /** The most that a stake can be multiplied by, whatever the params. */
  readonly maxMultiplier: number
  /** The largest stake in minor units whose largest payout is still an exact amount. */
  readonly maxStake: number
  /** Checks a bet: its stake in minor units and the game's params as they came. */
  readonly check: (params: unknown, stake: number) => CheckedBet<Params> | InvalidBet
}

/** The stated return of all originals, in percent: the house keeps 1 %. */
export const returnPercent = 99

/** How many units of a multiplier make 1. */
export const multiplierUnits = 10_000

/** The multiplier in ten-thousandths that makes `winning` of `outcomes` equally likely ones return what is stated, rounded down. */
export const fairMultiplier = (outcomes: number, winning: number): number =>
  multiplyDivideFloor(returnPercent * multiplierUnits / 100, outcomes, winning)

interface Rules<Params extends JsonObject> {
  readonly name: string
  /** Ten-thousandths. */
  readonly maxMultiplier: number
  /** Reads the params; undefined when the reader has noted something wrong. */
  readonly read: (params: ParamsReader) => Params | undefined
  /** The most that a stake can be multiplied by with these params, in ten-thousandths. */
  readonly highest: (params: Params) => number
  /** Plays with valid params. The multiplier is in ten-thousandths. */
  readonly play: (params: Params, draws: Draws) => { readonly multiplier: number; readonly outcome: JsonObject }
}

/** Makes an original of its own rules and of what all originals share: stakes and payouts. */
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
