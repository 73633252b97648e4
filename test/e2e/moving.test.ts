import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import { dataOf, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { noon } from "../kit/Noon.ts"
import { playerLine } from "../kit/ProposedImport.ts"

// Goal: an operator's players come from another platform whole or not at all, and leave again without loss. Method: the commands over the running
// service; what came is used through the APIs of operators and providers.

type Fields = { readonly [field: string]: unknown }

const day = 86_400_000
const at = (ms: number): string => new Date(ms).toISOString()

const folder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-moving-"))),
  (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true }))
)

/** Two people and a folder, and the commands over them. */
const movers = Effect.gen(function*() {
  const out = yield* folder
  const [maker, checker] = [yield* made("/staff", { name: "Maker" }), yield* made("/staff", { name: "Checker" })]
  const read = (name: string) => Fs.readFileSync(Path.join(out, name), "utf8")
  const rejected = () =>
    read("rejected.ndjson").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
  const write = (lines: ReadonlyArray<unknown>): string => {
    const file = Path.join(out, `${fresh("players-")}.ndjson`)
    Fs.writeFileSync(file, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""))
    return file
  }
  const run = Effect.fnUntraced(function*(operator: string, file: string, ...flags: ReadonlyArray<string>) {
    const args = ["import", "--operator", operator, file, "--out", out, ...flags]
    const { exitCode, stderr, stdout } = yield* runHere(args, { token: maker.token })
    assert.strictEqual(stderr, "")
    return { exitCode, answer: JSON.parse(stdout), totals: JSON.parse(read("totals.json")), rejected: rejected() }
  })
  const approve = (id: number, token: string = checker.token) =>
    staffCall("POST", `/backoffice/v1/import-runs/${id}/approve`, {}, { authorization: `Bearer ${token}` })
  /** Proposes, approves and posts. */
  const bring = Effect.fnUntraced(
    function*(operator: string, lines: ReadonlyArray<unknown>, ...flags: ReadonlyArray<string>) {
      const file = write(lines)
      const proposed = yield* run(operator, file, ...flags)
      dataOf(yield* approve(proposed.answer.import.id))
      return { file, proposed, posted: yield* run(operator, file, ...flags) }
    }
  )
  const exported = Effect.fnUntraced(function*(operator: string) {
    const { exitCode, stderr, stdout } = yield* runHere(["export", "--operator", operator])
    assert.deepStrictEqual([exitCode, stderr], [0, ""])
    return stdout
  })
  return { maker, checker, write, run, approve, bring, exported }
})

const verified = Effect.fnUntraced(function*(operator: string) {
  const { violations } = yield* staff("GET", `/ledger/verification?operator=${operator}`)
  assert.deepStrictEqual(violations, [])
})

const eventsOf = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly type: string }>`SELECT type FROM events WHERE player_id = ${playerId} ORDER BY id`
  return rows.map(({ type }) => type)
})

