/** The model of a wallet as the rules of a search for an order: histories of messages, payments and transitions of them. */
import { HashMap, Option } from "effect"
import {
  decide,
  emptyWallet,
  find,
  keyOf,
  move,
  type PaymentStatus,
  remember,
  type Settled,
  type Wallet
} from "../../scripts/simulators/pitboss/WalletModel.ts"
import type { Message } from "../../scripts/simulators/pitboss/WalletMessages.ts"
import type { Rules } from "./Linearizability.ts"

export interface PaymentRequest {
  readonly kind: "deposit" | "withdrawal"
  /** The external reference. */
  readonly id: string
  readonly amount: number
  /** Sent with an idempotency key: the answer can be the stored one. */
  readonly isKeyed: boolean
}

/** A transition that staff request of the withdrawal with a reference. */
export interface TransitionRequest {
  readonly kind: "move"
  readonly move: "approve" | "pay" | "reject" | "cancel"
  readonly reference: string
}

export type Input = Message | PaymentRequest | TransitionRequest | { readonly kind: "look" }

/** The answer to one message of a provider, as far as the model knows it. */
export type ReportedResult = Pick<Settled, "status" | "moved" | "balance" | "walletSeq">

export type Output =
  | { readonly _tag: "Answered"; readonly results: ReadonlyArray<ReportedResult> }
  | { readonly _tag: "Paid"; readonly isNew: boolean }
  /** Not new: the payment had this status already. */
  | { readonly _tag: "Moved"; readonly isNew: boolean }
  | { readonly _tag: "Seen"; readonly balance: number }
  | { readonly _tag: "Refused"; readonly code: string }

/** The statuses from which a move starts, and where it leads. */
export const moves: {
  readonly [move in TransitionRequest["move"]]: {
    readonly from: ReadonlyArray<PaymentStatus>
    readonly to: PaymentStatus
  }
} = {
  approve: { from: ["new"], to: "allowed" },
  pay: { from: ["allowed"], to: "paid" },
  reject: { from: ["new", "allowed"], to: "rejected" },
  cancel: { from: ["new"], to: "cancelled" }
}

const matchesResults = (expected: ReadonlyArray<Settled>, told: ReadonlyArray<ReportedResult>): boolean =>
  expected.length === told.length && expected.every(({ balance, moved, status, walletSeq }, index) => {
    const other = told[index]
    return other !== undefined && (status ?? other.status) === other.status && moved === other.moved &&
      balance === other.balance && walletSeq === other.walletSeq
  })

/** Whether the answer, if there is one, is a refusal with this code. */
const isRefusal = (output: Output | undefined, code: string): boolean =>
  output === undefined || (output._tag === "Refused" && output.code === code)

const stepMessage = (before: Wallet, message: Message, output?: Output): Wallet | undefined => {
  const { expected, wallet } = decide(before, message)
  if (expected._tag === "Refused") return isRefusal(output, expected.code) ? wallet : undefined
  return output === undefined || (output._tag === "Answered" && matchesResults(expected.results, output.results))
    ? wallet
    : undefined
}

const stepPayment = (wallet: Wallet, { amount, id, isKeyed, kind }: PaymentRequest, output?: Output) => {
  if (find(wallet, id) !== undefined) {
    return output === undefined || (output._tag === "Paid" && !output.isNew) ? wallet : undefined
  }
  if (kind === "withdrawal" && wallet.balance < amount) {
    return isRefusal(output, "INSUFFICIENT_FUNDS") ? wallet : undefined
  }
  if (output !== undefined && !(output._tag === "Paid" && (output.isNew || isKeyed))) return undefined
  const [signed, status] = kind === "deposit" ? [amount, "paid" as const] : [-amount, "new" as const]
  return remember(move(wallet, signed), id, { kind: "payment", amount, status })
}

const stepMove = (wallet: Wallet, { move: name, reference }: TransitionRequest, output?: Output) => {
  const { from, to } = moves[name]
  const payment = find(wallet, reference)
  if (payment?.kind !== "payment") return output === undefined ? wallet : undefined
  const isNew = from.includes(payment.status)
  if (!isNew && payment.status !== to) return output === undefined ? wallet : undefined
  if (output !== undefined && !(output._tag === "Moved" && output.isNew === isNew)) return undefined
  if (!isNew) return wallet
  const isRefund = to === "rejected" || to === "cancelled"
  return remember(move(wallet, isRefund ? payment.amount : 0), reference, { ...payment, status: to })
}

/** Every id that an input names, and every round that it may close. */
const namesOf = (input: Input): ReadonlyArray<string> => {
  switch (input.kind) {
    case "look":
      return []
    case "move":
      return [input.reference]
    case "close":
      return [keyOf(input.round)]
    case "batch":
      return input.actions.flatMap(namesOf)
    case "bet_win":
      return [input.bet, input.win].flatMap(namesOf)
    case "rollback":
      return [input.id, input.targetId]
    case "bet":
    case "win":
      return input.closes ? [input.id, keyOf(input.round)] : [input.id]
    default:
      return [input.id]
  }
}

/** One letter for the effect under a name. */
const letterOf = (wallet: Wallet, name: string): string => {
  const known = find(wallet, name)
  if (known === undefined) return Option.getOrUndefined(HashMap.get(wallet.rounds, name))?.isClosed === true ? "c" : "."
  if (known.kind === "tombstone") return "b"
  if (known.kind === "payment") return known.status.charAt(0)
  return known.isRolledBack ? "t" : known.moved === 0 && known.message.kind === "rollback" ? "i" : "d"
}

const step = (wallet: Wallet, input: Input, output?: Output): Wallet | undefined => {
  switch (input.kind) {
    case "deposit":
    case "withdrawal":
      return stepPayment(wallet, input, output)
    case "move":
      return stepMove(wallet, input, output)
    case "look":
      return output === undefined || (output._tag === "Seen" && output.balance === wallet.balance) ? wallet : undefined
    default:
      return stepMessage(wallet, input, output)
  }
}

/** A wallet with a letter for each name, in one order: the part of its key that an input changes at the names of that input only. */
interface LetteredWallet extends Wallet {
  readonly letters: string
}

/** Rules for a player with an initial balance. `inputs`: all messages of the run. */
export const walletRules = (
  start: { readonly balance: number; readonly walletSeq: number },
  inputs: ReadonlyArray<Input>
): Rules<LetteredWallet, Input, Output> => {
  const places = new Map([...new Set(inputs.flatMap(namesOf))].map((name, place) => [name, place]))
  return {
    start: { ...emptyWallet, ...start, letters: ".".repeat(places.size) },
    keyOf: ({ balance, letters, walletSeq }) => `${balance} ${walletSeq} ${letters}`,
    step: (before, input, output) => {
      const after = step(before, input, output)
      if (after === undefined || after === before) return after === undefined ? undefined : before
      let { letters } = before
      for (const name of namesOf(input)) {
        const place = places.get(name) ?? 0
        letters = letters.slice(0, place) + letterOf(after, name) + letters.slice(place + 1)
      }
      return { ...after, letters }
    }
  }
}
