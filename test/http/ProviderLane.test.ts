import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import * as Http from "node:http"
import { networks } from "../../src/auth/Addresses.ts"
import { refuse } from "../../src/domain/Refusal.ts"
import { ownPolicy } from "../../src/domain/settlement/Settlement.ts"
import { AnonymousLimits } from "../../src/http/AnonymousLimits.ts"
import { vendorEntryPoint } from "../../src/endpoints/settlement/EntryPoints.ts"
import type { Integration } from "../../src/features/integrations/Integrations.ts"
import type { CallingProvider } from "../../src/features/settlement/WalletActions.ts"
import { type AnsweredCall, type ProviderCalls } from "../../src/http/ProviderLane.ts"
import type {
  Bound,
  Received,
  RefuseUnread,
  VendorCall,
  VendorHead,
  WalletCall,
  WalletOutcome
} from "../../src/protocols/Protocol.ts"
import { layerLane, portOf } from "../kit/EdgeServer.ts"

// Goal: any request of a vendor is answered in its protocol, and in Pitboss's own format where slug or method are unknown. Method: a toy protocol
// over a toy wallet that starts, waits, refuses and fails as the path says.

const answer = (status: number, body: string) => ({ status, body, contentType: "text/toy" })

const isCall = ({ method, path }: VendorHead) => method === "POST" && path !== ""

const refuseUnread: RefuseUnread = (head, { code }) => isCall(head) ? answer(200, `unread: ${code}`) : undefined

/** `/<what>`: the wallet's action; the answer is the outcome's code. */
const receive = (call: VendorCall): Received => {
  if (!isCall(call)) return { _tag: "NotFound" }
  if (call.path === "/unreadable") throw new Error("a body that breaks the reader")
  if (call.header("x-sign") !== "right") {
    return { _tag: "Stranger", answer: answer(403, "who?") }
  }
  if (call.body.toString() === "nonsense") {
    return { _tag: "Answered", answer: answer(400, "what?"), reason: "form", method: call.path }
  }
  return {
    _tag: "Call",
    call: {
      kind: "balance",
      method: call.path.slice(1),
      player: { ref: call.query, token: null, transactionId: null },
      gameId: null,
      currency: String(call.body.length)
    },
    render: (outcome) =>
      answer(
        200,
        outcome._tag === "Balance"
          ? `${outcome.playerRef} ${outcome.funds.currency}`
          : outcome._tag === "Refused"
          ? outcome.refusal.code
          : outcome._tag
      )
  }
}

const bound: Bound = { receive, outbound: { launch: () => Effect.succeed("") } }

const integration = (slug: string, allowed: ReadonlyArray<string> = []): Integration => ({
  providerId: 1,
  slug,
  allowed: networks(allowed),
  policy: ownPolicy,
  bound
})

const known = new Map([
  ["toy", integration("toy")],
  ["walled", integration("walled", ["10.0.0.0/8"])],
  ["unread", integration("unread")]
])

const outcomeOf = (call: WalletCall): WalletOutcome => {
  assert(call.kind === "balance")
  return {
    _tag: "Balance",
    playerRef: call.player.ref ?? "",
    funds: { currency: call.currency ?? "", real: 0, bonus: 0 }
  }
}

const notes: Array<AnsweredCall> = []
const found = new Set<string>()

const calls: ProviderCalls<CallingProvider> = {
  entryPoints: [vendorEntryPoint({
    peek: (slug) => found.has(slug) && !slug.endsWith("unread") ? known.get(slug) : undefined,
    refuserOf: (slug) => known.has(slug) ? refuseUnread : undefined,
    find: (slug) => {
      found.add(slug)
      return slug.endsWith("unread") ? Effect.fail(refuse("TRY_AGAIN", "Later.")) : Effect.succeed(known.get(slug))
    }
  })],
  wallet: {
    start: (_, call, done) => {
      switch (call.method) {
        case "start":
          done(Exit.succeed(outcomeOf(call)))
          return true
        case "start-and-die":
          done(Exit.die(new Error("started")))
          return true
        case "throw":
          throw new Error("thrown")
        default:
          return false
      }
    },
    run: (_, call) => {
      switch (call.method) {
        case "die":
          return Effect.die(new Error("run"))
        case "refuse":
          return Effect.succeed({
            _tag: "Refused",
            refusal: refuse("LIMIT_EXCEEDED", "No."),
            playerRef: null,
            funds: null
          })
        default:
          return Effect.delay(Effect.succeed(outcomeOf(call)), "0 millis")
      }
    },
    playerOf: () => undefined
  },
  note: (_, answered) => {
    notes.push(answered)
  }
}

interface Sent {
  readonly method?: string
  readonly body?: string | ReadonlyArray<string>
  readonly headers?: { readonly [name: string]: string }
}

/** Sends a request below `/api/v1/integrations/`; a body in parts goes without its length. */
const send = (path: string, { body = "", headers = {}, method = "POST" }: Sent = {}) =>
  Effect.flatMap(
    portOf,
    (port) =>
      Effect.callback<{ readonly status: number; readonly type: string | undefined; readonly text: string }>(
        (resume) => {
          const request = Http.request(
            {
              host: "127.0.0.1",
              port,
              method,
              path: `/api/v1/integrations/${path}`,
              headers: {
                "x-sign": "right",
                ...typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {},
                ...headers
              }
            },
            (response) => {
              let text = ""
              response.on("data", (chunk: Buffer) => (text += chunk.toString()))
              response.on("end", () =>
                resume(
                  Effect.succeed({ status: response.statusCode ?? 0, type: response.headers["content-type"], text })
                ))
            }
          ).on("error", (error) => resume(Effect.die(error)))
          if (typeof body === "string") {
            request.end(body)
          } else {
            for (const part of body) {
              request.write(part)
            }
            request.end()
          }
        }
      )
  )

