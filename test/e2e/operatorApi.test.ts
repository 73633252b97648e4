import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type * as Http from "node:http"
import { Api } from "../../src/contract/Api.ts"
import { Games } from "../../src/features/games/Games.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { holdPlayer, someoneWaits } from "../kit/E2eHold.ts"
import { type Caller, callerOf, makeAgent } from "../kit/E2eHttp.ts"
import { until } from "../kit/Client.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import {
  addGame,
  addPaymentMethod,
  addStudio,
  addTenant,
  dataOf,
  deposit,
  freshName,
  type Game,
  launch,
  Payment,
  register,
  registration,
  type Studio,
  tell,
  type Tenant
} from "../kit/E2eWorld.ts"
import type { Reply } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"

// Goal: operators meet what the specification says of players, wallets, payments and games, and only what is theirs. Method: the
// service over HTTP at a fixed noon; what staff would change is changed in the database; tenancy walks over the contract itself.

const noon = "2026-11-20T12:00:00.000Z"
const base = "/api/v1/operator"

class Stage extends Context.Service<Stage, {
  readonly agent: Http.Agent
  readonly port: number
  readonly acme: Tenant
  readonly rival: Tenant
  readonly studio: Studio
  readonly game: Game
}>()("pitboss/test/OperatorStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.gen(function*() {
      const agent = yield* makeAgent()
      const port = yield* portOf
      const studio = yield* addStudio(agent, port, "studio")
      return {
        agent,
        port,
        acme: yield* addTenant(agent, port, "acme"),
        rival: yield* addTenant(agent, port, "rival"),
        studio,
        game: yield* addGame(studio.id, "dice", { name: "Dice" })
      }
    })
  )
}

const Live = Stage.layer.pipe(
  Layer.provideMerge(layerE2eServer),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(Date.parse(noon))))
)

/** An operator of the test's own: lists hold what the test put there. */
const someTenant = Effect.gen(function*() {
  const { agent, port } = yield* Stage
  return yield* addTenant(agent, port, yield* freshName)
})

const assertRefused = (reply: Reply, status: number, code: string) =>
  assert.deepInclude({ status: reply.status, code: reply.code }, { status, code }, reply.text)

const Meta = Schema.Struct({
  current_page: Schema.Int,
  per_page: Schema.Int,
  total: Schema.Int,
  last_page: Schema.Int,
  from: Schema.Int,
  to: Schema.Int
})
const Links = Schema.Struct({
  first: Schema.String,
  last: Schema.String,
  prev: Schema.NullOr(Schema.String),
  next: Schema.NullOr(Schema.String)
})
const Identified = Schema.Struct({ id: Schema.Int })
const Page = Schema.Struct({ data: Schema.Array(Identified), meta: Meta, links: Links })

const pageOf = Effect.fnUntraced(function*(caller: Caller, path: string) {
  const reply = yield* caller.get(path)
  assert.strictEqual(reply.status, 200, reply.text)
  return yield* Schema.decodeUnknownEffect(Page)(reply.json)
})

const idsOf = (caller: Caller, path: string) => Effect.map(pageOf(caller, path), ({ data }) => data.map(({ id }) => id))

/** Follows `next` from the first page to the last; everything that was met. */
const walk = Effect.fnUntraced(function*(caller: Caller, path: string) {
  const met: Array<number> = []
  let previous: string | null = null
  for (let next: string | null = path; next !== null;) {
    const page: typeof Page.Type = yield* pageOf(caller, next)
    assert.strictEqual(page.meta.from, page.data.length === 0 ? 0 : met.length + 1)
    met.push(...page.data.map(({ id }) => id))
    assert.strictEqual(page.meta.to, page.data.length === 0 ? 0 : met.length)
    assert.strictEqual(page.links.prev === null, previous === null)
    if (page.links.prev !== null) {
      assert.strictEqual((yield* pageOf(caller, page.links.prev)).meta.current_page, page.meta.current_page - 1)
    }
    assert.strictEqual((yield* pageOf(caller, page.links.first)).meta.current_page, 1)
    assert.strictEqual((yield* pageOf(caller, page.links.last)).meta.current_page, page.meta.last_page)
    assert.strictEqual(page.links.next === null, page.meta.current_page === page.meta.last_page)
    previous = next
    next = page.links.next
  }
  return met
})

