/**
 * A casino with activity of every kind on a separate service, and the queries that check whether a service has all of
 * it: for tests that replace the service or database while callers keep their credentials.
 */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type * as Http from "node:http"
import { callWallet, dataAs, deposit, launch, register, settledOf } from "./Casino.ts"
import { type Caller, callerOf, exchange, type Reply } from "./HttpCalls.ts"
import { freePort } from "./ServiceProcess.ts"
import { expectedSignature, type Sink, soon } from "./WebhookSink.ts"
import { samples } from "../../scripts/simulators/Samples.ts"

/** Where a service of the casino listens, and how staff reach it. */
export interface Address {
  readonly port: number
  readonly backofficePort: number
}

export const staffToken = "staff-token-of-the-test"

export const freeAddress: Effect.Effect<Address> = Effect.all({ port: freePort, backofficePort: freePort })

/** Of a service at the address, for `startService`. */
export const environmentAt = ({ backofficePort }: Address) => ({
  BACKOFFICE_PORT: String(backofficePort),
  BACKOFFICE_TOKEN: staffToken,
  WEBHOOK_ALLOW_INSECURE: "on",
  REGISTER_ALLOW_INSECURE: "on",
  LOG_LEVEL: "warn"
})

const Enveloped = Schema.fromJsonString(Schema.Struct({ data: Schema.Unknown }))