const codeOf = (text: string): unknown => JSON.parse(text).error.code

layer(layerLane(calls))("the HTTP path of provider calls", (it) => {
  it.effect("answers a call in the protocol's format, whether the handler uses a callback or an Effect", () =>
    Effect.gen(function*() {
      for (const method of ["start", "run"]) {
        const answer = yield* send(`toy/${method}?pr_1`, { body: "12345" })
        assert.deepStrictEqual(answer, { status: 200, type: "text/toy", text: "pr_1 5" }, method)
      }
    }))

  it.effect("answers a refusal in the protocol's format", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* send("toy/refuse"), { status: 200, type: "text/toy", text: "LIMIT_EXCEEDED" })
    }))

  it.effect("passes a defect to the protocol as SERVER_ERROR, wherever it happens", () =>
    Effect.gen(function*() {
      for (
        const [method, text] of [
          ["throw", "SERVER_ERROR"],
          ["start-and-die", "SERVER_ERROR"],
          ["die", "SERVER_ERROR"],
          ["unreadable", "unread: SERVER_ERROR"]
        ] as const
      ) {
        const answer = yield* send(`toy/${method}`)
        assert.deepStrictEqual([answer.status, answer.text], [200, text], method)
      }
    }))

  it.effect("answers 404 in Pitboss's error format to an unknown provider, an unknown call and another method", () =>
    Effect.gen(function*() {
      for (
        const [path, method] of [["nobody/run", "POST"], ["toy", "POST"], ["toy/run", "GET"], ["", "POST"], [
          "Toy/run",
          "POST"
        ]] as const
      ) {
        const answer = yield* send(path, { method })
        assert.deepStrictEqual([answer.status, codeOf(answer.text)], [404, "NOT_FOUND"], `${method} ${path}`)
      }
    }))

  it.effect("answers a failed look-up of the provider in the protocol's format, or with 503 if the protocol is unknown", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* send("unread/run")).text, "unread: TRY_AGAIN")
      const answer = yield* send("new-and-unread/run")
      assert.deepStrictEqual([answer.status, codeOf(answer.text)], [503, "TRY_AGAIN"])
    }))

  it.effect("refuses a caller outside the provider's addresses before it reads the body", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* send("walled/run", { body: "nonsense" })).text, "unread: IP_NOT_ALLOWED")
    }))

  it.effect("reads a body without Content-Length to its end", () =>
    Effect.gen(function*() {
      const parts = ["a".repeat(6000), "b".repeat(6000), "c"]
      assert.strictEqual((yield* send("toy/start?p", { body: parts })).text, "p 12001")
    }))

  it.effect("refuses a body above 256 KiB, with or without Content-Length", () =>
    Effect.gen(function*() {
      const large = "a".repeat(256 * 1024 + 1)
      for (const body of [large, [large.slice(1), "bc"]]) {
        assert.strictEqual((yield* send("toy/start", { body })).text, "unread: INVALID_REQUEST")
      }
    }))

  it.effect("logs every call with a valid signature, with its method or fault, and no other call", () =>
    Effect.gen(function*() {
      notes.length = 0
      yield* send("toy/start?p")
      yield* send("toy/refuse")
      yield* send("toy/start", { body: "nonsense" })
      yield* send("toy/start", { headers: { "x-sign": "wrong" } })
      assert.deepStrictEqual(
        notes.map(({ answer, outcome, received }) => [
          answer.status,
          outcome?._tag,
          received._tag === "Call" ? received.call.method : received.reason
        ]),
        [[200, "Balance", "start"], [200, "Refused", "refuse"], [400, undefined, "form"]]
      )
    }))

  const large = "a".repeat(256 * 1024 + 1)
  const unsigned: ReadonlyArray<readonly [what: string, path: string, status: number, sent: Sent]> = [
    ["a wrong signature", "toy/start", 403, { headers: { "x-sign": "wrong" } }],
    ["another method", "toy/start", 404, { method: "GET" }],
    ["an unknown call", "toy", 404, {}],
    ["an unknown provider", "nobody/start", 404, {}],
    ["another address", "walled/start", 200, {}],
    ["a body that is too large", "toy/start", 200, { body: large }],
    ["a body that turns out too large", "toy/start", 200, { body: [large.slice(1), "bc"] }]
  ]
  it.effect.each(unsigned)(
    "counts a call without a valid signature towards the limit of anonymous requests: %s",
    ([, path, status, sent]) =>
      Effect.gen(function*() {
        const { take } = yield* AnonymousLimits
        const left = Effect.map(
          Effect.sync(() => Array.from({ length: 2001 }, () => take({ peer: "127.0.0.1", forwardedFor: undefined }))),
          (taken) => taken.filter((refusal) => refusal === undefined).length
        )
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* send(path, sent)).status, status)
        assert.strictEqual(yield* left, 1999)
        const { text } = yield* send(path, sent)
        assert.strictEqual(
          status === 404 ? codeOf(text) : text,
          status === 404 ? "RATE_LIMITED" : "unread: RATE_LIMITED"
        )
        // who signs from there is served, also a call that is malformed
        assert.strictEqual((yield* send("toy/start?p")).text, "p 0")
        assert.strictEqual((yield* send("toy/start", { body: "nonsense" })).text, "what?")
        assert.strictEqual(yield* left, 0)
      })
  )
})
