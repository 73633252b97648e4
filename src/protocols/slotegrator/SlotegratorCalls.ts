/** The actions of Slotegrator GIS, each as what it asks of the wallet and how it is answered. */
import * as Crypto from "node:crypto"
import { type Decimal, parseDecimal } from "../Decimal.ts"
import type { FormEntries } from "../FormBody.ts"
import { isLine } from "../JsonBody.ts"
import { operatorId } from "../OperatorIds.ts"
import type { PlayerName, VendorAnswer, WalletAction, WalletCall, WalletOutcome } from "../Protocol.ts"
import { slotegratorRenderer } from "./SlotegratorAnswers.ts"

/** A call that was read. */
export interface SlotegratorCall {
  readonly call: WalletCall
  readonly render: (outcome: WalletOutcome) => VendorAnswer
}

/** Characters of an id. */
const maxLength = 255

/** Transactions that one rollback names. */
const maxTransactions = 100

const zero: Decimal = { coefficient: 0, scale: 0 }

/** Reads fields; notes the first that is missing or malformed, after which what it gives is of no use. */
export class SlotegratorForm {
  readonly #values = new Map<string, string>()
  #bad: string | undefined

  constructor(entries: FormEntries) {
    for (const [name, value] of entries) {
      if (this.#values.has(name)) this.#bad ??= name
      this.#values.set(name, value)
    }
  }

  /** The first bad field; undefined while all are good. */
  get bad(): string | undefined {
    return this.#bad
  }

  refuse(name: string): void {
    this.#bad ??= name
  }

  optional(name: string, longest = maxLength): string | null {
    const value = this.#values.get(name)
    if (value === undefined || value === "") return null
    if (!isLine(value, longest)) this.refuse(name)
    return value
  }

  text(name: string): string {
    const value = this.optional(name)
    if (value === null) this.refuse(name)
    return value ?? ""
  }

  amount(): Decimal {
    const amount = parseDecimal(this.#values.get("amount") ?? "")
    if (amount === undefined || amount.coefficient < 0) this.refuse("amount")
    return amount ?? zero
  }

  /** Booleans of a PHP form. */
  flag(name: string): boolean {
    const value = this.#values.get(name)
    return value === "1" || value === "true"
  }

  /** The transactions that a rollback names, in the order they were sent. */
  transactions(): ReadonlyArray<{ readonly action: string; readonly id: string }> {
    const found = new Map<string, { action: string; id: string }>()
    for (const [name, value] of this.#values) {
      const match = /^rollback_transactions\[(\d{1,4})\]\[(\w+)\]$/.exec(name)
      const [, place, field] = match ?? []
      if (place === undefined) continue
      const transaction = found.get(place) ?? { action: "", id: "" }
      found.set(place, transaction)
      if (field === "action") transaction.action = value
      if (field === "transaction_id") transaction.id = value
    }
    const transactions = [...found.values()]
    const isGood = transactions.length > 0 && transactions.length <= maxTransactions &&
      transactions.every(({ action, id }) =>
        ["bet", "win", "refund"].includes(action) && id !== "" && isLine(id, maxLength)
      )
    if (!isGood) this.refuse("rollback_transactions")
    return transactions
  }
}

const playerOf = (form: SlotegratorForm, token: string | null): PlayerName => ({
  ref: form.text("player_id"),
  token,
  transactionId: null
})

/** The session is the launch's token. Only bets are asked for it. */
const tokenOf = (form: SlotegratorForm): string | null => form.optional("session_id", 2_000)

/**
 * Bets and wins are joined by their round. Where a provider knows none, they are joined by their session, of which a digest is kept: it is a
 * secret of the player's.
 */
const roundOf = (form: SlotegratorForm): string => {
  const round = form.optional("round_id")
  if (round !== null) return round
  const session = tokenOf(form)
  return session === null
    ? `player:${form.text("player_id")}`
    : `session:${Crypto.hash("sha256", session, "hex").slice(0, 32)}`
}

const transactionField = (id: string): string => `,"transaction_id":${JSON.stringify(operatorId(id))}`

const settle = (
  form: SlotegratorForm,
  method: string,
  parts: {
    readonly session: "token" | "none"
    readonly roundId: string | null
    readonly actions: ReadonlyArray<WalletAction>
    readonly fields: string
    readonly finishesGrant?: boolean
  }
): SlotegratorCall => {
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
        // the last spin of them says what it won itself
        : { grant: { reference: freespinId, mustExist: false, finishes: parts.finishesGrant === true, won: null } })
    },
    render: slotegratorRenderer(method, parts.fields)
  }
}