/** Calls the staff API; returns the answer, fails unless it succeeded. */
export const staff = Effect.fnUntraced(function*<S extends Schema.ConstraintDecoder<unknown>>(
  { backofficePort }: Address,
  path: string,
  Data: S,
  body?: object
) {
  const text = yield* Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${backofficePort}/backoffice/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "authorization": `Bearer ${staffToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return response.ok ? text : Promise.reject(new Error(`${path}: ${text}`))
  })
  const { data } = yield* Schema.decodeUnknownEffect(Enveloped)(text)
  return yield* Schema.decodeUnknownEffect(Data)(data)
})

const Key = Schema.Struct({ id: Schema.Int, key: Schema.String, secret: Schema.String })
const Made = Schema.Struct({ id: Schema.Int })
const Webhook = Schema.Struct({ id: Schema.Int, secret: Schema.String })
const Token = Schema.Struct({ token: Schema.String })
const Authenticated = Schema.Struct({ player_ref: Schema.String })
const Round = Schema.Struct({ round_id: Schema.String })
const Fairness = Schema.Struct({ server_seed_hash: Schema.String })
const Rotated = Schema.Struct({
  retired: Schema.Struct({ server_seed: Schema.String, server_seed_hash: Schema.String })
})
const Proof = Schema.Struct({ fairness: Fairness })

interface Asked {
  readonly by: "operator" | "provider" | "player"
  readonly path: string
  readonly body: { readonly [field: string]: unknown }
  readonly headers: { readonly [name: string]: string }
  readonly answer: string
}

interface Seated {
  readonly playerId: number
  readonly ref: string
  readonly session: string
  readonly playerToken: string
  /** Final reads. */
  readonly wallet: string
  readonly transactions: string
}

const wallet = "/api/v1/provider/wallet"

/** Creates activity of every kind; returns the answers, for later comparison. */
export const playCasino = Effect.fnUntraced(function*(agent: Http.Agent, address: Address, sink: Sink) {
  const { port } = address
  const { id: operatorId } = yield* staff(address, "/operators", Made, { slug: "acme", name: "Acme", currency: "EUR" })
  const key = yield* staff(address, "/keys", Key, { operator: "acme", rate_limit_per_minute: 1_000_000 })
  const provider = yield* staff(address, "/providers", Key, {
    slug: "studio",
    name: "Studio",
    launch_url: "https://studio.example/play?token={token}&game={game}&mode={mode}"
  })
  // with settings that are sealed
  yield* staff(address, "/providers", Key, {
    slug: "vendor",
    name: "Vendor",
    protocol: "evolution",
    settings: samples["evolution"]?.("https://vendor.example").provider
  })
  const game = yield* staff(address, "/games", Made, { provider: "studio", external_id: "reels", name: "Reels" })
  const original = yield* staff(address, "/games", Made, {
    provider: "studio",
    external_id: "coin",
    name: "Coin",
    original: "coin_flip"
  })
  yield* staff(address, "/payment-methods", Made, { operator: "acme", code: "bank", name: "Bank" })
  const { id: webhookId, secret: firstSecret } = yield* staff(address, "/webhooks", Webhook, {
    operator: "acme",
    url: sink.url
  })
  // for a day, messages are signed with both
  const { secret } = yield* staff(address, `/webhooks/${webhookId}/rotate`, Webhook, {})

  const asked: Array<Asked> = []
  const operator = callerOf(agent, port, { header: "X-Api-Key", key: key.key, secret: key.secret })
  const studio = callerOf(agent, port, { header: "X-Provider-Key", key: provider.key, secret: provider.secret })
  const remember = (by: Asked["by"], path: string, body: Asked["body"], headers: Asked["headers"], reply: Reply) => {
    assert.include([200, 201], reply.status, reply.text)
    asked.push({ by, path, body, headers, answer: reply.text })
    return reply
  }
  const keyed = (path: string, body: Asked["body"]) => {
    const headers = { "idempotency-key": `k-${asked.length}` }
    return Effect.map(operator.post(path, body, headers), (reply) => remember("operator", path, body, headers, reply))
  }
  const told = (path: string, body: Asked["body"]) =>
    Effect.map(callWallet(studio, path, body), (reply) => remember("provider", `${wallet}/${path}`, body, {}, reply))

  const seated: Array<Seated> = []
  for (const name of ["ada", "bob", "cyd"]) {
    const playerId = yield* register(operator, name, { personal_id: `id of ${name}` })
    const at = `/api/v1/operator/players/${playerId}`
    yield* keyed(`${at}/deposits`, { amount: 50_000, external_reference: `d-${name}`, info: `card of ${name}` })
    yield* keyed(`${at}/withdrawals`, {
      amount: 1_000,
      payment_method: "bank",
      external_reference: `w-${name}`
    })
    const session = yield* launch(operator, playerId, game.id)
    const { player_ref: ref } = yield* dataAs(
      yield* told("authenticate", { session_token: session }),
      200,
      Authenticated
    )
    const money = (id: string, round: string, amount: number) => ({
      request_id: `q-${id}`,
      transaction_id: `${name}-${id}`,
      game_id: "reels",
      round_id: `${name}-${round}`,
      amount,
      currency: "EUR"
    })
    yield* told("bet", { ...money("b1", "r1", 500), session_token: session })
    yield* told("win", {
      ...money("w1", "r1", 700),
      player_ref: ref,
      bet_transaction_id: `${name}-b1`,
      round_closed: true
    })
    yield* told("bet", { ...money("b2", "r2", 300), session_token: session })
    yield* told("bet", { ...money("b3", "r3", 200), session_token: session })
    yield* told("rollback", {
      request_id: "q-x",
      transaction_id: `${name}-x3`,
      player_ref: ref,
      target_transaction_id: `${name}-b3`
    })
    const issued = yield* keyed(`${at}/session-tokens`, { ttl_minutes: 60 })
    const { token: playerToken } = yield* dataAs(issued, 201, Token)
    for (let round = 0; round < 3; round++) {
      const path = `/api/v1/player/games/${original.id}/play`
      const body = { stake: 10, params: { side: "heads" } }
      const headers = { "authorization": `Bearer ${playerToken}`, "idempotency-key": `p-${round}` }
      const reply = yield* exchange(agent, port, path, { body, headers })
      yield* dataAs(remember("player", path, body, headers, reply), 200, Round)
    }
    seated.push({
      playerId,
      ref,
      session,
      playerToken,
      wallet: (yield* operator.get(`${at}/wallet`)).text,
      transactions: (yield* operator.get(`${at}/transactions?per_page=100`)).text
    })
  }
  return { operatorId, key, provider, webhookSecrets: [secret, firstSecret], original, asked, seated }
})

export type Casino = Effect.Success<ReturnType<typeof playCasino>>

const callersAt = (agent: Http.Agent, { port }: Address, { key, provider }: Casino) => ({
  operator: callerOf(agent, port, { header: "X-Api-Key", key: key.key, secret: key.secret }),
  studio: callerOf(agent, port, { header: "X-Provider-Key", key: provider.key, secret: provider.secret })
})

/** Checks that balances and ledgers are unchanged, and that repeated requests get their earlier answers. */
export const expectSame = Effect.fnUntraced(function*(agent: Http.Agent, address: Address, casino: Casino) {
  const { operator, studio } = callersAt(agent, address, casino)
  for (const { playerId, transactions, wallet: view } of casino.seated) {
    const at = `/api/v1/operator/players/${playerId}`
    assert.strictEqual((yield* operator.get(`${at}/wallet`)).text, view)
    assert.strictEqual((yield* operator.get(`${at}/transactions?per_page=100`)).text, transactions)
  }
  for (const { answer, body, by, headers, path } of casino.asked) {
    const again = by === "player"
      ? yield* exchange(agent, address.port, path, { body, headers })
      : yield* (by === "operator" ? operator : studio).post(path, body, headers)
    if (by !== "provider") {
      assert.deepStrictEqual([again.headers["idempotent-replayed"], again.text], ["true", answer], path)
    } else if (path.endsWith("authenticate")) {
      const { player_ref: ref } = yield* dataAs(again, 200, Authenticated)
      assert.include(answer, ref)
    } else {
      const { status, wallet_transaction_ids: ids } = yield* settledOf(again)
      assert.include(path.endsWith("rollback") ? ["replayed", "ignored"] : ["replayed"], status)
      assert.include(answer, JSON.stringify(ids))
    }
  }
  // nothing of all that moved money
  for (const { playerId, wallet: view } of casino.seated) {
    assert.strictEqual((yield* operator.get(`/api/v1/operator/players/${playerId}/wallet`)).text, view)
  }
})

let turns = 0

/** Checks that credentials of players, providers and the operator still work: sessions, refs, tokens, seeds, webhooks. */
export const playOn = Effect.fnUntraced(
  function*(agent: Http.Agent, address: Address, casino: Casino, sink: Sink) {
    const { operator, studio } = callersAt(agent, address, casino)
    const turn = ++turns
    for (const { playerId, playerToken, ref, session } of casino.seated) {
      const money = (id: string, amount: number) => ({
        request_id: id,
        transaction_id: `${playerId}-${turn}-${id}`,
        game_id: "reels",
        round_id: `on-${turn}-${playerId}`,
        amount,
        currency: "EUR"
      })
      yield* settledOf(yield* callWallet(studio, "bet", { ...money("b", 20), session_token: session }))
      const bet = { player_ref: ref, bet_transaction_id: `${playerId}-${turn}-b` }
      yield* settledOf(yield* callWallet(studio, "win", { ...money("w", 10), ...bet, round_closed: true }))

      const as = (path: string, body: object) =>
        exchange(agent, address.port, `/api/v1/player${path}`, {
          body,
          headers: { authorization: `Bearer ${playerToken}` }
        })
      const played = yield* as(`/games/${casino.original.id}/play`, { stake: 10, params: { side: "heads" } })
      const { fairness } = yield* dataAs(played, 200, Proof)
      const { retired } = yield* dataAs(yield* as("/fairness/rotate", {}), 200, Rotated)
      assert.strictEqual(retired.server_seed_hash, fairness.server_seed_hash)
    }
    const [first] = casino.seated
    yield* deposit(operator, first?.playerId ?? 0, 100, `on-${turn}`)
    const paid = () => sink.received.find(({ body }) => body.includes(`"on-${turn}"`))
    yield* soon(() => paid() !== undefined)
    const received = paid()
    assert.deepStrictEqual(
      ["x-service-signature", "x-service-signature-previous"].flatMap((name) => received?.headers[name] ?? []),
      casino.webhookSecrets.map((one) => received && expectedSignature(one, received))
    )
  }
)

export const operatorOf = (agent: Http.Agent, address: Address, casino: Casino): Caller =>
  callersAt(agent, address, casino).operator

export const studioOf = (agent: Http.Agent, address: Address, casino: Casino): Caller =>
  callersAt(agent, address, casino).studio
