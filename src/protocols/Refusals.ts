/** Tells apart refusals with the same code that protocols answer differently. */
import { type Refusal } from "../domain/Refusal.ts"
import { noSuchGame } from "../domain/settlement/SettlementParts.ts"

/** True when a NOT_FOUND refusal is about the game and not the player. */
export const isAboutGame = ({ message }: Refusal): boolean => message === noSuchGame.message

/** True when a VALIDATION_FAILED refusal is about the currency. */
export const isAboutCurrency = ({ details }: Refusal): boolean => "currency" in details
