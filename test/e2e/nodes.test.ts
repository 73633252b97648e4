import { assert, layer } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { StaffSpending } from "../../src/office/StaffSpending.ts"
import { DueAccountChanges } from "../../src/features/players/DueAccountChanges.ts"
import {
  addGame,
  addStudio,
  addTenant,
  callWallet,
  dataAs,
  deposit,
  fresh,
  launch,
  register,
  seat,
  settledOf
} from "../kit/Casino.ts"
import { layerThreeNodes, layerThreeNodesLate, NodePorts } from "../kit/E2eServer.ts"
import { type Caller, callerOf, exchange, makeAgent, portOf, type Reply } from "../kit/HttpCalls.ts"
import { refuse } from "../../src/domain/Refusal.ts"
import { Ids } from "../../src/platform/Ids.ts"
import type { Message } from "../../scripts/simulators/Dialect.ts"
import { addVendor, openSeat, play, vendorCases } from "../kit/Vendors.ts"
import { messagesOf, realOf } from "../kit/VendorTables.ts"

// Goal: any node answers any request as a single process would. Method: three nodes in the process of the test, each called at
// a port of its own.

const nodes = 3

/** An operator, a provider and a game, called at each node. */
const openHouse = Effect.gen(function*() {
  const ports = yield* NodePorts
  const agent = yield* makeAgent()
  const name = fresh("n")
  const first = ports[0] ?? 0
  const tenant = yield* addTenant(agent, first, `o${name}`)
  const studio = yield* addStudio(agent, first, `s${name}`)
  const game = yield* addGame(studio.id, `g${name}`)
  return {
    agent,
    ports,
    tenant,
    studio,
    game,
    name,
    operators: ports.map((port) => callerOf(agent, port, tenant.call.signer)),
    providers: ports.map((port) => callerOf(agent, port, studio.call.signer))
  }
})

/** A player's session token. */
const tokenOf = Effect.fnUntraced(function*(operator: Caller, playerId: number) {
  const issued = yield* operator.post(`/api/v1/operator/players/${playerId}/session-tokens`, {})
  return (yield* dataAs(issued, 201, Schema.Struct({ token: Schema.String }))).token
})

const servedBy = ({ headers }: Reply): string | undefined => headers["x-served-by"]

const balanceOf = (reply: Reply) =>
  Effect.map(dataAs(reply, 200, Schema.Struct({ balance: Schema.Int })), ({ balance }) => balance)

