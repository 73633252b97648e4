/** Interface of the wallet that every provider protocol calls. */
import type { Effect, Exit } from "effect"
import type { WalletCall, WalletOutcome } from "./Protocol.ts"

/** Calls never fail: a refusal is a `Refused` outcome. */
export interface Wallet<Provider> {
  /**
   * Starts a call without a fiber and says true; `done` is called once, perhaps at once. Says false, with nothing done, where something has to
   * be looked up first: then `run`. Not traced.
   */
  readonly start: (provider: Provider, call: WalletCall, done: (exit: Exit.Exit<WalletOutcome>) => void) => boolean
  readonly run: (provider: Provider, call: WalletCall) => Effect.Effect<WalletOutcome>
  /** Player that a call names; undefined where the name has to be looked up, or leads nowhere. */
  readonly playerOf: (provider: Provider, call: WalletCall) => number | undefined
}
