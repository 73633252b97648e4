import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { type Answer, type Call, Forwarder, type Handler, NotAnswered, notOwned } from "../../src/cluster/Forwarder.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { signingKey } from "../../src/auth/Signature.ts"
import { ownPolicy } from "../../src/domain/settlement/Settlement.ts"
import { ownEntryPoint, vendorEntryPoint } from "../../src/endpoints/settlement/EntryPoints.ts"
import type { Integration } from "../../src/features/integrations/Integrations.ts"
import type { CallingProvider } from "../../src/features/settlement/WalletActions.ts"
import type { ProviderCalls } from "../../src/http/ProviderLane.ts"
import { layerLane, portOf } from "../kit/EdgeServer.ts"
import { signedHeaders } from "../kit/HttpCalls.ts"
import { acme } from "../kit/Providers.ts"

// Goal: while nodes are replaced, one of the version before settles for this one and has it settle, in the forms of its own channels. Method: the
// lane of one node over a forwarder that holds the messages of the other as they are on the wire.

/** A protocol that answers with what it read. */
const toy: Integration = {
  providerId: 1,
  slug: "toy",
  allowed: [],
  policy: ownPolicy,
  bound: {
    receive: ({ body, header, method, path, query }) => ({
      _tag: "Call",
      call: {
        kind: "balance",
        method: path,
        player: { ref: "7", token: null, transactionId: null },
        gameId: null,
        currency: null
      },
      render: (outcome) => ({
        status: 200,
        contentType: "text/toy",
        body: [method, path, query, header("x-sign"), body.toString("latin1"), outcome._tag].join(" ")
      })
    }),
    outbound: { launch: () => Effect.succeed("") }
  }
}

const own = { key: "pbp_own", secret: "secret" }
const credential = { provider: { ...acme, key: own.key }, signingKey: signingKey(own.secret), allowed: [] }
const credentialOf = (key: string) => key === own.key ? credential : undefined
const integrationOf = (slug: string) => slug === "toy" ? toy : undefined

const calls: ProviderCalls<CallingProvider> = {
  entryPoints: [
    vendorEntryPoint({
      peek: integrationOf,
      refuserOf: () => undefined,
      find: (slug) => Effect.succeed(integrationOf(slug))
    }),
    ownEntryPoint({ rememberedProvider: credentialOf, provider: (key) => Effect.succeed(credentialOf(key)) })
  ],
  wallet: {
    start: () => false,
    run: () => Effect.succeed({ _tag: "Balance", playerRef: "7", funds: { currency: "EUR", real: 5, bonus: 0 } }),
    playerOf: () => 7
  },
  note: () => {}
}

/** The other node, which serves every channel but the new one. */
const former = {
  asked: new Map<string, Call>(),
  answers: new Map<string, Answer>([
    ["vendor", { status: 202, head: "text/xml", body: "<ok/>" }],
    ["public", { status: 503, head: `{"content-type":"application/json","retry-after":"1"}`, body: "{}" }]
  ])
}
const served = new Map<string, Handler>()

const layerForwarder = Layer.succeed(
  Forwarder,
  Forwarder.of({
    node: "new",
    isHere: () => false,
    ownerOf: () => "old",
    serve: (channel, handle) => void served.set(channel, handle),
    post: (_, channel, call, __, done) => {
      const answer = former.answers.get(channel)
      former.asked.set(channel, call)
      done(
        answer === undefined
          ? Exit.fail(new NotAnswered({ because: "unserved" }))
          : Exit.succeed({ ...answer, node: "old" })
      )
    },
    send: () => Effect.fail(new NotAnswered({ because: "unserved" })),
    sendTo: () => Effect.undefined,
    sendToAll: () => Effect.succeed([])
  })
)

/** The answer of this node to a message of the other. */
const answerTo = (channel: string, head: string, body: string) =>
  Effect.callback<Answer | typeof notOwned>((resume) =>
    served.get(channel)?.({ head, body }, (answer) => resume(Effect.succeed(answer)))
  )

const wallet = "/api/v1/provider/wallet"
const balance = { player_ref: "7" }
const shown = { currency: "EUR", balance: 5, bonus_balance: 0 }

