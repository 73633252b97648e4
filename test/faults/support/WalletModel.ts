/**
 * A player's wallet as the contract has it, one message after the other: what each is answered, and what it leaves. Written from
 * the contract alone, for callers who play with real money, without bonuses and without limits in the way.
 */
import type { Rules } from "./Linearizability.ts"

export type Action =
  | { readonly kind: "bet"; readonly id: string; readonly amount: number; readonly roundId: string }
  | {
    readonly kind: "win"
    readonly id: string
    readonly amount: number
    readonly roundId: string
    readonly betId: string
  }
  | { readonly kind: "rollback"; readonly id: string; readonly targetId: string }
  | { readonly kind: "promo_win"; readonly id: string; readonly amount: number }

export interface PaymentWanted {
  readonly kind: "deposit" | "withdrawal"
  readonly id: string
  readonly amount: number
  /** Sent with an idempotency key: the answer can be one that was stored for it. */
  readonly isKeyed: boolean
}

export type Input =
  /** Several: all or nothing. `isOne`: a bet with its win, which take one step together. */
  | { readonly _tag: "Message"; readonly actions: ReadonlyArray<Action>; readonly isOne: boolean }
  | (PaymentWanted & { readonly _tag: "Payment" })
  | { readonly _tag: "Move"; readonly move: "approve" | "pay" | "reject" | "cancel"; readonly reference: string }
  | { readonly _tag: "Look" }

/** What is told about money that moved. */
export interface Told {
  readonly status: "processed" | "replayed" | "ignored"
  readonly real: number
  readonly balance: number
  readonly walletSeq: number
}

export type Output =
  | { readonly _tag: "Told"; readonly results: ReadonlyArray<Told> }
  | { readonly _tag: "Paid"; readonly isNew: boolean }
  /** Not new: the payment was there already. */
  | { readonly _tag: "Moved"; readonly isNew: boolean }
  | { readonly _tag: "Seen"; readonly balance: number }
  | { readonly _tag: "Refused"; readonly code: string }

/**
 * What became of an id: `done`, then perhaps `taken back`; `ignored` for a rollback that found nothing to do; `buried` for what was
 * rolled back before it came. Payments: where they stand. One operation each.
 */
const unknown = "."
const operations = {
  done: "d",
  "taken back": "t",
  ignored: "i",
  buried: "b",
  new: "n",
  allowed: "a",
  paid: "p",
  rejected: "r",
  cancelled: "c"
} as const

type Mark = keyof typeof operations

export interface Wallet {
  readonly balance: number
  readonly walletSeq: number
  /** A operation for each id that is ever named, in one order. */
  readonly marks: string
}

const moves = {
  approve: { from: ["new"], to: "allowed", isRefund: false },
  pay: { from: ["allowed"], to: "paid", isRefund: false },
  reject: { from: ["new", "allowed"], to: "rejected", isRefund: true },
  cancel: { from: ["new"], to: "cancelled", isRefund: true }
} as const satisfies {
  readonly [move: string]: { readonly from: ReadonlyArray<Mark>; readonly to: Mark; readonly isRefund: boolean }
}

/** A wallet and an answer, or the code of a refusal. */
type Outcome = string | { readonly wallet: Wallet; readonly status: Told["status"]; readonly real: number }

/**
 * The rules for a player who begins with this much. `inputs` are all that are ever sent: a rollback names what it takes back, and staff
 * a payment, by its id only.
 */