layer(layerThreeNodes, { timeout: "120 seconds", excludeTestServices: true })("three nodes", (it) => {
  it.effect("answer for every player, and name the player's node in X-Served-By", () =>
    Effect.gen(function*() {
      const { name, operators } = yield* openHouse
      const owners = new Set<string | undefined>()
      for (let player = 0; player < 8; player++) {
        const at = operators[player % nodes] ?? assert.fail()
        const playerId = yield* register(at, `p${player}${name}`)
        yield* deposit(operators[(player + 1) % nodes] ?? at, playerId, 500, `d${player}${name}`)
        const replies = yield* Effect.forEach(
          operators,
          (one) => one.get(`/api/v1/operator/players/${playerId}/wallet`)
        )
        assert.deepStrictEqual(yield* Effect.forEach(replies, balanceOf), [500, 500, 500])
        assert.strictEqual(new Set(replies.map(servedBy)).size, 1)
        owners.add(servedBy(replies[0] ?? assert.fail()))
      }
      assert.isAbove(owners.size, 1)
      assert.notInclude([...owners], undefined)
    }).pipe(Effect.scoped))

  it.effect("settle a message once, at whichever node and however often it arrives", () =>
    Effect.gen(function*() {
      const { game, name, operators, providers, studio, tenant } = yield* openHouse
      const table = yield* seat(tenant.call, studio.call, game, { username: `p${name}`, balance: 1000 })
      const about = { game_id: game.externalId, round_id: "r", currency: "EUR" }
      const bet = { ...about, request_id: "b", transaction_id: `b${name}`, session_token: table.token, amount: 100 }
      const bets = yield* Effect.forEach(
        Array.from({ length: 21 }, (_, index) => providers[index % nodes] ?? assert.fail()),
        (provider) => Effect.flatMap(callWallet(provider, "bet", bet), settledOf),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(bets.map(({ status }) => status).sort(), [
        "processed",
        ...Array.from({ length: 20 }, () => "replayed")
      ])
      const win = { ...about, player_ref: table.ref, bet_transaction_id: `b${name}`, amount: 250 }
      for (const [index, provider] of providers.entries()) {
        const settled = yield* settledOf(
          yield* callWallet(provider, "win", { ...win, request_id: "w", transaction_id: `w${index}${name}` })
        )
        assert.strictEqual(settled.balance, 900 + 250 * (index + 1))
        // of unknown length
        const raw = JSON.stringify({ request_id: "c", player_ref: table.ref, round_id: "q", game_id: game.externalId })
        const closed = yield* provider.send("/api/v1/provider/wallet/round/close", {
          method: "POST",
          raw,
          headers: { "transfer-encoding": "chunked" }
        })
        assert.include([200, 404], closed.status, closed.text)
        const fate = yield* provider.get(`/api/v1/provider/wallet/transactions/w${index}${name}`)
        assert.include(fate.text, "processed")
      }
      const wallets = yield* Effect.forEach(operators, (one) =>
        Effect.flatMap(one.get(`/api/v1/operator/players/${table.playerId}/wallet`), balanceOf))
      assert.deepStrictEqual(wallets, [1650, 1650, 1650])
    }).pipe(Effect.scoped))

  it.effect("answer every vendor's protocol for players owned by other nodes", () =>
    Effect.gen(function*() {
      const { agent, name, operators, ports } = yield* openHouse
      for (const [index, vendorCase] of vendorCases.entries()) {
        const vendor = yield* addVendor(agent, ports[0] ?? 0, `v${index}${name}`, vendorCase)
        const playerId = yield* register(operators[index % nodes] ?? assert.fail(), `v${index}${name}`)
        yield* deposit(operators[0] ?? assert.fail(), playerId, 10_000, `v${index}${name}`)
        const session = yield* openSeat(vendor, playerId)
        const statuses = yield* Effect.forEach(ports, (port) =>
          Effect.map(
            play({ ...vendor, port }, session, { kind: "balance" }, "balance"),
            ({ status, text }) => `${status} ${text}`
          ))
        assert.strictEqual(new Set(statuses).size, 1, statuses.join("\n"))
      }
    }).pipe(Effect.scoped))

  it.effect("end a player's right to play at all nodes when the vendor's protocol has no sessions, and still pay wins", () =>
    Effect.gen(function*() {
      const { agent, name, operators, ports } = yield* openHouse
      const at = (index: number) => operators[index % nodes] ?? assert.fail()
      const endings = [
        {
          end: (operator: Caller, playerId: number, gameId: number) =>
            operator.post(`/api/v1/operator/players/${playerId}/games/${gameId}/launch`, { mode: "real" }),
          // nobody is at the vendor's address
          isEnded: ({ status }: Reply) => status >= 500,
          isOpenBefore: false
        },
        {
          end: (operator: Caller, playerId: number) =>
            Effect.flatMap(
              tokenOf(operator, playerId),
              (token) =>
                exchange(agent, ports[0] ?? 0, "/api/v1/player/session-tokens", {
                  method: "DELETE",
                  headers: { authorization: `Bearer ${token}` }
                })
            ),
          isEnded: ({ status }: Reply) => status === 200,
          isOpenBefore: true
        },
        {
          end: (operator: Caller, playerId: number) =>
            operator.send(`/api/v1/operator/players/${playerId}/session-tokens`, { method: "DELETE" }),
          isEnded: ({ status }: Reply) => status === 200,
          isOpenBefore: true
        }
      ] as const
      for (const protocol of ["a8r", "gcp", "spribe"]) {
        const vendorCase = vendorCases.find((one) => one.name === protocol) ?? assert.fail(protocol)
        const vendor = yield* addVendor(agent, ports[0] ?? 0, `${protocol}${name}`, vendorCase)
        const { bet, win } = messagesOf(vendor.dialect, vendor.game.externalId)
        for (const [index, { end, isEnded, isOpenBefore }] of endings.entries()) {
          // its launch asks nobody, and does not fail
          if (protocol === "spribe" && !isOpenBefore) continue
          const playerId = yield* register(at(index), `${protocol}${index}${name}`)
          yield* deposit(at(index), playerId, 10_000, `${protocol}${index}${name}`)
          const session = yield* openSeat(vendor, playerId)
          const sent = (message: Message, id: string, node: number) =>
            Effect.andThen(play({ ...vendor, port: ports[node % nodes] ?? 0 }, session, message, id), realOf(playerId))
          const staked = bet(`${protocol}${index}${name}`, "1.00")
          assert.strictEqual(yield* sent(staked, "b", index), 9900)
          if (!isOpenBefore) {
            yield* at(index).send(`/api/v1/operator/players/${playerId}/session-tokens`, { method: "DELETE" })
          }
          const ended = yield* end(at(index + 1), playerId, vendor.game.id)
          assert.isTrue(isEnded(ended), ended.text)
          for (let node = 0; node < nodes; node++) {
            const id = `${protocol}${index}${node}${name}`
            assert.strictEqual(yield* sent(bet(id, "1.00"), id, node), 9900, `${protocol} at node ${node}`)
          }
          const won = yield* sent(win(`w${protocol}${index}${name}`, staked, "2.00"), "w", index + 2)
          assert.strictEqual(won, 10_100, protocol)
        }
      }
    }).pipe(Effect.scoped))

  it.effect("execute a request repeated at all nodes under one idempotency key once", () =>
    Effect.gen(function*() {
      const { name, operators } = yield* openHouse
      const playerId = yield* register(operators[0] ?? assert.fail(), `p${name}`)
      const path = `/api/v1/operator/players/${playerId}/deposits`
      const replies = yield* Effect.forEach(
        Array.from({ length: 21 }, (_, index) => operators[index % nodes] ?? assert.fail()),
        (operator) => operator.post(path, { amount: 100, external_reference: `d${name}` }, { "idempotency-key": name }),
        { concurrency: "unbounded" }
      )
      const first = replies.filter(({ headers, status }) =>
        status === 201 && headers["idempotent-replayed"] === undefined
      )
      assert.lengthOf(first, 1)
      for (const { code, status } of replies) assert.include([201, 409], status, code)
      const again = yield* Effect.forEach(operators, (one) =>
        one.post(path, { amount: 100, external_reference: `d${name}` }, { "idempotency-key": name }))
      assert.deepStrictEqual(again.map(({ headers, text }) => [headers["idempotent-replayed"], text]), [
        ["true", first[0]?.text],
        ["true", first[0]?.text],
        ["true", first[0]?.text]
      ])
      const wallet = yield* (operators[1] ?? assert.fail()).get(`/api/v1/operator/players/${playerId}/wallet`)
      assert.strictEqual(yield* balanceOf(wallet), 100)
    }).pipe(Effect.scoped))

  it.effect("share one rate limit per key", () =>
    Effect.gen(function*() {
      const ports = yield* NodePorts
      const agent = yield* makeAgent()
      const name = fresh("n")
      const { call } = yield* addTenant(agent, ports[0] ?? 0, `o${name}`, { rateLimit: 20 })
      const operators = ports.map((port) => callerOf(agent, port, call.signer))
      const left: Array<string | undefined> = []
      for (let count = 0; count < 24; count++) {
        const reply = yield* (operators[count % nodes] ?? assert.fail()).get("/api/v1/operator/me")
        left.push(reply.status === 200 ? reply.headers["x-ratelimit-remaining"] : reply.code)
      }
      const allowed = Array.from({ length: 20 }, (_, count) => String(19 - count))
      assert.deepStrictEqual(left, [...allowed, ...Array.from({ length: 4 }, () => "RATE_LIMITED")])
    }).pipe(Effect.scoped))

  it.effect("share one rate limit per player, also for what each node serves by itself", () =>
    Effect.gen(function*() {
      const ports = yield* NodePorts
      const agent = yield* makeAgent()
      const name = fresh("n")
      const { call } = yield* addTenant(agent, ports[0] ?? 0, `o${name}`, { rateLimit: 150 })
      const headers = { authorization: `Bearer ${yield* tokenOf(call, yield* register(call, `p${name}`))}` }
      let allowed = 0
      for (let count = 0; count < 36; count++) {
        const path = count % 2 === 0 ? "/api/v1/player/statement" : "/api/v1/player/wallet"
        const { code } = yield* exchange(agent, ports[count % nodes] ?? 0, path, { headers })
        if (code !== "RATE_LIMITED") allowed++
      }
      assert.strictEqual(allowed, 30)
    }).pipe(Effect.scoped))

  it.effect("apply a self-exclusion sent to one node immediately at every node", () =>
    Effect.gen(function*() {
      const { agent, game, name, operators, ports, providers, studio, tenant } = yield* openHouse
      for (let player = 0; player < nodes; player++) {
        const table = yield* seat(tenant.call, studio.call, game, { username: `p${player}${name}`, balance: 1000 })
        const base = `/api/v1/operator/players/${table.playerId}`
        const token = yield* tokenOf(operators[1] ?? tenant.call, table.playerId)
        const read = (port: number) =>
          exchange(agent, port, "/api/v1/player/wallet", { headers: { authorization: `Bearer ${token}` } })
        for (const port of ports) assert.strictEqual((yield* read(port)).status, 200)
        const excluding = yield* (operators[player] ?? assert.fail()).post(`${base}/self-exclusion`, {
          period: "7_days"
        })
        assert.include([200, 201], excluding.status, excluding.text)
        for (const [index, provider] of providers.entries()) {
          const bet = {
            request_id: "b",
            transaction_id: `x${player}${index}${name}`,
            session_token: table.token,
            game_id: game.externalId,
            round_id: "r",
            amount: 10,
            currency: "EUR"
          }
          const refused = yield* callWallet(provider, "bet", bet)
          assert.include(["PLAYER_RESTRICTED", "INVALID_SESSION"], refused.code, refused.text)
          const relaunched = yield* Effect.exit(launch(operators[index] ?? tenant.call, table.playerId, game.id))
          assert.strictEqual(relaunched._tag, "Failure")
        }
        for (const port of ports) assert.strictEqual((yield* read(port)).code, "INVALID_PLAYER_TOKEN")
      }
    }).pipe(Effect.scoped))

  it.effect("answer HEAD like GET", () =>
    Effect.gen(function*() {
      const { name, operators } = yield* openHouse
      const playerId = yield* register(operators[0] ?? assert.fail(), `p${name}`)
      const path = `/api/v1/operator/players/${playerId}/wallet`
      const replies = yield* Effect.forEach(operators, (one) => one.send(path, { method: "HEAD" }))
      assert.deepStrictEqual(replies.map(({ status }) => status), [200, 200, 200])
      assert.strictEqual(new Set(replies.map(servedBy)).size, 1)
    }).pipe(Effect.scoped))

  it.effect("each answer 404 to a player id above 2^53-1 without forwarding the request", () =>
    Effect.gen(function*() {
      const { operators } = yield* openHouse
      for (const id of ["9007199254740992", "9007199254740993", "9999999999999999"]) {
        const replies = yield* Effect.forEach(operators, (one) => one.get(`/api/v1/operator/players/${id}/wallet`))
        for (const { code, status } of replies) assert.deepStrictEqual([status, code], [404, "NOT_FOUND"])
        assert.strictEqual(new Set(replies.map(servedBy)).size, nodes)
      }
    }).pipe(Effect.scoped))

  it.effect("recognise a request repeated under its key by its exact bytes, also when these are not UTF-8", () =>
    Effect.gen(function*() {
      const { name, operators } = yield* openHouse
      const playerId = yield* register(operators[0] ?? assert.fail(), `p${name}`)
      const body = JSON.stringify({ amount: 100, external_reference: `d${name}` })
      // a byte order mark, and a note that is not UTF-8
      const raw = Buffer.concat([
        Buffer.of(0xef, 0xbb, 0xbf),
        Buffer.from(body.replace("{", "{\"x\":\"\u00ff\","), "latin1")
      ])
      const replies = yield* Effect.forEach(
        operators,
        (one) =>
          one.send(`/api/v1/operator/players/${playerId}/deposits`, {
            method: "POST",
            raw,
            headers: { "idempotency-key": name }
          })
      )
      assert.deepStrictEqual(replies.map(({ headers, status }) => [status, headers["idempotent-replayed"]]), [
        [201, undefined],
        [201, "true"],
        [201, "true"]
      ])
    }).pipe(Effect.scoped))

  it.effect("refuse a player's request body above 4 KiB", () =>
    Effect.gen(function*() {
      const { agent, game, name, operators, ports, tenant } = yield* openHouse
      const playerId = yield* register(tenant.call, `p${name}`)
      const token = yield* tokenOf(operators[0] ?? tenant.call, playerId)
      for (const extra of [{}, { "transfer-encoding": "chunked" }]) {
        const replies = yield* Effect.forEach(ports, (port) =>
          exchange(agent, port, `/api/v1/player/games/${game.id}/launch`, {
            method: "POST",
            raw: `{${" ".repeat(5000)}}`,
            headers: { authorization: `Bearer ${token}`, ...extra }
          }))
        assert.deepStrictEqual(
          replies.map(({ status }) =>
            status
          ),
          [413, 413, 413]
        )
      }
    }).pipe(Effect.scoped))

  it.effect("pay a win to the player it names, also when it carries another player's session token", () =>
    Effect.gen(function*() {
      const { game, name, providers, studio, tenant } = yield* openHouse
      const seats = yield* Effect.forEach(
        [0, 1, 2, 3],
        (player) => seat(tenant.call, studio.call, game, { username: `p${player}${name}`, balance: 1000 })
      )
      for (const [index, one] of seats.entries()) {
        const about = { game_id: game.externalId, round_id: `r${index}`, currency: "EUR", amount: 100 }
        const bet = { ...about, request_id: "b", transaction_id: `b${index}${name}`, session_token: one.token }
        yield* settledOf(yield* callWallet(studio.call, "bet", bet))
        const other = seats[(index + 1) % seats.length] ?? assert.fail()
        const win = { ...about, request_id: "w", player_ref: one.ref, bet_transaction_id: `b${index}${name}` }
        for (const [node, provider] of providers.entries()) {
          const transaction = { transaction_id: `w${index}${node}${name}`, session_token: other.token }
          const settled = yield* settledOf(yield* callWallet(provider, "win", { ...win, ...transaction }))
          assert.strictEqual(settled.balance, 900 + 100 * (node + 1))
        }
      }
    }).pipe(Effect.scoped))

  it.effect("count a staff correction of unknown outcome towards the day's total, but not one refused because another node owns the player", () =>
    Effect.gen(function*() {
      const spending = yield* StaffSpending
      const { name, tenant } = yield* openHouse
      const playerId = yield* register(tenant.call, `p${name}`)
      const given = { playerId, kind: "correction", amount: 100 } as const
      const tryAgain = refuse("TRY_AGAIN", "Try again.")
      const spend = (refusal: typeof tryAgain) =>
        Effect.exit(spending.spend({ id: null, label: "staff:1" }, given, Effect.fail(refusal), () => Effect.void))
      const moved = { ...tryAgain, elsewhere: playerId }
      yield* spend(moved)
      assert.strictEqual(yield* spending.correctedToday(given, Date.now()), 0)
      // a call with unknown outcome counts
      yield* spend(tryAgain)
      assert.strictEqual(yield* spending.correctedToday(given, Date.now()), 100)
    }).pipe(Effect.scoped))

  it.effect("6.1: require an operator's new terms at every node, and recognise their acceptance at every node", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { name, operators, tenant } = yield* openHouse
      const players = yield* Effect.forEach(
        Array.from({ length: 6 }, (_, index) => index),
        (index) => register(operators[index % nodes] ?? tenant.call, `t${index}${name}`)
      )
      yield* sql`UPDATE operators SET terms_version = '2026-11' WHERE id = ${tenant.operator.id}`
      let sent = 0
      const depositing = (playerId: number) =>
        Effect.suspend(() =>
          (operators[sent % nodes] ?? tenant.call).post(`/api/v1/operator/players/${playerId}/deposits`, {
            amount: 100,
            external_reference: `d${sent++}${name}`
          })
        )
      for (const playerId of players) {
        const refused = yield* Effect.repeat(depositing(playerId), {
          while: ({ status }) => status === 201,
          schedule: Schedule.spaced("200 millis"),
          times: 15
        })
        assert.include(refused.text, "\"terms\"")
        const answer = { kind: "terms", answer: "accept", text_version: "2026-11" }
        const path = `/api/v1/operator/players/${playerId}/acknowledgements`
        const accepted = yield* (operators[(sent + 1) % nodes] ?? tenant.call).post(path, answer)
        assert.strictEqual(accepted.status, 201, accepted.text)
        for (let node = 0; node < nodes; node++) {
          const taken = yield* depositing(playerId)
          assert.strictEqual(taken.status, 201, taken.text)
        }
      }
    }).pipe(Effect.scoped))

  it.effect("redeem promo codes and apply due limit raises and bonus ends for players of other nodes, whichever node runs the job", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const { name, operators, tenant } = yield* openHouse
      const bonusId = yield* ids.reserve(2)
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, active,
          created_at, updated_at)
        VALUES (${bonusId}, ${tenant.operator.id}, 'Welcome', 'no_deposit', 500, 1, 30, true, now(), now())`
      yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, active, created_at)
        VALUES (${bonusId + 1}, ${tenant.operator.id}, 'WELCOME', ${bonusId}, true, now())`
      const players = yield* Effect.forEach(
        Array.from({ length: 6 }, (_, index) => index),
        (index) => register(operators[index % nodes] ?? tenant.call, `p${index}${name}`, { promo_code: "welcome" })
      )
      const granted = yield* sql`SELECT DISTINCT player_id::float8 AS id FROM player_bonuses
        WHERE operator_id = ${tenant.operator.id} ORDER BY 1`
      assert.deepStrictEqual(granted, players.toSorted((one, other) => one - other).map((id) => ({ id })))
      // due limit raises, and ends of bonuses
      yield* sql`UPDATE players SET pending_limits = '[{"field": "max_daily_deposit", "value": 5, "effectiveAt": 1}]'
        WHERE operator_id = ${tenant.operator.id}`
      yield* sql`UPDATE player_bonuses SET expires_at = now() - interval '1 minute'
        WHERE operator_id = ${tenant.operator.id}`
      // owners load their players again, and the refused deposits write nothing
      yield* sql`UPDATE accounts SET version = version + 1 WHERE operator_id = ${tenant.operator.id}`
      for (const [index, playerId] of players.entries()) {
        const refused = yield* (operators[index % nodes] ?? tenant.call).post(
          `/api/v1/operator/players/${playerId}/deposits`,
          { amount: 100, external_reference: `d${index}${name}` }
        )
        assert.include(refused.text, "max_daily_deposit")
      }
      // bonuses first: a raise's commit ends them too
      assert.strictEqual(yield* (yield* Bonuses).applyDue, players.length)
      assert.strictEqual((yield* (yield* DueAccountChanges).run).done, players.length)
      const ended =
        yield* sql`SELECT DISTINCT pending_limits::text AS pending, limits ->> 'max_daily_deposit' AS "limit",
          (SELECT string_agg(result, ' ') FROM player_bonuses b WHERE b.player_id = p.id) AS results
        FROM players p WHERE operator_id = ${tenant.operator.id}`
      assert.deepStrictEqual(ended, [{ pending: "[]", limit: "5", results: "expired" }])
    }).pipe(Effect.scoped))
})

