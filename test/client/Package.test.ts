import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { Webhook } from "standardwebhooks"
import {
  AuthenticationError,
  ConnectionError,
  createClient,
  createPlayerClient,
  NotFoundError,
  PitbossError,
  RuleError,
  ValidationError,
  verifyWebhook,
  WebhookError
} from "../../scripts/package/client/src/index.ts"

// Goal: a call of the packed client is signed, retried under one key, and gives data or an error of a class; lists and events go on; deliveries are verified.
// Method: a `fetch` that answers from a list and keeps what it was sent. Signatures are made again here, and by the library of Standard Webhooks.

interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: string
}

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>] | "lost"

const scripted = (answers: ReadonlyArray<Answer>) => {
  const sent: Array<Sent> = []
  const fetch: typeof globalThis.fetch = (url, init) => {
    const answer = answers[sent.length] ?? answers.at(-1) ?? "lost"
    sent.push({
      url: url instanceof Request ? url.url : url.toString(),
      method: init?.method ?? "",
      headers: new Headers(init?.headers),
      body: typeof init?.body === "string" ? init.body : ""
    })
    if (answer === "lost") return Promise.reject(new TypeError("fetch failed"))
    const [status, body, headers] = answer
    return Promise.resolve(
      new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })
    )
  }
  const options = { baseUrl: "http://casino.test/gateway/", fetch, firstPauseMs: 1 }
  return {
    sent,
    client: createClient({ ...options, key: "pk_live_1", secret: "sk_live_1" }),
    player: createPlayerClient({ ...options, token: () => Promise.resolve("pbt_1") })
  }
}

const refusal = (code: string, details: object = {}) => ({ error: { code, message: `it is ${code}`, details } })

const failure = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then((value) => assert.fail(`answered ${JSON.stringify(value)}`), (error: unknown) => error)

describe("a call of the client package", () => {
  it("is signed over the sent request, without the path of a gateway", async () => {
    const { client, sent } = scripted([[201, { data: { id: 7 } }]])
    assert.deepInclude(await client.deposits.create(7, { amount: 5000, external_reference: "psp-1" }), { id: 7 })
    const [{ body, headers, method, url } = assert.fail()] = sent
    assert.strictEqual(url, "http://casino.test/gateway/api/v1/operator/players/7/deposits")
    const signed = [
      method,
      "/api/v1/operator/players/7/deposits",
      headers.get("x-timestamp"),
      body,
      headers.get("x-nonce")
    ]
    assert.strictEqual(
      headers.get("x-signature"),
      createHmac("sha256", "sk_live_1").update(signed.join("\n")).digest("hex")
    )
    assert.strictEqual(headers.get("x-api-key"), "pk_live_1")
  })

  it("encodes parameters of path and query in the form in which they are signed", async () => {
    const { client, sent } = scripted([[200, { data: [], meta: {}, links: {} }]])
    await client.players.list({ search: "ä b", page: undefined })
    const [{ headers, url } = assert.fail()] = sent
    const uri = "/api/v1/operator/players?search=%C3%A4+b"
    assert.isTrue(url.endsWith(uri))
    const signed = ["GET", uri, headers.get("x-timestamp"), "", headers.get("x-nonce")].join("\n")
    assert.strictEqual(headers.get("x-signature"), createHmac("sha256", "sk_live_1").update(signed).digest("hex"))
  })

  it("is retried with one idempotency key and new signatures until it is answered", async () => {
    const { client, sent } = scripted(["lost", [503, refusal("SERVER_ERROR")], [201, { data: { id: 7 } }]])
    await client.deposits.create(7, { amount: 5000, external_reference: "psp-1" })
    assert.strictEqual(sent.length, 3)
    assert.strictEqual(new Set(sent.map(({ headers }) => headers.get("idempotency-key"))).size, 1)
    assert.strictEqual(new Set(sent.map(({ headers }) => headers.get("x-signature"))).size, 3)
  })

  it("is not retried when it was refused, and fails with the class of the refusal", async () => {
    const cases: ReadonlyArray<readonly [number, string, typeof PitbossError]> = [
      [401, "INVALID_SIGNATURE", AuthenticationError],
      [404, "NOT_FOUND", NotFoundError],
      [422, "VALIDATION_FAILED", ValidationError],
      [422, "LIMIT_EXCEEDED", RuleError],
      [402, "INSUFFICIENT_FUNDS", RuleError]
    ]
    for (const [status, code, Class] of cases) {
      const { client, sent } = scripted([[status, refusal(code, { limit: 1 }), { "x-request-id": "r-1" }]])
      const error = await failure(client.players.get(1))
      assert.instanceOf(error, Class)
      assert.instanceOf(error, PitbossError)
      assert.deepInclude(error, { code, status, requestId: "r-1", details: { limit: 1 } })
      assert.strictEqual(sent.length, 1)
    }
  })

  it("fails with its idempotency key when no attempt was answered", async () => {
    const { client, sent } = scripted(["lost"])
    const error = await failure(client.bonuses.grant(7, { bonus_id: 1 }, { idempotencyKey: "grant-1" }))
    assert.instanceOf(error, ConnectionError)
    assert.deepInclude(error, { code: "NO_ANSWER", idempotencyKey: "grant-1", status: undefined })
    assert.strictEqual(sent.length, 4)
  })

  it("is not retried when the rate limit would last longer than the maximum wait", async () => {
    const { client, sent } = scripted([[429, refusal("RATE_LIMITED"), { "retry-after": "61" }]])
    assert.deepInclude(await failure(client.account.me()), { code: "RATE_LIMITED", retryAfterSeconds: 61 })
    assert.strictEqual(sent.length, 1)
  })

  it("is aborted by its signal", async () => {
    const { client, sent } = scripted(["lost"])
    const error = await failure(client.account.me({ signal: AbortSignal.abort(new Error("closed")) }))
    assert.deepInclude(error, { message: "closed" })
    assert.isAtMost(sent.length, 1)
  })

  it("is not sent without a required path parameter", () => {
    const { client, sent } = scripted([])
    assert.throws(() => Reflect.apply(client.players.get, client, [undefined]), /player is missing/)
    assert.strictEqual(sent.length, 0)
  })

  it("of a player carries the current token, and returns fields beside data", async () => {
    const { player, sent } = scripted([[200, { data: { player_id: 7 }, meta: { applied: [], pending: [] } }]])
    const changed = await player.limits.set({ limits: { max_daily_deposit: 1000 } })
    assert.deepInclude(changed, { player_id: 7 })
    assert.deepInclude(changed.meta, { applied: [] })
    assert.strictEqual(sent[0]?.headers.get("authorization"), "Bearer pbt_1")
  })
})