layer(layerCasinos, { excludeTestServices: true })("import and export", (it) => {
  it.effect("an import is checked, approved by another person and posted once, and sets opening balances by corrections", () =>
    Effect.scoped(Effect.gen(function*() {
      const { approve, checker, maker, run, write } = yield* movers
      const casino = yield* openCasino()
      const name = fresh("one-")
      const lines = [
        playerLine(`${name}-a`, { balance: 1234 }),
        playerLine(`${name}-b`, { balance: -50 }),
        playerLine(`${name}-c`)
      ]
      const file = write(lines)
      const totals = {
        players: 3,
        balances: { EUR: 1184 },
        negative_balances: { EUR: -50 },
        bonus_balances: {},
        open_withdrawals: {},
        exclusions: 0,
        rejected: 0
      }
      const dry = yield* run(casino.slug, file, "--dry-run")
      assert.deepStrictEqual([dry.exitCode, dry.totals, dry.rejected], [0, totals, []])
      assert.deepStrictEqual(yield* staff("GET", `/import-runs?operator=${casino.slug}`), [])

      const proposed = yield* run(casino.slug, file)
      const { id } = proposed.answer.import
      assert.deepStrictEqual([proposed.exitCode, proposed.answer.import.status], [0, "proposed"])
      assert.deepStrictEqual(proposed.totals, totals)
      assert.deepStrictEqual((yield* run(casino.slug, file)).answer.import.status, "proposed")
      assert.strictEqual((yield* approve(id, maker.token)).code, "INVALID_REQUEST")
      assert.deepStrictEqual(dataOf(yield* casino.get("/players")), [])
      assert.strictEqual(dataOf(yield* approve(id)).decided_by, `staff:${checker.id}`)

      for (const flags of [[], [], ["--resume"]]) {
        const posted = yield* run(casino.slug, file, ...flags)
        assert.deepStrictEqual([posted.exitCode, posted.answer.import.status, posted.totals], [0, "posted", totals])
      }
      const players: ReadonlyArray<Fields> = dataOf(yield* casino.get("/players"))
      assert.strictEqual(players.length, 3)
      const [ada] = dataOf(yield* casino.get(`/players?external_id=${name}-a`))
      assert.deepInclude(ada, { created_at: "2024-03-04T05:06:07.008Z", username: `${name}-a`.replaceAll("-", "_") })
      assert.strictEqual(ada.registration.source, "import")
      const entries = dataOf(yield* casino.get(`/players/${ada.id}/transactions`))
      assert.deepStrictEqual(
        entries.map(({ amount, balance_after, type }: Fields) => [type, amount, balance_after]),
        [["correction_up", 1234, 1234]]
      )
      const [line] = yield* staff("GET", `/audit?player=${ada.id}`)
      assert.deepInclude(line, { action: "player.import", reason: Path.basename(file), actor: `staff:${maker.id}` })
      assert.deepStrictEqual(yield* eventsOf(Number(ada.id)), [])
      yield* verified(casino.slug)
    })))

  it.effect("a line that breaks a rule, is repeated or differs from stored data is rejected with reasons; the others are posted", () =>
    Effect.scoped(Effect.gen(function*() {
      const { bring } = yield* movers
      const casino = yield* openCasino()
      const name = fresh("two-")
      const { username } = yield* casino.register({ external_id: `${name}-here` })
      const good = playerLine(`${name}-good`, { balance: 7 })
      const lines = [
        "{ not JSON",
        playerLine(`${name}-young`, { birth_date: "2010-01-01" }),
        // an adult today, not when registered
        playerLine(`${name}-early`, { birth_date: "2007-01-01" }),
        playerLine(`${name}-taken`, { username }),
        playerLine(`${name}-here`),
        good,
        good,
        playerLine(`${name}-odd`, { balance: 1.5, colour: "red" }),
        {
          kind: "open_withdrawal",
          external_id: `${name}-none`,
          amount: 5,
          payment_method: "bank",
          external_reference: "x",
          created_at: at(0)
        }
      ]
      const { posted, proposed } = yield* bring(casino.slug, lines)
      const reasons = posted.rejected.map(({ external_id, line, reasons }) => [line, external_id, ...reasons])
      assert.deepStrictEqual(reasons, [
        [1, null, "must be a JSON object"],
        [2, `${name}-young`, "birth_date must be at least 18 years ago"],
        [3, `${name}-early`, "birth_date must be at least 18 years ago"],
        [4, `${name}-taken`, "username is already taken"],
        [5, `${name}-here`, "differs"],
        [7, `${name}-good`, "external_id is that of line 6"],
        [8, `${name}-odd`, "colour is not known", "balance must be an integer in minor units"],
        [9, `${name}-none`, "external_id belongs to no player imported before"]
      ])
      assert.deepStrictEqual([posted.exitCode, posted.totals.players, posted.totals.rejected], [1, 1, 8])
      assert.strictEqual(proposed.totals.players, 1)
      const other = yield* bring(casino.slug, [{ ...good, balance: 8 }, { ...playerLine(`${name}-late`) }])
      assert.deepStrictEqual(other.posted.rejected, [{ line: 1, external_id: `${name}-good`, reasons: ["differs"] }])
      // the same fields in another order are the same line
      const again = yield* bring(casino.slug, [Object.fromEntries(Object.entries(good).toReversed())])
      assert.deepStrictEqual([again.posted.exitCode, again.posted.totals.players], [0, 1])
      yield* verified(casino.slug)
    })))

  it.effect("limits with used amounts, thresholds, exclusions and a running bonus continue after the import where they were", () =>
    Effect.scoped(Effect.gen(function*() {
      const { bring } = yield* movers
      const casino = yield* openCasino({ kyc_withdrawal_threshold: 2000 })
      const name = fresh("three-")
      const now = Date.now()
      const excluded = yield* casino.register({ first_name: "Eve", last_name: "Known", birth_date: "1971-01-01" })
      dataOf(yield* casino.exclude(excluded.id, { period: "6_months" }))
      const exclusion = { type: "self_exclusion", since: "2024-05-06T00:00:00.000Z", until: at(now + 900 * day) }
      const bonus = {
        name: "Welcome",
        type: "deposit_match",
        amount: 1000,
        balance: 700,
        wager_requirement: 5000,
        wagered_amount: 4900,
        max_bet: 500,
        started_at: at(now - day),
        expires_at: at(now + day)
      }
      const { posted } = yield* bring(casino.slug, [
        playerLine(`${name}-used`, { limits: { max_daily_deposit: 1000 }, used: { max_daily_deposit: 900 } }),
        playerLine(`${name}-paid`, {
          balance: 3000,
          unverified_withdrawn: 1500,
          lifetime: { deposits: 90_000, withdrawals: 1500 }
        }),
        playerLine(`${name}-out`, { self_exclusion: exclusion }),
        playerLine(`${name}-eve`, { first_name: "Eve", last_name: "Known", birth_date: "1971-01-01" }),
        playerLine(`${name}-bonus`, { bonus }),
        playerLine(`${name}-held`, { balance: 10, kyc_status: "verified" }),
        {
          kind: "open_withdrawal",
          external_id: `${name}-held`,
          amount: 333,
          payment_method: "bank",
          external_reference: `${name}-w`,
          created_at: "2026-01-01T00:00:00.000Z"
        }
      ])
      assert.deepStrictEqual(posted.rejected, [])
      assert.deepInclude(posted.totals, { exclusions: 2, bonus_balances: { EUR: 700 }, open_withdrawals: { EUR: 333 } })
      const found = (suffix: string) =>
        Effect.map(casino.get(`/players?external_id=${name}-${suffix}`), (reply) => dataOf(reply)[0])

      const used = yield* found("used")
      assert.strictEqual((yield* casino.deposit(used.id, 101)).code, "LIMIT_EXCEEDED")
      dataOf(yield* casino.deposit(used.id, 100), 201)

      const paid = yield* found("paid")
      assert.strictEqual((yield* casino.withdraw(paid.id, 501)).status, 422)
      dataOf(yield* casino.withdraw(paid.id, 500), 201)

      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${paid.id}/position`)).lifetime, {
        deposits: 90_000,
        withdrawals: 2000,
        net_deposits: 88_000
      })
      const netDepositsUntil = (to: string) =>
        Effect.map(
          casino.get(`/players/${paid.id}/statement?from=2026-11-01&to=${to}`),
          (reply) => dataOf(reply).net_deposits_lifetime
        )
      assert.strictEqual(yield* netDepositsUntil(noon.slice(0, 10)), 88_000)
      assert.strictEqual(yield* netDepositsUntil("2026-11-19"), 0, "before the import")

      const out = yield* found("out")
      assert.deepInclude(out.self_exclusion, { type: "self_exclusion", since: exclusion.since, until: exclusion.until })
      assert.strictEqual((yield* found("eve")).self_exclusion.type, "self_exclusion")
      assert.strictEqual((yield* casino.launch((yield* found("eve")).id)).code, "PLAYER_RESTRICTED")

      const held = yield* found("held")
      assert.deepStrictEqual(yield* casino.balances(held.id), [10, 0])
      const [payment] = dataOf(yield* casino.get(`/payments?player_id=${held.id}`))
      assert.deepInclude(payment, { amount: 333, status: "new", created_at: "2026-01-01T00:00:00.000Z" })
      yield* staff("POST", `/payments/${payment.id}/reject`, { reason: "gone" })
      assert.deepStrictEqual(yield* casino.balances(held.id), [343, 0])

      const player = yield* found("bonus")
      assert.deepStrictEqual(yield* casino.balances(player.id), [0, 700])
      const token = dataOf(yield* casino.launch(player.id)).session_token
      dataOf(yield* casino.playOf(token, "").bet(100))
      assert.deepStrictEqual(yield* casino.balances(player.id), [600, 0])
      yield* verified(casino.slug)
    })))

  it.effect("an export can be imported elsewhere, and exporting it there gives the same bytes", () =>
    Effect.scoped(Effect.gen(function*() {
      const { bring, exported } = yield* movers
      const [one, two] = [yield* openCasino(), yield* openCasino()]
      const name = fresh("four-")
      // players who registered here, one without a name of the operator
      const seat = yield* one.sit(1000, { phone: "+35699000001", city: "Köln", personal_id: "AB-12" })
      dataOf(yield* seat.bet(100))
      dataOf(yield* one.withdraw(seat.id, 50), 201)
      const { id } = yield* one.register({ external_id: `${name}-z`, limits: { max_daily_bet: 500 } })
      dataOf(yield* one.limit(Number(id), { max_daily_bet: 900 }))
      dataOf(yield* one.exclude(Number(id), { period: "24_hours" }))
      yield* bring(one.slug, [
        playerLine(`${name}-Ä`, {
          username: `${name}a`,
          email: `${name}a@example.com`,
          balance: -5,
          password_hash: "$argon2id$v=19$x",
          btag: "b"
        })
      ])
      const first = yield* exported(one.slug)
      const lines = first.trimEnd().split("\n")
      const names = lines.map((line) => JSON.parse(line).external_id)
      assert.deepStrictEqual(names, [`${name}-z`, `${name}-Ä`, `pitboss-${seat.id}`, `pitboss-${seat.id}`])
      const { posted } = yield* bring(two.slug, lines)
      assert.deepStrictEqual(posted.rejected, [])
      assert.strictEqual(yield* exported(two.slug), first)
      yield* verified(two.slug)
    })))

  it.effect("pending bonuses, consents by product and a net deposit cap are imported, applied, and exported unchanged", () =>
    Effect.scoped(Effect.gen(function*() {
      const { bring, exported } = yield* movers
      const [one, two] = [yield* openCasino(), yield* openCasino()]
      const name = fresh("six-")
      const waits = {
        name: "Reload",
        type: "deposit_match",
        amount: 500,
        wager_requirement: 1000,
        max_bet: 200,
        max_conversion: 800,
        valid_days: 5,
        granted_at: "2025-01-02T00:00:00.000Z"
      }
      const interrupted = {
        balance: 70,
        wagered_amount: 900,
        started_at: "2025-02-02T00:00:00.000Z",
        remaining_ms: day
      }
      const said = { channel: "email", granted: true, at: "2025-01-01T00:00:00.000Z", source: "player" }
      const consents = [{ ...said, product: "casino", text_version: "7" }, {
        ...said,
        product: "bingo",
        granted: false
      }]
      const { posted } = yield* bring(one.slug, [
        playerLine(`${name}-a`, {
          consents,
          net_deposit_cap: 5000,
          marketing: { email: false, sms: true, newsletter: false }
        }),
        playerLine(`${name}-b`, {
          balance: 1000,
          pending_bonuses: [{ ...waits, interrupted }, waits],
          bonus: {
            ...waits,
            valid_days: undefined,
            granted_at: undefined,
            balance: 500,
            wagered_amount: 0,
            started_at: at(Date.now() - 40 * day),
            expires_at: at(Date.now() + day)
          }
        })
      ])
      assert.deepStrictEqual(posted.rejected, [])
      assert.deepInclude(posted.totals, { bonus_balances: { EUR: 500 }, pending_bonuses: { EUR: 570 } })
      const first = yield* exported(one.slug)
      const lines = first.trimEnd().split("\n")
      const [a, b] = lines.map((line) => JSON.parse(line))
      assert.deepInclude(a, { consents, net_deposit_cap: 5000 })
      assert.deepStrictEqual(b.pending_bonuses, [{ ...waits, interrupted }, waits])
      assert.strictEqual(b.bonus.max_conversion, 800)
      assert.deepStrictEqual((yield* bring(two.slug, lines)).posted.rejected, [])
      assert.strictEqual(yield* exported(two.slug), first)
      yield* verified(two.slug)

      const [ada] = dataOf(yield* one.get(`/players?external_id=${name}-a`))
      const { consents: counting } = yield* staff("GET", `/players/${ada.id}/consents`)
      const casino = counting.filter((consent: Fields) => consent["channel"] === "email")
      assert.deepStrictEqual(casino.map(({ granted, product }: Fields) => [product, granted]), [["casino", true]])

      const [player] = dataOf(yield* one.get(`/players?external_id=${name}-b`))
      const running = () =>
        Effect.map(one.get(`/players/${player.id}/bonuses?state=activated`), (reply) => dataOf(reply)[0])
      // the one that was interrupted goes on where it was when the running one ends
      const { id } = yield* running()
      yield* staff("POST", `/player-bonuses/${id}/cancel`, { reason: "ended elsewhere" })
      const next = yield* running()
      assert.deepInclude(next, { wagered_amount: 900, started_at: interrupted.started_at })
      assert.deepStrictEqual(yield* one.balances(player.id), [1000, 70])
      const token = dataOf(yield* one.launch(player.id)).session_token
      dataOf(yield* one.playOf(token, "").bet(100))
      assert.deepInclude(yield* running(), { wagered_amount: 0, amount: 500 })
      yield* verified(one.slug)
    })))

  it.effect("an import with the option --events emits player.registered for an imported player", () =>
    Effect.scoped(Effect.gen(function*() {
      const { bring } = yield* movers
      const casino = yield* openCasino()
      yield* staff("POST", "/webhooks", { operator: casino.slug, url: "https://hooks.example/in", active: false })
      const name = fresh("five-")
      const { posted } = yield* bring(casino.slug, [playerLine(`${name}-a`)], "--events")
      assert.deepStrictEqual(posted.rejected, [])
      const [player] = dataOf(yield* casino.get(`/players?external_id=${name}-a`))
      assert.deepStrictEqual(yield* eventsOf(Number(player.id)), ["player.registered"])
    })))
})
