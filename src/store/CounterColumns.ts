/** SQL of single limit counters in `accounts.counters`. */
export { counterIn } from "./internal/CountersCodec.ts"