export const walletRules = (
  start: { readonly balance: number; readonly walletSeq: number },
  inputs: ReadonlyArray<Input>
): Rules<Wallet, Input, Output> => {
  const actions = inputs.flatMap((input) => input._tag === "Message" ? input.actions : [])
  const payments = new Map(inputs.flatMap((input) => input._tag === "Payment" ? [[input.id, input]] : []))
  const named = actions.flatMap((action) => action.kind === "rollback" ? [action.id, action.targetId] : [action.id])
  const places = new Map([...new Set([...named, ...payments.keys()])].map((id, index) => [id, index]))

  const isMarked = ({ marks }: Wallet, id: string, ...as: ReadonlyArray<Mark>): boolean => {
    const operation = marks.charAt(places.get(id) ?? -1)
    return as.some((mark) => operations[mark] === operation)
  }
  const isKnown = ({ marks }: Wallet, id: string): boolean => {
    const operation = marks.charAt(places.get(id) ?? -1)
    return operation !== "" && operation !== unknown
  }

  const marked = (wallet: Wallet, marks: ReadonlyArray<readonly [id: string, mark: Mark]>, amount = 0): Wallet => {
    let text = wallet.marks
    for (const [id, mark] of marks) {
      const place = places.get(id) ?? 0
      text = text.slice(0, place) + operations[mark] + text.slice(place + 1)
    }
    return { balance: wallet.balance + amount, walletSeq: wallet.walletSeq + (amount === 0 ? 0 : 1), marks: text }
  }

  const actionOf = new Map(actions.map((action) => [action.id, action]))
  const winsOf = Map.groupBy(
    actions.filter(({ kind }) => kind === "win"),
    (action) => action.kind === "win" ? action.roundId : ""
  )

  /** What an action moves when it is done, or moved when it was. */
  const movement = (action: Action): number => {
    if (action.kind === "bet") return -action.amount
    if (action.kind !== "rollback") return action.amount
    const target = actionOf.get(action.targetId)
    return target === undefined ? 0 : 0 - movement(target)
  }

  const isPaid = (wallet: Wallet, roundId: string): boolean =>
    (winsOf.get(roundId) ?? []).some((win) => isMarked(wallet, win.id, "done") && movement(win) > 0)

  const refusal = (wallet: Wallet, action: Action): string | undefined => {
    switch (action.kind) {
      case "bet":
        return wallet.balance < action.amount ? "INSUFFICIENT_FUNDS" : undefined
      case "win":
        return isMarked(wallet, action.betId, "done")
          ? undefined
          : isKnown(wallet, action.betId)
          ? "BET_ROLLED_BACK"
          : "BET_NOT_FOUND"
      case "rollback": {
        const target = actionOf.get(action.targetId)
        const stands = isMarked(wallet, action.targetId, "done")
        return stands && target?.kind === "bet" && isPaid(wallet, target.roundId) ? "BET_ALREADY_SETTLED" : undefined
      }
      case "promo_win":
        return undefined
    }
  }

  const take = (wallet: Wallet, action: Action): Outcome => {
    if (isMarked(wallet, action.id, "buried")) return "BET_ROLLED_BACK"
    if (isKnown(wallet, action.id)) {
      return { wallet, status: "replayed", real: isMarked(wallet, action.id, "ignored") ? 0 : movement(action) }
    }
    const code = refusal(wallet, action)
    if (code !== undefined) return code
    if (action.kind === "rollback") {
      if (!isMarked(wallet, action.targetId, "done")) {
        const buried = isKnown(wallet, action.targetId) ? [] : [[action.targetId, "buried"] as const]
        return { wallet: marked(wallet, [[action.id, "ignored"], ...buried]), status: "ignored", real: 0 }
      }
      const real = movement(action)
      const marks = [[action.id, "done"], [action.targetId, "taken back"]] as const
      return { wallet: marked(wallet, marks, real), status: "processed", real }
    }
    const real = movement(action)
    return { wallet: marked(wallet, [[action.id, "done"]], real), status: "processed", real }
  }

  const message = (before: Wallet, { actions, isOne }: Extract<Input, { readonly _tag: "Message" }>) => {
    let wallet = before
    const results: Array<Told> = []
    for (const action of actions) {
      const outcome = take(wallet, action)
      if (typeof outcome === "string") return outcome
      const { real, status } = outcome
      wallet = outcome.wallet
      results.push({ status, real, balance: wallet.balance, walletSeq: wallet.walletSeq })
    }
    if (!isOne) return { wallet, results }
    const real = results.reduce((sum, result) => sum + result.real, 0)
    const status = results.every((result) => result.status === "replayed") ? "replayed" as const : "processed" as const
    const walletSeq = Math.min(wallet.walletSeq, before.walletSeq + 1)
    wallet = { ...wallet, walletSeq }
    return { wallet, results: [{ status, real, balance: wallet.balance, walletSeq }] }
  }

  const isTold = (results: ReadonlyArray<Told>, told: ReadonlyArray<Told>): boolean =>
    results.length === told.length && results.every((result, index) => {
      const other = told[index]
      return other !== undefined && result.status === other.status && result.real === other.real &&
        result.balance === other.balance && result.walletSeq === other.walletSeq
    })

  const stepMessage = (wallet: Wallet, input: Extract<Input, { readonly _tag: "Message" }>, output?: Output) => {
    const outcome = message(wallet, input)
    if (typeof outcome === "string") {
      return output === undefined || (output._tag === "Refused" && output.code === outcome) ? wallet : undefined
    }
    return output === undefined || (output._tag === "Told" && isTold(outcome.results, output.results))
      ? outcome.wallet
      : undefined
  }

  const stepPayment = (wallet: Wallet, input: Extract<Input, { readonly _tag: "Payment" }>, output?: Output) => {
    const { amount, id, isKeyed, kind } = input
    if (isKnown(wallet, id)) {
      return output === undefined || (output._tag === "Paid" && !output.isNew) ? wallet : undefined
    }
    if (kind === "withdrawal" && wallet.balance < amount) {
      const isSo = output === undefined || (output._tag === "Refused" && output.code === "INSUFFICIENT_FUNDS")
      return isSo ? wallet : undefined
    }
    if (output !== undefined && !(output._tag === "Paid" && (output.isNew || isKeyed))) return undefined
    return kind === "deposit" ? marked(wallet, [[id, "paid"]], amount) : marked(wallet, [[id, "new"]], -amount)
  }

  const stepMove = (
    wallet: Wallet,
    { move, reference }: Extract<Input, { readonly _tag: "Move" }>,
    output?: Output
  ) => {
    const { from, isRefund, to } = moves[move]
    const isNew = isMarked(wallet, reference, ...from)
    if (!isNew && !isMarked(wallet, reference, to)) return output === undefined ? wallet : undefined
    if (output !== undefined && !(output._tag === "Moved" && output.isNew === isNew)) return undefined
    return isNew ? marked(wallet, [[reference, to]], isRefund ? payments.get(reference)?.amount ?? 0 : 0) : wallet
  }

  return {
    start: { ...start, marks: unknown.repeat(places.size) },
    keyOf: ({ balance, marks, walletSeq }) => `${balance} ${walletSeq} ${marks}`,
    step: (wallet, input, output) => {
      switch (input._tag) {
        case "Message":
          return stepMessage(wallet, input, output)
        case "Payment":
          return stepPayment(wallet, input, output)
        case "Move":
          return stepMove(wallet, input, output)
        case "Look":
          return output === undefined || (output._tag === "Seen" && output.balance === wallet.balance)
            ? wallet
            : undefined
      }
    }
  }
}
