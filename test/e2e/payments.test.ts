import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { BothServers, command, layerBothServers, made, runCommand, staffCall } from "../kit/Backoffice.ts"
import { sendSigned, type SignedCall } from "../kit/HttpCalls.ts"

// Goal: payments keep SPEC.md as operators and staff meet it, section by section. Method: operators sign calls to the public server,
// staff call the staff API or run the command line, both on one real database.

const api = "/api/v1/operator"

interface Key {
  readonly key: string
  readonly secret: string
}

let count = 0

/** A signed call. `data` and `meta` are those of the answer's body. */
const call = Effect.fnUntraced(function*(signer: Key, path: string, options: Partial<SignedCall> = {}) {
  const { publicPort } = yield* BothServers
  const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const reply = yield* sendSigned(publicPort, { header: "X-Api-Key", ...signer }, api + path, {
    timestamp,
    nonce: `p${count++}`,
    ...options
  })
  return { ...reply, ...Object(reply.json) }
})

/** An operator with a way to pay, a key and players; everything under `slug`. */
const open = Effect.fnUntraced(function*(slug: string, settings: { readonly [field: string]: unknown } = {}) {
  const operator = yield* made("/operators", { slug, name: slug, currency: "EUR", ...settings })
  yield* made("/payment-methods", { operator: slug, code: "bank", min_withdrawal: 10, max_withdrawal: 5000 })
  const key: Key = yield* made("/keys", { operator: slug, rate_limit_per_minute: 10_000 })
  const register = Effect.fnUntraced(function*(username: string) {
    const { data } = yield* call(key, "/players", {
      body: {
        username,
        email: `${username}@example.com`,
        external_id: `ext-${username}`,
        first_name: "Ada",
        last_name: username,
        birth_date: "1990-01-01",
        country: "MT",
        terms_accepted: true
      }
    })
    const id: number = data.id
    return id
  })
  const deposit = (player: number, amount: number, reference = `d${count++}`) =>
    call(key, `/players/${player}/deposits`, { body: { amount, external_reference: reference } })
  const withdraw = (player: number, amount: number, fields: { readonly [field: string]: unknown } = {}) =>
    call(key, `/players/${player}/withdrawals`, { body: { amount, payment_method: "bank", ...fields } })
  const wallet = (player: number) => Effect.map(call(key, `/players/${player}/wallet`), ({ data }) => data)
  return { operator, key, register, deposit, withdraw, wallet }
})

const statusesOf = (replies: ReadonlyArray<{ readonly status: number }>) =>
  replies.map(({ status }) => status).sort((a, b) => a - b)

const staffMove = (id: number, move: string, token?: string, reason?: string) =>
  staffCall(
    "POST",
    `/backoffice/v1/payments/${id}/${move}`,
    reason === undefined ? {} : { reason },
    ...(token === undefined ? [] : [{ authorization: `Bearer ${token}` }])
  )

const verified = (operator: string) =>
  Effect.map(
    staffCall("GET", `/backoffice/v1/ledger/verification?operator=${operator}`),
    ({ data }) => data.violations
  )

