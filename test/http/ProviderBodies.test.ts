import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Http from "node:http"
import { networks } from "../../src/auth/Addresses.ts"
import { signingKey } from "../../src/auth/Signature.ts"
import { refuse, type RefusalCode, refuseFields, statusByCode } from "../../src/domain/Refusal.ts"
import { ownPolicy } from "../../src/domain/settlement/Settlement.ts"
import { AnonymousLimits } from "../../src/http/AnonymousLimits.ts"
import { ownEntryPoint, vendorEntryPoint } from "../../src/endpoints/settlement/EntryPoints.ts"
import type { Integration } from "../../src/features/integrations/Integrations.ts"
import type { CallingProvider } from "../../src/features/settlement/WalletActions.ts"
import { type ProviderCalls } from "../../src/http/ProviderLane.ts"
import type { WalletCall, WalletOutcome } from "../../src/protocols/Protocol.ts"
import { type AnswerForm, answerForms, ownForm, ownKeys, ownSecret } from "../kit/AnswerForms.ts"
import { acme } from "../kit/Providers.ts"
import { layerLane, portOf } from "../kit/EdgeServer.ts"
import { euros } from "../protocols/support.ts"

// Goal: whatever is wrong with a call of a known provider is answered in the words of its protocol: never in Pitboss's envelope, and with a 5xx only
// where that is the protocol's word for *try again* and the fault is ours. Method: every protocol behind the lane over HTTP, with a wallet that
// answers anything; bodies are genuine ones that are damaged at random, signed over what is sent, or not signed.

/** Outcome of the wallet for the next call: by the code of a refusal, `granted`, or a defect. */
type Next = RefusalCode | "granted" | "defect"
let next: Next = "granted"

const granted = (call: WalletCall): WalletOutcome => {
  switch (call.kind) {
    case "identify":
      return {
        _tag: "Identified",
        funds: euros(1050),
        player: {
          playerRef: "1018",
          token: "t-1",
          country: "DE",
          language: "de",
          birthDate: null,
          registeredAt: 0,
          tags: []
        }
      }
    case "balance":
      return { _tag: "Balance", playerRef: "1018", funds: euros(1050) }
    case "balances":
      return { _tag: "Balances", playerRef: "1018", funds: call.gameIds.map(() => euros(1050)) }
    case "session":
      return {
        _tag: "Session",
        playerRef: "1018",
        country: "DE",
        language: "de",
        expiresAt: 0,
        funds: euros(1050)
      }
    case "status":
      return { _tag: "Status", transactionId: call.transactionId, status: "processed" }
    case "settle":
    case "batch":
      return {
        _tag: "Settled",
        playerRef: "1018",
        funds: euros(1050, 5),
        settlements: (call.kind === "batch" ? call.entries : call.actions).map(() => ({
          transactionId: "t-1",
          status: "processed",
          first: "processed",
          settledAt: 0,
          entryIds: [],
          realAmount: -5,
          bonusAmount: 0,
          balance: 1050,
          bonusBalance: 5,
          currency: "EUR",
          walletSeq: 1,
          roundState: "open"
        }))
      }
  }
}

const outcomeOf = (call: WalletCall): Exit.Exit<WalletOutcome> =>
  next === "defect"
    ? Exit.die(new Error("a defect"))
    : Exit.succeed(
      next === "granted" ? granted(call) : {
        _tag: "Refused",
        playerRef: null,
        funds: null,
        refusal: next === "VALIDATION_FAILED" ? refuseFields({ amount: ["is wrong"] }) : refuse(next, "No.")
      }
    )

const integrations = new Map(answerForms.flatMap(({ name, protocol, settings }) => {
  const bound = Result.getOrThrow(protocol.bind(settings))
  const open: Integration = { providerId: 1, slug: name, allowed: [], policy: ownPolicy, bound }
  return [open, { ...open, slug: `walled-${name}`, allowed: networks(["10.0.0.0/8"]) }].map((one) =>
    [one.slug, one] as const
  )
}))

