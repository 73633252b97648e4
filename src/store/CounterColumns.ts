/** SQL that reads a single number of a player's usage of limits from the text column `accounts.counters`. */
export { counterIn } from "./internal/CountersCodec.ts"
