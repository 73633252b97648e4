/** Calls from the SOFTSWISS Game Aggregator (A8R): parses each into a wallet call, and renders the fields of the successful answer. */
import { type Decimal, parseDecimal, toMajorText } from "../Decimal.ts"
import type { JsonFields } from "../JsonFields.ts"
import { operatorId } from "../OperatorIds.ts"
import { fundsIn, type Granted, type ReadCall, type WalletAction, withEnd } from "../Protocol.ts"
import { currencyOf, finishedFreespins, playerOf, type ReadMethod } from "../Softswiss.ts"
import { balanceText, render, renderIssue } from "./A8rAnswers.ts"

/** Maximum transactions of one call. */
const maxTransactions = 100

const moneyForm = /^\d{1,18}(\.\d{1,12})?$/

const zero: Decimal = { coefficient: 0, scale: 0 }

/** Money is a string; a number is refused as malformed. */
const amountOf = (fields: JsonFields): Decimal => {
  const given = fields.values["amount"]
  const amount = typeof given === "string" && moneyForm.test(given) ? parseDecimal(given) : undefined
  if (amount === undefined) fields.refuse("amount")
  return amount ?? zero
}

const balanceOf = (outcome: Granted): string => {
  const funds = fundsIn(outcome)
  return funds === null ? "0" : balanceText(funds)
}

const renderBalance = (outcome: Granted) => ({ balance: balanceOf(outcome) })

/** Transactions in the order of the request, with our id and the time of their first settlement. */
const transactionsOf = (outcome: Granted, ids: ReadonlyArray<string>): ReadonlyArray<object> =>
  outcome._tag !== "Settled"
    ? []
    : ids.map((id, index) => {
      const settlement = outcome.settlements[index]
      return {
        id,
        id_casino: operatorId(id),
        bonus_amount: toMajorText(Math.abs(settlement?.bonusAmount ?? 0), outcome.funds.currency),
        processed_at: new Date(settlement?.settledAt ?? 0).toISOString()
      }
    })

const balance: ReadMethod = (fields, method) => ({
  call: {
    kind: "balance",
    method,
    player: playerOf(fields.text("player_id")),
    gameId: null,
    currency: currencyOf(fields)
  },
  render: render(renderBalance)
})

/** Call about a round: at least one transaction, each id once. */
const settleRound = (
  fields: JsonFields,
  method: string,
  read: (transaction: JsonFields, id: string, closesRound: boolean) => WalletAction
): ReadCall => {
  fields.text("provider")
  const roundId = fields.text("round_id")
  const finished = fields.flag("finished")
  const transactions = fields.objects("transactions", maxTransactions)
  if (transactions.length === 0) fields.refuse("transactions")
  const ids = transactions.map((transaction) => transaction.text("id"))
  if (new Set(ids).size < ids.length) fields.refuse("transactions.id")
  const actions = transactions.map((transaction, index) => {
    const action = read(transaction, ids[index] ?? "", finished && index === ids.length - 1)
    if (transaction.bad !== undefined) fields.refuse(`transactions.${transaction.bad}`)
    return action
  })
  return {
    call: {
      kind: "settle",
      method,
      player: playerOf(fields.text("player_id")),
      gameId: fields.text("game_id"),
      roundId,
      currency: currencyOf(fields),
      session: "none",
      actions: withEnd(actions, finished)
    },
    render: render((outcome) => ({
      balance: balanceOf(outcome),
      round_id_casino: operatorId(roundId),
      transactions: transactionsOf(outcome, ids)
    }))
  }
}

const betWin: ReadMethod = (fields, method) =>
  settleRound(fields, method, (transaction, transactionId, closesRound) => {
    transaction.optionalText("bet_id")
    const amount = amountOf(transaction)
    const type = transaction.text("type")
    if (type !== "bet" && type !== "win") transaction.refuse("type")
    return type === "bet"
      ? { action: "bet", transactionId, amount, closesRound }
      // of the round, even if it names a bet: the win may arrive before that bet, and is paid
      : { action: "win", transactionId, betTransactionId: null, amount, closesRound }
  })

const rollback: ReadMethod = (fields, method) => {
  const originals = new Set<string>()
  return settleRound(fields, method, (transaction, transactionId, closesRound) => {
    const targetTransactionId = transaction.text("original_id")
    if (originals.has(targetTransactionId)) transaction.refuse("original_id")
    originals.add(targetTransactionId)
    return { action: "rollback", transactionId, targetTransactionId, closesRound }
  })
}

/** Closes a round that no transaction closed. It names no game. */
const finish: ReadMethod = (fields, method) => ({
  call: {
    kind: "settle",
    method,
    player: playerOf(fields.text("player_id")),
    gameId: fields.optionalText("game_id"),
    roundId: fields.text("round_id"),
    currency: currencyOf(fields),
    session: "none",
    actions: [{ action: "close_round" }]
  },
  render: render(renderBalance)
})

const finishFreespins: ReadMethod = (fields, method) => {
  const issueId = fields.text("issue_id")
  return {
    call: finishedFreespins({
      method,
      issueId,
      player: playerOf(fields.optionalText("player_id")),
      amount: amountOf(fields)
    }),
    render: renderIssue(renderBalance)
  }
}

/** By the path after `/v2/a8r_casino.`. */
export const a8rCalls: ReadonlyMap<string, ReadMethod> = new Map([
  ["Player/Balance", balance],
  ["Round/BetWin", betWin],
  ["Round/Rollback", rollback],
  ["Round/Finish", finish],
  ["Freespins/Finish", finishFreespins]
])