const balance = (form: SlotegratorForm): SlotegratorCall => ({
  call: {
    kind: "balance",
    method: "balance",
    player: playerOf(form, null),
    gameId: null,
    currency: form.text("currency")
  },
  render: slotegratorRenderer("balance")
})

const bet = (form: SlotegratorForm): SlotegratorCall => {
  const transactionId = form.text("transaction_id")
  const amount = form.amount()
  return settle(form, "bet", {
    session: tokenOf(form) === null ? "none" : "token",
    roundId: roundOf(form),
    actions: [{
      action: "bet",
      transactionId,
      // a free spin is the vendor's stake
      amount: form.optional("type") === "freespin" ? zero : amount,
      closesRound: form.flag("finished")
    }],
    fields: transactionField(transactionId)
  })
}

/** Prizes, which belong to no round even where they name the last one; other wins are the round's. */
const prizes: { readonly [type: string]: Extract<WalletAction, { readonly action: "promo_win" }>["kind"] } = {
  pragmatic_prize_drop: "cash_drop",
  prize_drop: "cash_drop",
  pragmatic_tournament: "tournament",
  tournament: "tournament",
  promo: "cash_drop",
  unaccounted_promo: "cash_drop",
  loyalty_win: "cash_drop"
}

/** What a win without a round is, where it is no plain one. */
const withoutRound: { readonly [type: string]: Extract<WalletAction, { readonly action: "promo_win" }>["kind"] } = {
  freespin: "free_rounds",
  bonus: "free_rounds",
  jackpot: "jackpot"
}

const win = (form: SlotegratorForm): SlotegratorCall => {
  const transactionId = form.text("transaction_id")
  const amount = form.amount()
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

/** Our id of a refund is made of the bet's: a second refund of the same bet is answered as the first. */
const refund = (form: SlotegratorForm): SlotegratorCall => {
  const betId = form.text("bet_transaction_id")
  form.amount()
  return settle(form, "refund", {
    session: "none",
    roundId: null,
    actions: [{
      action: "rollback",
      transactionId: form.text("transaction_id"),
      targetTransactionId: betId,
      closesRound: form.flag("finished")
    }],
    fields: transactionField(`refund:${betId}`)
  })
}

/**
 * Takes back what is listed and nothing else. Refunds go first: a bet and its refund in one list undo each other, and the bet cannot be taken
 * back while its refund stands.
 */
const rollback = (form: SlotegratorForm): SlotegratorCall => {
  const transactionId = form.text("transaction_id")
  const listed = form.transactions()
  const ids = [...new Set(listed.map(({ id }) => id))]
  const refunds = new Set(listed.filter(({ action }) => action === "refund").map(({ id }) => id))
  const ordered = [...ids.filter((id) => refunds.has(id)), ...ids.filter((id) => !refunds.has(id))]
  return settle(form, "rollback", {
    session: "none",
    roundId: null,
    actions: ordered.map((id) => ({
      action: "rollback",
      transactionId: `rollback:${id}`,
      targetTransactionId: id,
      closesRound: false
    })),
    fields: `${transactionField(transactionId)},"rollback_transactions":${JSON.stringify(listed.map(({ id }) => id))}`
  })
}

/** By the field `action`. */
export const slotegratorCalls: ReadonlyMap<string, (form: SlotegratorForm) => SlotegratorCall> = new Map([
  ["balance", balance],
  ["bet", bet],
  ["win", win],
  ["refund", refund],
  ["rollback", rollback]
])