layer(layerThreeNodesLate, { excludeTestServices: true })("nodes that do not yet know a player's owner", (it) => {
  it.effect("forward the player's requests to the owning node", () =>
    Effect.gen(function*() {
      const { agent, game, name, ports, tenant } = yield* openHouse
      const playerId = yield* register(tenant.call, `p${name}`)
      const headers = { authorization: `Bearer ${yield* tokenOf(tenant.call, playerId)}` }
      for (const port of ports) {
        const read = yield* exchange(agent, port, "/api/v1/player/wallet", { headers })
        assert.strictEqual(read.status, 200, read.text)
        const path = `/api/v1/player/games/${game.id}/launch`
        const opened = yield* exchange(agent, port, path, { method: "POST", headers })
        assert.strictEqual(opened.status, 200, opened.text)
      }
    }).pipe(Effect.scoped))

  it.effect("forward profile updates, and the owning node answers providers with the new profile", () =>
    Effect.gen(function*() {
      const { game, name, operators, studio, tenant } = yield* openHouse
      const { playerId, token } = yield* seat(tenant.call, studio.call, game, { username: `p${name}`, balance: 0 })
      for (const [index, country] of ["SE", "DE", "FR"].entries()) {
        const path = `/api/v1/operator/players/${playerId}`
        const patched = yield* (operators[index] ?? tenant.call).send(path, { method: "PATCH", body: { country } })
        assert.strictEqual(patched.status, 200, patched.text)
        const about = yield* dataAs(
          yield* callWallet(studio.call, "authenticate", { session_token: token }),
          200,
          Schema.Struct({ country: Schema.String })
        )
        assert.strictEqual(about.country, country)
      }
    }).pipe(Effect.scoped))
})

layer(layerThreeNodes, { excludeTestServices: true })("the port shared by all nodes", (it) => {
  it.effect("reaches each of them", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const { tenant } = yield* openHouse
      const met = new Set<string | undefined>()
      for (let count = 0; count < nodes; count++) {
        met.add(servedBy(yield* exchange(false, port, "/health/live")))
      }
      assert.strictEqual(met.size, nodes, tenant.operator.slug)
    }).pipe(Effect.scoped))
})