describe("a list of the client package", () => {
  it("returns its page when awaited and every item when iterated, by cursor", async () => {
    const { client, sent } = scripted([
      [200, { data: [{ id: 3 }], meta: { total: 3, next_cursor: "b" }, links: {} }],
      [200, { data: [{ id: 3 }, { id: 2 }], meta: { per_page: 2, next_cursor: "b" }, links: {} }],
      [200, { data: [{ id: 1 }], meta: { per_page: 2, next_cursor: null }, links: {} }]
    ])
    assert.strictEqual((await client.players.list({ per_page: 1 })).data.length, 1)
    const ids: Array<number> = []
    for await (const { id } of client.players.list({ status: "active" })) ids.push(id)
    assert.deepStrictEqual(ids, [3, 2, 1])
    assert.deepStrictEqual(sent.map(({ url }) => new URL(url).search), [
      "?per_page=1",
      "?per_page=100&status=active&cursor=",
      "?per_page=100&status=active&cursor=b"
    ])
  })

  it("is a promise of its page, which is requested once", async () => {
    const { client, sent } = scripted([[404, refusal("NOT_FOUND")]])
    const list = client.wallet.transactions(7)
    assert.strictEqual(sent.length, 0)
    let settled = 0
    const codes = [
      await list.catch((error: unknown) => error instanceof NotFoundError && error.code),
      await failure(list.finally(() => settled++))
    ]
    assert.strictEqual(codes[0], "NOT_FOUND")
    assert.instanceOf(codes[1], NotFoundError)
    assert.deepStrictEqual([settled, sent.length], [1, 1])
  })

  it("without a cursor continues by page numbers", async () => {
    const { client, sent } = scripted([
      [200, { data: [{ id: 1 }], meta: { current_page: 1, last_page: 2 }, links: {} }],
      [200, { data: [{ id: 2 }], meta: { current_page: 2, last_page: 2 }, links: {} }]
    ])
    const ids: Array<number> = []
    for await (const { id } of client.games.list()) ids.push(id)
    assert.deepStrictEqual(ids, [1, 2])
    assert.deepStrictEqual(sent.map(({ url }) => new URL(url).search), ["", "?page=2"])
  })
})

