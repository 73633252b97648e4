import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { assertRefused, type Casino, dataOf, type Fields, fresh, made, openCasino } from "../kit/Casino.ts"
import { browserCall, plainCall, signedCall } from "../kit/HttpCalls.ts"
import { fakeProtocol, makeFakeVendor } from "../kit/FakeVendor.ts"

// Goal: an API key sees only the data of its own operator (SPEC 1): no endpoint with an id in its path answers, changes or reveals
// another operator's record. Method: walk over the served document; a rival calls each endpoint with a body that
// succeeds in the owner's own call, so that only the owner of the record can be the reason of the 404. An endpoint, an
// id or a method unknown to this file fails the walk.

interface Victim {
  readonly player: number
  readonly payment: number
  readonly round: number
  readonly bonus: number
  readonly code: string
  /** A vendor's game, for the free rounds. */
  readonly book: number
  readonly freeRounds: number
  readonly request: number
  /** Withdrawals, to be paid and to be refused. */
  readonly payouts: readonly [number, number]
}

/** Owner of the resource in a path parameter. */
const owners: { readonly [parameter: string]: "an operator" | "a provider" | "everybody" } = {
  player: "an operator",
  payment: "an operator",
  round: "an operator",
  free_rounds: "an operator",
  request: "an operator",
  event: "an operator",
  game: "everybody",
  // of a jurisdiction: who may read it is a setting of the operator
  code: "everybody",
  transaction_id: "a provider"
}

/** A valid body for every endpoint that changes something below an id. Statuses are those of the owner's own call. */
const bodies: { readonly [endpoint: string]: (victim: Victim) => Fields } = {
  "patch /api/v1/operator/players/{player}": () => ({ city: fresh("Town ") }),
  "put /api/v1/operator/players/{player}/status": () => ({ status: "active", reason: fresh("why ") }),
  "post /api/v1/operator/players/{player}/session-tokens": () => ({ ttl_minutes: 5 }),
  "delete /api/v1/operator/players/{player}/session-tokens": () => ({}),
  "post /api/v1/operator/players/{player}/deposits": () => ({ amount: 100, external_reference: fresh("tenant-") }),
  "post /api/v1/operator/players/{player}/withdrawals": () => ({ amount: 10, payment_method: "bank" }),
  "post /api/v1/operator/players/{player}/games/{game}/launch": () => ({ mode: "real" }),
  "post /api/v1/operator/players/{player}/bonuses": ({ bonus }) => ({ bonus_id: bonus, amount: 30 }),
  "post /api/v1/operator/players/{player}/promo-codes": ({ code }) => ({ code }),
  "post /api/v1/operator/players/{player}/free-rounds": ({ book }) => ({
    game_id: book,
    rounds: 10,
    stake: 20,
    valid_days: 7
  }),
  "delete /api/v1/operator/players/{player}/free-rounds/{free_rounds}": () => ({}),
  "post /api/v1/operator/players/{player}/data-requests": () => ({ type: "access" }),
  "put /api/v1/operator/players/{player}/reality-check": () => ({ interval: "PT30M" }),
  "post /api/v1/operator/players/{player}/acknowledgements": () => ({
    kind: "limit_raise",
    answer: "accept",
    field: "max_yearly_deposit"
  }),
  "put /api/v1/operator/players/{player}/consents": () => ({ consents: [{ channel: "email", granted: true }] }),
  "put /api/v1/operator/players/{player}/limits": () => ({ limits: { max_daily_bet: 5000 } }),
  "post /api/v1/operator/sandbox/players/{player}/rounds": ({ book }) => ({ game_id: book, bet: 10 }),
  "post /api/v1/operator/sandbox/players/{player}/kyc": () => ({ status: "verified" }),
  "post /api/v1/operator/sandbox/withdrawals/{payment}/approve": () => ({}),
  "post /api/v1/operator/sandbox/withdrawals/{payment}/pay": () => ({}),
  "post /api/v1/operator/sandbox/withdrawals/{payment}/reject": () => ({}),
  "post /api/v1/operator/sandbox/deposits/{payment}/chargeback": () => ({}),
  // last: an excluded player may do nothing else
  "post /api/v1/operator/players/{player}/self-exclusion": () => ({ period: "7_days" })
}

interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<string>
}

