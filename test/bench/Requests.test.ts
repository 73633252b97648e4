import { describe, expect, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { changeOf, type Request, Requests } from "../../bench/load/Requests.ts"
import { mixedOperations, mixedShares } from "../../bench/load/MixedTraffic.ts"
import { operatorOperations } from "../../bench/load/Job.ts"
import { OperatorCalls } from "../../bench/load/OperatorCalls.ts"
import { makeTraffic } from "../../bench/load/Traffic.ts"
import { transactionsCarried } from "../../src/domain/state/Rounds.ts"
import { ProviderCalls } from "../../bench/targets/servers/ProviderCalls.ts"
import { job } from "./support.ts"

interface Parsed {
  readonly method: string
  readonly uri: string
  readonly headers: Record<string, string>
  readonly body: string
}

const parse = (bytes: string): Parsed => {
  const [head = "", body = ""] = bytes.split("\r\n\r\n")
  const [first = "", ...lines] = head.split("\r\n")
  const [method = "", uri = ""] = first.split(" ")
  const headers = Object.fromEntries(lines.map((line) => {
    const [name = "", value = ""] = line.split(": ")
    return [name.toLowerCase(), value]
  }))
  return { method, uri, headers, body }
}

const now = () => Math.floor(Date.now() / 1000).toString()

describe("benchmark requests", () => {
  // Goal: what the generator sends is a bet of the contract, byte for byte countable and correctly signed.
  // Method: take a request apart and sign it again with nothing but node:crypto.
  it("are signed bets with the player's session", () => {
    const timestamp = now()
    const { body, headers, method, uri } = parse(new Requests(job()).bet(1, timestamp).bytes)
    expect(JSON.parse(body)).toEqual({
      request_id: "q-p-0000000",
      transaction_id: "p-0000000",
      round_id: "r-p-0000000",
      session_token: "token-b",
      game_id: "slot",
      amount: 10,
      currency: "EUR"
    })
    expect(Number(headers["content-length"])).toBe(Buffer.byteLength(body))
    const signed = `POST\n/api/v1/provider/wallet/bet\n${timestamp}\n${body}`
    expect([method, uri]).toEqual(["POST", "/api/v1/provider/wallet/bet"])
    expect(headers["x-timestamp"]).toBe(timestamp)
    expect(headers["x-provider-key"]).toBe("key")
    expect(headers["x-signature"]).toBe(createHmac("sha256", "secret").update(signed).digest("hex"))
  })

  // Goal: no two bets are taken for one another. Method: many bets of few players, ids counted.
  it("never repeat an id", () => {
    const requests = new Requests(job())
    const ids = Array.from({ length: 500 }, (_, index) => requests.bet(index % 2, "1").id)
    expect(new Set(ids).size).toBe(500)
  })

  // Goal: baseline and ceiling pay for a real check. Method: an authentic call passes, each forgery is named.
  it("pass the server's signature check only if unchanged", () => {
    const calls = new ProviderCalls([["key", "secret"]])
    const { body, headers, method, uri } = parse(new Requests(job()).bet(0, now()).bytes)
    const check = (changes: Record<string, string>, sent = body) =>
      calls.refusal(method, uri, { ...headers, ...changes }, Buffer.from(sent))
    expect(check({})).toBeUndefined()
    expect(check({}, body.replace("10", "11"))).toBe("INVALID_SIGNATURE")
    expect(check({ "x-signature": "00" })).toBe("INVALID_SIGNATURE")
    expect(check({ "x-provider-key": "other" })).toBe("INVALID_API_KEY")
    expect(check({ "x-timestamp": "1000" })).toBe("TIMESTAMP_OUT_OF_RANGE")
    expect(check({ "x-timestamp": "soon" })).toBe("TIMESTAMP_OUT_OF_RANGE")
    expect(calls.refusal(method, uri, {}, Buffer.from(body))).toBe("MISSING_CREDENTIALS")
  })

  // Goal: characters are sent as bytes, so anything else must not get in. Method: a token outside ASCII.
  it("refuse text outside ASCII, as its length in bytes differs", () => {
    expect(() => new Requests(job({ players: [{ id: 1, sessionToken: "töken" }] }))).toThrow("not ASCII")
  })

  // Goal: every kind of call follows the contract and is countable. Method: the paths, the bodies, and the minimum and maximum effect of each on the
  // balance.
  it("include bet-win, win, rollback, balance, retry, refused bet and batch, in the form of the contract", () => {
    const requests = new Requests(job())
    const told = (request: Request) => {
      const { body, headers, method, uri } = parse(request.bytes)
      expect(Number(headers["content-length"])).toBe(Buffer.byteLength(body))
      return { call: `${method} ${uri}`, body: JSON.parse(body), moves: [request.least, request.change, request.most] }
    }
    const base = "POST /api/v1/provider/wallet"
    expect(told(requests.betWin(0, "1", 20))).toMatchObject({
      call: `${base}/bet-win`,
      body: {
        transaction_id: "p-0000000",
        amount: 10,
        win: { transaction_id: "w-p-0000000", amount: 20 },
        round_closed: true
      },
      moves: [0, 10, 10]
    })
    expect(told(requests.betWin(0, "1", 0)).moves).toEqual([-10, -10, 0])
    expect(told(requests.win(1, "1", "p-0000009", 20))).toMatchObject({
      call: `${base}/win`,
      body: {
        player_ref: "ref-b",
        round_id: "r-p-0000009",
        bet_transaction_id: "p-0000009",
        amount: 20,
        round_closed: true
      },
      moves: [0, 20, 20]
    })
    expect(told(requests.rollback(1, "1", "p-0000009"))).toMatchObject({
      call: `${base}/rollback`,
      body: { player_ref: "ref-b", target_transaction_id: "p-0000009" },
      moves: [0, 10, 10]
    })
    expect(told(requests.ask("balance", 0, "1"))).toEqual({
      call: `${base}/balance`,
      body: { session_token: "token-a" },
      moves: [0, 0, 0]
    })
    expect(told(requests.retry(1, "1", "p-0000009"))).toMatchObject({
      call: `${base}/bet`,
      body: { transaction_id: "p-0000009", round_id: "r-p-0000009", amount: 10, session_token: "token-b" },
      moves: [0, 0, 0]
    })
    expect(told(requests.refusedBet(1, "1", "LIMIT_EXCEEDED")).moves).toEqual([-1_000_001, 0, 0])
    expect(told(requests.batch(1, "1", 30))).toMatchObject({
      call: `${base}/batch`,
      body: {
        actions: [
          { action: "bet", transaction_id: "p-0000005", round_id: "r-p-0000005", amount: 10 },
          { action: "win", transaction_id: "w-p-0000005", round_id: "r-p-0000005", amount: 30, round_closed: true }
        ]
      },
      moves: [0, 20, 20]
    })
    const play = requests.play(0)
    expect(told(play)).toEqual({
      call: "POST /api/v1/player/games/71/play",
      body: { stake: 10, params: { side: "heads" } },
      moves: [-10, null, 10]
    })
    expect([changeOf(play, "{\"stake\":10,\"payout\":19}"), changeOf(play, "{\"stake\":10,\"payout\":0}")]).toEqual([
      9,
      -10
    ])
    expect(changeOf(play, "{}")).toBeNaN()
  })

  // Goal: calls of operators are the contract's, signed with their nonce, and those of players carry their token. Method: one of each;
  // sign again with nothing but node:crypto, and decode every body.
  it("include operator calls, signed with their nonce, and player calls, with their token", () => {
    const calls = new OperatorCalls(job())
    const seen = operatorOperations.map((operation) => {
      const request = calls.next(operation, 1, "77")
      const { body, headers, method, uri } = parse(request.bytes)
      if (body !== "") {
        expect(Number(headers["content-length"])).toBe(Buffer.byteLength(body))
        expect(JSON.parse(body)).toBeTypeOf("object")
      }
      if (operation.startsWith("player-")) expect(headers["authorization"]).toBe("Bearer bearer-b")
      else {
        const signed = `${method}\n${uri}\n77\n${body}\n${headers["x-nonce"]}`
        expect(headers["x-signature"]).toBe(createHmac("sha256", "operator-secret").update(signed).digest("hex"))
        expect(headers["x-api-key"]).toBe("operator-key")
      }
      return { id: request.id, moves: [request.least, request.change, request.most], call: `${method} ${uri}` }
    })
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
    const byCall = new Map(seen.map(({ call, moves }) => [call, moves]))
    expect(byCall.get("POST /api/v1/operator/players/2/deposits")).toEqual([0, 10, 10])
    expect(byCall.get("POST /api/v1/operator/players/2/withdrawals")).toEqual([-10, -10, 0])
    expect(byCall.get("GET /api/v1/operator/players/2/wallet")).toEqual([0, 0, 0])
  })
})

describe("mixed traffic", () => {
  // Goal: the stated shares are sent, and late wins and retries refer to bets older than the number of bets kept in
  // memory. Method: a long walk in which everything is processed, the operations counted, each late one compared with those before.
  it("keeps the shares of its operations, and has late wins and retries of bets that are no longer in memory", () => {
    const players = Array.from({ length: 300 }, (_, index) => ({
      id: index + 1,
      sessionToken: `token-${index}`,
      playerRef: `ref-${index}`
    }))
    const traffic = makeTraffic(job({ kind: "mixed", operations: mixedOperations, players, limited: 6 }))
    const counts = new Map<string, number>()
    const bets = new Map<number, number>()
    const placed = new Map<string, { readonly player: number; readonly before: number }>()
    const earlier = 200 * (12 + 24)
    const late: Array<number> = []
    for (let sent = 0; sent < earlier + 20_000; sent++) {
      const request = traffic.next(0, "1")
      if (sent < earlier) expect(request.operation).toBe("bet")
      else counts.set(request.operation, (counts.get(request.operation) ?? 0) + 1)
      if (request.operation === "bet") {
        placed.set(request.id, { player: request.player, before: bets.get(request.player) ?? 0 })
        bets.set(request.player, (bets.get(request.player) ?? 0) + 1)
      }
      if (request.operation === "late win" || request.operation === "retry") {
        const found = [...placed].find(([id]) => request.bytes.includes(`"${id}"`))?.[1]
        expect(found?.player).toBe(request.player)
        late.push((bets.get(request.player) ?? 0) - (found?.before ?? 0))
      }
      if (request.operation === "refused: limit") expect(request.player).toBeGreaterThanOrEqual(294)
      else expect(request.player).toBeLessThan(294)
      traffic.ended(0, request, true)
    }
    expect(late.length).toBeGreaterThan(300)
    expect(Math.min(...late)).toBeGreaterThan(transactionsCarried)
    for (const [operation, share] of mixedShares) {
      expect(Math.abs((counts.get(operation) ?? 0) / 20 - share)).toBeLessThan(5 + share * 0.15)
    }
  })

  it("sends bets in place of operations that the job does not select", () => {
    const traffic = makeTraffic(job({ kind: "mixed", operations: ["balance"] }))
    const counts: Record<string, number> = {}
    for (let sent = 0; sent < 2 * (12 + 24) + 5000; sent++) {
      const { operation } = traffic.next(0, "1")
      counts[operation] = (counts[operation] ?? 0) + 1
    }
    expect(Object.keys(counts).toSorted()).toEqual(["balance", "bet"])
    expect(Math.abs((counts["balance"] ?? 0) / 5 - 30)).toBeLessThan(10)
  })
})

describe("session traffic", () => {
  /** Requests of one connection, when each answer is as `isProcessed` says. */
  const walk = (length: number, isProcessed: (request: Request) => boolean) => {
    const traffic = makeTraffic(job({ kind: "session" }))
    return Array.from({ length }, () => {
      const request = traffic.next(0, "1")
      traffic.ended(0, request, isProcessed(request))
      return request
    })
  }

  // Goal: a win or a rollback follows a bet of the same player that was processed, and a visit begins and ends as it should.
  // Method: a long walk; every request is compared with the previous one.
  it("includes the follow-up calls of processed bets, and starts each visit with authenticate and ends it with balance", () => {
    const requests = walk(2000, () => true)
    const counts: Record<string, number> = {}
    for (const [index, request] of requests.entries()) {
      counts[request.operation] = (counts[request.operation] ?? 0) + 1
      const before = requests[index - 1]
      if (request.operation === "win" || request.operation === "rollback") {
        expect([before?.operation, before?.player]).toEqual(["bet", request.player])
        expect(request.bytes).toContain(`"${before?.id}"`)
      } else if (request.operation === "authenticate" && before !== undefined) expect(before.operation).toBe("balance")
    }
    const { authenticate = 0, balance = 0, bet = 0, rollback = 0, win = 0 } = counts
    expect(Math.abs(authenticate - balance)).toBeLessThanOrEqual(1)
    expect(bet / authenticate).toBeCloseTo(3, 0)
    expect(win / bet).toBeCloseTo(0.4, 1)
    expect(rollback / bet).toBeCloseTo(0.1, 1)
  })

  // Goal: refused requests have no follow-ups. Method: no bet is processed, then no session is authenticated.
  it("includes no follow-up calls of refused bets", () => {
    const operations = (failing: string) =>
      new Set(walk(200, ({ operation }) => operation !== failing).map(({ operation }) => operation))
    expect(operations("bet")).toEqual(new Set(["authenticate", "bet", "balance"]))
    expect(operations("authenticate")).toEqual(new Set(["authenticate"]))
  })
})
