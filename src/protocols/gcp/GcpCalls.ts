/**
 * Calls from game studios that use SOFTSWISS's universal API (GCP): parses each into a wallet call, and renders the fields of the successful answer.
 */
import { minorDigits } from "../../domain/Standards.ts"
import { type Amount, parseDecimal, toMajorText, toMinorUnits } from "../Decimal.ts"
import { readDecimal, readInteger } from "../JsonBody.ts"
import type { JsonFields } from "../JsonFields.ts"
import { operatorId } from "../OperatorIds.ts"
import { fundsIn, type Granted, type ReadCall, type WalletAction, withEnd } from "../Protocol.ts"
import { shownTotal } from "../ShownFunds.ts"
import { currencyOf, finishedFreespins, playerOf, type ReadMethod } from "../Softswiss.ts"
import { render, renderIssue } from "./GcpAnswers.ts"

/** Maximum actions of one call. */
const maxActions = 100

/** Decimal beside or instead of an amount in subunits (Belatra): a number or a string. */
const decimalOf = (fields: JsonFields) => {
  const value = fields.values["amount_currency"]
  return typeof value === "string" ? parseDecimal(value) : readDecimal(value)
}

const hasDecimal = ({ values }: JsonFields): boolean =>
  values["amount_currency"] !== undefined && values["amount_currency"] !== null

/** Integer number of subunits; a decimal beside it must be equal, otherwise both are refused. */
const amountOf = (fields: JsonFields, currency: string, name = "amount"): Amount => {
  const minor = readInteger(fields.values[name])
  if (!hasDecimal(fields)) {
    if (minor === undefined || minor < 0) fields.refuse(name)
    return { minor: minor ?? 0 }
  }
  const decimal = decimalOf(fields)
  const units = decimal && toMinorUnits(decimal, minorDigits(currency))
  const agrees = fields.values[name] === undefined || minor === units
  if (units === undefined || units < 0 || !agrees) fields.refuse("amount_currency")
  return { minor: units ?? 0 }
}

/** `inDecimals`: the studio sends decimals, and gets the balance as a decimal too. */
const balanceValues = (outcome: Granted, inDecimals = false): object => {
  const funds = fundsIn(outcome)
  if (funds === null) return { balance: 0 }
  const total = shownTotal(funds)
  return inDecimals
    ? { balance: total, balance_currency: toMajorText(total, funds.currency) }
    : { balance: total }
}

/** Actions in the order of the request, with our id and the time of their first settlement. */
const transactionsOf = (outcome: Granted, ids: ReadonlyArray<string>): ReadonlyArray<object> =>
  outcome._tag !== "Settled"
    ? []
    : ids.map((id, index) => {
      const settlement = outcome.settlements[index]
      return {
        action_id: id,
        tx_id: operatorId(id),
        processed_at: new Date(settlement?.settledAt ?? 0).toISOString(),
        bonus_amount: Math.abs(settlement?.bonusAmount ?? 0)
      }
    })

/** Shared by `/play` and `/rollback`. Without actions the balance is answered; a finished round is closed in any case. */
const settleActions = (
  fields: JsonFields,
  method: string,
  actions: ReadonlyArray<JsonFields>,
  read: (action: JsonFields, id: string, closesRound: boolean, currency: string) => WalletAction
): ReadCall => {
  const player = playerOf(fields.text("user_id"))
  const currency = currencyOf(fields)
  const gameId = fields.text("game")
  const roundId = fields.optionalText("game_id")
  const closes = fields.flag("finished") && roundId !== null
  if (actions.length > 0 && roundId === null) fields.refuse("game_id")
  const ids = actions.map((action) => action.text("action_id"))
  if (new Set(ids).size < ids.length) fields.refuse("actions.action_id")
  const settling: ReadonlyArray<WalletAction> = actions.map((action, index) => {
    const asked = read(action, ids[index] ?? "", closes && index === ids.length - 1, currency)
    if (action.bad !== undefined) fields.refuse(`actions.${action.bad}`)
    return asked
  })
  const isAsking = ids.length === 0 && !closes
  return {
    call: isAsking
      ? { kind: "balance", method, player, gameId, currency }
      : {
        kind: "settle",
        method,
        player,
        gameId,
        roundId,
        currency,
        session: "none",
        actions: withEnd(settling, closes)
      },
    render: render((outcome) => ({
      ...balanceValues(outcome, actions.some(hasDecimal)),
      ...(roundId === null ? {} : { game_id: roundId, transactions: transactionsOf(outcome, ids) })
    }))
  }
}

const play: ReadMethod = (fields, method) =>
  settleActions(fields, method, fields.objects("actions", maxActions), (action, id, closesRound, currency) => {
    const amount = amountOf(action, currency)
    const kind = action.text("action")
    if (kind !== "bet" && kind !== "win") action.refuse("action")
    return kind === "bet"
      ? { action: "bet", transactionId: id, amount, closesRound }
      : { action: "win", transactionId: id, betTransactionId: null, amount, closesRound }
  })

const rollback: ReadMethod = (fields, method) => {
  const actions = fields.objects("actions", maxActions)
  if (actions.length === 0) fields.refuse("actions")
  const originals = new Set<string>()
  return settleActions(fields, method, actions, (action, id, closesRound) => {
    if (action.text("action") !== "rollback") action.refuse("action")
    const original = action.text("original_action_id")
    if (originals.has(original)) action.refuse("original_action_id")
    originals.add(original)
    return { action: "rollback", transactionId: id, targetTransactionId: original, closesRound }
  })
}

/** In subunits of the currency of the issue. */
const freespins: ReadMethod = (fields, method) => {
  const issueId = fields.text("issue_id")
  const total = readInteger(fields.values["total_amount"])
  if (total === undefined || total < 0) fields.refuse("total_amount")
  return {
    call: finishedFreespins({
      method,
      issueId,
      player: playerOf(fields.optionalText("user_id")),
      amount: { minor: total ?? 0 }
    }),
    render: renderIssue((outcome) => balanceValues(outcome))
  }
}

/** By path. */
export const gcpCalls: ReadonlyMap<string, ReadMethod> = new Map([
  ["/play", play],
  ["/rollback", rollback],
  ["/freespins", freespins]
])