/** Every operation of the served document that has an id in its path. */
const operations = Effect.gen(function*() {
  const { json } = yield* plainCall("/openapi.json")
  const paths: { readonly [path: string]: object } = Object(json).paths
  return Object.entries(paths).flatMap(([path, methods]): ReadonlyArray<Operation> =>
    path.includes("{")
      ? Object.keys(methods).map((method) => ({
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => parameter)
      }))
      : []
  )
})

/** All readable data of a victim, by its own operator and in tables without endpoints. */
const snapshotOf = Effect.fnUntraced(function*(casino: Casino, { payment, player }: Victim) {
  const sql = yield* SqlClient.SqlClient
  const shown = yield* Effect.forEach(
    ["", "/wallet", "/transactions?per_page=100", "/limits", "/bonuses?per_page=100", "/free-rounds"],
    (path) => casino.get(`/players/${player}${path}`)
  )
  const payments = yield* casino.get(`/payments?player_id=${player}&per_page=100`)
  const one = yield* casino.get(`/payments/${payment}`)
  const count = (table: string) =>
    Effect.map(
      sql`SELECT FROM ${sql.literal(table)} WHERE player_id = ${player}`,
      (rows) => rows.length
    )
  const counts = yield* Effect.forEach(["events", "audit_log", "game_sessions", "promo_redemptions"], count)
  return { shown: [...shown, payments, one].map(({ data, status }) => [status, data]), counts }
})

/** Plays a round of an original as a player; returns its id. */
const playedRound = Effect.fnUntraced(function*(casino: Casino, player: number) {
  const dice = yield* made("/games", {
    provider: casino.studio.slug,
    external_id: fresh("dice"),
    name: fresh("Dice"),
    original: "dice"
  })
  const { token } = dataOf(yield* casino.post(`/players/${player}/session-tokens`), 201)
  const body = { stake: 10, params: { direction: "under", target: 50 } }
  return Number(dataOf(yield* browserCall(token, `/games/${dice.id}/play`, { body })).round_id)
})

const live = layerCasinos.pipe(Layer.provide(Layer.succeed(ProviderProtocols, [fakeProtocol])))

