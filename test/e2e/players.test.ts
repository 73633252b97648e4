import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { RequiredScope } from "../../src/contract/Annotations.ts"
import { Api } from "../../src/contract/Api.ts"
import type { Reply, Signer } from "../kit/HttpCalls.ts"
import {
  assertRefused,
  call,
  dataOf,
  deposit,
  issueToken,
  layerPublicApi,
  noon,
  openGame,
  openOperator,
  playerCall,
  register
} from "../kit/PublicApi.ts"

// Goal: what SPEC.md says of players holds for whoever calls: profile, status, session tokens, and what belongs to somebody else.
// Method: the public server over real HTTP on a real database; what is written is read back through the API and from the tables.

/** The audit log of a player, oldest line first. */
const trailOf = Effect.fnUntraced(function*(player: number) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT actor, action, before, after, reason FROM audit_log
    WHERE player_id = ${player} AND action <> 'player.registered' ORDER BY id`
})

layer(layerPublicApi)("SPEC 4.2 profile update", (it) => {
  it.effect("changes the fields sent and no others, with a line of the audit log for each that changed", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("profiles")
      const before = yield* register(key, "grace", {
        phone: "+35621234567",
        city: "Valletta",
        marketing: { sms: true }
      })
      yield* TestClock.adjust("1 minute")
      const body = {
        email: "  Grace.H@Example.com ",
        last_name: "Hopper",
        country: "DE",
        phone: "+49 151 23456789",
        city: null,
        marketing: { email: true, sms: false },
        first_name: before.first_name,
        username: "ignored",
        status: "closed"
      }
      const after = dataOf(yield* call(key, `/players/${before.id}`, { method: "PATCH", body }))
      assert.deepStrictEqual(after, {
        ...before,
        email: "grace.h@example.com",
        last_name: "Hopper",
        country: "DE",
        phone: "+4915123456789",
        city: null,
        marketing: { ...before.marketing, email: true },
        updated_at: "2026-11-20T12:01:00.000Z"
      })
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${before.id}`)), after)

      const line = (field: string, from: unknown, to: unknown) => ({
        actor: `key:${key.key}`,
        action: "player.profile",
        before: { [field]: from },
        after: { [field]: to },
        reason: null
      })
      assert.deepStrictEqual(yield* trailOf(before.id), [
        line("email", "grace@example.com", "grace.h@example.com"),
        line("last_name", "Of grace", "Hopper"),
        line("country", "MT", "DE"),
        line("city", "Valletta", null),
        line("phone", "+35621234567", "+4915123456789"),
        line("marketing.email", false, true)
      ])
      // what changes nothing writes nothing
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${before.id}`, { method: "PATCH", body })), after)
      assert.strictEqual((yield* trailOf(before.id)).length, 6)
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${before.id}`, { method: "PATCH", body: {} })), after)
    }))

  it.effect("names every bad and every taken field at once, and changes nothing", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("rules")
      const one = yield* register(key, "one", { phone: "+35621000001", external_id: "x-1" })
      const two = yield* register(key, "two")
      const patch = (body: unknown) => call(key, `/players/${two.id}`, { method: "PATCH", body })
      assertRefused(
        yield* patch({ email: one.email.toUpperCase(), phone: one.phone, external_id: "x-1" }),
        422,
        "VALIDATION_FAILED",
        {
          email: ["is already taken"],
          phone: ["is already taken"],
          external_id: ["is already taken"]
        }
      )
      const bad = yield* patch({
        email: one.email,
        first_name: " ",
        last_name: null,
        birth_date: "2008-11-21",
        country: "XX",
        city: "x".repeat(256),
        address: 5,
        phone: "123",
        language: "english",
        marketing: { email: "yes" }
      })
      assertRefused(bad, 422, "VALIDATION_FAILED")
      assert.hasAllKeys(bad.details, [
        "email",
        "first_name",
        "last_name",
        "birth_date",
        "country",
        "city",
        "address",
        "phone",
        "language",
        "marketing.email"
      ])
      assert.deepStrictEqual(bad.details["birth_date"], ["must be at least 18 years ago"])
      assert.deepStrictEqual(bad.details["email"], ["is already taken"])
      assertRefused(yield* call(key, `/players/${two.id}`, { method: "PATCH", raw: "[]" }), 422, "INVALID_REQUEST")
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${two.id}`)), two)
      // the 18th birthday itself is old enough, and one's own e-mail is not taken
      const grown = dataOf(yield* patch({ birth_date: "2008-11-20", email: two.email }))
      assert.strictEqual(grown.birth_date, "2008-11-20")
    }))

  // Goal: two players who want one e-mail at the same moment do not both get it, and the one who does not is told which field it is.
  it.effect("gives a unique value to one of those who ask for it at once", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("racing")
      const players = yield* Effect.forEach(["r-1", "r-2", "r-3", "r-4"], (name) => register(key, name))
      const replies = yield* Effect.forEach(
        players,
        ({ id }) =>
          call(key, `/players/${id}`, { method: "PATCH", body: { email: "wanted@example.com", language: "de" } }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(replies.filter(({ status }) => status === 200).length, 1)
      for (const reply of replies.filter(({ status }) => status !== 200)) {
        assert.deepStrictEqual(reply.details, { email: ["is already taken"] })
      }
    }))

  it.effect("reaches game providers: country and language are today's", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("told")
      const game = yield* openGame("told")
      const player = yield* register(key, "mover")
      const { session_token } = dataOf(yield* call(key, `/players/${player.id}/games/${game.id}/launch`, { body: {} }))
      const ask = () => call(game.provider, "/api/v1/provider/wallet/authenticate", { body: { session_token } })
      assert.deepInclude(dataOf(yield* ask()), { country: "MT", language: "en" })
      dataOf(yield* call(key, `/players/${player.id}`, { method: "PATCH", body: { country: "SE", language: "sv" } }))
      assert.deepInclude(dataOf(yield* ask()), { country: "SE", language: "sv" })
    }))
})

layer(layerPublicApi)("SPEC 3.1 account status", (it) => {
  it.effect("moves from any to any, and its reason is kept as a note", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("status")
      const { id } = yield* register(key, "moved")
      const put = (status: string, reason?: string) =>
        call(key, `/players/${id}/status`, { method: "PUT", body: { status, reason } })
      for (const status of ["locked", "closed", "locked", "active", "closed", "active"]) {
        assert.strictEqual(dataOf(yield* put(status)).status, status)
      }
      assert.strictEqual(dataOf(yield* put("locked", "chargeback\nsee mail")).status, "locked")
      const trail = yield* trailOf(id)
      assert.strictEqual(trail.length, 7)
      assert.deepStrictEqual(trail.at(-1), {
        actor: `key:${key.key}`,
        action: "player.status",
        before: { status: "active" },
        after: { status: "locked" },
        reason: "chargeback\nsee mail"
      })
      assertRefused(yield* put("open"), 422, "VALIDATION_FAILED", {
        status: ["must be one of: active, locked, closed"]
      })
      assertRefused(yield* call(key, `/players/${id}/status`, { method: "PUT", body: {} }), 422, "VALIDATION_FAILED", {
        status: ["is required"]
      })
    }))

  it.effect("decides at once what may be done: real play, bets, deposits and tokens", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("effects")
      const game = yield* openGame("effects")
      const { id } = yield* register(key, "ada")
      yield* deposit(key, id, 1000)
      const launch = (body: unknown) => call(key, `/players/${id}/games/${game.id}/launch`, { body })
      const { session_token } = dataOf(yield* launch({}))
      dataOf(yield* game.bet(session_token, 100))
      for (const status of ["locked", "closed"]) {
        dataOf(yield* call(key, `/players/${id}/status`, { method: "PUT", body: { status } }))
        const because = { reason: status }
        assertRefused(yield* launch({}), 422, "PLAYER_RESTRICTED", because)
        const bet = yield* game.bet(session_token, 100)
        assertRefused(bet, 422, "PLAYER_RESTRICTED")
        assert.strictEqual(bet.details["reason"], status)
        const body = { amount: 100, external_reference: `e-${status}` }
        assertRefused(yield* call(key, `/players/${id}/deposits`, { body }), 422, "PLAYER_RESTRICTED", because)
        assertRefused(
          yield* call(key, `/players/${id}/session-tokens`, { body: {} }),
          422,
          "PLAYER_RESTRICTED",
          because
        )
        assert.strictEqual(dataOf(yield* launch({ mode: "demo" })).mode, "demo")
      }
      dataOf(yield* call(key, `/players/${id}/status`, { method: "PUT", body: { status: "active" } }))
      // what was open before does not come back with the account
      assertRefused(yield* game.bet(session_token, 100), 401, "INVALID_SESSION")
      const { session_token: next } = dataOf(yield* launch({}))
      dataOf(yield* game.bet(next, 100))
      assert.strictEqual(dataOf(yield* call(key, `/players/${id}/wallet`)).balance, 800)
    }))
})

layer(layerPublicApi)("SPEC 4.2 session tokens", (it) => {
  it.effect("last 30 minutes unless said otherwise, between 1 and 720", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("tokens")
      const { id } = yield* register(key, "ada")
      const issue = (options: { readonly method?: string; readonly body?: unknown }) =>
        call(key, `/players/${id}/session-tokens`, { method: "POST", ...options })
      const issued = dataOf(yield* issue({}), 201)
      assert.match(issued.token, /^pt_[0-9A-Za-z_-]+$/)
      assert.deepStrictEqual({ ...issued, token: "" }, {
        token: "",
        token_type: "Bearer",
        player_id: id,
        expires_at: "2026-11-20T12:30:00.000Z"
      })
      assert.strictEqual(dataOf(yield* issue({ body: { ttl_minutes: 1 } }), 201).expires_at, "2026-11-20T12:01:00.000Z")
      assert.strictEqual(
        dataOf(yield* issue({ body: { ttl_minutes: 720 } }), 201).expires_at,
        "2026-11-21T00:00:00.000Z"
      )
      for (const ttl of [0, 721, 1.5, "30", null]) {
        assertRefused(yield* issue({ body: { ttl_minutes: ttl } }), 422, "VALIDATION_FAILED")
      }
      assert.notStrictEqual(yield* issueToken(key, id), yield* issueToken(key, id))
    }))

  it.effect("are the same for every retry under an idempotency key", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("retried")
      const { id } = yield* register(key, "ada")
      const options = { body: { ttl_minutes: 5 }, headers: { "Idempotency-Key": "token-1" } }
      const first = yield* call(key, `/players/${id}/session-tokens`, options)
      const again = yield* call(key, `/players/${id}/session-tokens`, options)
      assert.strictEqual(first.status, 201)
      assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [first.text, "true"])
      dataOf(yield* playerCall(Object(again.json).data.token, "/me"))
    }))
})

layer(layerPublicApi)("SPEC 2.11 lists, and walking them", (it) => {
  /** Follows a list from its beginning to its end, by the links it gives. */
  const walk = (key: Signer, path: string) => follow((next) => call(key, next), path)

  const follow = Effect.fnUntraced(function*<E, R>(get: (path: string) => Effect.Effect<Reply, E, R>, path: string) {
    const items: Array<{ readonly id: number }> = []
    const stretches: Array<number> = []
    let next: string | null = path
    while (next !== null && stretches.length < 100) {
      const reply: Reply = yield* get(next)
      const data: ReadonlyArray<{ readonly id: number }> = dataOf(reply)
      const { links, meta } = Object(reply.json)
      assert.hasAllKeys(meta, ["per_page", "next_cursor"])
      assert.strictEqual(links.next === null, meta.next_cursor === null)
      items.push(...data)
      stretches.push(data.length)
      next = links.next
    }
    return { items, stretches }
  })

  it.effect("players: a walk meets everybody once, whoever registers meanwhile, under the same filters as pages", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("walking")
      const names = ["ada", "bob", "adam", "cyd", "adele", "dan", "adrian"]
      const players = yield* Effect.forEach(names, (name) => register(key, name))
      const ids = players.map(({ id }) => id).reverse()
      const { items, stretches } = yield* walk(key, "/players?cursor=&per_page=3")
      assert.deepStrictEqual([items.map(({ id }) => id), stretches], [ids, [3, 3, 1]])
      const some = yield* walk(key, "/players?cursor=&per_page=2&search=ad&status=active")
      const paged = dataOf(yield* call(key, "/players?search=ad&status=active"))
      assert.deepStrictEqual([some.items, some.stretches], [paged, [2, 2]])

      // a page says where a walk would go on, and new players move nothing behind it
      const page = yield* call(key, "/players?per_page=3")
      const { meta } = Object(page.json)
      assert.deepInclude(meta, { current_page: 1, per_page: 3, total: 7, last_page: 3, from: 1, to: 3 })
      yield* register(key, "newcomer")
      const rest = yield* walk(key, `/players?per_page=3&cursor=${meta.next_cursor}`)
      assert.deepStrictEqual(rest.items.map(({ id }) => id), ids.slice(3))
      assert.isNull(Object((yield* call(key, "/players?per_page=4&page=2")).json).meta.next_cursor)
      assert.deepStrictEqual((yield* walk(key, "/players?cursor=&search=nobody")).stretches, [0])
      for (const cursor of ["A", "-1", "x".repeat(11), "%00"]) {
        assertRefused(yield* call(key, `/players?cursor=${cursor}`), 422, "VALIDATION_FAILED", {
          cursor: ["must be empty or a next_cursor of this list"]
        })
      }
    }))

  it.effect("ledger: a walk meets every entry once, for operators and for players", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("ledgers")
      const { id } = yield* register(key, "ada")
      for (const amount of [1, 2, 3, 4, 5]) yield* deposit(key, id, amount)
      const all = dataOf(yield* call(key, `/players/${id}/transactions`))
      assert.deepStrictEqual(all.map(({ amount }: { readonly amount: number }) => amount), [5, 4, 3, 2, 1])
      const { items, stretches } = yield* walk(key, `/players/${id}/transactions?cursor=&per_page=2`)
      assert.deepStrictEqual([items, stretches], [all, [2, 2, 1]])
      const filtered = yield* walk(key, `/players/${id}/transactions?cursor=&per_page=4&type=deposit&wallet=real`)
      assert.deepStrictEqual([filtered.items, filtered.stretches], [all, [4, 1]])
      const first = yield* call(key, `/players/${id}/transactions?per_page=2`)
      yield* deposit(key, id, 6)
      const rest = yield* walk(key, `/players/${id}/transactions?cursor=${Object(first.json).meta.next_cursor}`)
      assert.deepStrictEqual(rest.items, all.slice(2))
      const token = yield* issueToken(key, id)
      const mine = yield* follow(
        (path) => playerCall(token, path.replace("/api/v1/player", "")),
        "/transactions?cursor=&per_page=4"
      )
      assert.deepStrictEqual([mine.items.slice(1), mine.stretches], [all, [4, 2]])
    }))

  it.effect("payments: a walk meets every one once, those of one moment as well, under the same filters as pages", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("paying")
      const [ada, bob] = [(yield* register(key, "ada")).id, (yield* register(key, "bob")).id]
      for (const amount of [1, 2, 3]) yield* deposit(key, ada, amount)
      yield* deposit(key, bob, 4)
      yield* TestClock.adjust("1 millis")
      for (const amount of [5, 6, 7]) yield* deposit(key, ada, amount)
      const all = dataOf(yield* call(key, "/payments"))
      assert.deepStrictEqual(all.map(({ amount }: { readonly amount: number }) => amount), [7, 6, 5, 4, 3, 2, 1])
      const { items, stretches } = yield* walk(key, "/payments?cursor=&per_page=2")
      assert.deepStrictEqual([items, stretches], [all, [2, 2, 2, 1]])
      const hers = yield* walk(key, `/payments?cursor=&per_page=5&player_id=${ada}&type=deposit&status=paid`)
      assert.deepStrictEqual(hers.items, dataOf(yield* call(key, `/payments?player_id=${ada}`)))
      assert.deepStrictEqual(hers.stretches, [5, 1])

      const page = yield* call(key, "/payments?per_page=3")
      const { meta } = Object(page.json)
      assert.deepInclude(meta, { current_page: 1, per_page: 3, total: 7, last_page: 3, from: 1, to: 3 })
      yield* deposit(key, bob, 8)
      const rest = yield* walk(key, `/payments?per_page=3&cursor=${meta.next_cursor}`)
      assert.deepStrictEqual(rest.items, all.slice(3))
      assert.isNull(Object((yield* call(key, "/payments?per_page=4&page=2")).json).meta.next_cursor)
      assert.deepStrictEqual((yield* walk(key, "/payments?cursor=&type=withdrawal")).stretches, [0])
      for (const cursor of ["a", "A-1", "1-", "-1", "1-2-3", "zzzzzzzzzz-1", "%00"]) {
        assertRefused(yield* call(key, `/payments?cursor=${cursor}`), 422, "VALIDATION_FAILED", {
          cursor: ["must be empty or a next_cursor of this list"]
        })
      }
      // the furthest that a cursor can name
      assert.strictEqual(dataOf(yield* call(key, "/payments?cursor=zzzzzzzzz-zzzzzzzzzz")).length, 8)
      const other = yield* openOperator("not-paying")
      assert.deepStrictEqual(dataOf(yield* call(other.key, `/payments?cursor=${meta.next_cursor}`)), [])
    }))

  it.effect("a player's bonuses: a walk meets every one once, under the same filter as pages", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, operator } = yield* openOperator("granting")
      const { id } = yield* register(key, "ada")
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
          updated_at)
        VALUES (1, ${operator.id}, 'Ten', 'no_deposit', 1000, 10, 7, now(), now())`
      for (let count = 0; count < 4; count++) {
        dataOf(yield* call(key, `/players/${id}/bonuses`, { body: { bonus_id: 1 } }), 201)
      }
      const all = dataOf(yield* call(key, `/players/${id}/bonuses`))
      assert.strictEqual(all.length, 4)
      const { items, stretches } = yield* walk(key, `/players/${id}/bonuses?cursor=&per_page=3`)
      assert.deepStrictEqual([items, stretches], [all, [3, 1]])
      const waiting = yield* walk(key, `/players/${id}/bonuses?cursor=&per_page=2&state=pending`)
      assert.deepStrictEqual([waiting.items, waiting.stretches], [all.slice(0, 3), [2, 1]])
      const page = yield* call(key, `/players/${id}/bonuses?per_page=1`)
      const rest = yield* walk(key, `/players/${id}/bonuses?cursor=${Object(page.json).meta.next_cursor}`)
      assert.deepStrictEqual(rest.items, all.slice(1))
    }))
})