const unavailable = Effect.fail(refuse("TRY_AGAIN", "The database does not answer."))

const credentialOf = (key: string) =>
  [ownKeys.open, ownKeys.walled].includes(key)
    ? {
      provider: { ...acme, key },
      signingKey: signingKey(ownSecret),
      allowed: networks(key === ownKeys.walled ? ["10.0.0.0/8"] : [])
    }
    : undefined

const calls: ProviderCalls<CallingProvider> = {
  entryPoints: [
    vendorEntryPoint({
      peek: (slug) => integrations.get(slug),
      refuserOf: (slug) => answerForms.find(({ name }) => slug.endsWith(name))?.protocol.refuse,
      find: () => unavailable
    }),
    ownEntryPoint({ rememberedProvider: credentialOf, provider: () => unavailable })
  ],
  wallet: {
    start: (_, call, done) => {
      done(outcomeOf(call))
      return true
    },
    run: () => Effect.die(new Error("started")),
    playerOf: () => undefined
  },
  note: () => {}
}

interface Sent {
  readonly body: Buffer
  readonly headers?: { readonly [name: string]: string }
  readonly method?: string
  readonly query?: string
  /** Without its length, in chunks. */
  readonly isChunked?: boolean
}

const send = (port: number, path: string, { body, headers = {}, isChunked = false, method = "POST", query }: Sent) =>
  new Promise<{ readonly status: number; readonly contentType: string; readonly body: string }>((resolve, reject) => {
    const target = `${path}${query === undefined ? "" : `?${query}`}`
    const sized: Http.OutgoingHttpHeaders = isChunked ? headers : { ...headers, "content-length": body.length }
    const request = Http.request({ host: "127.0.0.1", port, path: target, method, headers: sized }, (response) => {
      let text = ""
      response.on("data", (chunk: Buffer) => (text += chunk.toString()))
      response.on("error", reject)
      response.on("end", () => {
        const { headers, statusCode = 0 } = response
        resolve({ status: statusCode, contentType: headers["content-type"] ?? "", body: text })
      })
    })
    request.on("error", reject)
    if (isChunked) request.write(body.subarray(0, 1))
    request.end(isChunked ? body.subarray(1) : body)
  })

/** Values that no vendor means. */
const strange = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "0",
    "-1",
    "0.5",
    "1e400",
    "-1e-400",
    "12345678901234567890",
    "9007199254740993",
    "1e2",
    "\"\"",
    "\" \"",
    "\"1e5\"",
    "\"0x10\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"a\\nb\"",
    "[]",
    "{}",
    "[[[[[]]]]]",
    "{\"id\":{\"id\":{}}}",
    "{\"__proto__\":null}"
  ),
  fc.json({ maxDepth: 3 }),
  fc.integer({ min: 200, max: 5000 }).map((length) => JSON.stringify("x".repeat(length)))
)

/** Fields of a body, as JSON where it is an object and as a form otherwise. */
const splitFields = (body: Buffer) => {
  const text = body.toString()
  if (!text.startsWith("{")) {
    const pairs = text.split("&").map((pair): [string, string] => {
      const [name = "", value = ""] = pair.split("=", 2)
      return [name, value]
    })
    return {
      pairs,
      join: (fields: ReadonlyArray<readonly [string, string]>) => fields.map((f) => f.join("=")).join("&")
    }
  }
  const values: object = JSON.parse(text)
  const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, JSON.stringify(value)])
  const join = (fields: ReadonlyArray<readonly [string, string]>) =>
    `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`
  return { pairs, join }
}

