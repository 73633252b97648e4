import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { Ids } from "../../src/platform/Ids.ts"
import {
  BothServers,
  command,
  layerBothServers,
  made,
  operatorCall,
  runCommand,
  runHere,
  staffCall
} from "../kit/Backoffice.ts"
import { callerOf, makeAgent } from "../kit/E2eHttp.ts"
import { addGame, registration, tell } from "../kit/E2eWorld.ts"
import { addProvider } from "../kit/Keys.ts"

// SPEC sections 2.8, 3.4, 4.2, 4.6, 6.2 and 7 on bonuses, from outside: staff on the command line and the staff API, an operator
// and a game provider over signed HTTP, and only what is sent besides (events) read from the database.

let count = 0
const fresh = (prefix: string) => `${prefix}${(count++).toString(36)}`

/** An operator with a key. */
const newOperator = Effect.fnUntraced(function*(more: { readonly [field: string]: unknown } = {}) {
  const slug = fresh("casino-")
  const operator = yield* made("/operators", { slug, name: slug, currency: "EUR", ...more })
  const key = yield* made("/keys", { operator: slug, rate_limit_per_minute: 1_000_000 })
  const base = "/api/v1/operator"
  return {
    id: operator.id,
    slug,
    key,
    get: (path: string) => operatorCall(key, `${base}${path}`),
    post: (path: string, body: unknown) => operatorCall(key, `${base}${path}`, body)
  }
})

type Operator = Effect.Success<ReturnType<typeof newOperator>>

const newPlayer = Effect.fnUntraced(function*(operator: Operator, more: { readonly [field: string]: unknown } = {}) {
  const answer = yield* operator.post("/players", { ...registration(fresh("player_")), ...more })
  assert.strictEqual(answer.status, 201, JSON.stringify(answer))
  const id: number = answer.data.id
  return id
})

const newBonus = (operator: Operator, more: { readonly [field: string]: unknown } = {}) =>
  made("/bonuses", {
    operator: operator.slug,
    name: "Welcome",
    type: "deposit_match",
    default_amount: 500,
    wagering_multiplier: 2,
    max_grants_per_player: 0,
    valid_days: 7,
    ...more
  })

const balances = (operator: Operator, playerId: number) =>
  Effect.map(
    operator.get(`/players/${playerId}/wallet`),
    ({ data }): readonly [real: number, bonus: number] => [data.balance, data.bonus_balance]
  )

/** The events about a player's bonuses, oldest first. */
const eventsOf = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly type: string; readonly data: { readonly [name: string]: unknown } }>`
    SELECT type, data FROM events WHERE player_id = ${playerId} AND type LIKE 'bonus.%' ORDER BY id`
  return rows.map(({ data, type }) => ({ type, data }))
})

/** A seat at a slot and a live table, with a deposit. */
const seat = Effect.fnUntraced(function*(operator: Operator, amount: number) {
  const { publicPort } = yield* BothServers
  const provider = yield* addProvider(fresh("studio-"))
  const slots = yield* addGame(provider.id, fresh("slots"))
  const table = yield* addGame(provider.id, fresh("table"), { type: "live" })
  const playerId = yield* newPlayer(operator)
  if (amount > 0) {
    yield* operator.post(`/players/${playerId}/deposits`, { amount, external_reference: fresh("deposit") })
  }
  const launched = yield* operator.post(`/players/${playerId}/games/${slots.id}/launch`, {})
  const caller = callerOf(yield* makeAgent(), publicPort, provider)
  const bet = (amount: number, game = slots, more: { readonly [field: string]: unknown } = {}) => {
    const id = fresh("bet")
    return tell(caller, "bet", {
      request_id: id,
      transaction_id: id,
      session_token: launched.data.session_token,
      game_id: game.externalId,
      round_id: id,
      amount,
      currency: "EUR",
      ...more
    })
  }
  return { playerId, slots, table, bet }
})

