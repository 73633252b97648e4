import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import { evolutionDialect } from "../../scripts/simulators/dialects/Evolution.ts"
import { forge } from "../../scripts/simulators/Scenarios.ts"
import { playAll, respond, textOf } from "./support.ts"

// Goal: the provider simulator finds nothing in a wallet that speaks its protocol, and finds what is wrong with one that nearly does. Method: a
// wallet of Evolution's protocol in a few lines, with mistakes to switch on.

type Mistake =
  | "pays a promo payout twice"
  | "stores no tombstone for the rollback of an unknown bet"
  | "accepts stakes above the balance"
  | "reports a temporary failure as a permanent error"
  | "rounds amounts"
  | "reports no balance for a credit"
  | "accepts any authToken"
  | "accepts old session tokens"
  | "settles a bet twice"

interface Asked {
  readonly sid: string
  readonly uuid: string
  readonly transaction?: { readonly refId: string; readonly amount: number }
  readonly promoTransaction?: { readonly id: string; readonly amount: number }
}

/** A wallet in memory for one player with 100.00 of the euro. */
const walletWith = (mistake?: Mistake) => {
  const isWrong = (other: Mistake) => mistake === other
  let cents = 10_000
  let sids = 0
  let token = "sid-0"
  const bets = new Map<string, { readonly cents: number; state: "open" | "settled" | "cancelled" | "tombstone" }>()
  const promos = new Set<string>()

  const settle = (method: string, refId: string, amount: number): string => {
    const bet = bets.get(refId)
    if (bet === undefined || bet.state === "tombstone") {
      const isForgotten = isWrong("stores no tombstone for the rollback of an unknown bet")
      if (method === "cancel" && bet === undefined && !isForgotten) bets.set(refId, { cents: 0, state: "tombstone" })
      return "BET_DOES_NOT_EXIST"
    }
    if (bet.state !== "open" && !(isWrong("settles a bet twice") && method === "credit")) return "BET_ALREADY_SETTLED"
    cents += method === "credit" ? amount : bet.cents
    bet.state = method === "credit" ? "settled" : "cancelled"
    return "OK"
  }

  const debit = (sid: string, refId: string, amount: number): string => {
    if (sid !== token && !(isWrong("accepts old session tokens") && sid.startsWith("sid-"))) return "INVALID_SID"
    const bet = bets.get(refId)
    if (bet?.state === "tombstone" || bet?.state === "cancelled") return "FINAL_ERROR_ACTION_FAILED"
    if (bet !== undefined) return "BET_ALREADY_EXIST"
    if (amount > cents && !isWrong("accepts stakes above the balance")) return "INSUFFICIENT_FUNDS"
    cents -= amount
    bets.set(refId, { cents: amount, state: "open" })
    return "OK"
  }

  const promo = (id: string, amount: number): string => {
    if (promos.has(id) && !isWrong("pays a promo payout twice")) return "OK"
    promos.add(id)
    cents += amount
    return "OK"
  }

  const money = (method: string, { promoTransaction, sid, transaction }: Asked): string => {
    const amount = (promoTransaction?.amount ?? transaction?.amount ?? 0) * 100
    const isWhole = Math.abs(amount - Math.round(amount)) < 1e-6
    if (!isWhole && !isWrong("rounds amounts")) return "INVALID_PARAMETER"
    const refId = transaction?.refId ?? ""
    if (method === "debit") return debit(sid, refId, Math.round(amount))
    if (method === "promo_payout") return promo(promoTransaction?.id ?? "", Math.round(amount))
    return method === "balance" ? "OK" : settle(method, refId, Math.round(amount))
  }

  let calls = 0
  return (url: URL, text: string): { readonly status: number; readonly body: object } => {
    if (url.searchParams.get("authToken") !== "auth" && !isWrong("accepts any authToken")) {
      return { status: 401, body: { status: "INVALID_TOKEN_ID" } }
    }
    let asked: Asked
    try {
      asked = JSON.parse(text)
    } catch {
      return { status: 400, body: { status: "INVALID_PARAMETER" } }
    }
    const { uuid } = asked
    // busy now and then
    if (++calls % 17 === 0) {
      const status = isWrong("reports a temporary failure as a permanent error") ? "UNKNOWN_ERROR" : "TEMPORARY_ERROR"
      return { status: 200, body: { status, uuid } }
    }
    const method = url.pathname.slice(1)
    if (method === "check") {
      token = `sid-${++sids}`
      return { status: 200, body: { status: "OK", sid: token, uuid } }
    }
    const status = money(method, asked)
    const balance = Math.max(0, cents) / 100
    return {
      status: 200,
      body: isWrong("reports no balance for a credit") && method === "credit"
        ? { status, uuid }
        : { status, balance, bonus: 0, uuid }
    }
  }
}

const dialect = evolutionDialect.make({ auth_token: "auth", casino_key: "casino", api_token: "api" })

/** Plays 300 scenarios against the wallet; gives what disagreed. */
const differencesWith = (mistake?: Mistake) => {
  const answer = walletWith(mistake)
  const http = HttpClient.make((request, url) => Effect.succeed(respond(request, answer(url, textOf(request)))))
  const session = { token: "sid-0", playerRef: "1018", currency: "EUR", gameId: "table-1" }
  return playAll(http, { url: "http://wallet.example", dialect, session }, forge)
}

describe("the provider simulator", () => {
  it.effect("finds no difference in a correct wallet, and plays every scenario", () =>
    Effect.gen(function*() {
      const stats = yield* differencesWith()
      assert.deepStrictEqual(stats.differences, [])
      assert.isAbove(stats.scenarios.size, 20)
    }))

  const mistakes: ReadonlyArray<Mistake> = [
    "pays a promo payout twice",
    "stores no tombstone for the rollback of an unknown bet",
    "accepts stakes above the balance",
    "reports a temporary failure as a permanent error",
    "rounds amounts",
    "reports no balance for a credit",
    "accepts any authToken",
    "accepts old session tokens",
    "settles a bet twice"
  ]
  for (const mistake of mistakes) {
    it.effect(`detects a wallet that ${mistake}`, () =>
      Effect.gen(function*() {
        assert.isAbove((yield* differencesWith(mistake)).differenceCount, 0)
      }))
  }
})