layer(layerPublicApi)("SPEC 1 data isolation", (it) => {
  // Goal: nothing about a player of another operator can be read, changed or even guessed. Method: every operator endpoint that names
  // a player in its path, found by reflection, called by another operator's key with an empty, a wrong and a plausible body: the answer
  // is that of a player who never was.
  it.effect("an endpoint about another operator's player answers as for one that is not there", () =>
    Effect.gen(function*() {
      const mine = yield* openOperator("mine")
      const theirs = yield* openOperator("theirs")
      const player = yield* register(theirs.key, "victim", { external_id: "v-1" })
      yield* deposit(theirs.key, player.id, 500)
      const endpoints: Array<{ readonly method: string; readonly path: string }> = []
      HttpApi.reflect(Api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, mergedAnnotations }) => {
          if (Context.getOrUndefined(mergedAnnotations, RequiredScope) === undefined) return
          if (endpoint.path.includes(":player")) endpoints.push({ method: endpoint.method, path: endpoint.path })
        }
      })
      assert.isAbove(endpoints.length, 9)
      const plausible = {
        status: "closed",
        limits: { max_daily_bet: 1 },
        period: "5_years",
        amount: 100,
        external_reference: "steal-1",
        email: "stolen@example.com"
      }
      for (const { method, path } of endpoints) {
        for (const body of method === "GET" ? [undefined] : [{}, { limits: 5, status: 7 }, plausible]) {
          const at = (id: number) => path.replace(":player", String(id)).replaceAll(/:\w+/g, "1")
          const foreign = yield* call(mine.key, at(player.id), { method, body })
          const unknown = yield* call(mine.key, at(999_999_999), { method, body })
          assertRefused(foreign, 404, "NOT_FOUND")
          assert.deepStrictEqual(foreign.text, unknown.text, `${method} ${path}`)
        }
      }
      assert.deepStrictEqual(dataOf(yield* call(theirs.key, `/players/${player.id}`)), player)
      assert.strictEqual(dataOf(yield* call(theirs.key, `/players/${player.id}/wallet`)).balance, 500)
      assert.deepStrictEqual(dataOf(yield* call(mine.key, "/players?search=victim")), [])
      // the same username, e-mail and external id are free for another operator
      const twin = yield* register(mine.key, "victim", { external_id: "v-1" })
      assert.strictEqual(twin.created_at, noon)
    }))
})
