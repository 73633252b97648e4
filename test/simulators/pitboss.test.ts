import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { pitbossDialect } from "../../scripts/simulators/dialects/Pitboss.ts"
import { currency, type Message, type Round, type Settlement } from "../../scripts/simulators/pitboss/WalletMessages.ts"
import {
  decide,
  emptyWallet,
  fateOf,
  move,
  type Settled,
  type Wallet
} from "../../scripts/simulators/pitboss/WalletModel.ts"
import { playAll, respond, textOf } from "./support.ts"

// Goal: in Pitboss's own protocol the provider simulator finds nothing in a sound wallet, also when answers are lost before or after the effect, and
// finds every wallet that tells or does something else. Method: a wallet over HTTP in memory, which loses answers and has mistakes to switch on.

const mistakes = [
  "reports a balance one cent too high",
  "doubles the wallet sequence",
  "names other entries in a replayed answer",
  "reports one ledger entry for two messages",
  "reports a replay as processed",
  "settles a bet that was rolled back",
  "accepts stakes above the balance",
  "accepts bets in a closed round",
  "settles only a part of a batch",
  "reports a known transaction as unknown",
  "asks for a bet to be retried instead of rolled back",
  "debits money for a bet in free play",
  "reports no balance in a refusal for insufficient funds",
  "returns another request id"
] as const

type Mistake = typeof mistakes[number]

type Fields = { readonly [field: string]: unknown }

const roundOf = ({ game_id, round_id }: Fields): Round => ({ gameId: String(game_id), roundId: String(round_id) })

/** The message of a request, as the service would read it. */
const messageOf = (path: string, body: Fields): Message => {
  const id = String(body["transaction_id"])
  const amount = Number(body["amount"])
  switch (path) {
    case "rollback":
      return { kind: "rollback", id, targetId: String(body["target_transaction_id"]) }
    case "promo-win":
      return { kind: "promo_win", id, amount, prize: Object(body)["kind"] }
    case "round/close":
      return { kind: "close", round: roundOf(body) }
    case "win":
      return {
        kind: "win",
        id,
        round: roundOf(body),
        betId: String(body["bet_transaction_id"]),
        amount,
        closes: body["round_closed"] === true
      }
    case "bet-win": {
      const { amount: paid, transaction_id: winId } = Object(body["win"])
      const bet = messageOf("bet", { ...body, round_closed: false })
      assert(bet.kind === "bet")
      const win = { kind: "win", id: String(winId), round: bet.round, betId: bet.id, amount: Number(paid) } as const
      return { kind: "bet_win", bet, win: { ...win, closes: body["round_closed"] === true } }
    }
    case "batch": {
      const actions: ReadonlyArray<Fields> = Object(body)["actions"]
      return {
        kind: "batch",
        id: "",
        actions: actions.map((action) => {
          const read = messageOf(String(action["action"]), action)
          assert(read.kind === "bet" || read.kind === "win" || read.kind === "rollback")
          return read
        })
      }
    }
    default:
      return {
        kind: "bet",
        id,
        round: roundOf(body),
        amount,
        currency: String(body["currency"]),
        session: body["session_token"] === "free-play" ? "demo" : "real",
        closes: body["round_closed"] === true
      }
  }
}

const refusal = (status: number, code: string, details: object = {}) => ({
  status,
  body: { error: { code, message: code, details: { retry: "never", ...details } } }
})

