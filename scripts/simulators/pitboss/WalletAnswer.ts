/** Answers of the provider wallet API, and their differences from the expected ones. */
import { Result, Schema } from "effect"
import type { Expected, Settled } from "./WalletModel.ts"
import type { WireAnswer } from "../Dialect.ts"
import { type Message, requestIdOf, Settlement, transactionIdOf } from "./WalletMessages.ts"

const One = Schema.fromJsonString(Schema.Struct({ data: Settlement }))
const Several = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Struct({ request_id: Schema.NullOr(Schema.String), results: Schema.Array(Settlement) })
  })
)
const Envelope = Schema.fromJsonString(Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.Struct({
      retry: Schema.optionalKey(Schema.String),
      balance: Schema.optionalKey(Schema.Number)
    })
  })
}))

export type Answer =
  | { readonly _tag: "Settled"; readonly results: ReadonlyArray<Settlement> }
  | {
    readonly _tag: "Refused"
    readonly status: number
    readonly code: string
    readonly retry: string | undefined
    readonly balance: number | undefined
  }
  /** An answer that is none of this API's. */
  | { readonly _tag: "Unreadable"; readonly reason: string }

const decodeOne = Schema.decodeUnknownResult(One)
const decodeSeveral = Schema.decodeUnknownResult(Several)
const decodeEnvelope = Schema.decodeUnknownResult(Envelope)

const unreadable = ({ body, status }: WireAnswer): Answer => ({
  _tag: "Unreadable",
  reason: `${status} ${body.slice(0, 300)}`
})

export const read = (message: Message, reply: WireAnswer): Answer => {
  if (reply.status !== 200) {
    const decoded = decodeEnvelope(reply.body)
    if (Result.isFailure(decoded)) return unreadable(reply)
    const { code, details } = decoded.success.error
    return { _tag: "Refused", status: reply.status, code, retry: details.retry, balance: details.balance }
  }
  if (message.kind === "batch") {
    const decoded = decodeSeveral(reply.body)
    return Result.isFailure(decoded) ? unreadable(reply) : { _tag: "Settled", results: decoded.success.data.results }
  }
  const decoded = decodeOne(reply.body)
  return Result.isFailure(decoded) ? unreadable(reply) : { _tag: "Settled", results: [decoded.success.data] }
}

/** Single messages of a message, one per result of its answer. */
export const partsOf = (message: Message): ReadonlyArray<Message> =>
  message.kind === "batch" ? message.actions : [message]

const compare = (name: string, expected: unknown, actual: unknown): ReadonlyArray<string> =>
  expected === actual ? [] : [`${name} ${String(actual)} instead of ${String(expected)}`]

const settlementDifferences = (
  message: Message,
  expected: Settled,
  actual: Settlement,
  currency: string
): ReadonlyArray<string> => [
  ...(expected.status === undefined ? [] : compare("status", expected.status, actual.status)),
  ...compare("request_id", requestIdOf(message), actual.request_id),
  ...compare("transaction_id", transactionIdOf(message) ?? null, actual.transaction_id),
  ...compare("real_amount", expected.moved, actual.real_amount),
  ...compare("bonus_amount", 0, actual.bonus_amount),
  ...compare("balance", expected.balance, actual.balance),
  ...compare("bonus_balance", 0, actual.bonus_balance),
  ...compare("currency", currency, actual.currency),
  // of a wallet whose past is not known, the sequence is not either
  ...(Number.isNaN(expected.walletSeq) ? [] : compare("wallet_seq", expected.walletSeq, actual.wallet_seq)),
  ...compare("ledger entries", expected.entries, actual.wallet_transaction_ids.length),
  ...(expected.roundState === undefined ? [] : compare("round_state", expected.roundState, actual.round_state))
]

const outcome = (told: Expected | Answer): string =>
  told._tag === "Settled" ? "200" : told._tag === "Refused" ? `${told.status} ${told.code}` : told.reason

/** Differences of an answer from the expected one; empty when equal. */
export const differences = (
  message: Message,
  expected: Expected,
  answer: Answer,
  currency: string
): ReadonlyArray<string> => {
  if (expected._tag === "Settled" && answer._tag === "Settled") {
    const parts = partsOf(message)
    return [
      ...compare("results", expected.results.length, answer.results.length),
      ...expected.results.flatMap((settled, index) => {
        const [part, actual] = [parts[index], answer.results[index]]
        return part === undefined || actual === undefined ? [] : settlementDifferences(part, settled, actual, currency)
      })
    ]
  }
  if (expected._tag === "Refused" && answer._tag === "Refused") {
    return [
      ...compare("answer", outcome(expected), outcome(answer)),
      ...compare("details.retry", "never", answer.retry),
      ...(expected.balance === undefined ? [] : compare("details.balance", expected.balance, answer.balance))
    ]
  }
  return compare("answer", outcome(expected), outcome(answer))
}

/** How an answer counts in the summary. */
export const labelsOf = (answer: Answer): ReadonlyArray<string> =>
  answer._tag === "Settled"
    ? answer.results.map(({ status }) => status)
    : [answer._tag === "Refused" ? `${answer.status} ${answer.code}` : "unreadable"]
