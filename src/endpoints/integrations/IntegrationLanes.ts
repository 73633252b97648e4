/** Vendors' calls as their lane needs them: providers by slug, calls of the wallet, and the record of calls. */
import { Effect } from "effect"
import type { AnsweredCall, VendorCalls } from "../../http/VendorLane.ts"
import { decimalText } from "../../protocols/Decimal.ts"
import type { WalletCall, WalletOutcome } from "../../protocols/Protocol.ts"
import { type Integration, Integrations } from "../../features/integrations/Integrations.ts"
import { IntegrationWallet } from "../../features/settlement/IntegrationWallet.ts"
import { ProviderCallLog } from "../../features/integrations/ProviderCallLog.ts"

/** Refusals of a bet that are about the player, not about the call: staff ask for the reason. */
const playerRefusals = new Set(["PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "BONUS_INVALID"])

/** The first amount of a call, signed as it moves the player's money. */
const amountOf = (call: WalletCall | undefined): string | null => {
  if (call?.kind !== "settle") return null
  for (const action of call.actions) {
    if (action.action === "bet") return action.isFree === true ? "0" : `-${decimalText(action.amount)}`
    if ("amount" in action) return decimalText(action.amount)
  }
  return null
}

const playerOf = (outcome: WalletOutcome | undefined): string | null =>
  outcome === undefined ? null : outcome._tag === "Identified" ? outcome.player.playerRef : outcome.playerRef

export const makeVendorCalls: Effect.Effect<
  VendorCalls<Integration>,
  never,
  Integrations | IntegrationWallet | ProviderCallLog
> = Effect.gen(function*() {
  const integrations = yield* Integrations
  const wallet = yield* IntegrationWallet
  const calls = yield* ProviderCallLog
  const fork = Effect.runForkWith(yield* Effect.context<never>())

  const note = (
    { providerId }: Integration,
    { answer, at, call, latencyMs, method, outcome, reason }: AnsweredCall
  ) => {
    const refusal = outcome?._tag === "Refused" ? outcome.refusal : undefined
    calls.note(providerId, {
      at,
      method,
      player: playerOf(outcome),
      round: call?.kind === "settle" ? call.roundId : null,
      amount: amountOf(call),
      status: answer.status,
      refusal: refusal?.code ?? (reason === "notice" ? null : reason) ?? null,
      latencyMs
    })
    if (refusal !== undefined && playerRefusals.has(refusal.code)) {
      fork(Effect.annotateLogs(Effect.logInfo("bet refused"), {
        provider_id: providerId,
        player_ref: playerOf(outcome),
        code: refusal.code,
        // of the rule, not of the player: which limit, which restriction
        reason: refusal.details["reason"] ?? refusal.details["limit"]
      }))
    }
  }

  return {
    peek: integrations.peek,
    refuserOf: integrations.refuserOf,
    find: integrations.find,
    start: (integration, call, done) => wallet.start(integration, call, done),
    run: (integration, call) => wallet.run(integration, call),
    note
  }
})
