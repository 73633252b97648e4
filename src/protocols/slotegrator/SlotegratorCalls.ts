/** Calls from Slotegrator's GIS protocol: parses each action into a wallet call, and renders its answer. */
import * as Crypto from "node:crypto"
import type { FormFields } from "../FormFields.ts"
import { isLine } from "../JsonBody.ts"
import { operatorId } from "../OperatorIds.ts"
import { type PlayerName, type PromoKind, type ReadCall, type WalletAction, withEnd } from "../Protocol.ts"
import { slotegratorRenderer } from "./SlotegratorAnswers.ts"

/** Maximum transactions of one rollback. */
const maxTransactions = 100

/** Transactions of a rollback, in the order sent. */
const transactionsOf = (form: FormFields): ReadonlyArray<{ readonly action: string; readonly id: string }> => {
  const found = new Map<string, { action: string; id: string }>()
  for (const [name, value] of form.values) {
    const match = /^rollback_transactions\[(\d{1,4})\]\[(\w+)\]$/.exec(name)
    const [, index, field] = match ?? []
    if (index === undefined) continue
    const transaction = found.get(index) ?? { action: "", id: "" }
    found.set(index, transaction)
    if (field === "action") transaction.action = value
    if (field === "transaction_id") transaction.id = value
  }
  const transactions = [...found.values()]
  const isGood = transactions.length > 0 && transactions.length <= maxTransactions &&
    transactions.every(({ action, id }) => ["bet", "win", "refund"].includes(action) && id !== "" && isLine(id, 255))
  if (!isGood) form.refuse("rollback_transactions")
  return transactions
}

const playerOf = (form: FormFields, token: string | null): PlayerName => ({
  ref: form.text("player_id"),
  token,
  transactionId: null
})

/** The session is the launch's token, validated for bets only. */
const tokenOf = (form: FormFields): string | null => form.optional("session_id", 2_000)

/** Bets and wins are joined by round. Without a round they are joined by session, stored as a digest: the session id is a secret of the player. */
const roundOf = (form: FormFields): string => {
  const round = form.optional("round_id")
  if (round !== null) return round
  const session = tokenOf(form)
  return session === null
    ? `player:${form.text("player_id")}`
    : `session:${Crypto.hash("sha256", session, "hex").slice(0, 32)}`
}

const transactionField = (id: string): string => `,"transaction_id":${JSON.stringify(operatorId(id))}`

const settle = (
  form: FormFields,
  method: string,
  parts: {
    readonly session: "token" | "none"
    readonly roundId: string | null
    readonly actions: ReadonlyArray<WalletAction>
    readonly fields: string
    readonly finishesGrant?: boolean
  }
): ReadCall => {
  const freespinId = form.optional("freespin_id")
  const gameId = form.text("game_uuid")
  const currency = form.text("currency")
  return {
    call: {
      kind: "settle",
      method,
      player: playerOf(form, parts.session === "token" ? tokenOf(form) : null),
      gameId,
      roundId: parts.roundId,
      currency,
      session: parts.session,
      actions: parts.actions,
      ...(freespinId === null
        ? {}
        // the last spin reports its own win
        : { grant: { reference: freespinId, mustExist: false, finishes: parts.finishesGrant === true, won: null } })
    },
    render: slotegratorRenderer(method, parts.fields)
  }
}

const balance = (form: FormFields): ReadCall => ({
  call: {
    kind: "balance",
    method: "balance",
    player: playerOf(form, null),
    gameId: null,
    currency: form.text("currency")
  },
  render: slotegratorRenderer("balance")
})

const bet = (form: FormFields): ReadCall => {
  const transactionId = form.text("transaction_id")
  const amount = form.amount("amount")
  return settle(form, "bet", {
    session: tokenOf(form) === null ? "none" : "token",
    roundId: roundOf(form),
    actions: [{
      action: "bet",
      transactionId,
      amount,
      isFree: form.optional("type") === "freespin",
      closesRound: form.flag("finished")
    }],
    fields: transactionField(transactionId)
  })
}

/** Prizes belong to no round, even if they name the last one; other wins belong to their round. */
const prizes: { readonly [type: string]: PromoKind } = {
  pragmatic_prize_drop: "cash_drop",
  prize_drop: "cash_drop",
  pragmatic_tournament: "tournament",
  tournament: "tournament",
  promo: "cash_drop",
  unaccounted_promo: "cash_drop",
  loyalty_win: "cash_drop"
}

/** Kind of a win without a round, other than a plain one. */
const withoutRound: { readonly [type: string]: PromoKind } = {
  freespin: "free_rounds",
  bonus: "free_rounds",
  jackpot: "jackpot"
}

const win = (form: FormFields): ReadCall => {
  const transactionId = form.text("transaction_id")
  const amount = form.amount("amount")
  const type = form.optional("type") ?? "win"
  const kind = prizes[type] ?? (form.optional("round_id") === null ? withoutRound[type] : undefined)
  return settle(form, "win", {
    session: "none",
    roundId: kind === undefined ? roundOf(form) : null,
    actions: [
      kind === undefined
        ? { action: "win", transactionId, betTransactionId: null, amount, closesRound: form.flag("finished") }
        : {
          action: "promo_win",
          transactionId,
          kind,
          campaignId: form.optional("freespin_id") ?? `${type}:${transactionId}`,
          amount
        }
    ],
    fields: transactionField(transactionId),
    finishesGrant: form.optional("quantity") === "0"
  })
}

/** Names a bet: of a win it takes nothing. Our id of a refund is derived from the bet's: a second refund of the same bet is answered like the first. */
const refund = (form: FormFields): ReadCall => {
  const betId = form.text("bet_transaction_id")
  form.amount("amount")
  const roundId = form.optional("round_id")
  const finished = form.flag("finished")
  const takeBack: WalletAction = {
    action: "rollback",
    transactionId: form.text("transaction_id"),
    targetTransactionId: betId,
    onlyBets: true,
    closesRound: finished
  }
  return settle(form, "refund", {
    session: "none",
    roundId,
    actions: withEnd([takeBack], finished && roundId !== null),
    fields: transactionField(`refund:${betId}`)
  })
}

const rollbackPrefix = "rollback:"

/** Rolls back exactly the listed transactions. A bet and its refund cancel out in either order, in one call or two. */
const rollback = (form: FormFields): ReadCall => {
  const transactionId = form.text("transaction_id")
  const listed = transactionsOf(form)
  return settle(form, "rollback", {
    session: "none",
    roundId: null,
    actions: [...new Set(listed.map(({ id }) => id))].map((id) => ({
      action: "rollback",
      transactionId: rollbackPrefix + id,
      targetTransactionId: id,
      idPrefix: rollbackPrefix,
      closesRound: false
    })),
    fields: `${transactionField(transactionId)},"rollback_transactions":${JSON.stringify(listed.map(({ id }) => id))}`
  })
}

/** By the field `action`. */
export const slotegratorCalls: ReadonlyMap<string, (form: FormFields) => ReadCall> = new Map([
  ["balance", balance],
  ["bet", bet],
  ["win", win],
  ["refund", refund],
  ["rollback", rollback]
])
