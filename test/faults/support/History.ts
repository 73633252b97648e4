/** Histories of players, read out of what journalists wrote down, and whether one order explains each of them. */
import { Schema } from "effect"
import type { Letter, Note, Notebook, Operation, Wanted, WantedOf } from "../../kit/E2eJournal.ts"
import { Settled } from "../../kit/E2eWorld.ts"
import type { Reply } from "../../kit/HttpCalls.ts"
import { type Call, check, type Verdict } from "./Linearizability.ts"
import { type Action, type Input, type Output, type Told, walletRules } from "./WalletModel.ts"

export interface PlayerCall extends Call<Input, Output> {
  readonly letter: Letter
}

const isAction = (wanted: Wanted): wanted is WantedOf<Action["kind"]> =>
  wanted.kind === "bet" || wanted.kind === "win" || wanted.kind === "rollback" || wanted.kind === "promo_win"

/** What a letter asks of a wallet; undefined when it asks for nothing there. */
const inputOf = ({ form, notes }: Letter): Input | undefined => {
  if (form === "balance") return { _tag: "Look" }
  const [{ wanted } = { wanted: undefined }] = notes
  switch (wanted?.kind) {
    case "deposit":
    case "withdrawal":
      return { _tag: "Payment", ...wanted }
    case "move":
      return { _tag: "Move", move: wanted.move, reference: wanted.reference }
    case "limit":
    case "registration":
    case "exclusion":
    case undefined:
      return undefined
    default: {
      const actions = notes.map((note: Note) => note.wanted).filter(isAction)
      return { _tag: "Message", actions, isOne: form === "settlement" && actions.length > 1 }
    }
  }
}

const toldOf = ({ balance, real_amount: real, status, wallet_seq: walletSeq }: Settled): Told => ({
  status,
  real,
  balance,
  walletSeq
})

const Data = <S extends Schema.ConstraintDecoder<unknown>>(data: S) => Schema.Struct({ data })
const decodeSettled = Schema.decodeUnknownSync(Data(Settled))
const decodeBatch = Schema.decodeUnknownSync(Data(Schema.Struct({ results: Schema.Array(Settled) })))
const decodeBalance = Schema.decodeUnknownSync(Data(Schema.Struct({ balance: Schema.Int })))

/** What an answer says about a wallet. */
const outputOf = ({ form }: Letter, reply: Reply): Output => {
  const { code = "", headers, json, status } = reply
  const isRefused = status >= 400
  switch (form) {
    case "move":
      // a move that is refused although it went through before: whoever plays knows no other
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
        : { _tag: "Told", results: decodeBatch(json).data.results.map(toldOf) }
    default:
      return isRefused ? { _tag: "Refused", code } : { _tag: "Told", results: [toldOf(decodeSettled(json).data)] }
  }
}

/**
 * The operations of a player. A letter that got no answer several times stays one operation that may still happen: it happens once at
 * most, at any time after the first of them.
 */
const historyOf = (operations: ReadonlyArray<Operation>): ReadonlyArray<PlayerCall> => {
  const unanswered = new Set<Letter>()
  return operations.flatMap(({ endedAt, letter, reply, sentAt }): ReadonlyArray<PlayerCall> => {
    const input = inputOf(letter)
    if (input === undefined) return []
    if (endedAt !== Infinity && reply !== undefined) {
      return [{ input, output: outputOf(letter, reply), sentAt, endedAt, letter }]
    }
    if (input._tag === "Look" || unanswered.has(letter)) return []
    unanswered.add(letter)
    return [{ input, output: undefined, sentAt, endedAt: Infinity, letter }]
  })
}

export interface HistoriesChecked {
  readonly operations: number
  /** What fits into no order, in words; and the letters concerned. */
  readonly complaints: ReadonlyArray<string>
  readonly letters: ReadonlyArray<Letter>
}

const describe = ({ endedAt, input, output, sentAt }: PlayerCall): string =>
  `${JSON.stringify(input)} → ${output === undefined ? "no answer" : JSON.stringify(output)} [${sentAt}, ${endedAt}]`

/** Puts the history of each of these players into an order. All of them begin with a balance and, if that is above 0, one step. */
export const checkHistories = (
  notebook: Notebook,
  beginnings: ReadonlyMap<number, { readonly balance: number; readonly walletSeq: number }>
): HistoriesChecked => {
  const byPlayer = Map.groupBy(notebook.operations, ({ letter }) => letter.seat.playerId)
  const complaints: Array<string> = []
  const letters = new Set<Letter>()
  let operations = 0
  for (const [playerId, start] of beginnings) {
    const history = historyOf(byPlayer.get(playerId) ?? [])
    operations += history.length
    const verdict: Verdict<PlayerCall> = check(walletRules(start, history.map(({ input }) => input)), history)
    if (verdict._tag === "Linearizable") continue
    if (verdict._tag === "Undecided") {
      complaints.push(`player ${playerId}: no order was found in ${verdict.steps} steps`)
      continue
    }
    const { order, stuck } = verdict
    for (const { letter } of [...order.slice(-3), ...stuck]) letters.add(letter)
    complaints.push(
      [
        `player ${playerId}: no order explains ${history.length} operations; after ${order.length} of them, the last`,
        ...order.slice(-3).map((call) => `  ${describe(call)}`),
        "fits none of",
        ...stuck.map((call) => `  ${describe(call)}`)
      ].join("\n")
    )
  }
  return { operations, complaints, letters: [...letters] }
}