layer(layerBothServers, { excludeTestServices: true })("bonuses", (it) => {
  it.effect("2.8 and 4.6: staff create bonuses on the command line, operators see the active ones", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const { slots } = yield* seat(operator, 0)
      const created = yield* command([
        "bonus",
        "create",
        "--operator",
        operator.slug,
        "--name",
        "Reload",
        "--type",
        "deposit_match",
        "--default-amount",
        "1000",
        "--wagering-multiplier",
        "30",
        "--valid-days",
        "14",
        "--max-bet",
        "500",
        "--max-conversion-multiplier",
        "5",
        "--max-grants-per-player",
        "2",
        "--contributions",
        `${slots.id}=50`
      ])
      const entry = {
        id: created.id,
        name: "Reload",
        description: "",
        type: "deposit_match",
        default_amount: 1000,
        wagering_multiplier: 30,
        valid_days: 14,
        max_bet: 500,
        max_conversion_multiplier: 5,
        max_grants_per_player: 2,
        is_active: true
      }
      assert.deepInclude(created, { ...entry, operator_id: operator.id })
      assert.deepStrictEqual(created.contributions, { [slots.id]: 50 })
      const hidden = yield* newBonus(operator, { active: false })
      assert.deepStrictEqual((yield* operator.get("/bonuses")).data, [entry])
      const listed = yield* command(["bonus", "list", "--operator", operator.slug])
      assert.deepStrictEqual(listed.map(({ id }: { readonly id: number }) => id), [created.id, hidden.id])

      yield* staffCall("PATCH", `/backoffice/v1/bonuses/${hidden.id}`, { active: true, name: "Shown" })
      assert.deepStrictEqual(
        (yield* operator.get("/bonuses")).data.map(({ name }: { readonly name: string }) => name),
        ["Reload", "Shown"]
      )
      const wrong = yield* runCommand([
        ..."bonus create --name X --type cash --default-amount 5 --wagering-multiplier 3 --contributions 999999=10"
          .split(" "),
        "--operator",
        operator.slug
      ])
      assert.strictEqual(wrong.exitCode, 1)
      assert.deepStrictEqual(Object.keys(JSON.parse(wrong.stderr).error.details), [
        "wagering_multiplier",
        "contributions.999999"
      ])
    }))

  it.effect("2.8, 3.4 and 6.2: a grant is credited at once, listed, and told", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const playerId = yield* newPlayer(operator, { external_id: fresh("x") })
      const bonus = yield* newBonus(operator, { max_bet: 250 })
      const granted = yield* operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonus.id, note: "hello" })
      assert.strictEqual(granted.status, 201)
      const { created_at, expires_at, id, started_at, ...rest } = granted.data
      assert.deepStrictEqual(rest, {
        player_id: playerId,
        bonus_id: bonus.id,
        name: "Welcome",
        type: "deposit_match",
        state: "activated",
        result: null,
        amount: 500,
        currency: "EUR",
        wager_requirement: 1000,
        wagered_amount: 0,
        wagering_progress: 0,
        converted_amount: 0,
        forfeited_amount: 0,
        max_bet: 250,
        finished_at: null
      })
      assert.strictEqual(started_at, created_at)
      assert.strictEqual(Date.parse(expires_at) - Date.parse(started_at), 7 * 86_400_000)
      assert.deepStrictEqual(yield* balances(operator, playerId), [0, 500])

      const waiting = yield* operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonus.id, amount: 70 })
      assert.deepInclude(waiting.data, { state: "pending", amount: 70, started_at: null, expires_at: null })
      const list = (query: string) => operator.get(`/players/${playerId}/bonuses${query}`)
      assert.deepStrictEqual((yield* list("")).data, [waiting.data, granted.data])
      assert.deepStrictEqual((yield* list("?state=pending")).data, [waiting.data])
      assert.deepStrictEqual((yield* list("?page=2&per_page=1")).data, [granted.data])
      assert.strictEqual((yield* list("?state=over")).code, "VALIDATION_FAILED")

      const events = yield* eventsOf(playerId)
      assert.deepStrictEqual(events.map(({ data, type }) => [type, data["bonus"]]), [
        ["bonus.granted", granted.data],
        ["bonus.granted", waiting.data]
      ])
      assert.deepStrictEqual(Object.keys(Object(events[0]?.data["player"])).sort(), ["external_id", "id", "username"])
      const ledger = yield* operator.get(`/players/${playerId}/transactions`)
      assert.deepInclude(ledger.data[0], {
        wallet: "bonus",
        type: "bonus_correction_up",
        amount: 500,
        balance_after: 500,
        player_bonus_id: id
      })
    }))

  it.effect("3.4: wagering by contribution converts, and starts the bonus that waits", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const { bet, playerId, slots, table } = yield* seat(operator, 1000)
      const bonus = yield* newBonus(operator, {
        max_conversion_multiplier: 1,
        max_bet: 900,
        contributions: { [slots.id]: 100 }
      })
      const first = yield* operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonus.id })
      const next = yield* operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonus.id, amount: 40 })
      const tooLarge = yield* bet(901)
      assert.deepStrictEqual([tooLarge.status, tooLarge.code, tooLarge.details["max_bet"]], [422, "BONUS_INVALID", 900])
      yield* bet(200, table)
      const { data: [, running] } = yield* operator.get(`/players/${playerId}/bonuses`)
      assert.deepInclude(running, { id: first.data.id, wagered_amount: 20, wagering_progress: 2 })
      yield* bet(800)
      yield* bet(180)
      // the real money is staked, and 180 of the bonus
      assert.deepStrictEqual(yield* balances(operator, playerId), [320, 40])
      const { data: [active, converted] } = yield* operator.get(`/players/${playerId}/bonuses`)
      assert.deepInclude(converted, {
        id: first.data.id,
        state: "finished",
        result: "converted",
        wagered_amount: 1000,
        wagering_progress: 100,
        converted_amount: 320,
        forfeited_amount: 0
      })
      assert.deepInclude(active, { id: next.data.id, state: "activated" })
      const ledger = yield* operator.get(`/players/${playerId}/transactions?type=bonus_conversion`)
      assert.deepStrictEqual(
        ledger.data.map((
          { amount, player_bonus_id, wallet }: { readonly [field: string]: unknown }
        ) => [wallet, amount, player_bonus_id]),
        [["real", 320, first.data.id], ["bonus", -320, first.data.id]]
      )
      const completed = (yield* eventsOf(playerId)).filter(({ type }) => type === "bonus.completed")
      assert.deepStrictEqual(completed.map(({ data }) => data["bonus"]), [converted])
    }))

  it.effect("3.4: one without wagering is paid out at once; the last of a bonus staked in vain is lost", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const { bet, playerId } = yield* seat(operator, 0)
      const cash = yield* newBonus(operator, { type: "cash", wagering_multiplier: 0 })
      const paid = yield* operator.post(`/players/${playerId}/bonuses`, { bonus_id: cash.id, amount: 25 })
      assert.deepInclude(paid.data, {
        state: "finished",
        result: "converted",
        converted_amount: 25,
        wagering_progress: 100
      })
      assert.deepStrictEqual(yield* balances(operator, playerId), [25, 0])
      const bonus = yield* newBonus(operator, { wagering_multiplier: 10 })
      yield* operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonus.id, amount: 75 })
      yield* bet(100, undefined, { round_closed: true })
      const { data: [lost] } = yield* operator.get(`/players/${playerId}/bonuses`)
      assert.deepInclude(lost, { state: "finished", result: "lost", wagered_amount: 100, wagering_progress: 13 })
      assert.deepStrictEqual(
        (yield* eventsOf(playerId)).map(({ data, type }) => [type, Object(data["bonus"]).result]),
        [["bonus.granted", null], ["bonus.completed", "converted"], ["bonus.granted", null], [
          "bonus.completed",
          "lost"
        ]]
      )
    }))

  it.effect("3.4: a bonus whose time has come is over for whoever looks, also after a restart, and without anybody", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* newOperator()
      const bonus = yield* newBonus(operator)
      // a player as a stopped process has left one: no actor has seen the bonus
      const leave = Effect.fnUntraced(function*() {
        const playerId = yield* newPlayer(operator)
        const id = yield* (yield* Ids).reserve(2)
        yield* sql`INSERT INTO player_bonuses (id, operator_id, player_id, bonus_id, name, type, state, amount,
            wager_requirement, wagered, max_bet, max_conversion, valid_days, contributions, open_rounds, converted, forfeited,
            started_at, expires_at, created_at)
          VALUES (${id}, ${operator.id}, ${playerId}, ${bonus.id}, 'Welcome', 'deposit_match', 'activated', 90, 900, 40, 0, 0,
            1, '{}', 0, 0, 0, now() - interval '2 days', now() - interval '1 day', now() - interval '2 days')`
        yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after,
            player_bonus_id, created_at)
          VALUES (${playerId}, 1, ${id + 1}, ${operator.id}, 'bonus', 'bonus_correction_up', 90, 90, ${id}, now())`
        yield* sql`UPDATE accounts SET bonus_balance = 90, entry_seq = 1, wallet_seq = 1 WHERE player_id = ${playerId}`
        return { id, playerId }
      })
      const seen = yield* leave()
      assert.deepStrictEqual(yield* balances(operator, seen.playerId), [0, 0])
      const unseen = yield* leave()
      assert.strictEqual(yield* (yield* Bonuses).tend, 1)
      assert.strictEqual(yield* (yield* Bonuses).tend, 0)
      for (const { id, playerId } of [seen, unseen]) {
        const { data } = yield* operator.get(`/players/${playerId}/bonuses`)
        assert.deepInclude(data[0], {
          id,
          state: "finished",
          result: "expired",
          wagered_amount: 40,
          forfeited_amount: 90
        })
        assert.deepStrictEqual((yield* eventsOf(playerId)).map(({ type }) => type), ["bonus.completed"])
      }
    }))

  it.effect("4.6 and 7: refuses with BONUS_INVALID, names bad fields, and runs once under an idempotency key", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const { publicPort } = yield* BothServers
      const playerId = yield* newPlayer(operator)
      const bonus = yield* newBonus(operator, { max_grants_per_player: 1 })
      const path = `/players/${playerId}/bonuses`
      for (
        const [body, fields] of [[{}, ["bonus_id"]], [{ bonus_id: "x", amount: 0, note: 5 }, [
          "bonus_id",
          "amount",
          "note"
        ]]] as const
      ) {
        const answer = yield* operator.post(path, body)
        assert.deepStrictEqual([answer.status, answer.code, Object.keys(answer.details)], [422, "VALIDATION_FAILED", [
          ...fields
        ]])
      }
      assert.strictEqual((yield* operator.post(path, { bonus_id: 987_654_321 })).code, "NOT_FOUND")

      const caller = callerOf(yield* makeAgent(), publicPort, {
        header: "X-Api-Key",
        key: operator.key.key,
        secret: operator.key.secret
      })
      const once = () =>
        caller.post(`/api/v1/operator${path}`, { bonus_id: bonus.id }, { "Idempotency-Key": "grant-1" })
      const first = yield* once()
      const again = yield* once()
      assert.deepStrictEqual([first.status, again.status, again.text], [201, 201, first.text])
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      assert.deepStrictEqual(yield* balances(operator, playerId), [0, 500])

      const capped = yield* operator.post(path, { bonus_id: bonus.id })
      assert.deepStrictEqual([capped.status, capped.code, capped.details["reason"]], [
        422,
        "BONUS_INVALID",
        "max_grants_per_player"
      ])
      yield* staffCall("PATCH", `/backoffice/v1/bonuses/${bonus.id}`, { max_grants_per_player: 0, active: false })
      assert.strictEqual((yield* operator.post(path, { bonus_id: bonus.id })).details["reason"], "inactive")
    }))

  it.effect("5.3 and 7: reading and writing have scopes of their own; the feature can be switched off", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator({ cooperation_model: "turnkey" })
      const playerId = yield* newPlayer(operator)
      const reader = yield* made("/keys", { operator: operator.slug, scopes: ["bonuses:read"] })
      const path = `/api/v1/operator/players/${playerId}`
      assert.strictEqual((yield* operatorCall(reader, `${path}/bonuses`)).status, 200)
      for (
        const [uri, body] of [[`${path}/bonuses`, { bonus_id: 1 }], [`${path}/promo-codes`, { code: "X" }]] as const
      ) {
        const refused = yield* operatorCall(reader, uri, body)
        assert.deepStrictEqual([refused.status, refused.code], [403, "INSUFFICIENT_SCOPE"])
        assert.deepStrictEqual(refused.details["required_scopes"], ["bonuses:write"])
      }
      yield* staffCall("PATCH", `/backoffice/v1/operators/${operator.slug}`, { disabled_features: ["bonuses"] })
      const off = yield* operatorCall(reader, "/api/v1/operator/bonuses")
      assert.deepStrictEqual([off.status, off.code, off.details["feature"]], [403, "FEATURE_NOT_AVAILABLE", "bonuses"])
    }))

  it.effect("staff cancel what runs and what waits, and the audit log knows", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const playerId = yield* newPlayer(operator)
      const bonus = yield* newBonus(operator)
      const grant = operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonus.id })
      const [first, second] = [yield* grant, yield* grant]
      const cancelled = yield* command(["bonus", "cancel", `${first.data.id}`, "--reason", "asked for"])
      assert.deepInclude(cancelled, {
        id: first.data.id,
        state: "finished",
        result: "cancelled",
        forfeited_amount: 500
      })
      assert.deepStrictEqual(yield* balances(operator, playerId), [0, 500])
      assert.deepInclude(yield* command(["bonus", "cancel", `${second.data.id}`]), { result: "cancelled" })
      const again = yield* runCommand(["bonus", "cancel", `${first.data.id}`])
      assert.deepStrictEqual([again.exitCode, JSON.parse(again.stderr).error.code], [1, "BONUS_INVALID"])
      assert.strictEqual((yield* staffCall("POST", "/backoffice/v1/player-bonuses/5/cancel", {})).code, "NOT_FOUND")
      const audit = yield* command(["audit", "list", "--player", `${playerId}`])
      assert.deepInclude(audit[1], {
        action: "bonus.cancel",
        subject: `player_bonus:${first.data.id}`,
        reason: "asked for"
      })
    }))

  it.effect("4.6 and 7: promo codes, in any case, once per player, until they expire or are used up", () =>
    Effect.gen(function*() {
      const operator = yield* newOperator()
      const bonus = yield* newBonus(operator)
      const created = yield* command(
        `promo create --operator ${operator.slug} --code Hello-10 --bonus ${bonus.id} --max-redemptions 2`.split(" ")
      )
      assert.deepInclude(created, {
        code: "Hello-10",
        bonus_id: bonus.id,
        max_redemptions: 2,
        expires_at: null,
        redemptions: 0
      })
      const taken = yield* staffCall("POST", "/backoffice/v1/promo-codes", {
        operator: operator.slug,
        code: "HELLO-10",
        bonus: bonus.id
      })
      assert.deepStrictEqual(taken.details, { code: ["is already taken"] })
      const redeem = (playerId: number, code: unknown) => operator.post(`/players/${playerId}/promo-codes`, { code })
      const [ada, bob, cleo] = [yield* newPlayer(operator), yield* newPlayer(operator), yield* newPlayer(operator)]

      const redeemed = yield* redeem(ada, "hElLo-10")
      assert.strictEqual(redeemed.status, 201)
      assert.deepStrictEqual(Object.keys(redeemed.data), ["redemption_id", "code", "bonus"])
      assert.strictEqual(redeemed.data.code, "Hello-10")
      assert.deepStrictEqual((yield* operator.get(`/players/${ada}/bonuses`)).data, [redeemed.data.bonus])
      const reasonOf = Effect.map(({ code, details, status }: typeof redeemed) => [status, code, details["reason"]])
      assert.deepStrictEqual(yield* reasonOf(redeem(ada, "HELLO-10")), [422, "PROMO_CODE_INVALID", "used"])
      assert.deepStrictEqual(yield* reasonOf(redeem(ada, "NOPE")), [422, "PROMO_CODE_INVALID", "unknown"])
      assert.strictEqual((yield* redeem(bob, "hello-10")).status, 201)
      assert.deepStrictEqual(yield* reasonOf(redeem(cleo, "hello-10")), [422, "PROMO_CODE_INVALID", "exhausted"])
      yield* made("/promo-codes", {
        operator: operator.slug,
        code: "OLD",
        bonus: bonus.id,
        expires_at: "2020-01-01T00:00:00Z"
      })
      assert.deepStrictEqual(yield* reasonOf(redeem(cleo, "old")), [422, "PROMO_CODE_INVALID", "expired"])
      assert.deepStrictEqual((yield* redeem(cleo, "")).details, { code: ["must be 1 to 64 characters"] })
      assert.deepStrictEqual(yield* balances(operator, cleo), [0, 0])
    }))

  // Goal: a cap holds when everybody comes at once, and nobody who fits under it is turned away. Method: forty players, a cap of
  // fifteen, all requests in flight together, two of them for each player.
  it.effect("4.6: a cap holds under concurrency, by the commit itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* newOperator()
      const bonus = yield* newBonus(operator)
      const promo = yield* made("/promo-codes", {
        operator: operator.slug,
        code: "RUSH",
        bonus: bonus.id,
        max_redemptions: 15
      })
      const players = yield* Effect.forEach(Array.from({ length: 40 }), () => newPlayer(operator), { concurrency: 8 })
      const answers = yield* Effect.forEach(
        [...players, ...players],
        (playerId) => operator.post(`/players/${playerId}/promo-codes`, { code: "rush" }),
        { concurrency: "unbounded" }
      )
      const good = answers.filter(({ status }) => status === 201)
      assert.strictEqual(good.length, 15)
      assert.strictEqual(new Set(good.map(({ data }) => data.bonus.player_id)).size, 15)
      for (const answer of answers) {
        if (answer.status !== 201) assert.strictEqual(answer.code, "PROMO_CODE_INVALID", JSON.stringify(answer))
      }
      const [row] = yield* sql<{ readonly stored: number; readonly counted: number; readonly granted: number }>`
        SELECT (SELECT redemptions FROM promo_codes WHERE id = ${promo.id})::int AS stored,
          (SELECT count(*) FROM promo_redemptions WHERE promo_code_id = ${promo.id})::int AS counted,
          (SELECT count(*) FROM player_bonuses WHERE bonus_id = ${bonus.id})::int AS granted`
      assert.deepStrictEqual(row, { stored: 15, counted: 15, granted: 15 })
    }))

  it.effect("4.2: a promo code at registration is redeemed when it is one, and kept either way", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* newOperator()
      const bonus = yield* newBonus(operator)
      yield* made("/promo-codes", { operator: operator.slug, code: "START", bonus: bonus.id })
      const good = yield* newPlayer(operator, { promo_code: "start" })
      const bad = yield* newPlayer(operator, { promo_code: "stop" })
      assert.deepStrictEqual([yield* balances(operator, good), yield* balances(operator, bad)], [[0, 500], [0, 0]])
      const codeOf = (playerId: number) =>
        Effect.map(operator.get(`/players/${playerId}`), ({ data }) => data.registration.promo_code)
      assert.deepStrictEqual([yield* codeOf(good), yield* codeOf(bad)], ["start", "stop"])

      // a process that stopped between the two leaves it to the job
      yield* sql`DELETE FROM promo_redemptions WHERE player_id = ${good}`
      yield* sql`UPDATE promo_codes SET redemptions = 0 WHERE operator_id = ${operator.id}`
      yield* sql`UPDATE players SET registration_promo_due = true, created_at = now() - interval '1 minute'
        WHERE id IN (${good}, ${bad})`
      const bonuses = yield* Bonuses
      assert.strictEqual(yield* bonuses.tend, 2)
      assert.strictEqual(yield* bonuses.tend, 0)
      assert.strictEqual((yield* operator.get(`/players/${good}/bonuses`)).data.length, 2)
    }))

  it.effect("1: another operator's players, bonuses and codes are not there", () =>
    Effect.gen(function*() {
      const [mine, other] = [yield* newOperator(), yield* newOperator()]
      const bonus = yield* newBonus(other)
      yield* made("/promo-codes", { operator: other.slug, code: "THEIRS", bonus: bonus.id })
      const playerId = yield* newPlayer(mine)
      const theirs = yield* newPlayer(other)
      assert.deepStrictEqual((yield* mine.get("/bonuses")).data, [])
      const own = `/players/${playerId}`
      const foreign = `/players/${theirs}`
      for (
        const answer of [
          yield* mine.get(`${foreign}/bonuses`),
          yield* mine.post(`${foreign}/bonuses`, { bonus_id: bonus.id }),
          yield* mine.post(`${foreign}/bonuses`, {}),
          yield* mine.post(`${foreign}/promo-codes`, { code: "THEIRS" }),
          yield* mine.post(`${own}/bonuses`, { bonus_id: bonus.id }),
          yield* mine.get("/players/x/bonuses")
        ]
      ) assert.deepStrictEqual([answer.status, answer.code], [404, "NOT_FOUND"])
      assert.strictEqual((yield* mine.post(`${own}/promo-codes`, { code: "THEIRS" })).code, "PROMO_CODE_INVALID")
      const crossed = yield* staffCall("POST", "/backoffice/v1/promo-codes", {
        operator: mine.slug,
        code: "MIX",
        bonus: bonus.id
      })
      assert.deepStrictEqual(crossed.details, { bonus: ["is no bonus of this operator"] })
    }))

  it.effect("and the ledger of all of it proves itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // what the test on registrations took out by hand
      yield* sql`UPDATE promo_codes c SET redemptions =
        (SELECT count(*) FROM promo_redemptions r WHERE r.promo_code_id = c.id)`
      const { stdout } = yield* runHere(["ledger", "verify"])
      const { violations }: { readonly violations: ReadonlyArray<{ readonly rule: string }> } = JSON.parse(stdout)
      // entries of balances from before the rule, which a test wrote by hand, and nothing else
      assert.deepStrictEqual(violations.map(({ rule }) => rule), ["chain_row_added", "chain_row_added"])
    }))
})