layer(Live)("the operator API", (it) => {
  it.effect("registers a player with everything there is to say", () =>
    Effect.gen(function*() {
      const { acme } = yield* Stage
      const reply = yield* acme.call.post(`${base}/players`, {
        username: "Lucky_Luke-1",
        email: "Lucky@Example.COM",
        password: "secret123",
        first_name: "Lucky",
        middle_name: "of the",
        last_name: "Luke",
        gender: "male",
        birth_date: "2008-11-20",
        country: "DE",
        city: "Berlin",
        address: "Street 1",
        zip_code: "10115",
        phone: "+49 1512 3456789",
        personal_id: "P-1",
        document_number: "D-1",
        language: "de",
        currency: "USD",
        external_id: "ext-1",
        promo_code: "WELCOME",
        affiliate_id: "aff-1",
        btag: "tag",
        registration_ip: "203.0.113.7",
        terms_accepted: true,
        terms_version: "2026-01",
        marketing: { email: true },
        is_test: true,
        unheard_of: "ignored"
      })
      assert.strictEqual(reply.status, 201)
      assert.match(reply.headers["x-request-id"] ?? "", /^\S+$/)
      const { id } = yield* dataOf(reply, 201, Identified)
      assert.deepStrictEqual(reply.json, {
        data: {
          id,
          external_id: "ext-1",
          username: "Lucky_Luke-1",
          email: "lucky@example.com",
          first_name: "Lucky",
          middle_name: "of the",
          last_name: "Luke",
          gender: "male",
          birth_date: "2008-11-20",
          country: "DE",
          city: "Berlin",
          address: "Street 1",
          zip_code: "10115",
          phone: "+4915123456789",
          personal_id: "P-1",
          document_number: "D-1",
          language: "de",
          currency: "USD",
          status: "active",
          category: "new",
          kyc_status: "not_started",
          is_verified: false,
          risk_level: "low",
          is_test: true,
          restrictions: {
            can_login: true,
            can_deposit: true,
            can_withdraw: true,
            can_bet: true,
            excluded_from_bonuses: false
          },
          self_exclusion: null,
          marketing: { email: true, sms: false, newsletter: false },
          registration: {
            source: "api",
            ip: "203.0.113.7",
            promo_code: "WELCOME",
            affiliate_id: "aff-1",
            btag: "tag"
          },
          last_login_at: null,
          created_at: noon,
          updated_at: noon
        }
      })
      assert.deepStrictEqual((yield* acme.call.get(`${base}/players/${id}`)).json, reply.json)
      const wallet = yield* acme.call.get(`${base}/players/${id}/wallet`)
      assert.deepStrictEqual(wallet.json, {
        data: {
          player_id: id,
          currency: "USD",
          balance: 0,
          bonus_balance: 0,
          unverified_withdrawal_allowance: null,
          wallets: [
            { type: "real", balance: 0, currency: "USD", updated_at: noon },
            { type: "bonus", balance: 0, currency: "USD", updated_at: noon }
          ]
        }
      })
      const sql = yield* SqlClient.SqlClient
      const events = yield* sql<{ readonly type: string; readonly data: unknown }>`SELECT type, data FROM events
        WHERE player_id = ${id}`
      // the numbers are put in when a webhook is sent
      const player = { ...Object(reply.json).data, personal_id: null, document_number: null }
      assert.deepStrictEqual(events, [{ type: "player.registered", data: { player } }])
    }))

  it.effect("names everything that is wrong with a registration, and what is taken", () =>
    Effect.gen(function*() {
      const { call } = yield* someTenant
      const { rival } = yield* Stage
      const empty = yield* call.post(`${base}/players`, {})
      assertRefused(empty, 422, "VALIDATION_FAILED")
      assert.sameMembers(Object.keys(empty.details), [
        "username",
        "email",
        "first_name",
        "last_name",
        "birth_date",
        "country",
        "terms_accepted"
      ])
      const wrong = {
        username: "a b",
        email: "nobody",
        first_name: 1,
        last_name: "",
        birth_date: "2008-11-21",
        country: "XX",
        terms_accepted: false,
        password: "short",
        gender: "none",
        phone: "12",
        language: "german",
        currency: "XXX",
        registration_ip: "1.2.3",
        marketing: { email: "yes" },
        is_test: "no",
        external_id: 7
      }
      const bad = yield* call.post(`${base}/players`, wrong)
      assertRefused(bad, 422, "VALIDATION_FAILED")
      assert.sameMembers(Object.keys(bad.details), [
        ...Object.keys(wrong).filter((field) => field !== "marketing"),
        "marketing.email"
      ])
      for (const messages of Object.values(bad.details)) assert.isNotEmpty(messages)

      const mine = { ...registration("Taken"), phone: "+35621234567", external_id: "one" }
      yield* dataOf(yield* call.post(`${base}/players`, mine), 201, Identified)
      const taken = yield* call.post(`${base}/players`, { ...mine, username: "taKEN", email: "TAKEN@example.com" })
      assertRefused(taken, 422, "VALIDATION_FAILED")
      assert.sameMembers(Object.keys(taken.details), ["username", "email", "phone", "external_id"])
      // to another operator all of it is free
      yield* dataOf(yield* rival.call.post(`${base}/players`, mine), 201, Identified)
    }))

  it.effect("keeps out who excluded themselves", () =>
    Effect.gen(function*() {
      const { call } = yield* someTenant
      const { rival } = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const person = { first_name: "Éva", last_name: "Nagy", birth_date: "1980-01-02" }
      const id = yield* register(call, "excluded", { ...person, personal_id: "AB-123", document_number: "X 9" })
      yield* sql`UPDATE players SET exclusion_type = 'self_exclusion', exclusion_since = ${new Date(noon)},
        exclusion_until = ${new Date("2027-11-20T12:00:00Z")} WHERE id = ${id}`
      const attempts = [
        person,
        { ...person, first_name: "EVA ", last_name: "nagy" },
        { first_name: "Other", last_name: "Name", personal_id: "ab 123" },
        { first_name: "Other", last_name: "Name", document_number: "x9" }
      ]
      for (const [index, more] of attempts.entries()) {
        const reply = yield* call.post(`${base}/players`, { ...registration(`again${index}`), ...more })
        assertRefused(reply, 422, "SELF_EXCLUDED_IDENTITY")
      }
      yield* register(call, "namesake", { ...person, birth_date: "1980-01-03" })
      yield* register(rival.call, "elsewhere", person)
      const seen = yield* dataOf(
        yield* call.get(`${base}/players/${id}`),
        200,
        Schema.Struct({ self_exclusion: Schema.Unknown })
      )
      assert.deepStrictEqual(seen.self_exclusion, {
        type: "self_exclusion",
        since: noon,
        until: "2027-11-20T12:00:00.000Z"
      })
    }))

  it.effect("lists players newest first, in pages, by every filter", () =>
    Effect.gen(function*() {
      const { call } = yield* someTenant
      const sql = yield* SqlClient.SqlClient
      const ids: Array<number> = []
      for (let number = 0; number < 7; number++) {
        ids.unshift(
          yield* register(call, `list${number}`, {
            external_id: `x${number}`,
            ...(number === 3 ? { last_name: "Zappa" } : {})
          })
        )
        yield* sql`UPDATE players SET created_at = ${new Date(Date.parse(noon) + number * 1000)} WHERE id = ${
          ids[0] ?? 0
        }`
      }
      const [newest = 0, second = 0] = ids
      yield* sql`UPDATE players SET status = 'locked', kyc_status = 'verified' WHERE id = ${newest}`
      assert.deepStrictEqual(yield* idsOf(call, `${base}/players`), ids)
      assert.deepStrictEqual(yield* walk(call, `${base}/players?per_page=3`), ids)
      assert.deepStrictEqual(yield* walk(call, `${base}/players?per_page=3&search=list`), ids)
      const { links, meta } = yield* pageOf(call, `${base}/players?per_page=3&page=2&search=list`)
      assert.deepStrictEqual(meta, { current_page: 2, per_page: 3, total: 7, last_page: 3, from: 4, to: 6 })
      for (const link of Object.values(links)) assert.include(link, "search=list")
      assert.deepStrictEqual(yield* idsOf(call, `${base}/players?page=9`), [])

      const filters: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
        ["status=locked", [newest]],
        ["status=closed", []],
        ["kyc_status=verified", [newest]],
        ["username=list5", [second]],
        ["username=list", []],
        ["email=list5%40example.com", [second]],
        ["external_id=x5", [second]],
        ["search=LIST5", [second]],
        ["search=zapp", [ids[3] ?? 0]],
        ["search=%25", []],
        ["search=_", []],
        ["created_from=2026-11-20T12:00:05.000Z", [newest, second]],
        ["created_to=2026-11-20T12:00:00.000Z", ids.slice(-1)],
        ["created_from=2026-11-20T13:00:01%2B01:00&created_to=2026-11-20T12:00:01Z", ids.slice(5, 6)],
        ["search=list&status=active&external_id=x5", [second]]
      ]
      for (const [query, expected] of filters) {
        assert.deepStrictEqual(yield* idsOf(call, `${base}/players?${query}`), expected, query)
      }
      const refused = [
        "page=0",
        "page=x",
        "per_page=0",
        "per_page=101",
        "status=gone",
        "kyc_status=maybe",
        "created_from=yesterday",
        "created_to=2026-02-30T00:00:00Z"
      ]
      for (const query of refused) {
        const reply = yield* call.get(`${base}/players?${query}`)
        assertRefused(reply, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(Object.keys(reply.details), [query.split("=")[0] ?? ""])
      }
    }))

  it.effect("shows a ledger newest first, in pages, by every filter", () =>
    Effect.gen(function*() {
      const { acme, game, studio } = yield* Stage
      const id = yield* freshName
      const playerId = yield* register(acme.call, id)
      for (let number = 0; number < 3; number++) {
        yield* deposit(acme.call, playerId, 1000, `${id}-${number}`)
        yield* TestClock.adjust("1 minute")
      }
      const session_token = yield* launch(acme.call, playerId, game.id)
      const at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      for (let number = 0; number < 4; number++) {
        yield* tell(studio.call, "bet", {
          request_id: "r",
          transaction_id: `${id}-${number}`,
          session_token,
          game_id: game.externalId,
          round_id: id,
          amount: 10,
          currency: "EUR"
        })
      }
      const path = `${base}/players/${playerId}/transactions`
      const Entries = Schema.Array(Schema.Struct({
        id: Schema.Int,
        player_id: Schema.Int,
        wallet: Schema.String,
        type: Schema.String,
        amount: Schema.Int,
        balance_after: Schema.Int,
        currency: Schema.String,
        payment_request_id: Schema.NullOr(Schema.Int),
        game_id: Schema.NullOr(Schema.Int),
        game_round_id: Schema.NullOr(Schema.String),
        player_bonus_id: Schema.NullOr(Schema.Int),
        created_at: Schema.String
      }))
      const entries = yield* dataOf(yield* acme.call.get(path), 200, Entries)
      assert.deepStrictEqual(
        entries.map(({ amount, balance_after, type }) => [type, amount, balance_after]),
        [
          ["casino_bet", -10, 2960],
          ["casino_bet", -10, 2970],
          ["casino_bet", -10, 2980],
          ["casino_bet", -10, 2990],
          ["deposit", 1000, 3000],
          ["deposit", 1000, 2000],
          ["deposit", 1000, 1000]
        ]
      )
      assert.deepInclude(entries[0], {
        player_id: playerId,
        wallet: "real",
        currency: "EUR",
        payment_request_id: null,
        game_id: game.id,
        game_round_id: id,
        player_bonus_id: null
      })
      assert.isNumber(entries[4]?.payment_request_id)
      const ids = entries.map(({ id }) => id)
      assert.deepStrictEqual(yield* walk(acme.call, `${path}?per_page=2`), ids)
      assert.deepStrictEqual(yield* walk(acme.call, `${path}?per_page=3&type=casino_bet`), ids.slice(0, 4))
      assert.deepStrictEqual(yield* idsOf(acme.call, `${path}?wallet=bonus`), [])
      const since = new Date(at).toISOString()
      const until = new Date(at - 1).toISOString()
      assert.deepStrictEqual(yield* idsOf(acme.call, `${path}?created_from=${since}`), ids.slice(0, 4))
      assert.deepStrictEqual(yield* idsOf(acme.call, `${path}?wallet=real&created_to=${until}`), ids.slice(4))
      assert.deepStrictEqual(yield* idsOf(acme.call, `${path}?page=1000000&per_page=100`), [])
      for (const query of ["type=gift", "wallet=secret", "page=-1", "per_page=1.5", "created_from=1"]) {
        assertRefused(yield* acme.call.get(`${path}?${query}`), 422, "VALIDATION_FAILED")
      }
    }))

  it.effect("lists the ways to pay that are active and take the operator's currency", () =>
    Effect.gen(function*() {
      const { call, operator } = yield* someTenant
      yield* addPaymentMethod(operator.id, "wire", { minDeposit: 100, maxDeposit: 5000, currencies: ["EUR", "USD"] })
      yield* addPaymentMethod(operator.id, "card", {})
      yield* addPaymentMethod(operator.id, "off", { active: false })
      yield* addPaymentMethod(operator.id, "yen", { currencies: ["JPY"] })
      const reply = yield* call.get(`${base}/payment-methods`)
      const method = {
        supports_deposit: true,
        supports_withdrawal: true,
        min_withdrawal: 1,
        max_withdrawal: Number.MAX_SAFE_INTEGER
      }
      assert.deepStrictEqual(reply.json, {
        data: [
          { ...method, code: "card", name: "card", min_deposit: 1, max_deposit: 1_000_000_000, currencies: ["EUR"] },
          { ...method, code: "wire", name: "wire", min_deposit: 100, max_deposit: 5000, currencies: ["EUR", "USD"] }
        ]
      })
    }))

  it.effect("credits a deposit once, whatever comes after it", () =>
    Effect.gen(function*() {
      const { call, operator } = yield* someTenant
      const sql = yield* SqlClient.SqlClient
      yield* addPaymentMethod(operator.id, "card", { minDeposit: 100, maxDeposit: 5000 })
      const playerId = yield* register(call, "payer")
      const someone = yield* register(call, "someone")
      const path = `${base}/players/${playerId}/deposits`
      const body = {
        amount: 2500,
        external_reference: "psp-1",
        payment_method: "card",
        info: "for staff",
        notes: "secret"
      }
      const now = new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis)).toISOString()
      const first = yield* call.post(path, body)
      const { id } = yield* dataOf(first, 201, Payment)
      assert.deepStrictEqual(first.json, {
        data: {
          id,
          type: "deposit",
          status: "paid",
          player_id: playerId,
          amount: 2500,
          currency: "EUR",
          payment_method: "card",
          external_reference: "psp-1",
          info: "for staff",
          reject_reason: null,
          is_reversed: false,
          created_at: now,
          paid_at: now,
          rejected_at: null,
          cancelled_at: null,
          updated_at: now
        }
      })
      yield* TestClock.adjust("1 second")
      const again = yield* call.post(path, { amount: 2500, external_reference: "psp-1" })
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual(again.json, first.json)
      assertRefused(yield* call.post(path, { ...body, amount: 2501 }), 409, "DUPLICATE_TRANSACTION")
      const others = `${base}/players/${someone}/deposits`
      assertRefused(yield* call.post(others, body), 409, "DUPLICATE_TRANSACTION")
      const events = yield* sql<{ readonly data: unknown }>`SELECT data FROM events
        WHERE type = 'deposit.paid' AND player_id = ${playerId}`
      assert.deepStrictEqual(events, [{
        data: {
          // put in when a webhook is sent
          payment: { ...Object(first.json).data, info: null },
          player: { id: playerId, external_id: null, username: "payer" }
        }
      }])

      // a reference is the operator's own
      const rival = yield* someTenant
      const theirs = yield* register(rival.call, "payer")
      yield* deposit(rival.call, theirs, 2500, "psp-1")

      const refused: ReadonlyArray<readonly [body: object, status: number, code: string]> = [
        [{ payment_method: "cash" }, 422, "PAYMENT_REQUEST_INVALID"],
        [{ payment_method: "card", amount: 99 }, 422, "PAYMENT_REQUEST_INVALID"],
        [{ payment_method: "card", amount: 5001 }, 422, "PAYMENT_REQUEST_INVALID"],
        [{ amount: 0 }, 422, "VALIDATION_FAILED"],
        [{ amount: -5 }, 422, "VALIDATION_FAILED"],
        [{ amount: 1.5 }, 422, "VALIDATION_FAILED"],
        [{ amount: 2 ** 53 }, 422, "VALIDATION_FAILED"],
        [{ amount: Number.MAX_SAFE_INTEGER }, 422, "VALIDATION_FAILED"],
        [{ external_reference: "" }, 422, "VALIDATION_FAILED"]
      ]
      for (const [more, status, code] of refused) {
        assertRefused(yield* call.post(path, { amount: 500, external_reference: "psp-2", ...more }), status, code)
      }
      yield* addPaymentMethod(operator.id, "payout", { supportsDeposit: false })
      yield* addPaymentMethod(operator.id, "yen", { currencies: ["JPY"] })
      yield* TestClock.adjust("2 seconds")
      for (const payment_method of ["payout", "yen"]) {
        const reply = yield* call.post(path, { amount: 500, external_reference: "psp-2", payment_method })
        assertRefused(reply, 422, "PAYMENT_REQUEST_INVALID")
      }
      const wallet = yield* dataOf(
        yield* call.get(`${base}/players/${playerId}/wallet`),
        200,
        Schema.Struct({ balance: Schema.Int })
      )
      assert.strictEqual(wallet.balance, 2500)
    }))

  it.effect("refuses deposits that limits or the account forbid, and still knows those it took", () =>
    Effect.gen(function*() {
      const { call } = yield* someTenant
      const sql = yield* SqlClient.SqlClient
      const limits: ReadonlyArray<readonly [limit: string, value: number, used: number]> = [
        ["max_single_deposit", 99, 0],
        ["max_daily_deposit", 199, 100],
        ["max_weekly_deposit", 199, 100],
        ["max_monthly_deposit", 199, 100],
        ["max_yearly_deposit", 199, 100],
        ["max_balance", 199, 100]
      ]
      for (const [limit, value, used] of limits) {
        const playerId = yield* register(call, limit)
        yield* sql`UPDATE players SET limits = jsonb_build_object(${limit}::text, ${value}::int) WHERE id = ${playerId}`
        if (used > 0) yield* deposit(call, playerId, used, `${limit}-1`)
        const reply = yield* call.post(`${base}/players/${playerId}/deposits`, {
          amount: 100,
          external_reference: `${limit}-2`
        })
        assertRefused(reply, 422, "LIMIT_EXCEEDED")
        assert.deepInclude(reply.details, { limit, value, used })
      }
      const accounts: ReadonlyArray<readonly [name: string, change: string, reason: string]> = [
        ["locked", "status = 'locked'", "locked"],
        ["closed", "status = 'closed'", "closed"],
        ["kept", "can_deposit = false", "can_deposit"],
        [
          "excluded",
          "exclusion_type = 'time_out', exclusion_since = '2026-11-20', exclusion_until = '2999-01-01'",
          "time_out"
        ]
      ]
      for (const [name, change, reason] of accounts) {
        const playerId = yield* register(call, name)
        yield* sql`UPDATE players SET ${sql.literal(change)} WHERE id = ${playerId}`
        const path = `${base}/players/${playerId}/deposits`
        const reply = yield* call.post(path, { amount: 100, external_reference: `${name}-1` })
        assertRefused(reply, 422, "PLAYER_RESTRICTED")
        assert.deepInclude(reply.details, { reason })
        // what was taken before stays known: a payment of an earlier day, under the reference that is asked for again
        yield* sql`INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency,
            external_reference, created_at, paid_at, updated_at)
          SELECT ${playerId}::bigint * 1000, operator_id, id, 'deposit', 'paid', 100, 'EUR', ${`${name}-2`}, now(), now(), now()
          FROM players WHERE id = ${playerId}`
        const known = yield* call.post(path, { amount: 100, external_reference: `${name}-2` })
        assert.strictEqual(known.status, 200, known.text)
      }
    }))

  it.effect("shows the games on offer", () =>
    Effect.gen(function*() {
      const { acme, agent, port } = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const prefix = yield* freshName
      const studio = yield* addStudio(agent, port, `${prefix}-a`)
      const closed = yield* addStudio(agent, port, `${prefix}-b`)
      const game = (name: string, more: object = {}) =>
        addGame(studio.id, `${prefix}-${name}`, { name: `${prefix} ${name}`, category: prefix, ...more })
      const c = yield* game("c", { type: "live" })
      const a = yield* game("a")
      const b = yield* game("b", { category: `${prefix}-table`, original: "dice" })
      const off = yield* game("off", { active: false })
      const gone = yield* addGame(closed.id, "gone", { name: `${prefix} gone`, category: prefix })
      yield* sql`UPDATE providers SET active = false WHERE id = ${closed.id}`
      yield* (yield* Games).refresh

      const list = `${base}/games?search=${prefix}`
      assert.deepStrictEqual(yield* idsOf(acme.call, list), [a.id, b.id, c.id])
      assert.deepStrictEqual(yield* walk(acme.call, `${list}&per_page=1`), [a.id, b.id, c.id])
      const filters: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
        [`provider=${prefix}-a`, [a.id, b.id, c.id]],
        [`provider=${prefix}-b`, []],
        [`category=${prefix}`, [a.id, c.id]],
        [`category=${prefix}&type=live`, [c.id]],
        [`search=${prefix.toUpperCase()}%20B`, [b.id]],
        ["provider=nobody", []]
      ]
      for (const [query, expected] of filters) {
        assert.deepStrictEqual(yield* idsOf(acme.call, `${base}/games?${query}`), expected, query)
      }
      assert.deepStrictEqual((yield* acme.call.get(`${base}/games/${b.id}`)).json, {
        data: {
          id: b.id,
          external_id: `${prefix}-b`,
          name: `${prefix} b`,
          type: "rng",
          category: `${prefix}-table`,
          rtp: 96.5,
          thumbnail_url: null,
          is_original: true,
          provider: { id: studio.id, slug: `${prefix}-a`, name: `${prefix}-a` }
        }
      })
      for (const { id } of [off, gone]) assertRefused(yield* acme.call.get(`${base}/games/${id}`), 404, "NOT_FOUND")
      assertRefused(yield* acme.call.get(`${base}/games?type=slow`), 422, "VALIDATION_FAILED")

      const Counted = Schema.Array(Schema.Struct({
        slug: Schema.optionalKey(Schema.String),
        category: Schema.optionalKey(Schema.String),
        games_count: Schema.Int
      }))
      const providers = yield* dataOf(yield* acme.call.get(`${base}/games/providers`), 200, Counted)
      assert.deepStrictEqual(providers.filter(({ slug }) => slug?.startsWith(prefix)), [
        { slug: `${prefix}-a`, games_count: 3 }
      ])
      const categories = yield* dataOf(yield* acme.call.get(`${base}/games/categories`), 200, Counted)
      assert.deepStrictEqual(categories.filter(({ category }) => category?.startsWith(prefix)), [
        { category: prefix, games_count: 2 },
        { category: `${prefix}-table`, games_count: 1 }
      ])
    }))

  it.effect("launches games, for real and for show", () =>
    Effect.gen(function*() {
      const { acme, game, studio } = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const original = yield* addGame(studio.id, "own", { original: "dice" })
      const playerId = yield* register(acme.call, yield* freshName)
      const path = (gameId: number, player = playerId) => `${base}/players/${player}/games/${gameId}/launch`
      const Launched = Schema.Struct({
        mode: Schema.String,
        game_id: Schema.Int,
        launch_url: Schema.NullOr(Schema.String),
        session_token: Schema.String,
        expires_at: Schema.String,
        is_original: Schema.Boolean
      })
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const expires_at = new Date(now + 12 * 60 * 60_000).toISOString()
      const real = yield* dataOf(
        yield* acme.call.post(path(game.id), { platform: "ios", ip: "2001:db8::1" }),
        200,
        Launched
      )
      assert.deepStrictEqual(real, {
        mode: "real",
        game_id: game.id,
        launch_url: `https://studio.example/play?token=${real.session_token}&game=dice&mode=real`,
        session_token: real.session_token,
        expires_at,
        is_original: false
      })
      const demo = yield* dataOf(yield* acme.call.post(path(game.id), { mode: "demo" }), 200, Launched)
      assert.deepInclude(demo, {
        mode: "demo",
        launch_url: "https://studio.example/demo?game=dice",
        is_original: false
      })
      const own = yield* dataOf(yield* acme.call.post(path(original.id), {}), 200, Launched)
      assert.deepInclude(own, { mode: "real", launch_url: null, is_original: true })
      assert.strictEqual(new Set([real, demo, own].map(({ session_token }) => session_token)).size, 3)
      // an empty body is the default
      const plain = yield* acme.call.send(path(game.id), { method: "POST" })
      assert.deepInclude(yield* dataOf(plain, 200, Launched), { mode: "real" })

      for (const body of [{ mode: "fun" }, { platform: "fridge" }, { ip: "300.1.1.1" }]) {
        assertRefused(yield* acme.call.post(path(game.id), body), 422, "VALIDATION_FAILED")
      }
      assertRefused(yield* acme.call.post(path(999), {}), 404, "NOT_FOUND")
      assertRefused(yield* acme.call.post(path(game.id, 999), {}), 404, "NOT_FOUND")

      const accounts: ReadonlyArray<readonly [change: string, reason: string]> = [
        ["status = 'locked'", "locked"],
        ["status = 'closed'", "closed"],
        ["can_bet = false", "can_bet"],
        ["exclusion_type = 'self_closure', exclusion_since = '2026-11-20'", "self_closure"]
      ]
      for (const [change, reason] of accounts) {
        const restricted = yield* register(acme.call, yield* freshName)
        yield* sql`UPDATE players SET ${sql.literal(change)} WHERE id = ${restricted}`
        const reply = yield* acme.call.post(path(game.id, restricted), { mode: "real" })
        assertRefused(reply, 422, "PLAYER_RESTRICTED")
        assert.deepInclude(reply.details, { reason })
        assert.strictEqual((yield* acme.call.post(path(game.id, restricted), { mode: "demo" })).status, 200)
      }

      // who has played long enough takes a break first
      const tired = yield* register(acme.call, yield* freshName)
      yield* sql`UPDATE players SET limits = '{"max_session_minutes": 30}' WHERE id = ${tired}`
      yield* deposit(acme.call, tired, 1000, `${tired}`)
      const token = yield* launch(acme.call, tired, game.id)
      const play = (id: string) =>
        tell(studio.call, "bet", {
          request_id: id,
          transaction_id: `${tired}${id}`,
          session_token: token,
          game_id: game.externalId,
          round_id: "long",
          amount: 1,
          currency: "EUR"
        })
      assert.strictEqual((yield* play("a")).status, 200)
      yield* TestClock.adjust("14 minutes")
      assert.strictEqual((yield* play("b")).status, 200)
      yield* TestClock.adjust("14 minutes")
      assert.strictEqual((yield* play("c")).status, 200)
      yield* TestClock.adjust("2 minutes")
      assertRefused(yield* play("d"), 422, "LIMIT_EXCEEDED")
      const refused = yield* acme.call.post(path(game.id, tired), {})
      assertRefused(refused, 422, "LIMIT_EXCEEDED")
      assert.deepInclude(refused.details, { limit: "max_session_minutes", value: 30 })
      yield* TestClock.adjust("13 minutes")
      assert.strictEqual((yield* acme.call.post(path(game.id, tired), {})).status, 200)
      assert.strictEqual((yield* play("d")).status, 200)
    }))

  /** What a parameter of a path names, and whose it is. A new one has to be told about here. */
  const owners: { readonly [parameter: string]: "one operator" | "everybody" } = {
    player: "one operator",
    payment: "one operator",
    round: "one operator",
    game: "everybody"
  }

  /** A bonus that one operator offers, and its code. */
  const offer = { id: 77, code: "OURS" }

  /** A body that nothing is wrong with, for every endpoint that takes one below an id. */
  const bodies: { readonly [endpoint: string]: (name: string) => object } = {
    [`POST ${base}/players/:player/deposits`]: (name) => ({ amount: 100, external_reference: name }),
    [`POST ${base}/players/:player/games/:game/launch`]: () => ({ mode: "real" }),
    [`PATCH ${base}/players/:player`]: () => ({ city: "Valletta" }),
    [`PUT ${base}/players/:player/status`]: () => ({ status: "active" }),
    [`DELETE ${base}/players/:player/session-tokens`]: () => ({}),
    [`POST ${base}/players/:player/session-tokens`]: () => ({ ttl_minutes: 5 }),
    [`PUT ${base}/players/:player/limits`]: () => ({ limits: { max_daily_bet: 100 } }),
    [`POST ${base}/players/:player/self-exclusion`]: () => ({ period: "7_days" }),
    [`POST ${base}/players/:player/withdrawals`]: () => ({ amount: 10, payment_method: "tenancy" }),
    [`POST ${base}/players/:player/bonuses`]: () => ({ bonus_id: offer.id }),
    [`POST ${base}/players/:player/promo-codes`]: () => ({ code: offer.code })
  }

  it.effect("shows nobody what belongs to somebody else", () =>
    Effect.gen(function*() {
      const { acme, game, rival } = yield* Stage
      const playerId = yield* register(acme.call, yield* freshName)
      yield* addPaymentMethod(acme.operator.id, "tenancy")
      const payment = yield* acme.call.post(`${base}/players/${playerId}/deposits`, {
        amount: 100,
        external_reference: yield* freshName
      })
      const { id: paymentId } =
        (yield* Schema.decodeUnknownEffect(Schema.Struct({ data: Identified }))(payment.json)).data
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
          updated_at)
        VALUES (${offer.id}, ${acme.operator.id}, 'Ours', 'no_deposit', 100, 10, 7, now(), now())`
      yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, created_at)
        VALUES (${offer.id}, ${acme.operator.id}, ${offer.code}, ${offer.id}, now())`
      const roundId = yield* (yield* Ids).reserve(2)
      yield* sql`INSERT INTO server_seeds (id, player_id, operator_id, server_seed_hash, server_seed_sealed, client_seed, created_at,
          started_at)
        VALUES (${roundId + 1}, ${playerId}, ${acme.operator.id}, 'hash', ''::bytea, 'c', now(), now())`
      yield* sql`INSERT INTO original_rounds (id, player_id, operator_id, game_id, original, seed_id, nonce, client_seed, stake,
          payout, multiplier, params, outcome, created_at)
        VALUES (${roundId}, ${playerId}, ${acme.operator.id}, ${game.id}, 'dice', ${
        roundId + 1
      }, 0, 'c', 1, 0, 0, '{}', '{}', now())`
      const endpoints: Array<{ readonly name: string; readonly method: string; readonly path: string }> = []
      HttpApi.reflect(Api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint: { method, path } }) => {
          if (path.startsWith(base) && path.includes("/:")) endpoints.push({ name: `${method} ${path}`, method, path })
        }
      })
      const owned = endpoints.filter(({ path }) =>
        [...path.matchAll(/:(\w+)/g)].some(([, parameter = ""]) => {
          assert.property(owners, parameter, `whose is ${parameter} of ${path}?`)
          return owners[parameter] === "one operator"
        })
      )
      assert.isAtLeast(owned.length, 5)
      for (const { method, name, path } of owned) {
        const own = path.includes(":payment") ? paymentId : playerId
        const below = (id: number | string) =>
          path.replace(/:(player|payment)/, String(id)).replace(":game", String(game.id)).replace(
            ":round",
            String(roundId)
          )
        if (method !== "GET") assert.property(bodies, name, `what does ${name} take?`)
        const call = Effect.fnUntraced(function*(caller: Caller, id: number | string, body?: object) {
          return yield* caller.send(below(id), {
            method,
            ...(method === "GET" ? {} : { body: body ?? bodies[name]?.(yield* freshName) })
          })
        })
        const mine = yield* call(acme.call, own)
        assert.isBelow(mine.status, 300, `${name}: ${mine.text}`)
        const theirs = yield* call(rival.call, own)
        const nobodys = yield* call(rival.call, 999_999_999)
        assertRefused(theirs, 404, "NOT_FOUND")
        // not even a difference in words
        assert.deepStrictEqual(theirs.json, nobodys.json, name)
        if (method !== "GET") {
          assertRefused(yield* call(rival.call, own, { amount: "bad", mode: 7 }), 404, "NOT_FOUND")
        }
        for (const id of ["0", "-1", "1.5", "x", "9007199254740993", `${own}x`, `0${own}`, "1e3"]) {
          assertRefused(yield* call(acme.call, id), 404, "NOT_FOUND")
        }
      }
      const listed = yield* idsOf(rival.call, `${base}/players?per_page=100`)
      assert.notInclude(listed, playerId)
    }))

  it.effect("does once what comes with an idempotency key, and says it again", () =>
    Effect.gen(function*() {
      const { agent, game, port } = yield* Stage
      const { call, operator } = yield* someTenant
      const playerId = yield* register(call, "keyed")
      const requests: ReadonlyArray<readonly [path: string, body: object, status: number]> = [
        [`${base}/players`, registration("keyed-too"), 201],
        [`${base}/players/${playerId}/deposits`, { amount: 100, external_reference: "keyed" }, 201],
        [`${base}/players/${playerId}/games/${game.id}/launch`, {}, 200]
      ]
      // another key of the same operator stands for the same operator
      const second = callerOf(agent, port, yield* addApiKey(operator.id))
      for (const [path, body, status] of requests) {
        const key = yield* freshName
        const first = yield* call.post(path, body, { "Idempotency-Key": key })
        assert.strictEqual(first.status, status, first.text)
        assert.notProperty(first.headers, "idempotent-replayed")
        for (const caller of [call, second]) {
          const again = yield* caller.post(path, body, { "Idempotency-Key": key })
          assert.strictEqual(again.status, status)
          assert.strictEqual(again.text, first.text)
          assert.strictEqual(again.headers["idempotent-replayed"], "true")
          assert.notStrictEqual(again.headers["x-request-id"], first.headers["x-request-id"])
        }
        assertRefused(
          yield* call.post(path, { ...body, more: 1 }, { "Idempotency-Key": key }),
          422,
          "IDEMPOTENCY_KEY_REUSED"
        )
        assertRefused(
          yield* call.post(`${path}?x=1`, body, { "Idempotency-Key": key }),
          422,
          "IDEMPOTENCY_KEY_REUSED"
        )
        assertRefused(
          yield* call.post(path, body, { "Idempotency-Key": "k".repeat(256) }),
          422,
          "INVALID_IDEMPOTENCY_KEY"
        )
      }
      // keys of another operator are others
      const rival = yield* someTenant
      const [path, body] = requests[0] ?? ["", {}]
      const shared = { "Idempotency-Key": "shared" }
      assert.strictEqual(
        (yield* call.post(path, { ...body, username: "shared", email: "shared@example.com" }, shared)).status,
        201
      )
      assert.strictEqual((yield* rival.call.post(path, body, shared)).status, 201)

      // a refusal is an answer too, and stays it
      const early = { amount: 100, external_reference: "early", payment_method: "card" }
      const deposits = `${base}/players/${playerId}/deposits`
      const refused = yield* call.post(deposits, early, { "Idempotency-Key": "early" })
      assertRefused(refused, 422, "PAYMENT_REQUEST_INVALID")
      yield* addPaymentMethod(operator.id, "card")
      yield* TestClock.adjust("2 seconds")
      const still = yield* call.post(deposits, early, { "Idempotency-Key": "early" })
      assert.strictEqual(still.text, refused.text)
      assert.strictEqual(still.headers["idempotent-replayed"], "true")
      assert.strictEqual((yield* call.post(deposits, early, { "Idempotency-Key": "later" })).status, 201)

      // for a day; the reference of a deposit for ever
      yield* TestClock.adjust("24 hours")
      const old = yield* call.post(deposits, early, { "Idempotency-Key": "later" })
      assert.strictEqual(old.status, 200)
      assert.notProperty(old.headers, "idempotent-replayed")
    }))

  it.effect("does once what comes many times at once", () =>
    Effect.gen(function*() {
      const { game } = yield* Stage
      const { call } = yield* someTenant
      const sql = yield* SqlClient.SqlClient
      const playerId = yield* register(call, "hurried")
      const rows = (table: string, column: string) =>
        Effect.map(
          sql`SELECT FROM ${sql.literal(table)} WHERE ${sql.literal(column)} = ${playerId}`,
          (found) => found.length
        )
      const requests: ReadonlyArray<readonly [path: string, body: object, table: string]> = [
        [`${base}/players/${playerId}/deposits`, { amount: 100, external_reference: "hurried" }, "payment_requests"],
        [`${base}/players/${playerId}/games/${game.id}/launch`, {}, "game_sessions"]
      ]
      for (const [path, body, table] of requests) {
        const key = { "Idempotency-Key": yield* freshName }
        const letGo = yield* holdPlayer(playerId)
        const answers: Array<Reply> = []
        const send = Effect.map(call.post(path, body, key), (reply) => void answers.push(reply))
        const sending = yield* Effect.forkChild(
          Effect.all(Array.from({ length: 6 }, () => send), { concurrency: "unbounded" })
        )
        // the first is held, the others hear that it runs
        yield* TestClock.withLive(someoneWaits)
        yield* TestClock.withLive(until(() => answers.length === 5, sending))
        for (const reply of answers) assertRefused(reply, 409, "IDEMPOTENCY_IN_PROGRESS")
        assertRefused(yield* call.post(path, { ...body, more: 1 }, key), 422, "IDEMPOTENCY_KEY_REUSED")
        yield* letGo
        yield* Fiber.join(sending)
        const [done] = answers.filter(({ status }) => status < 300)
        assert.isDefined(done)
        const again = yield* call.post(path, body, key)
        assert.strictEqual(again.text, done?.text)
        assert.strictEqual(again.headers["idempotent-replayed"], "true")
        assert.strictEqual(yield* rows(table, "player_id"), 1)
      }

      // registrations: the same request without a key, and the same reference without one
      const replies = yield* Effect.all(
        Array.from({ length: 6 }, () => call.post(`${base}/players`, registration("race"))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(replies.map(({ status }) => String(status)).sort(), [
        "201",
        "422",
        "422",
        "422",
        "422",
        "422"
      ])
      const body = { amount: 7, external_reference: "race" }
      const deposits = yield* Effect.all(
        Array.from({ length: 6 }, () => call.post(`${base}/players/${playerId}/deposits`, body)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(deposits.map(({ status }) => String(status)).sort(), [
        "200",
        "200",
        "200",
        "200",
        "200",
        "201"
      ])
      assert.strictEqual(new Set(deposits.map(({ text }) => text)).size, 1)
    }))
})
