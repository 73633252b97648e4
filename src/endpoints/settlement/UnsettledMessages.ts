/** Extracts from an answered provider call the messages that moved no money, for the call log (`features/integrations/KeptCalls.ts`). */
import { minorDigits } from "../../domain/Standards.ts"
import type { CallKind, CallResult } from "../../domain/settlement/MessageStory.ts"
import type { NotedCall } from "../../features/integrations/KeptCalls.ts"
import { idOfAction } from "../../features/settlement/WalletActions.ts"
import type { AnsweredCall } from "../../http/ProviderLane.ts"
import { type Amount, decimalText, toMajorText, toMinorUnits } from "../../protocols/Decimal.ts"
import {
  type ActionSubject,
  fundsIn,
  type WalletAction,
  type WalletCall,
  type WalletOutcome
} from "../../protocols/Protocol.ts"

/** Amount in major units, with the decimals of the currency where it is whole in it; null where its units are not known. */
const majorText = (amount: Amount, currency: string | null): string | null => {
  if (currency === null) return "minor" in amount ? null : decimalText(amount)
  const minor = toMinorUnits(amount, minorDigits(currency))
  return minor === undefined ? decimalText(amount) : toMajorText(minor, currency)
}

/** Amount of an action, signed as it moves the player's money; null for one without. */
const amountIn = (action: WalletAction, currency: string | null): string | null => {
  if (!("amount" in action)) return null
  if (action.action === "bet" && action.isFree === true) return "0"
  const text = majorText(action.amount, currency)
  return text !== null && action.action === "bet" ? `-${text}` : text
}

const kindOf = ({ action }: WalletAction): CallKind =>
  action === "adjust" ? "adjustment" : action === "close_round" ? "round_end" : action

const targetOf = (action: WalletAction): string | null =>
  action.action === "rollback"
    ? action.targetTransactionId
    : action.action === "win"
    ? action.betTransactionId
    : null

interface Message {
  readonly subject: Pick<ActionSubject, "currency" | "gameId" | "roundId">
  readonly action: WalletAction
}

const messagesOf = (call: WalletCall): ReadonlyArray<Message> =>
  call.kind === "settle"
    ? call.actions.map((action) => ({ subject: call, action }))
    : call.kind === "batch"
    ? call.entries.map((entry) => ({ subject: entry, action: entry.action }))
    : []

/** Whether a call may have messages that are kept: most have none, and are looked at no further. */
const isUnsettled = (outcome: WalletOutcome): boolean =>
  outcome._tag === "Refused" ||
  outcome._tag === "Settled" && outcome.settlements.some(({ status, transactionId }, index) =>
      status !== "processed" && (transactionId !== null || index === 0)
    )

/** Result of the message at an index; undefined for one that is not kept: it moved money, or left a row of its own. */
const resultOf = (outcome: WalletOutcome, { action }: WalletAction, index: number): CallResult | undefined => {
  if (outcome._tag === "Refused") return "refused"
  if (outcome._tag !== "Settled") return undefined
  // a bet with its win is one settlement
  const status = (outcome.settlements[index] ?? outcome.settlements[0])?.status
  return status === "replayed" || (status === "ignored" && action !== "rollback") ? status : undefined
}

const textOrNull = (value: unknown): string | null => typeof value === "string" ? value : null

const none: ReadonlyArray<NotedCall> = []

/** `playerOf`: the player of a reference that the outcome names. */
export const unsettledMessages = (
  providerId: number,
  { answer, at, outcome, received }: AnsweredCall,
  playerOf: (reference: string) => number | undefined
): ReadonlyArray<NotedCall> => {
  if (outcome === undefined || received._tag !== "Call" || !isUnsettled(outcome)) return none
  const { call } = received
  const refusal = outcome._tag === "Refused" ? outcome.refusal : undefined
  const reference = outcome._tag === "Refused" || outcome._tag === "Settled" ? outcome.playerRef : null
  const playerId = reference === null ? null : playerOf(reference) ?? null
  const funds = fundsIn(outcome)
  return messagesOf(call).flatMap(({ action, subject }, index): ReadonlyArray<NotedCall> => {
    // told with the transactions before it, the last of which mostly closed the round: no message of its own
    if (action.action === "close_round" && index > 0) return none
    const result = resultOf(outcome, action, index)
    const currency = subject.currency ?? funds?.currency ?? null
    return result === undefined ? [] : [{
      at,
      providerId,
      playerId,
      transactionId: idOfAction(action) ?? null,
      targetTransactionId: targetOf(action),
      gameExternalId: subject.gameId,
      roundId: subject.roundId,
      kind: kindOf(action),
      method: call.method,
      amount: amountIn(action, currency),
      currency,
      result,
      code: refusal?.code ?? null,
      // of the rule, not of the player: which limit, which restriction
      reason: textOrNull(refusal?.details["reason"] ?? refusal?.details["limit"]),
      status: answer.status,
      answer: answer.body
    }]
  })
}
