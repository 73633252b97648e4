/** What a protocol has to tell apart among refusals of one code. */
import { type Refusal } from "../domain/Refusal.ts"
import { noSuchGame } from "../domain/settlement/SettlementParts.ts"

/** Whether a refusal NOT_FOUND is about the game and not about the player. */
export const isAboutGame = ({ message }: Refusal): boolean => message === noSuchGame.message

/** Whether a refusal VALIDATION_FAILED is about the currency. */
export const isAboutCurrency = ({ details }: Refusal): boolean => "currency" in details