/** A genuine body of the protocol, with one kind of damage. */
const damaged = ({ bodies }: Pick<AnswerForm, "bodies">): fc.Arbitrary<Buffer> => {
  const genuine = fc.constantFrom(...bodies)
  const ofFields = fc.tuple(genuine, fc.nat(40), strange, fc.constantFrom("replace", "remove", "repeat", "nest", "add"))
    .map(([body, at, value, how]) => {
      const { join, pairs } = splitFields(body)
      const index = at % pairs.length
      const [name, before] = pairs[index] ?? ["", ""]
      const fields = pairs.flatMap(([field, known], place): Array<[string, string]> => {
        if (place !== index) return [[field, known]]
        switch (how) {
          case "replace":
            return [[field, value]]
          case "remove":
            return []
          case "repeat":
            return [[field, known], [field, value]]
          case "nest":
            return [[field, `{${JSON.stringify(name)}:${before}}`]]
          default:
            return [[field, known], [`${field}_more`, value]]
        }
      })
      return Buffer.from(join(fields))
    })
  return fc.oneof(
    { weight: 8, arbitrary: ofFields },
    genuine,
    genuine.map((body) => Buffer.from(body.toString(), "utf16le")),
    genuine.map((body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
    genuine.map((body) => Buffer.concat([body, body])),
    genuine.map((body) => Buffer.concat([body, Buffer.from([0xff, 0xfe, 0x00, 0x80])])),
    fc.tuple(genuine, fc.nat(400)).map(([body, length]) => body.subarray(0, length % body.length)),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    fc.json({ maxDepth: 2 }).map((text) => Buffer.from(text)),
    fc.constantFrom("", "null", "[]", "1", "\"a\"", "[".repeat(5000), "{\"a\":".repeat(5000), `[${"1,".repeat(5000)}1]`)
      .map((text) => Buffer.from(text)),
    fc.constantFrom(40_000, 200_000).map((length) => Buffer.from(`{"user":"${"x".repeat(length)}"}`)),
    fc.constant(Buffer.from("a=1&".repeat(5000)))
  )
}

/** Refusals that the wallet gives to calls. */
const answered: ReadonlyArray<Next> = [
  "granted",
  "INVALID_SESSION",
  "NOT_FOUND",
  "VALIDATION_FAILED",
  "DUPLICATE_TRANSACTION",
  "INSUFFICIENT_FUNDS",
  "LIMIT_EXCEEDED",
  "BONUS_INVALID",
  "PLAYER_RESTRICTED",
  "ROUND_CLOSED",
  "BET_NOT_FOUND",
  "BET_ROLLED_BACK",
  "BET_ALREADY_SETTLED",
  "ROLLBACK_NOT_ALLOWED",
  "TRY_AGAIN",
  "defect"
]

/** Faults of ours, which the vendor must hear as its *try again*. */
const isOurs = (outcome: Next): boolean =>
  outcome === "defect" || (outcome !== "granted" && statusByCode[outcome] >= 500)

/** Port of the server, where no failure of this address is held against it any more. */
const portOfRested = Effect.andThen(TestClock.adjust("1 minute"), portOf)

const takeAll = Effect.map(AnonymousLimits, ({ take }) => {
  while (take({ peer: "127.0.0.1", forwardedFor: undefined }) === undefined);
})

layer(layerLane(calls))("a malformed call of a provider", (it) => {
  it.effect.each([...answerForms, ownForm])("is answered in $name's error format", (form) =>
    Effect.gen(function*() {
      const port = yield* portOfRested
      const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const cases = fc.record({
        path: fc.constantFrom(...form.paths),
        body: damaged(form),
        isSigned: fc.boolean(),
        isChunked: fc.boolean(),
        type: fc.constantFrom(undefined, "application/json", "application/x-www-form-urlencoded", "text/html", "\\"),
        outcome: fc.constantFrom(...answered)
      })
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(cases, async ({ body, isChunked, isSigned, outcome, path, type }) => {
            next = outcome
            const signed = isSigned ? form.sign(path, body, nowSeconds) : { headers: {}, body }
            const answer = await send(port, `${form.address}${path}`, {
              ...signed,
              headers: { ...signed.headers, ...type !== undefined && { "content-type": type } },
              isChunked
            })
            assert.isTrue(form.isAnswer(answer), `${answer.status} ${answer.contentType} ${answer.body}`)
            if (answer.status >= 500) assert.isTrue(isSigned && isOurs(outcome) && form.isTryAgain(answer), answer.body)
          }),
          { numRuns: 150 }
        )
      )
    }))

  it.effect.each(answerForms)(
    "is answered in $name's error format even if it is refused before its body is read",
    (form) =>
      Effect.gen(function*() {
        const port = yield* portOfRested
        const [path = ""] = form.paths
        const call = (slug: string, sent: Partial<Sent> = {}) =>
          Effect.promise(() => send(port, `/api/v1/integrations/${slug}${path}`, { body: Buffer.from("{}"), ...sent }))
        const large = Buffer.alloc(256 * 1024 + 1, "[")
        const refusals = {
          "another address": yield* call(`walled-${form.name}`),
          "a body that is too large": yield* call(form.name, { body: large }),
          "a body that turns out too large": yield* call(form.name, { body: large, isChunked: true })
        }
        for (const [what, answer] of Object.entries(refusals)) {
          assert.isTrue(form.isAnswer(answer), `${what}: ${answer.status} ${answer.body}`)
          assert.isBelow(answer.status, 500, what)
        }
        const unread = yield* call(`unread-${form.name}`)
        assert.isTrue(form.isAnswer(unread) && form.isTryAgain(unread), `cannot be looked up: ${unread.body}`)
        yield* takeAll
        const limited = yield* call(form.name)
        assert.isTrue(form.isAnswer(limited) && form.isTryAgain(limited), `over the limit: ${limited.body}`)
      })
  )

  it.effect.each(answerForms)(
    "is answered 404 in Pitboss's error format where $name has no such path or method",
    (form) =>
      Effect.gen(function*() {
        const port = yield* portOfRested
        const [path = ""] = form.paths
        for (const [slug, below, method] of [[form.name, `${path}/x`, "POST"], [form.name, path, "GET"]] as const) {
          for (const body of [Buffer.from("{}"), Buffer.alloc(256 * 1024 + 1, "[")]) {
            const answer = yield* Effect.promise(() =>
              send(port, `/api/v1/integrations/${slug}${below}`, { body, method })
            )
            assert.strictEqual(answer.status, 404, `${method} ${below}`)
            assert.strictEqual(JSON.parse(answer.body).error.code, "NOT_FOUND")
          }
        }
      })
  )

  it.effect("is answered in Pitboss's error format if it is refused before its body is read", () =>
    Effect.gen(function*() {
      const port = yield* portOfRested
      const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const [path = ""] = ownForm.paths
      const large = Buffer.alloc(256 * 1024 + 1, "[")
      const call = (key: string, body = Buffer.from("{}"), isChunked = false) => {
        const signed = ownForm.sign(path, body, nowSeconds)
        const headers = { ...signed.headers, "x-provider-key": key }
        return Effect.promise(() => send(port, `${ownForm.address}${path}`, { ...signed, headers, isChunked }))
      }
      const answers = {
        IP_NOT_ALLOWED: yield* call(ownKeys.walled),
        INVALID_REQUEST: yield* call(ownKeys.open, large),
        TRY_AGAIN: yield* call("unread"),
        VALIDATION_FAILED: yield* call(ownKeys.open)
      }
      for (const [code, answer] of Object.entries(answers)) {
        assert.isTrue(ownForm.isAnswer(answer), answer.body)
        assert.strictEqual(JSON.parse(answer.body).error.code, code)
      }
      assert.strictEqual((yield* call(ownKeys.open, large, true)).status, 413)
      yield* takeAll
      const limited = yield* call("unread", large)
      assert.isTrue(ownForm.isTryAgain(limited), limited.body)
    }))
})