layer(layerBothServers, { excludeTestServices: true })("payments", (it) => {
  it.effect("4.4 a withdrawal holds its amount and waits", () =>
    Effect.gen(function*() {
      const { deposit, key, register, wallet, withdraw } = yield* open("hold")
      const player = yield* register("hold1")
      yield* deposit(player, 1000)
      const made = yield* withdraw(player, 400, {
        external_reference: "w1",
        info: "DE89\n3704",
        bank_name: "Bank",
        notes: "first",
        unknown_field: 1
      })
      assert.strictEqual(made.status, 201)
      const { created_at, id, updated_at, ...fields } = made.data
      assert.deepStrictEqual(fields, {
        type: "withdrawal",
        status: "new",
        player_id: player,
        amount: 400,
        currency: "EUR",
        payment_method: "bank",
        external_reference: "w1",
        info: "DE89\n3704",
        reject_reason: null,
        is_reversed: false,
        paid_at: null,
        rejected_at: null,
        cancelled_at: null
      })
      assert.strictEqual(created_at, updated_at)
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.strictEqual((yield* wallet(player)).balance, 600)
      const ledger = yield* call(key, `/players/${player}/transactions?type=withdrawal`)
      assert.deepInclude(ledger.data[0], { amount: -400, balance_after: 600, payment_request_id: id, wallet: "real" })
      assert.deepStrictEqual((yield* call(key, `/payments/${id}`)).data, made.data)

      // idempotent on the reference, also when it has gone on and the player may do nothing any more
      yield* staffMove(id, "approve")
      const repeated = yield* withdraw(player, 400, { external_reference: "w1" })
      assert.deepStrictEqual([repeated.status, repeated.data.id, repeated.data.status], [200, id, "allowed"])
      const other = yield* withdraw(player, 401, { external_reference: "w1" })
      assert.deepStrictEqual([other.status, other.code], [409, "DUPLICATE_TRANSACTION"])
      const asDeposit = yield* deposit(player, 400, "w1")
      assert.deepStrictEqual([asDeposit.status, asDeposit.code], [409, "DUPLICATE_TRANSACTION"])
      assert.strictEqual((yield* wallet(player)).balance, 600)

      // without a reference each is one of its own
      const first = yield* withdraw(player, 10)
      assert.deepStrictEqual([first.status, first.data.external_reference], [201, null])
      assert.notStrictEqual((yield* withdraw(player, 10)).data.id, first.data.id)
    }))

  it.effect("4.4 and 7 a withdrawal that may not be is refused for its first reason", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { deposit, register, wallet, withdraw } = yield* open("refuse", { kyc_withdrawal_threshold: 500 })
      yield* made("/payment-methods", { operator: "refuse", code: "cards", supports_withdrawal: false })
      yield* made("/payment-methods", { operator: "refuse", code: "sek", currencies: ["SEK"] })
      const player = yield* register("refuse1")
      yield* deposit(player, 1000)
      const refused = Effect.fnUntraced(function*(amount: number, fields: { readonly [field: string]: unknown } = {}) {
        const { code, details, status } = yield* withdraw(player, amount, fields)
        return [status, code, details]
      })
      for (const method of ["cash", "cards"]) {
        assert.deepStrictEqual(yield* refused(20, { payment_method: method }), [
          422,
          "PAYMENT_REQUEST_INVALID",
          { payment_method: method }
        ])
      }
      assert.deepStrictEqual(yield* refused(20, { payment_method: "sek" }), [
        422,
        "PAYMENT_REQUEST_INVALID",
        { payment_method: "sek", currency: "EUR" }
      ])
      for (const amount of [9, 5001]) {
        assert.deepStrictEqual(yield* refused(amount), [
          422,
          "PAYMENT_REQUEST_INVALID",
          { min_withdrawal: 10, max_withdrawal: 5000 }
        ])
      }
      assert.deepStrictEqual(yield* refused(0, { payment_method: undefined, external_reference: "", notes: 5 }), [
        422,
        "VALIDATION_FAILED",
        {
          amount: ["must be between 1 and 9007199254740991"],
          payment_method: ["is required"],
          external_reference: ["must be 1 to 128 characters"],
          notes: ["must be a string"]
        }
      ])

      // 2.3 and 4.4: the allowance of who is not verified
      assert.strictEqual((yield* wallet(player)).unverified_withdrawal_allowance, 500)
      const { data: { id } } = yield* withdraw(player, 300)
      assert.strictEqual((yield* wallet(player)).unverified_withdrawal_allowance, 200)
      assert.deepStrictEqual(yield* refused(201), [
        422,
        "KYC_REQUIRED",
        { kyc_status: "not_started", unverified_withdrawal_allowance: 200, threshold: 500 }
      ])
      yield* staffMove(id, "reject")
      assert.strictEqual((yield* wallet(player)).unverified_withdrawal_allowance, 500)
      yield* staffCall("PATCH", "/backoffice/v1/operators/refuse", { kyc_withdrawal_threshold: null })
      assert.isNull((yield* wallet(player)).unverified_withdrawal_allowance)
      assert.deepStrictEqual(yield* refused(1001), [402, "INSUFFICIENT_FUNDS", { balance: 1000 }])

      // 3.5: who is excluded may withdraw; a locked account may not
      const excluded = yield* register("refuse2")
      yield* sql`UPDATE players SET exclusion_type = 'self_exclusion', exclusion_since = now(),
        exclusion_until = now() + interval '1 year' WHERE id = ${excluded}`
      yield* made(`/players/${excluded}/corrections`, { amount: 100, reason: "x" })
      assert.strictEqual((yield* deposit(excluded, 50)).code, "PLAYER_RESTRICTED")
      assert.strictEqual((yield* withdraw(excluded, 100)).status, 201)
      for (
        const [name, column, reason] of [["refuse3", "status = 'locked'", "locked"], [
          "refuse4",
          "can_withdraw = false",
          "can_withdraw"
        ]] as const
      ) {
        const restricted = yield* register(name)
        yield* sql`UPDATE players SET ${sql.literal(column)} WHERE id = ${restricted}`
        const { code, details } = yield* withdraw(restricted, 20)
        assert.deepStrictEqual([code, details], ["PLAYER_RESTRICTED", { reason }])
      }
      assert.deepStrictEqual(yield* verified("refuse"), [])
    }))

  it.effect("4.4 payments are listed newest first, filtered and in pages", () =>
    Effect.gen(function*() {
      const { deposit, key, register, withdraw } = yield* open("list")
      const [one, two] = [yield* register("list1"), yield* register("list2")]
      const d1 = (yield* deposit(one, 1000, "d-1")).data
      const d2 = (yield* deposit(two, 2000, "d-2")).data
      const w1 = (yield* withdraw(one, 100, { external_reference: "w-1" })).data
      const w2 = (yield* withdraw(two, 200)).data
      const w3 = (yield* withdraw(one, 300)).data
      yield* staffMove(w2.id, "approve")
      yield* staffMove(w3.id, "cancel")
      const ids = (query: string) =>
        Effect.map(
          call(key, `/payments${query}`),
          ({ data }) => data.map(({ id }: { readonly id: number }) => id)
        )
      const expected: ReadonlyArray<readonly [string, ReadonlyArray<{ readonly id: number }>]> = [
        ["", [w3, w2, w1, d2, d1]],
        [`?player_id=${one}`, [w3, w1, d1]],
        ["?player_id=999999999", []],
        ["?type=deposit", [d2, d1]],
        ["?type=withdrawal", [w3, w2, w1]],
        ["?status=new", [w1]],
        ["?status=allowed", [w2]],
        ["?status=cancelled", [w3]],
        ["?status=rejected", []],
        [`?status=paid&player_id=${two}`, [d2]],
        ["?external_reference=w-1", [w1]],
        ["?external_reference=nothing", []],
        [`?created_from=${w1.created_at}&created_to=2099-01-01T00:00:00Z`, [w3, w2, w1]],
        [`?created_to=${d1.created_at}`, [d1]],
        ["?per_page=2", [w3, w2]],
        ["?per_page=2&page=3", [d1]],
        ["?per_page=2&page=4", []]
      ]
      for (const [query, payments] of expected) {
        assert.deepStrictEqual(yield* ids(query), payments.map(({ id }) => id), query)
      }
      const middle = yield* call(key, "/payments?per_page=2&page=2&type=withdrawal")
      assert.deepInclude(middle.meta, { current_page: 2, per_page: 2, total: 3, last_page: 2, from: 3, to: 3 })
      assert.deepStrictEqual(Object.keys(middle.links), ["first", "last", "prev", "next"])
      const wrong = yield* call(
        key,
        "/payments?player_id=x&type=bet&status=open&created_from=today&page=0&per_page=101&external_reference="
      )
      assert.deepStrictEqual([wrong.status, wrong.code], [422, "VALIDATION_FAILED"])
      assert.deepStrictEqual(Object.keys(wrong.details).sort(), [
        "created_from",
        "external_reference",
        "page",
        "per_page",
        "player_id",
        "status",
        "type"
      ])

      const staff = yield* staffCall("GET", `/backoffice/v1/payments?operator=list&type=withdrawal&player=${one}`)
      assert.deepStrictEqual(staff.data.map(({ id }: { readonly id: number }) => id), [w3.id, w1.id])
    }))

  it.effect("3.2 and 6.2 every state with its money and its event", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { deposit, key, operator, register, wallet, withdraw } = yield* open("states")
      const player = yield* register("states1")
      const { data: { id: depositId } } = yield* deposit(player, 1000)
      const next = Effect.map(withdraw(player, 100), ({ data }): number => data.id)
      const [paid, rejected, refused, cancelled] = [yield* next, yield* next, yield* next, yield* next]
      assert.strictEqual((yield* wallet(player)).balance, 600)

      assert.deepInclude((yield* staffMove(paid, "approve")).data, {
        status: "allowed",
        operator_id: operator.id,
        second_approved_by: null,
        notes: null
      })
      assert.isString((yield* staffMove(paid, "pay")).data.paid_at)
      assert.strictEqual((yield* wallet(player)).balance, 600)
      yield* staffMove(rejected, "approve")
      assert.deepInclude((yield* staffMove(rejected, "reject", undefined, "closed account")).data, {
        status: "rejected",
        reject_reason: "closed account"
      })
      assert.strictEqual((yield* staffMove(refused, "reject")).data.status, "rejected")
      assert.strictEqual((yield* staffMove(cancelled, "cancel")).data.status, "cancelled")
      assert.strictEqual((yield* wallet(player)).balance, 900)
      const charged = yield* staffMove(depositId, "chargeback", undefined, "fraud")
      assert.deepInclude(charged.data, { status: "paid", is_reversed: true })
      assert.strictEqual((yield* wallet(player)).balance, -100)
      assert.strictEqual((yield* withdraw(player, 10)).code, "INSUFFICIENT_FUNDS")

      for (
        const [id, move] of [[paid, "reject"], [paid, "chargeback"], [depositId, "approve"], [
          cancelled,
          "pay"
        ]] as const
      ) {
        const { code, status } = yield* staffMove(id, move)
        assert.deepStrictEqual([status, code], [422, "PAYMENT_REQUEST_INVALID"], move)
      }
      const entries = yield* call(key, `/players/${player}/transactions`)
      assert.deepStrictEqual(
        entries.data.map(({ amount, payment_request_id, type }: { readonly [field: string]: unknown }) => [
          type,
          amount,
          payment_request_id
        ]),
        [
          ["chargeback", -1000, depositId],
          ["withdrawal_rejection", 100, cancelled],
          ["withdrawal_rejection", 100, refused],
          ["withdrawal_rejection", 100, rejected],
          ["withdrawal", -100, cancelled],
          ["withdrawal", -100, refused],
          ["withdrawal", -100, rejected],
          ["withdrawal", -100, paid],
          ["deposit", 1000, depositId]
        ]
      )
      const events = yield* sql<{ readonly type: string; readonly data: { readonly [field: string]: unknown } }>`
        SELECT type, data FROM events WHERE player_id = ${player} AND type <> 'player.registered' ORDER BY id`
      assert.deepStrictEqual(events.map(({ type }) => type), [
        "deposit.paid",
        ...Array<string>(4).fill("withdrawal.requested"),
        "withdrawal.paid",
        "withdrawal.rejected",
        "withdrawal.rejected"
      ])
      // an event carries the payment as it stood, and the short form of its player
      const shown = (yield* call(key, `/payments/${rejected}`)).data
      assert.deepStrictEqual(events[6]?.data, {
        payment: shown,
        player: { id: player, external_id: "ext-states1", username: "states1" }
      })
      assert.deepInclude(events[1]?.data["payment"], { id: paid, status: "new" })
      assert.deepStrictEqual(yield* verified("states"), [])
    }))

  it.effect("4.4 above a threshold two people approve, each with a role that may", () =>
    Effect.gen(function*() {
      const { deposit, register, withdraw } = yield* open("second", { withdrawal_second_approval_above: 200 })
      const player = yield* register("second1")
      yield* deposit(player, 1000)
      const [anna, bert] = [
        yield* made("/staff", { name: "Anna", role: "payments" }),
        yield* made("/staff", { name: "Bert", role: "admin" })
      ]
      const cora = yield* made("/staff", { name: "Cora", role: "payments" })
      const { data: { id } } = yield* withdraw(player, 201)
      const first = yield* staffMove(id, "approve", anna.token)
      assert.deepInclude(first.data, { status: "new", first_approved_by: `staff:${anna.id}` })
      const again = yield* staffMove(id, "approve", anna.token)
      assert.deepStrictEqual([again.status, again.code], [422, "PAYMENT_REQUEST_INVALID"])
      assert.strictEqual((yield* staffMove(id, "pay", bert.token)).code, "PAYMENT_REQUEST_INVALID")
      assert.strictEqual((yield* staffMove(id, "approve", bert.token)).data.status, "allowed")
      // whoever approved it leaves the payout to somebody else
      for (const { token } of [anna, bert]) {
        assert.deepInclude((yield* staffMove(id, "pay", token)).details, { reason: "approver_pays" })
      }
      assert.strictEqual((yield* staffMove(id, "pay", cora.token)).data.status, "paid")

      const other = yield* register("second2")
      yield* deposit(other, 1000)
      const small = yield* withdraw(other, 200)
      assert.strictEqual((yield* staffMove(small.data.id, "approve", anna.token)).data.status, "allowed")
      const support = yield* made("/staff", { name: "Sue", role: "support" })
      assert.strictEqual((yield* staffMove(small.data.id, "pay", support.token)).code, "INSUFFICIENT_SCOPE")

      const audit = yield* staffCall("GET", `/backoffice/v1/audit?player=${player}`)
      assert.deepStrictEqual(
        audit.data.map(({ action, actor, after, subject }: { readonly [field: string]: unknown }) => [
          action,
          actor,
          subject,
          Object(after).status
        ]),
        [
          ["payment.pay", `staff:${cora.id}`, `payment:${id}`, "paid"],
          ["payment.approve", `staff:${bert.id}`, `payment:${id}`, "allowed"],
          ["payment.approve", `staff:${anna.id}`, `payment:${id}`, "new"]
        ]
      )
    }))

  it.effect("8 a withdrawal is stored under its key with its effect", () =>
    Effect.gen(function*() {
      const { deposit, key, register, wallet } = yield* open("keys")
      const player = yield* register("keys1")
      yield* deposit(player, 1000)
      const path = `/players/${player}/withdrawals`
      const keyed = (name: string, body: { readonly [field: string]: unknown }) =>
        call(key, path, { body, headers: { "idempotency-key": name } })
      const body = { amount: 100, payment_method: "bank" }
      const [one, two, three] = yield* Effect.all([keyed("a", body), keyed("a", body), keyed("a", body)], {
        concurrency: "unbounded"
      })
      const later = yield* keyed("a", body)
      const answers = [one, two, three, later].filter(({ code }) => code !== "IDEMPOTENCY_IN_PROGRESS")
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      for (const { status } of answers) assert.strictEqual(status, 201)
      assert.strictEqual(later.headers["idempotent-replayed"], "true")
      assert.strictEqual((yield* wallet(player)).balance, 900)
      // the replay is the first answer, not the state of today
      yield* staffMove(later.data.id, "cancel")
      assert.strictEqual((yield* keyed("a", body)).data.status, "new")
      assert.strictEqual((yield* keyed("a", { ...body, amount: 101 })).code, "IDEMPOTENCY_KEY_REUSED")
      // a refusal is kept, too
      const refused = yield* keyed("b", { ...body, amount: 4000 })
      yield* deposit(player, 4000)
      const again = yield* keyed("b", { ...body, amount: 4000 })
      assert.deepStrictEqual([refused.status, again.text], [402, refused.text])
      // a known reference under another key
      const named = { ...body, external_reference: "ref" }
      const first = yield* keyed("c", named)
      const second = yield* keyed("d", named)
      assert.deepStrictEqual([first.status, second.status, second.data.id], [201, 200, first.data.id])
      assert.strictEqual((yield* keyed("d", named)).headers["idempotent-replayed"], "true")
    }))

  // Goal: what meets in the same moment is decided one after the other. Method: many calls at once; counts and sums afterwards.
  it.effect("many at once: nothing is held twice, and one move wins", () =>
    Effect.gen(function*() {
      const { deposit, register, wallet, withdraw } = yield* open("many")
      const player = yield* register("many1")
      yield* deposit(player, 1000)
      const tries = yield* Effect.all(Array.from({ length: 12 }, () => withdraw(player, 300)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(statusesOf(tries), [201, 201, 201, ...Array<number>(9).fill(402)])
      assert.strictEqual((yield* wallet(player)).balance, 100)

      const same = yield* Effect.all(
        Array.from({ length: 6 }, () => withdraw(player, 50, { external_reference: "once" })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(statusesOf(same), [200, 200, 200, 200, 200, 201])
      assert.strictEqual(new Set(same.map(({ data }) => data.id)).size, 1)

      // two players, one reference
      const other = yield* register("many2")
      yield* deposit(other, 1000)
      const clash = yield* Effect.all(
        [player, other, player, other].map((who) => withdraw(who, 20, { external_reference: "whose" })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(statusesOf(clash), [200, 201, 409, 409])

      for (const { data } of tries.filter(({ status }) => status === 201)) {
        const moves = yield* Effect.all(
          ["reject", "approve", "cancel", "reject", "cancel", "pay"].map((move) => staffMove(data.id, move)),
          { concurrency: "unbounded" }
        )
        for (const { status } of moves) assert.include([200, 422], status)
        const ends = moves.filter(({ data: moved }) => ["rejected", "cancelled", "paid"].includes(moved?.status))
        assert.strictEqual(ends.length, 1)
      }
      assert.deepStrictEqual(yield* verified("many"), [])
    }))

  it.effect("1 and 5.3 payments are the operator's own, for keys and operators that may", () =>
    Effect.gen(function*() {
      const mine = yield* open("mine")
      const theirs = yield* open("theirs")
      const player = yield* mine.register("mine1")
      yield* mine.deposit(player, 500, "d")
      const { data: { id } } = yield* mine.withdraw(player, 100, { external_reference: "w" })

      assert.strictEqual((yield* call(theirs.key, `/payments/${id}`)).status, 404)
      assert.deepStrictEqual((yield* call(theirs.key, `/payments?player_id=${player}`)).data, [])
      assert.deepStrictEqual((yield* call(theirs.key, "/payments?external_reference=w")).data, [])
      for (const body of [{ amount: 100, payment_method: "bank" }, { amount: "x" }]) {
        const answer = yield* call(theirs.key, `/players/${player}/withdrawals`, { body })
        assert.deepStrictEqual([answer.status, answer.code], [404, "NOT_FOUND"])
      }
      assert.strictEqual((yield* mine.wallet(player)).balance, 400)
      // a reference belongs to one operator
      const stranger = yield* theirs.register("theirs1")
      yield* theirs.deposit(stranger, 500, "d")
      assert.strictEqual((yield* theirs.withdraw(stranger, 100, { external_reference: "w" })).status, 201)
      for (const name of ["0", "abc", "1.5", "9007199254740993", "999999999999"]) {
        assert.strictEqual((yield* call(mine.key, `/payments/${name}`)).code, "NOT_FOUND", name)
      }

      const reader: Key = yield* made("/keys", { operator: "mine", scopes: ["payments:read"] })
      assert.strictEqual((yield* call(reader, `/payments/${id}`)).status, 200)
      const write = yield* call(reader, `/players/${player}/withdrawals`, { body: { amount: 1 } })
      assert.deepStrictEqual([write.code, write.details], [
        "INSUFFICIENT_SCOPE",
        { required_scopes: ["payments:write"] }
      ])
      const writer: Key = yield* made("/keys", { operator: "mine", scopes: ["payments:write"] })
      for (const path of ["/payments", `/payments/${id}`]) {
        assert.strictEqual((yield* call(writer, path)).code, "INSUFFICIENT_SCOPE")
      }
      yield* staffCall("PATCH", "/backoffice/v1/operators/mine", {
        cooperation_model: "turnkey",
        disabled_features: ["payments"]
      })
      for (const path of ["/payments", `/payments/${id}`]) {
        const answer = yield* call(mine.key, path)
        assert.deepStrictEqual([answer.status, answer.code, answer.details], [
          403,
          "FEATURE_NOT_AVAILABLE",
          { feature: "payments" }
        ])
      }
      assert.strictEqual((yield* mine.withdraw(player, 10)).code, "FEATURE_NOT_AVAILABLE")
    }))

  it.effect("the command line moves payments and shows them", () =>
    Effect.gen(function*() {
      const { deposit, key, operator, register, wallet, withdraw } = yield* open("line")
      const player = yield* register("line1")
      const { data: { id: depositId } } = yield* deposit(player, 1000)
      const next = Effect.map(withdraw(player, 100, { bank_name: "Bank" }), ({ data }) => String(data.id))
      const [paid, rejected, cancelled] = [yield* next, yield* next, yield* next]
      assert.deepInclude(yield* command("payment", "approve", paid), { id: Number(paid), status: "allowed" })
      assert.deepInclude(yield* command("payment", "pay", paid, "--reason", "batch 7"), { status: "paid" })
      const reject = yield* command("payment", "reject", rejected, "--reason", "name differs")
      assert.deepInclude(reject, { status: "rejected", reject_reason: "name differs" })
      assert.deepInclude(yield* command("payment", "cancel", cancelled), { status: "cancelled", reject_reason: null })
      const charged = yield* command("payment", "chargeback", String(depositId), "--reason", "fraud")
      assert.deepInclude(charged, { status: "paid", is_reversed: true })
      assert.strictEqual((yield* wallet(player)).balance, -100)

      const again = yield* runCommand(["payment", "approve", paid])
      assert.deepStrictEqual([again.exitCode, again.stdout], [1, ""])
      assert.strictEqual(JSON.parse(again.stderr).error.code, "PAYMENT_REQUEST_INVALID")
      const nothing = yield* runCommand(["payment", "pay", "999999999"])
      assert.deepStrictEqual([nothing.exitCode, JSON.parse(nothing.stderr).error.code], [1, "NOT_FOUND"])
      assert.strictEqual((yield* runCommand(["payment", "pay"])).exitCode, 2)

      const shown = yield* command("payment", "show", paid)
      const { bank_name, first_approved_by, notes, operator_id, second_approved_by, ...fields } = shown
      assert.isNull(second_approved_by)
      assert.deepStrictEqual([bank_name, first_approved_by, notes, operator_id], [
        "Bank",
        first_approved_by,
        null,
        operator.id
      ])
      assert.deepStrictEqual(fields, (yield* call(key, `/payments/${paid}`)).data)
      const listed = yield* command("payment", "list", "--operator", "line", "--status", "paid", "--type", "withdrawal")
      assert.deepStrictEqual(listed, [shown])
      const lines = yield* command("audit", "list", "--player", String(player))
      assert.deepStrictEqual(
        lines.map(({ action, reason }: { readonly [field: string]: unknown }) => [action, reason]),
        [
          ["payment.chargeback", "fraud"],
          ["payment.cancel", null],
          ["payment.reject", "name differs"],
          ["payment.pay", "batch 7"],
          ["payment.approve", null]
        ]
      )
      assert.deepInclude(yield* command("ledger", "verify", "--operator", "line"), { players: 1, violations: [] })
    }), 60_000)
})