layer(live, { excludeTestServices: true })("SPEC 1 data isolation", (it) => {
  it.effect("1 an endpoint with an id in its path answers 404 to another operator, whatever the method, and changes nothing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // its raises of limits have to be confirmed
      const jurisdiction = fresh("x-tenant-")
      const raise = { confirm: true }
      yield* made("/profiles", { code: jurisdiction, name: "Tenant", limits: { raise } })
      const mine = yield* openCasino({
        profiles: [jurisdiction],
        default_profile: jurisdiction,
        cooling_off_hours: 0,
        is_sandbox: true
      })
      const rival = yield* openCasino({ is_sandbox: true })
      const { id: player } = yield* mine.register({ external_id: "victim" })
      for (const max_yearly_deposit of [1e8, 2e8]) {
        yield* mine.put(`/players/${player}/limits`, { limits: { max_yearly_deposit } })
      }
      const { id: payment } = dataOf(yield* mine.deposit(player, 100_000, { external_reference: "taken" }), 201)
      const { id: bonus } = yield* mine.newBonus()
      const code = fresh("OURS")
      yield* made("/promo-codes", { operator: mine.slug, code, bonus })
      const round = yield* playedRound(mine, player)
      const vendor = yield* makeFakeVendor
      const settings = vendor.settings
      const atVendor = yield* made("/providers", { slug: fresh("vendor-"), name: "Vendor", protocol: "fake", settings })
      const { id: book } = yield* made("/games", { provider: atVendor.slug, external_id: "book", name: "Book" })
      const terms = { game_id: book, rounds: 10, stake: 20, valid_days: 7 }
      const { id: freeRounds } = dataOf(yield* mine.post(`/players/${player}/free-rounds`, terms), 201)
      const { id: request } = dataOf(yield* mine.post(`/players/${player}/data-requests`, { type: "access" }), 201)
      const payout = Effect.map(mine.withdraw(player, 20), (reply): number => dataOf(reply, 201).id)
      const payouts = [yield* payout, yield* payout] as const
      const victim: Victim = { player, payment, round, bonus, code, book, freeRounds, request, payouts }
      // as it is once it is numbered
      const [{ event } = assert.fail("no event")] = yield* sql<{ event: number }>`UPDATE events SET position = 1
        WHERE id = (SELECT min(id) FROM events WHERE player_id = ${player}) RETURNING id::float8 AS event`
      // the rival has resources of the same names
      yield* made("/promo-codes", { operator: rival.slug, code, bonus: (yield* rival.newBonus()).id })

      const all = (yield* operations).filter(({ path }) => path.startsWith("/api/v1/operator/"))
      for (const { name, parameters } of all) {
        for (const parameter of parameters) assert.property(owners, parameter, `whose is {${parameter}} of ${name}?`)
      }
      const owned = all.filter(({ parameters }) => parameters.some((parameter) => owners[parameter] === "an operator"))
      const writing = owned.filter(({ method }) => method !== "GET").map(({ name }) => name)
      assert.sameMembers(writing, Object.keys(bodies), "what does a new endpoint take?")

      const uriOf = ({ path }: Operation, ids: { readonly player: unknown; readonly payment: unknown }) =>
        path.replace("{player}", String(ids.player)).replace(
          "{payment}",
          String(
            ids.payment !== payment || !path.includes("/withdrawals/")
              ? ids.payment
              : payouts[path.endsWith("/reject") ? 1 : 0]
          )
        )
          .replace("{event}", String(ids.player === player ? event : 999_999_999))
          .replace("{game}", String(mine.slots.id)).replace("{round}", String(round))
          .replace("{free_rounds}", String(freeRounds)).replace("{request}", String(request)) +
        (path.endsWith("/statement") ? "?from=2026-11-01&to=2026-11-30" : "")
      const bodyOf = ({ method, name }: Operation): { readonly body?: Fields } => {
        const body = bodies[name]?.(victim)
        return method === "GET" || body === undefined ? {} : { body }
      }
      const nobody = { player: 999_999_999, payment: 999_999_999 }
      const before = yield* snapshotOf(mine, victim)
      for (const operation of owned) {
        const { method, name } = operation
        const body = bodyOf(operation)
        const theirs = yield* signedCall(rival.signer, uriOf(operation, victim), { method, ...body })
        const nobodys = yield* signedCall(rival.signer, uriOf(operation, nobody), { method, ...body })
        assertRefused(theirs, 404, "NOT_FOUND")
        assert.deepStrictEqual(theirs.json, nobodys.json, `${name}: not even in words`)
        if (method === "GET") continue
        // nor does a malformed body or an idempotency key reveal more
        for (const bad of [{ raw: "[" }, { body: { amount: "x", limits: 5, status: 7, period: 1 } }]) {
          assertRefused(
            yield* signedCall(rival.signer, uriOf(operation, victim), { method, ...bad }),
            404,
            "NOT_FOUND"
          )
        }
      }
      assert.deepStrictEqual(yield* snapshotOf(mine, victim), before)

      // the same requests are valid for the owner. Those that end the player's play come last.
      const order = (operation: Operation) => Object.keys(bodies).indexOf(operation.name)
      for (const operation of [...owned].sort((a, b) => order(a) - order(b))) {
        const { method, name } = operation
        const body = bodyOf(operation)
        const keyed = method === "POST" ? { headers: { "Idempotency-Key": `key of ${name}` } } : {}
        const uri = uriOf(operation, victim)
        const own = yield* signedCall(mine.signer, uri, { method, ...body, ...keyed })
        assert.isBelow(own.status, 300, `${name}: ${own.text}`)
        if (method !== "POST") continue
        // idempotency keys are scoped to the operator
        const stolen = yield* signedCall(rival.signer, uri, { method, ...body, ...keyed })
        assertRefused(stolen, 404, "NOT_FOUND")
        assert.isUndefined(stolen.headers["idempotent-replayed"])
      }
    }))

  it.effect("1 ids and names in a query or body match only the operator's own data", () =>
    Effect.gen(function*() {
      const mine = yield* openCasino()
      const rival = yield* openCasino()
      const { email, id, username } = yield* mine.register({ external_id: "named", phone: "+35621000001" })
      dataOf(yield* mine.deposit(id, 100, { external_reference: "named" }), 201)
      const bonus = yield* mine.newBonus()
      const lists = [
        `/players?username=${username}`,
        `/players?email=${email}`,
        "/players?external_id=named",
        `/players?search=${username}`,
        `/payments?player_id=${id}`,
        "/payments?external_reference=named"
      ]
      for (const path of lists) {
        assert.strictEqual(dataOf(yield* mine.get(path)).length, 1, path)
        const theirs = yield* rival.get(path)
        assert.deepStrictEqual([theirs.data, theirs.meta.total], [[], 0], path)
      }
      assert.deepStrictEqual(dataOf(yield* rival.get("/bonuses")), [])
      assert.notInclude((yield* rival.get("/payment-methods")).text, mine.slug)

      const { id: theirs } = yield* rival.register({ username, email, external_id: "named", phone: "+35621000001" })
      dataOf(yield* rival.deposit(theirs, 900, { external_reference: "named" }), 201)
      assertRefused(yield* rival.grant(theirs, bonus.id), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* mine.balances(id), [100, 0])
      // an exclusion applies to one operator, not to the other
      dataOf(yield* mine.exclude(id, { period: "6_months" }))
      const again = { username: fresh("again"), email: `${fresh("again")}@example.com` }
      const { birth_date, first_name, last_name } = dataOf(yield* mine.get(`/players/${id}`))
      const person = { ...again, birth_date, first_name, last_name, country: "MT", terms_accepted: true }
      assertRefused(yield* mine.post("/players", person), 422, "SELF_EXCLUDED_IDENTITY")
      assert.strictEqual((yield* rival.post("/players", person)).status, 201)
    }))

  it.effect("1 a player token opens only its own player, and only that player's rounds", () =>
    Effect.gen(function*() {
      const found = (yield* operations).filter(({ path }) => path.startsWith("/api/v1/player/"))
      assert.isNotEmpty(found)
      const owned = found.filter(({ parameters }) => parameters.some((parameter) => owners[parameter] !== "everybody"))
      assert.deepStrictEqual(owned.map(({ name }) => name), ["get /api/v1/player/rounds/{round}"])
      const mine = yield* openCasino()
      const rival = yield* openCasino()
      const [ada, bob, eve] = [yield* mine.sit(1000), yield* mine.sit(2000), yield* rival.sit(3000)]
      const tokenOf = Effect.fnUntraced(function*(casino: Casino, id: number) {
        return String(dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201).token)
      })
      const rounds: ReadonlyArray<readonly [owner: number, round: number]> = [
        [ada.id, yield* playedRound(mine, ada.id)],
        [bob.id, yield* playedRound(mine, bob.id)],
        [eve.id, yield* playedRound(rival, eve.id)]
      ]
      for (const [casino, { id }] of [[mine, ada], [mine, bob], [rival, eve]] as const) {
        const token = yield* tokenOf(casino, id)
        assert.strictEqual(dataOf(yield* browserCall(token, "/me")).id, id)
        const [balance] = yield* casino.balances(id)
        assert.deepInclude(dataOf(yield* browserCall(token, "/wallet")), { player_id: id, balance })
        const entries = dataOf(yield* browserCall(token, "/transactions"))
        assert.deepStrictEqual([...new Set(entries.map((entry: Fields) => entry["player_id"]))], [id])
        // each of three players sees only their own round
        for (const [owner, round] of rounds) {
          const { status } = yield* browserCall(token, `/rounds/${round}`)
          assert.strictEqual(status, owner === id ? 200 : 404)
        }
        // an id in the query is ignored
        assert.strictEqual(dataOf(yield* browserCall(token, `/me?player=${bob.id}&player_id=${bob.id}`)).id, id)
      }
    }))

  it.effect("1 a provider sees only its own transactions, players and games", () =>
    Effect.gen(function*() {
      const mine = yield* openCasino()
      const rival = yield* openCasino()
      const found = (yield* operations).filter(({ path }) => path.startsWith("/api/v1/provider/"))
      assert.deepStrictEqual(found.map(({ name }) => name), [
        "get /api/v1/provider/wallet/transactions/{transaction_id}"
      ])
      const seat = yield* mine.sit(1000)
      const { transaction_id } = dataOf(yield* seat.bet(100))
      const path = `/api/v1/provider/wallet/transactions/${transaction_id}`
      const ask = (studio: Casino["studio"]) =>
        signedCall({ header: "X-Provider-Key", key: studio.key, secret: studio.secret }, path)
      assert.strictEqual(dataOf(yield* ask(mine.studio)).status, "processed")
      assert.strictEqual(dataOf(yield* ask(rival.studio)).status, "unknown")
      const about = rival.playOf(seat.token, seat.ref)
      assertRefused(yield* about.bet(10), 401, "INVALID_SESSION")
      assertRefused(yield* about.win(transaction_id, 500), 404, "NOT_FOUND")
      assertRefused(yield* about.rollback(transaction_id), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* mine.balances(seat.id), [900, 0])
    }))
})