describe("events of the client package", () => {
  const feed = (ids: ReadonlyArray<string>, cursor: string): Answer => [200, {
    data: ids.map((id) => ({ id, type: "deposit.paid" })),
    meta: { per_page: 2, next_cursor: cursor }
  }]

  it("are listed up to the newest event", async () => {
    const { client, sent } = scripted([
      feed(["1", "2"], "e-2"),
      feed([], "e-9"),
      feed(["10"], "e-10"),
      feed([], "e-10")
    ])
    const ids: Array<string> = []
    for await (const { id } of client.events.list()) ids.push(id)
    assert.deepStrictEqual(ids, ["1", "2", "10"])
    assert.strictEqual(sent.length, 4)
  })

  it("are followed through failures, and the cursor is that of the last page that was processed", async () => {
    const ended = new AbortController()
    const { client, sent } = scripted([feed(["1", "2"], "e-2"), [500, refusal("SERVER_ERROR")], feed(["3"], "e-3")])
    const followed = client.events.follow({ cursor: "e-0" }, { signal: ended.signal })
    const seen: Array<readonly [string, string | undefined]> = []
    for await (const { id } of followed) {
      seen.push([id, followed.cursor])
      if (id === "3") ended.abort()
    }
    assert.deepStrictEqual(seen, [["1", "e-0"], ["2", "e-0"], ["3", "e-2"]])
    assert.strictEqual(followed.cursor, "e-3")
    assert.include(sent.at(-1)?.url, "cursor=e-2")
  })

  it("are followed no further than the event at which the signal is aborted", async () => {
    const ended = new AbortController()
    const { client, sent } = scripted([feed(["1", "2", "3"], "e-3")])
    const followed = client.events.follow({ cursor: "e-0" }, { signal: ended.signal })
    const ids: Array<string> = []
    for await (const { id } of followed) {
      ids.push(id)
      if (id === "2") ended.abort()
    }
    assert.deepStrictEqual(ids, ["1", "2"])
    assert.strictEqual(followed.cursor, "e-0")
    assert.strictEqual(sent.length, 1)
  })

  it("are no longer followed when the service refuses the request", async () => {
    const { client } = scripted([[422, refusal("VALIDATION_FAILED", { cursor: ["is too old"] })]])
    const iterator = client.events.follow()[Symbol.asyncIterator]()
    assert.instanceOf(await failure(iterator.next()), ValidationError)
  })
})

describe("a webhook delivery", () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
  const body = JSON.stringify({ id: "1", type: "deposit.paid", api_version: "v1", created_at: "", data: {} })
  const now = new Date()
  const seconds = String(Math.floor(now.getTime() / 1000))
  const standard = {
    "Webhook-Id": "1",
    "Webhook-Timestamp": seconds,
    "Webhook-Signature": `v1,b2xk ${new Webhook(secret).sign("1", now, body)}`
  }
  const ownWith = (key: string) => createHmac("sha256", key).update(`${seconds}.${body}`).digest("hex")
  const own = { "x-service-timestamp": seconds, "x-service-signature": ownWith(secret) }

  it("is accepted with either signature, under either secret of a rotation", async () => {
    const older = "whsec_notBase64"
    const accepted = [
      { headers: standard, secret, body },
      { headers: new Headers(standard), secret: [older, secret], body: Buffer.from(body) },
      { headers: own, secret, body },
      { headers: { ...own, "x-service-signature-previous": ownWith(older) }, secret: older, body },
      { headers: { ...standard, ...own, "x-service-signature": "00" }, secret, body }
    ]
    for (const delivery of accepted) assert.strictEqual((await verifyWebhook(delivery)).type, "deposit.paid")
  })

  it("is refused when any part of it is wrong", async () => {
    const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`
    const stale = String(Number(seconds) - 400)
    const refused: ReadonlyArray<readonly [Parameters<typeof verifyWebhook>[0], string]> = [
      [{ headers: {}, secret, body }, "HEADERS_MISSING"],
      [{ headers: standard, secret: other, body }, "WRONG_SIGNATURE"],
      [{ headers: standard, secret: [], body }, "WRONG_SIGNATURE"],
      [{ headers: standard, secret: "whsec_", body }, "WRONG_SIGNATURE"],
      [{ headers: { ...standard, "Webhook-Id": "2" }, secret, body }, "WRONG_SIGNATURE"],
      [{ headers: standard, secret, body: body.replace("deposit", "Deposit") }, "WRONG_SIGNATURE"],
      [{ headers: { ...own, "x-service-timestamp": stale }, secret, body }, "TOO_OLD"],
      [{ headers: { ...own, "x-service-timestamp": "soon" }, secret, body }, "TOO_OLD"]
    ]
    for (const [delivery, code] of refused) {
      const error = await failure(verifyWebhook(delivery))
      assert.strictEqual(error instanceof WebhookError ? error.code : error, code)
    }
  })
})
