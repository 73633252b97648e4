import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { vi } from "vitest"
import { Launches } from "../../src/features/launches/Launches.ts"
import { Payments } from "../../src/features/payments/Payments.ts"
import { Wallet } from "../../src/features/wallet/Wallet.ts"
import { outcomeUnknown } from "../../src/domain/Refusal.ts"
import { losingCommit } from "../kit/E2eHold.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, register } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { exchange, makeAgent, portOf, signedHeaders, unixSeconds } from "../kit/HttpCalls.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"

/** A header that leaves a request to the router, and so to its handler in a fiber. */
const toRouter = { expect: "the router" }

type Body = { readonly [field: string]: unknown }

const deposit = (id: string, more: Body = {}) => ({
  path: "deposits",
  body: { amount: 5000, external_reference: `${id}-in`, payment_method: "card", ...more }
})

const withdrawal = (id: string, more: Body = {}) => ({
  path: "withdrawals",
  body: { amount: 700, external_reference: `${id}-out`, payment_method: "card", ...more }
})

/** A signature like no other, lower-case hex. */
const signatureOf = (name: string) => createHash("sha256").update(name).digest("hex")

// Goal: a payment or a launch that needs no look-up has no fiber, and is as durable. Method: what is begun, asked of the services behind requests
// over HTTP; outcomes that are unknown, and signatures, in the tables.
layer(layerPublicApi, { timeout: "60 seconds" })("the fast path of payments and launches (no fiber)", (it) => {
  // over several nodes every command has a fiber
  it.effect.skipIf(nodesOfRun > 1)(
    "serves a request once its payment method or game is in memory",
    () =>
      Effect.gen(function*() {
        const agent = yield* makeAgent()
        const port = yield* portOf
        const { call, operator } = yield* addTenant(agent, port, "at-once")
        yield* addPaymentMethod(operator.id, "card")
        const slot = yield* addGame((yield* addStudio(agent, port, "at-once")).id, "slot")
        const player = `/api/v1/operator/players/${yield* register(call, "at_once")}`
        const commands = [
          [vi.spyOn(yield* Wallet, "startDeposit"), (id: string) => deposit(id)],
          [vi.spyOn(yield* Payments, "startWithdrawal"), (id: string) => withdrawal(id)],
          [vi.spyOn(yield* Launches, "startLaunch"), () => ({ path: `games/${slot.id}/launch`, body: {} })]
        ] as const
        for (const [start, ask] of commands) {
          for (const id of ["cold", "warm"]) {
            const { body, path } = ask(id)
            const { status, text } = yield* call.post(`${player}/${path}`, body)
            assert.include([200, 201], status, text)
          }
          assert.isTrue(start.mock.results.at(-1)?.value)
        }
      })
  )

  it.effect("advises a retry of a withdrawal of unknown outcome only if a reference or an idempotency key identifies it, as the router does", () =>
    Effect.gen(function*() {
      const { call, operator } = yield* addTenant(yield* makeAgent(), yield* portOf, "unknown")
      yield* addPaymentMethod(operator.id, "card")
      const playerId = yield* register(call, "unknown")
      const player = `/api/v1/operator/players/${playerId}`
      yield* call.post(`${player}/deposits`, deposit("unknown").body)
      const advice = Effect.fnUntraced(function*(body: Body, headers: { readonly [name: string]: string }) {
        // in memory again after the last one
        yield* call.send(`${player}/wallet`)
        const { json, status } = yield* losingCommit(
          playerId,
          call.send(`${player}/withdrawals`, { method: "POST", body, headers })
        )
        return [status, Object(json).error.details.retry]
      })
      const { body } = withdrawal("unknown")
      const { external_reference: _, ...bare } = body
      assert.deepStrictEqual(yield* advice(bare, {}), [503, "never"])
      assert.deepStrictEqual(yield* advice(bare, toRouter), [503, "never"])
      assert.deepStrictEqual(yield* advice(bare, { "idempotency-key": "unknown" }), [503, "same_request"])
      assert.deepStrictEqual(yield* advice(body, {}), [503, "same_request"])
      assert.deepStrictEqual(yield* advice(body, toRouter), [503, "same_request"])
    }))

  // over several nodes every payment has a fiber
  it.effect.skipIf(nodesOfRun > 1)(
    "passes a deposit to the router only if its payment method, or a currency needed for the operator's daily cap, is not in memory",
    () =>
      Effect.gen(function*() {
        const port = yield* portOf
        const agent = yield* makeAgent()
        const { call, operator } = yield* addTenant(agent, port, "in-memory")
        yield* addPaymentMethod(operator.id, "card")
        const playerId = yield* register(call, "in_memory")
        const wallet = yield* Wallet
        const start = (
          playerId: number,
          externalReference: string,
          paymentMethod: string | null,
          by = operator
        ) =>
          Effect.callback<string>((resume) => {
            const request = { amount: 100, externalReference, paymentMethod, info: null, notes: null }
            const isStarted = wallet.startDeposit(
              by,
              playerId,
              request,
              { signature: signatureOf(externalReference), acceptedAt: 0 },
              (exit) => resume(Effect.succeed(Exit.isSuccess(exit) ? exit.value.reply.payment.status : "refused"))
            )
            if (!isStarted) resume(Effect.succeed("not begun"))
          })
        assert.strictEqual(yield* start(playerId, "cold", "card"), "not begun")
        yield* call.send(`/api/v1/operator/players/${playerId}/deposits`, {
          method: "POST",
          body: { amount: 100, external_reference: "warm", payment_method: "card" }
        })
        assert.strictEqual(yield* start(playerId, "by-card", "card"), "paid")
        assert.strictEqual(yield* start(playerId, "bare", null), "paid")
        assert.strictEqual(yield* start(playerId, "other", "unknown"), "not begun")
        assert.strictEqual(yield* start(playerId + 1_000_000, "nobody", null), "refused")
        const capped = { ...operator, dailyDepositCap: 1_000_000 }
        assert.strictEqual(yield* start(playerId, "capped", null, capped), "paid")
        assert.strictEqual(yield* start(playerId, "foreign", null, { ...capped, currency: "SEK" }), "not begun")
        assert.strictEqual(yield* start(playerId + 1_000_000, "no currency", null, capped), "not begun")
      })
  )

  // over several nodes every payment has a fiber
  it.effect.skipIf(nodesOfRun > 1)(
    "answers the retry of a committed deposit whose caller got an unknown outcome, and does not refuse it as a replay",
    () =>
      Effect.gen(function*() {
        const { call } = yield* addTenant(yield* makeAgent(), yield* portOf, "committed")
        const playerId = yield* register(call, "committed")
        const path = `/api/v1/operator/players/${playerId}/deposits`
        const body = { amount: 100, external_reference: "committed" }
        yield* call.post(path, { ...body, external_reference: "warm" })
        const wallet = yield* Wallet
        const start = wallet.startDeposit
        vi.spyOn(wallet, "startDeposit").mockImplementationOnce((operator, player, request, accepted, done) =>
          start(operator, player, request, accepted, (exit) => {
            assert.isTrue(Exit.isSuccess(exit))
            done(Exit.fail(outcomeUnknown))
          })
        )
        const unknown = yield* call.send(path, { method: "POST", body })
        assert.deepStrictEqual([unknown.status, unknown.code], [503, "TRY_AGAIN"])
        const again = yield* call.send(path, { method: "POST", body })
        assert.deepStrictEqual([again.status, Object(again.json).data.external_reference], [200, "committed"])
      })
  )

  it.effect("refuses a payment method within two seconds after another process has disabled it", () =>
    Effect.gen(function*() {
      const { call, operator } = yield* addTenant(yield* makeAgent(), yield* portOf, "switched-off")
      const sql = yield* SqlClient.SqlClient
      yield* addPaymentMethod(operator.id, "card")
      const playerId = yield* register(call, "switched_off")
      const pay = (id: string) =>
        Effect.map(
          call.send(`/api/v1/operator/players/${playerId}/deposits`, { method: "POST", body: deposit(id).body }),
          ({ code, status }) => code ?? status
        )
      assert.strictEqual(yield* pay("routed"), 201)
      assert.strictEqual(yield* pay("direct"), 201)
      yield* sql`UPDATE payment_methods SET active = false WHERE operator_id = ${operator.id}`
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* pay("off"), "PAYMENT_REQUEST_INVALID")
    }))

  it.effect("commits each payment together with its signature, and refuses one whose signature another process has accepted", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const agent = yield* makeAgent()
      const { call, operator } = yield* addTenant(agent, port, "signed")
      const sql = yield* SqlClient.SqlClient
      yield* addPaymentMethod(operator.id, "card")
      const players = yield* Effect.forEach(["signed_one", "signed_other"], (name) => register(call, name))
      const timestamp = yield* unixSeconds
      let count = 0
      const prepare = (playerId: number | undefined, { body, path }: ReturnType<typeof deposit>) => {
        const target = `/api/v1/operator/players/${playerId}/${path}`
        const asked = { method: "POST", body, timestamp, nonce: `signed-${++count}` }
        const headers = signedHeaders(call.signer, target, asked)
        const signature = Buffer.from(headers["X-Signature"] ?? "", "hex")
        return {
          signature,
          send: Effect.map(
            exchange(agent, port, target, { ...asked, headers }),
            (
              { code, json, status }
            ) => [code ?? status, code === undefined ? undefined : Object(json).error.details.outcome]
          )
        }
      }
      const isStored = (signature: Buffer) =>
        Effect.map(sql`SELECT 1 FROM accepted_signatures WHERE signature = ${signature}`, ({ length }) => length === 1)
      const [one, other] = players
      const rests = [
        [201, deposit("signed")],
        [200, deposit("signed")],
        [201, withdrawal("signed")],
        ["DUPLICATE_TRANSACTION", deposit("signed", { amount: 1 })],
        ["PAYMENT_REQUEST_INVALID", deposit("signed", { external_reference: "none", payment_method: "none" })]
      ] as const
      for (const [expected, what] of rests) {
        const { send, signature } = prepare(one, what)
        assert.strictEqual((yield* send)[0], expected)
        assert.isTrue(yield* isStored(signature), String(expected))
        assert.deepStrictEqual(yield* send, ["REPLAYED_REQUEST", undefined])
      }
      // some of many that are committed together
      const many = Array.from({ length: 12 }, (_, index) => ({
        isKnown: index % 4 === 0,
        ...prepare(index % 2 === 0 ? one : other, deposit(`together-${index}`, { amount: 10 }))
      }))
      for (const { isKnown, signature } of many) {
        if (isKnown) {
          // by another process
          yield* sql`INSERT INTO accepted_signatures (signature, accepted_at) VALUES (${signature}, ${new Date(
            timestamp * 1000
          )})`
        }
      }
      assert.deepStrictEqual(
        yield* Effect.forEach(many, ({ send }) => send, { concurrency: "unbounded" }),
        many.map(({ isKnown }) => isKnown ? ["REPLAYED_REQUEST", "unknown"] : [201, undefined])
      )
      const balances = yield* Effect.forEach(players, (id) => call.send(`/api/v1/operator/players/${id}/wallet`))
      assert.deepStrictEqual(balances.map(({ json }) => Object(json).data.balance), [5000 - 700 + 30, 60])
    }))
})
