/** Parser of a player's bet on an original (one of the platform's own games); reports all validation errors at once. */
import { maxAmount } from "../Money.ts"
import type { CheckedBet, Original } from "./Original.ts"
import type { FieldMessages } from "./ParamsReader.ts"
import { clientSeedMessages } from "../state/Seeds.ts"

export interface ReadBet {
  readonly _tag: "Read"
  readonly bet: CheckedBet
  /** Undefined keeps the current one. */
  readonly clientSeed: string | undefined
}

export interface UnreadableBet {
  readonly _tag: "Unreadable"
  readonly fields: FieldMessages
}

const noFields: FieldMessages = {}

const wrongClientSeed = (clientSeed: unknown): FieldMessages => {
  if (clientSeed === undefined) return noFields
  const messages = typeof clientSeed === "string" ? clientSeedMessages(clientSeed) : ["must be a string"]
  return messages.length === 0 ? noFields : { client_seed: messages }
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/** Validation errors independent of the game; undefined when there are none. */
export const wrongForm = (body: { readonly [field: string]: unknown }): FieldMessages | undefined => {
  const { client_seed: clientSeed, params = {}, stake } = body
  const isStake = typeof stake === "number" && Number.isSafeInteger(stake) && stake > 0
  const wrong = {
    ...(isStake
      ? noFields
      : { stake: [stake === undefined ? "is required" : `must be an integer from 1 to ${maxAmount}`] }),
    ...(isObject(params) ? noFields : { params: ["must be an object"] }),
    ...wrongClientSeed(clientSeed)
  }
  return Object.keys(wrong).length === 0 ? undefined : wrong
}

/** Parses `stake` (minor units), `params` of the game and the optional `client_seed`. Fields of params are `params.<name>`. */
export const readBet = (original: Original, body: { readonly [field: string]: unknown }): ReadBet | UnreadableBet => {
  const { client_seed: clientSeed, params = {}, stake } = body
  const checked = original.check(params, typeof stake === "number" ? stake : Number.NaN)
  const wrong = {
    ...(checked._tag === "Invalid" ? checked.fields : noFields),
    ...(stake === undefined ? { stake: ["is required"] } : noFields),
    ...wrongClientSeed(clientSeed)
  }
  return checked._tag === "Checked" && Object.keys(wrong).length === 0
    ? { _tag: "Read", bet: checked, clientSeed: typeof clientSeed === "string" ? clientSeed : undefined }
    : { _tag: "Unreadable", fields: wrong }
}