/** A wallet of one player with 100.00 of the euro. */
const walletWith = (mistake?: Mistake) => {
  const isWrong = (other: Mistake) => mistake === other
  let wallet: Wallet = move(emptyWallet, 10_000)
  let entryIds = 0
  const entriesOf = new Map<string, ReadonlyArray<number>>()

  const entries = (name: string, count: number, isReplay: boolean): ReadonlyArray<number> => {
    const known = entriesOf.get(name)
    if (known !== undefined && !(isReplay && count > 0 && isWrong("names other entries in a replayed answer"))) {
      return known
    }
    const step = isWrong("reports one ledger entry for two messages") && entryIds % 5 === 0 ? 0 : 1
    const made = Array.from({ length: count }, () => (entryIds += step))
    entriesOf.set(name, made)
    return made
  }

  const shown = (settled: Settled, request: unknown, id: string | null): Settlement => ({
    request_id: isWrong("returns another request id") ? "request" : typeof request === "string" ? request : null,
    transaction_id: id,
    status: isWrong("reports a replay as processed") ? "processed" : settled.status ?? "processed",
    wallet_transaction_ids: entries(`${id}`, settled.entries, settled.status === "replayed"),
    real_amount: settled.moved,
    bonus_amount: 0,
    balance: settled.balance + (isWrong("reports a balance one cent too high") ? 1 : 0),
    bonus_balance: 0,
    currency,
    wallet_seq: settled.walletSeq * (isWrong("doubles the wallet sequence") ? 2 : 1),
    round_state: settled.roundState ?? "open"
  })

  /** What the wallet decides, with a mistake in its rules. */
  const decided = (message: Message): ReturnType<typeof decide> => {
    const right = decide(wallet, message)
    if (right.expected._tag !== "Refused") return right
    const { code } = right.expected
    const grown = { ...wallet, balance: 1_000_000 }
    if (message.kind === "bet") {
      if (code === "INSUFFICIENT_FUNDS" && isWrong("accepts stakes above the balance")) {
        const { expected, wallet: after } = decide(grown, message)
        return { expected, wallet: { ...after, balance: wallet.balance - message.amount } }
      }
      if (code === "BET_ROLLED_BACK" && isWrong("settles a bet that was rolled back")) {
        return decide(wallet, { ...message, id: `${message.id}-again` })
      }
      if (code === "ROUND_CLOSED" && isWrong("accepts bets in a closed round")) {
        return decide(wallet, { ...message, round: { gameId: "another", roundId: "round" } })
      }
      if (code === "INVALID_SESSION" && isWrong("debits money for a bet in free play")) {
        return decide(wallet, { ...message, session: "real" })
      }
    }
    const [first] = message.kind === "batch" ? message.actions : []
    return first !== undefined && isWrong("settles only a part of a batch")
      ? { expected: right.expected, wallet: decide(wallet, first).wallet }
      : right
  }

  const settle = (path: string, body: Fields) => {
    const message = messageOf(path, body)
    if (message.kind === "bet" && !Number.isInteger(message.amount)) return refusal(422, "VALIDATION_FAILED")
    if (!["a-token", "free-play", undefined].includes(Object(body)["session_token"])) {
      return refusal(401, "INVALID_SESSION")
    }
    const { expected, wallet: after } = decided(message)
    wallet = after
    if (expected._tag === "Refused") {
      const { balance, code, status } = expected
      const isTold = balance !== undefined && !isWrong("reports no balance in a refusal for insufficient funds")
      return refusal(status, code, isTold ? { balance } : {})
    }
    if (message.kind === "batch") {
      const results = expected.results.map((settled, index) => {
        const action: Fields = Object(body)["actions"][index]
        return shown(settled, action["request_id"], String(action["transaction_id"]))
      })
      return { status: 200, body: { data: { request_id: String(body["request_id"]), results } } }
    }
    const [settled] = expected.results
    assert(settled !== undefined)
    const id = message.kind === "close" ? null : String(body["transaction_id"])
    return { status: 200, body: { data: shown(settled, body["request_id"], id) } }
  }

  return (path: string, text: string): { readonly status: number; readonly body: object } => {
    const { balance } = wallet
    if (path.startsWith("transactions/")) {
      const id = path.slice("transactions/".length)
      const status = isWrong("reports a known transaction as unknown") ? "unknown" : fateOf(wallet, id)
      return { status: 200, body: { data: { transaction_id: id, status } } }
    }
    let body: Fields
    try {
      body = JSON.parse(text)
    } catch {
      return refusal(422, "INVALID_REQUEST")
    }
    if (path === "authenticate" || path === "balance") {
      return { status: 200, body: { data: { balance, bonus_balance: 0, currency, player_ref: "pr_1" } } }
    }
    return settle(path, body)
  }
}

const dialect = pitbossDialect.make({ key: "pbp_live_1", secret: "a-secret" })

/** Plays 300 scenarios against the wallet; gives what differed. */
const differencesWith = (mistake?: Mistake) => {
  const answer = walletWith(mistake)
  let calls = 0
  const http = HttpClient.make((request, url) =>
    Effect.suspend(() => {
      const path = url.pathname.slice("/api/v1/provider/wallet/".length)
      const call = ++calls
      const answered = (reply: { readonly status: number; readonly body: object }) =>
        respond(request, { ...reply, headers: { "x-request-id": "request-1" } })
      const lost = new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({ request, description: "lost" })
      })
      if (call % 37 === 0) return Effect.fail(lost)
      if (call % 41 === 0) {
        const again = isBet(path) && mistake !== "asks for a bet to be retried instead of rolled back"
          ? "rollback"
          : "same_request"
        return Effect.succeed(answered(refusal(503, "TRY_AGAIN", { retry: again })))
      }
      const reply = answered(answer(path, textOf(request)))
      return call % 43 === 0 ? Effect.fail(lost) : Effect.succeed(reply)
    })
  )
  return playAll(http, {
    url: "http://wallet.example/api/v1/provider/wallet",
    dialect,
    session: { token: "a-token", freePlayToken: "free-play", playerRef: "", currency, gameId: "slots" },
    opening: { balance: 10_000, walletSeq: 1, entries: 1 }
  })
}

const isBet = (path: string) => path === "bet"

describe("the provider simulator in Pitboss's own protocol", () => {
  it.effect("finds no difference in a correct wallet whose answers are lost, and plays every scenario", () =>
    Effect.gen(function*() {
      const stats = yield* differencesWith()
      assert.deepStrictEqual(stats.differences, [])
      assert.isAbove(stats.scenarios.size, 30)
      assert.isAbove(stats.answers.get("no answer") ?? 0, 10)
    }))

  for (const mistake of mistakes) {
    it.effect(`detects a wallet that ${mistake}`, () =>
      Effect.gen(function*() {
        assert.isAbove((yield* differencesWith(mistake)).differenceCount, 0)
      }))
  }
})
