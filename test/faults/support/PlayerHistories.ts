/** Checks that the history of each player is linearizable. */
import { Schema } from "effect"
import type { Attempt, History, Operation } from "../../kit/History.ts"
import { Settlement } from "../../../scripts/simulators/pitboss/WalletMessages.ts"
import type { Reply } from "../../kit/HttpCalls.ts"
import { type Call, check, type Verdict } from "../../kit/Linearizability.ts"
import { type Input, type Output, type ReportedResult, walletRules } from "../../kit/WalletRules.ts"

export interface PlayerCall extends Call<Input, Output> {
  readonly operation: Operation
}

const reportedOf = ({ balance, real_amount: moved, status, wallet_seq: walletSeq }: Settlement): ReportedResult => ({
  status,
  moved,
  balance,
  walletSeq
})

const Data = <S extends Schema.ConstraintDecoder<unknown>>(data: S) => Schema.Struct({ data })
const decodeSettled = Schema.decodeUnknownSync(Data(Settlement))
const decodeBatch = Schema.decodeUnknownSync(Data(Schema.Struct({ results: Schema.Array(Settlement) })))
const decodeBalance = Schema.decodeUnknownSync(Data(Schema.Struct({ balance: Schema.Int })))

/** Wallet facts of an answer. */
const outputOf = ({ form }: Operation, reply: Reply): Output => {
  const { code = "", headers, json, status } = reply
  const isRefused = status >= 400
  switch (form) {
    case "move":
      // a refusal of a move that an earlier sending has made: the caller knows no other
      return { _tag: "Moved", isNew: !isRefused }
    case "payment":
      return isRefused
        ? { _tag: "Refused", code }
        : { _tag: "Paid", isNew: status === 201 && headers["idempotent-replayed"] === undefined }
    case "balance":
      return isRefused ? { _tag: "Refused", code } : { _tag: "Seen", balance: decodeBalance(json).data.balance }
    case "batch":
      return isRefused
        ? { _tag: "Refused", code }
        : { _tag: "Answered", results: decodeBatch(json).data.results.map(reportedOf) }
    default:
      return isRefused
        ? { _tag: "Refused", code }
        : { _tag: "Answered", results: [reportedOf(decodeSettled(json).data)] }
  }
}

/**
 * Operations of a player. An operation that got no answer several times stays one operation that may still happen: it happens once at
 * most, at any time after the first of them.
 */
const historyOf = (operations: ReadonlyArray<Attempt>, hasNodes: boolean): ReadonlyArray<PlayerCall> => {
  const unanswered = new Set<Operation>()
  const calls = operations.flatMap(({ endedAt, operation, reply, sentAt }): ReadonlyArray<PlayerCall> => {
    const { input } = operation
    if (input === undefined) return []
    if (endedAt !== Infinity && reply !== undefined) {
      return [{ input, output: outputOf(operation, reply), sentAt, endedAt, operation }]
    }
    if (input.kind === "look" || unanswered.has(operation)) return []
    unanswered.add(operation)
    return [{ input, output: undefined, sentAt, endedAt: Infinity, operation }]
  })
  return hasNodes ? [...calls, ...sentAgainInside(calls)] : calls
}

const isRepeat = (output: Output | undefined): boolean =>
  output?._tag === "Answered"
    ? output.results.every(({ status }) => status === "replayed")
    : output?._tag === "Paid" || output?._tag === "Moved"
    ? !output.isNew
    : false

/**
 * A node that loses the connection to a player's owner resends a message that has an id: the first answer to its caller may then be a
 * replay. The unanswered first sending was by that node, within the time of the call.
 */
const sentAgainInside = (calls: ReadonlyArray<PlayerCall>): ReadonlyArray<PlayerCall> =>
  [...Map.groupBy(calls, ({ operation }) => operation).values()].flatMap((own) => {
    const [first] = own.toSorted((one, other) => one.sentAt - other.sentAt)
    return first !== undefined && own.every(({ output }) => isRepeat(output))
      ? [{ ...first, output: undefined, endedAt: Infinity }]
      : []
  })

export interface HistoriesChecked {
  readonly checked: number
  /** Descriptions of histories without a linear order; and the operations concerned. */
  readonly violations: ReadonlyArray<string>
  readonly operations: ReadonlyArray<Operation>
}

const describe = ({ endedAt, input, output, sentAt }: PlayerCall): string =>
  `${JSON.stringify(input)} → ${output === undefined ? "no answer" : JSON.stringify(output)} [${sentAt}, ${endedAt}]`

/** Puts the history of each of these players into a linear order. All begin with a balance and, if that is above 0, one step. */
export const checkHistories = (
  history: History,
  beginnings: ReadonlyMap<number, { readonly balance: number; readonly walletSeq: number }>,
  /** Whether several nodes answer, forwarding requests to one another. */
  hasNodes = false
): HistoriesChecked => {
  const byPlayer = Map.groupBy(history.attempts, ({ operation }) => operation.seat.playerId)
  const violations: Array<string> = []
  const operations = new Set<Operation>()
  let checked = 0
  for (const [playerId, start] of beginnings) {
    const calls = historyOf(byPlayer.get(playerId) ?? [], hasNodes)
    checked += calls.length
    const verdict: Verdict<PlayerCall> = check(walletRules(start, calls.map(({ input }) => input)), calls)
    if (verdict._tag === "Linearizable") continue
    if (verdict._tag === "Undecided") {
      violations.push(`player ${playerId}: no order was found in ${verdict.steps} steps`)
      continue
    }
    const { order, stuck } = verdict
    for (const { operation } of [...order.slice(-3), ...stuck]) operations.add(operation)
    violations.push(
      [
        `player ${playerId}: no order explains ${calls.length} operations; after ${order.length} of them, the last`,
        ...order.slice(-3).map((call) => `  ${describe(call)}`),
        "fits none of",
        ...stuck.map((call) => `  ${describe(call)}`)
      ].join("\n")
    )
  }
  return { checked, violations, operations: [...operations] }
}
