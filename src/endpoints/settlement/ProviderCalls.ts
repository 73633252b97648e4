/** Services behind game provider calls: the entry points, the wallet, and the log of calls. */
import { Effect } from "effect"
import type { Credentials } from "../../auth/Credentials.ts"
import type { Integrations } from "../../features/integrations/Integrations.ts"
import { KeptCalls } from "../../features/integrations/KeptCalls.ts"
import { ProviderCallLog } from "../../features/integrations/ProviderCallLog.ts"
import { PlayerRefs } from "../../features/games/PlayerRefs.ts"
import { ProviderWallet } from "../../features/settlement/ProviderWallet.ts"
import { type CallingProvider, idOfAction } from "../../features/settlement/WalletActions.ts"
import type { AnsweredCall, ProviderCalls } from "../../http/ProviderLane.ts"
import { decimalText } from "../../protocols/Decimal.ts"
import type { WalletAction, WalletCall, WalletOutcome } from "../../protocols/Protocol.ts"
import { makeEntryPoints } from "./EntryPoints.ts"
import { unsettledMessages } from "./UnsettledMessages.ts"

/** Refusals of a bet that are about the player, not about the call: staff ask for the reason. */
const playerRefusals = new Set(["PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "BONUS_INVALID"])

/** Amount of an action, signed as it moves the player's money; undefined for one without. */
const amountOfAction = (action: WalletAction): string | undefined =>
  action.action === "bet"
    ? action.isFree === true ? "0" : `-${decimalText(action.amount)}`
    : "amount" in action
    ? decimalText(action.amount)
    : undefined

/** The first amount of a call. */
const amountOf = (call: WalletCall | undefined): string | null => {
  if (call?.kind === "settle") {
    for (const action of call.actions) {
      const amount = amountOfAction(action)
      if (amount !== undefined) return amount
    }
  }
  return null
}

/** Id of the first message of a call. */
const idOf = (call: WalletCall | undefined): string | null =>
  call?.kind === "settle"
    ? idOfAction(call.actions[0]) ?? null
    : call?.kind === "batch"
    ? idOfAction(call.entries[0]?.action) ?? null
    : null

const playerOf = (outcome: WalletOutcome | undefined): string | null =>
  outcome === undefined || outcome._tag === "Status"
    ? null
    : outcome._tag === "Identified"
    ? outcome.player.playerRef
    : outcome.playerRef

export const makeProviderCalls: Effect.Effect<
  ProviderCalls<CallingProvider>,
  never,
  Credentials | Integrations | ProviderWallet | ProviderCallLog | KeptCalls | PlayerRefs
> = Effect.gen(function*() {
  const wallet = yield* ProviderWallet
  const calls = yield* ProviderCallLog
  const kept = yield* KeptCalls
  const refs = yield* PlayerRefs
  const entryPoints = yield* makeEntryPoints
  const fork = Effect.runForkWith(yield* Effect.context<never>())

  const note = ({ providerId }: CallingProvider, answered: AnsweredCall) => {
    const { answer, at, latencyMs, outcome, received } = answered
    const call = received._tag === "Call" ? received.call : undefined
    const reason = received._tag === "Answered" && received.reason === "form" ? received.reason : null
    const refusal = outcome?._tag === "Refused" ? outcome.refusal : undefined
    calls.note(providerId, {
      at,
      method: received._tag === "Call" ? received.call.method : received.method,
      player: playerOf(outcome),
      transaction: idOf(call),
      round: call?.kind === "settle" ? call.roundId : null,
      amount: amountOf(call),
      status: answer.status,
      refusal: refusal?.code ?? reason,
      latencyMs
    })
    for (const message of unsettledMessages(providerId, answered, (ref) => refs.parse(providerId, ref))) {
      kept.note(message)
    }
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

  return { entryPoints, wallet, note }
})
