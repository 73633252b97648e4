import { describe, expect, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { BetRequests } from "../../bench/load/BetRequests.ts"
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

describe("BetRequests", () => {
  // Goal: what the generator sends is a bet of the contract, byte for byte countable and correctly signed.
  // Method: take a request apart and sign it again with nothing but node:crypto.
  it("writes a signed bet of the player's session", () => {
    const timestamp = now()
    const { body, headers, method, uri } = parse(new BetRequests(job()).next(1, timestamp).bytes)
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
  it("never repeats an id", () => {
    const requests = new BetRequests(job())
    const ids = Array.from({ length: 500 }, (_, index) => requests.next(index % 2, "1").transactionId)
    expect(new Set(ids).size).toBe(500)
  })

  // Goal: baseline and ceiling pay for a real check. Method: an authentic call passes, each forgery is named.
  it("is accepted by the servers' check, and only unchanged", () => {
    const calls = new ProviderCalls([["key", "secret"]])
    const { body, headers, method, uri } = parse(new BetRequests(job()).next(0, now()).bytes)
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
  it("refuses text whose length in bytes differs", () => {
    expect(() => new BetRequests(job({ sessionTokens: ["töken"] }))).toThrow("not ASCII")
  })
})