/** Sends a request to this node; `sent` is the message that the other was sent on the channel. */
const ask = (path: string, body: Buffer<ArrayBuffer>, headers: { readonly [name: string]: string }, channel: string) =>
  Effect.gen(function*() {
    const port = yield* portOf
    former.asked.clear()
    const response = yield* Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body, headers })
    )
    const reply = [
      response.status,
      response.headers.get("content-type"),
      response.headers.get("retry-after"),
      response.headers.get("x-served-by"),
      yield* Effect.promise(() => response.text())
    ]
    assert.deepStrictEqual([...former.asked.keys()], ["provider", channel])
    const sent = former.asked.get(channel) ?? assert.fail()
    return { reply, head: JSON.parse(sent.head), body: sent.body }
  })

layer(layerLane(calls, Layer.merge(layerSingleNode, layerForwarder)))("a node of the version before", (it) => {
  it.effect("is sent a vendor's call with the bytes and headers of the caller, and its answer is given", () =>
    Effect.gen(function*() {
      const { body, head, reply } = yield* ask(
        "/api/v1/integrations/toy/balance?a=%20b",
        Buffer.from("caf\u00e9", "latin1"),
        { "x-sign": "right", "x-request-id": "id-1" },
        "vendor"
      )
      assert.deepStrictEqual(reply, [202, "text/xml", null, "old", "<ok/>"])
      const { headers, ...rest } = head
      assert.deepStrictEqual(rest, { slug: "toy", method: "POST", rest: "/balance?a=%20b", now: 0, id: "id-1" })
      assert.deepInclude(headers, { "x-sign": "right", "content-length": "4" })
      assert.strictEqual(body, "caf\u00e9")
    }))

  it.effect("is sent a call of Pitboss's own protocol as a request that is authenticated already, without its signature", () =>
    Effect.gen(function*() {
      const path = `${wallet}/balance`
      const signed = signedHeaders({ header: "X-Provider-Key", ...own }, path, { body: balance, timestamp: 0 })
      const raw = JSON.stringify(balance)
      const { body, head, reply } = yield* ask(
        path,
        Buffer.from(raw),
        { ...signed, "content-type": "application/json", "x-request-id": "id-2" },
        "public"
      )
      assert.deepStrictEqual(reply, [503, "application/json", "1", "old", "{}"])
      assert.deepStrictEqual(head, {
        method: "POST",
        url: path,
        target: path,
        headers: {
          "x-request-id": "id-2",
          "content-type": "application/json",
          "content-length": String(raw.length)
        },
        principal: own.key
      })
      assert.strictEqual(body, raw)
    }))

  it.effect("has a vendor's call settled here, read again with its signature", () =>
    Effect.gen(function*() {
      const about = { method: "POST", rest: "/bet?a=b", headers: { "x-sign": "right" }, now: 0, id: "id-3" }
      assert.deepStrictEqual(yield* answerTo("vendor", JSON.stringify({ slug: "toy", ...about }), "caf\u00e9"), {
        status: 200,
        head: "text/toy",
        body: "POST /bet a=b right caf\u00e9 Balance"
      })
      assert.strictEqual(yield* answerTo("vendor", JSON.stringify({ slug: "nobody", ...about }), ""), notOwned)
    }))

  it.effect("has a call of Pitboss's own protocol settled here, in either of its forms", () =>
    Effect.gen(function*() {
      const target = `${wallet}/balance`
      const request = (to: string, principal: string) =>
        JSON.stringify({ method: "POST", url: to, target: to, headers: { "x-request-id": "id-4" }, principal })
      const body = JSON.stringify(balance)
      const answers = [
        [yield* answerTo("public", request(target, own.key), body), `{"content-type":"application/json"}`],
        [yield* answerTo("lane", `${target}\n${own.key}\nid-5\n`, body), ""]
      ] as const
      for (const [answer, head] of answers) {
        assert(answer !== notOwned)
        assert.deepStrictEqual([answer.status, answer.head], [200, head])
        assert.deepStrictEqual(JSON.parse(answer.body).data, shown)
      }
      assert.strictEqual(yield* answerTo("public", request(target, "nobody"), body), notOwned)
      assert.strictEqual(yield* answerTo("lane", `${target}\nnobody\nid-6\n`, body), notOwned)
      // of the server behind the lane
      assert.strictEqual(yield* answerTo("public", request("/api/v1/operator/me", own.key), ""), notOwned)
    }))
})
