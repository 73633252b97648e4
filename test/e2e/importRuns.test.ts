import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos } from "../kit/Backoffice.ts"
import {
  type Casino,
  casinoUnder,
  dataOf,
  fresh,
  made,
  openCasino,
  outcomeOf,
  registration,
  staff,
  staffCall
} from "../kit/Casino.ts"
import { noon } from "../kit/Noon.ts"
import { begunImport, playerLine, withdrawalLine } from "../kit/ProposedImport.ts"

// Goal: only what a second person approved moves money, whoever sends what when. Method: imports over the staff API, with calls that meet each other held at
// the row of the import.

const day = 86_400_000
const now = Date.parse(noon)
const at = (ms: number): string => new Date(ms).toISOString()

const people = Effect.map(
  Effect.all([made("/staff", { name: "Maker" }), made("/staff", { name: "Checker" })]),
  ([maker, checker]) => ({ maker, checker })
)

const isIn = (casino: Casino, externalId: string) =>
  Effect.map(casino.get(`/players?external_id=${externalId}`), (reply) => dataOf(reply).length === 1)

/** Reasons by line. */
const reasonsIn = (chunk: { readonly rejected: ReadonlyArray<{ readonly reasons: ReadonlyArray<string> }> }) =>
  chunk.rejected.map(({ reasons }) => reasons.join(", "))

const checkOf = (casino: Casino, lines: ReadonlyArray<object>) =>
  Effect.map(
    staffCall("POST", "/backoffice/v1/import-lines/check", {
      operator: casino.slug,
      first_line: 1,
      lines: lines.map((line) => JSON.stringify(line))
    }),
    dataOf
  )

/** Changes the row of an import in a transaction while a call waits for it; gives the answer of the call. */
const whileHeld = Effect.fnUntraced(function*<A, E, R, A2, E2, R2>(
  change: Effect.Effect<A2, E2, R2>,
  ...calls: ReadonlyArray<Effect.Effect<A, E, R>>
) {
  const sql = yield* SqlClient.SqlClient
  const fibers = yield* sql.withTransaction(Effect.gen(function*() {
    yield* change
    const begun: Array<Fiber.Fiber<A, E>> = []
    for (const call of calls) {
      const fiber = yield* Effect.forkDetach(call)
      begun.push(fiber)
      yield* sql<{ readonly waiting: number }>`SELECT count(DISTINCT pid)::float8 AS waiting FROM pg_locks
        WHERE NOT granted AND (pg_backend_pid() = ANY (pg_blocking_pids(pid)) OR relation = 'import_runs'::regclass)`
        .pipe(
          Effect.delay("10 millis"),
          Effect.repeat({
            until: ([row]) => (row?.waiting ?? 0) >= begun.length || fiber.pollUnsafe() !== undefined,
            times: 1000
          })
        )
    }
    return begun
  }))
  return yield* Effect.forEach(fibers, Fiber.join)
})

layer(layerCasinos, { excludeTestServices: true })("imports under the four-eyes rule", (it) => {
  it.effect("a line that the check refused stays refused when it is posted, even if the reason is gone, and does not count in the totals", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const here = yield* casino.register()
      const run = yield* begunImport(casino, maker.token)
      const lines = [
        playerLine(`${run.name}-good`, { balance: 7 }),
        playerLine(`${run.name}-late`, { balance: 1000, email: here.email })
      ]
      const checked = dataOf(yield* run.put(0, lines))
      assert.deepStrictEqual(reasonsIn(checked), ["email is already taken"])
      dataOf(yield* run.propose(1))
      dataOf(yield* casino.call("PATCH", `/players/${here.id}`, { email: `${run.name}@example.org` }))
      dataOf(yield* run.approve(checker.token))
      const posted = dataOf(yield* run.put(0, lines))
      assert.deepStrictEqual({ ...posted, posted: false }, checked)
      assert.deepStrictEqual(dataOf(yield* run.put(0, lines)), posted)
      assert.isTrue(yield* isIn(casino, `${run.name}-good`))
      assert.isFalse(yield* isIn(casino, `${run.name}-late`))
    }))

  it.effect("only the person who began an import sends its lines and proposes it, and only another person approves", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const lines = [playerLine(`${run.name}-a`, { balance: 7 })]
      assert.strictEqual(outcomeOf(yield* run.put(0, lines, checker.token)), "INVALID_REQUEST")
      dataOf(yield* run.put(0, lines))
      assert.strictEqual(outcomeOf(yield* run.propose(1, checker.token)), "INVALID_REQUEST")
      dataOf(yield* run.propose(1))
      assert.strictEqual(outcomeOf(yield* run.approve(maker.token)), "INVALID_REQUEST")
      assert.strictEqual(dataOf(yield* run.approve(checker.token)).proposed_by, `staff:${maker.id}`)
      assert.strictEqual(outcomeOf(yield* run.put(0, lines, checker.token)), "INVALID_REQUEST")
      assert.isFalse(yield* isIn(casino, `${run.name}-a`))
      dataOf(yield* run.put(0, lines))
      assert.isTrue(yield* isIn(casino, `${run.name}-a`))
    }))

  it.effect("a check that began before the proposal and ends after it writes nothing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const lines = [playerLine(`${run.name}-a`, { balance: 7 })]
      dataOf(yield* run.put(0, lines))
      const [late] = yield* whileHeld(
        sql`UPDATE import_runs SET status = 'proposed', chunks = 1, totals = '{"players": 1, "balances": {"EUR": 7},
          "bonus_balances": {}, "open_withdrawals": {}, "exclusions": 0, "rejected": 0}' WHERE id = ${run.id}`,
        run.put(0, [playerLine(`${run.name}-a`, { balance: 7_000_000 })])
      )
      assert.strictEqual(late?.code, "INVALID_REQUEST")
      dataOf(yield* run.approve(checker.token))
      assert.deepStrictEqual(dataOf(yield* run.put(0, lines)).totals.balances, { EUR: 7 })
    }))

  it.effect("a chunk is posted only with the line numbers with which it was checked", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const lines = [playerLine(`${run.name}-a`, { balance: 7 }), playerLine(`${run.name}-b`, { balance: 1.5 })]
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      assert.strictEqual(outcomeOf(yield* run.put(0, lines, undefined, 2)), "INVALID_REQUEST")
      assert.isFalse(yield* isIn(casino, `${run.name}-a`))
    }))

  it.effect("of a simultaneous posting and rejection, exactly one succeeds", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      for (const isRejectedFirst of [true, false]) {
        const run = yield* begunImport(casino, maker.token)
        const lines = [playerLine(`${run.name}-a`, { balance: 7 })]
        dataOf(yield* run.put(0, lines))
        dataOf(yield* run.propose(1))
        dataOf(yield* run.approve(checker.token))
        const calls = [run.reject(), run.put(0, lines)]
        const answers = yield* whileHeld(
          sql`SELECT FROM import_runs WHERE id = ${run.id} FOR UPDATE`,
          ...isRejectedFirst ? calls : calls.toReversed()
        )
        assert.deepStrictEqual(answers.map(outcomeOf), [200, "INVALID_REQUEST"])
        const { status } = yield* staff("GET", `/import-runs/${run.id}`)
        assert.strictEqual(status, isRejectedFirst ? "rejected" : "posted")
        assert.strictEqual(yield* isIn(casino, `${run.name}-a`), !isRejectedFirst)
      }
    }))

  it.effect("an imported open withdrawal needs a player of this or an earlier import, and counts in that player's currency", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const here = `${run.name}-here`
      const { id } = yield* casino.register({ external_id: here })
      const there = `${run.name}-there`
      const players = [playerLine(there, { currency: "SEK" }), playerLine(`${run.name}-odd`, { balance: 1.5 })]
      const withdrawals = [withdrawalLine(there), withdrawalLine(here), withdrawalLine(`${run.name}-odd`)]
      dataOf(yield* run.put(0, players))
      const checked = dataOf(yield* run.put(1, withdrawals))
      assert.deepStrictEqual(checked.totals.open_withdrawals, { SEK: 333 })
      const none = "external_id belongs to no player imported before"
      assert.deepStrictEqual(reasonsIn(checked), [none, none])
      dataOf(yield* run.propose(2))
      dataOf(yield* run.approve(checker.token))
      dataOf(yield* run.put(0, players))
      assert.deepStrictEqual({ ...dataOf(yield* run.put(1, withdrawals)), posted: false }, checked)
      assert.deepStrictEqual(yield* casino.balances(id), [0, 0])
      assert.deepStrictEqual(dataOf(yield* casino.get(`/payments?player_id=${id}`)), [])
      // of a player who came with an import before
      const later = yield* begunImport(casino, maker.token)
      const again = dataOf(yield* later.put(0, [withdrawalLine(there, { external_reference: later.name })]))
      assert.deepStrictEqual(again.totals.open_withdrawals, { SEK: 333 })
    }))

  it.effect("whoever posted or approved an import cannot approve its players' withdrawals that need two approvals", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 1000 })
      const { checker, maker } = yield* people
      const third = yield* made("/staff", { name: "Third" })
      const run = yield* begunImport(casino, maker.token)
      const lines = [playerLine(`${run.name}-a`, { balance: 5000, kyc_status: "verified" })]
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      dataOf(yield* run.put(0, lines))
      const [player] = dataOf(yield* casino.get(`/players?external_id=${run.name}-a`))
      const { id } = dataOf(yield* casino.withdraw(player.id, 2000), 201)
      const approve = (token: string) =>
        staffCall("POST", `/backoffice/v1/payments/${id}/approve`, {}, { authorization: `Bearer ${token}` })
      assert.deepInclude((yield* approve(maker.token)).details, { reason: "corrected_balance" })
      assert.deepInclude((yield* approve(checker.token)).details, { reason: "corrected_balance" })
      assert.strictEqual(dataOf(yield* approve(third.token)).first_approved_by, `staff:${third.id}`)
    }))

  it.effect("whoever posted or approved an imported open withdrawal cannot approve it when it needs two approvals; anyone else can", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino({ withdrawal_second_approval_above: 1000 })
      const [before, now] = [yield* people, yield* people]
      const third = yield* made("/staff", { name: "Third" })
      const first = yield* begunImport(casino, before.maker.token)
      const player = [playerLine(`${first.name}-a`, { kyc_status: "verified" })]
      dataOf(yield* first.put(0, player))
      dataOf(yield* first.propose(1))
      dataOf(yield* first.approve(before.checker.token))
      dataOf(yield* first.put(0, player))
      const run = yield* begunImport(casino, now.maker.token)
      const chunks = [[playerLine(`${run.name}-b`)], [withdrawalLine(`${first.name}-a`, { amount: 2000 })]]
      for (const [number, lines] of chunks.entries()) dataOf(yield* run.put(number, lines))
      dataOf(yield* run.propose(2))
      dataOf(yield* run.approve(now.checker.token))
      dataOf(yield* run.put(0, chunks[0] ?? []))
      yield* sql`UPDATE import_runs SET posting_at = posting_at - interval '2 days' WHERE id = ${run.id}`
      dataOf(yield* run.put(1, chunks[1] ?? []))
      const [{ id: playerId }] = dataOf(yield* casino.get(`/players?external_id=${first.name}-a`))
      const [{ id }] = dataOf(yield* casino.get(`/payments?player_id=${playerId}`))
      const approve = (token: string) =>
        staffCall("POST", `/backoffice/v1/payments/${id}/approve`, {}, { authorization: `Bearer ${token}` })
      assert.deepInclude((yield* approve(now.maker.token)).details, { reason: "corrected_balance" })
      assert.deepInclude((yield* approve(now.checker.token)).details, { reason: "corrected_balance" })
      assert.strictEqual(dataOf(yield* approve(third.token)).first_approved_by, `staff:${third.id}`)
    }))

  it.effect("names, currencies and bonuses that the database cannot store reject their line, and do not fail the chunk", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const run = yield* begunImport(casino)
      const pending = {
        name: "Reload",
        type: "deposit_match",
        amount: 500,
        wager_requirement: 1000,
        valid_days: 5,
        granted_at: at(now - day)
      }
      const interrupted = { balance: 1, wagered_amount: 0, started_at: at(now - day), remaining_ms: 0 }
      const lines = [
        { "\u0000": 1 },
        { "\ud800": 1 },
        { limits: { "max\u0000": 1 } },
        { currency: "\u0000" },
        { pending_bonuses: [{ ...pending, interrupted }] }
      ].map((more, index) => playerLine(`${run.name}-${index}`, more))
      const rejected = reasonsIn(
        dataOf(yield* run.put(0, [...lines, withdrawalLine(`${run.name}-w`, { "\u0000": 1 })]))
      )
      assert.strictEqual(rejected.length, 6)
      assert.deepStrictEqual(rejected.slice(0, 2), ["\ufffd is not known", "\ufffd is not known"])
      assert.strictEqual(rejected[4], "pending_bonuses.0.interrupted.remaining_ms must be between 1 and 315360000000")
    }))

  it.effect("an exclusion in one line covers the same person's other lines, and withdraws consents where the jurisdiction says so", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ consents: { reset_on_exclusion: true } })
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const person = { first_name: "Eve", last_name: fresh("Twice "), birth_date: "1971-01-01" }
      const said = { channel: "email", product: "*", granted: true, at: at(now - day), source: "player" }
      const self_exclusion = { type: "self_exclusion", since: at(now - day), until: null }
      const lines = [
        playerLine(`${run.name}-a`, { ...person, marketing: { email: true }, consents: [said] }),
        playerLine(`${run.name}-b`, { ...person, self_exclusion }),
        playerLine(`${run.name}-c`, { marketing: { email: true } })
      ]
      assert.strictEqual(dataOf(yield* run.put(0, lines)).totals.exclusions, 2)
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      assert.strictEqual(dataOf(yield* run.put(0, lines)).totals.exclusions, 2)
      const [one] = dataOf(yield* casino.get(`/players?external_id=${run.name}-a`))
      assert.deepInclude(one.self_exclusion, { type: "self_exclusion", until: null })
      assert.isFalse(one.marketing.email)
      const consents = dataOf(yield* casino.get(`/players/${one.id}/consents`))
      assert.isFalse(consents.some((consent: { readonly granted: boolean }) => consent.granted))
      const [other] = dataOf(yield* casino.get(`/players?external_id=${run.name}-c`))
      assert.isNull(other.self_exclusion)
      assert.isTrue(other.marketing.email)
    }))

  it.effect("the latest statement about a consent counts, and overrides the marketing flags", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const said = { channel: "email", source: "player" }
      const consents = [
        { ...said, product: "*", granted: false, at: at(now - day) },
        { ...said, product: "casino", granted: true, at: at(now - 2 * day) }
      ]
      const lines = [playerLine(`${run.name}-a`, { consents, marketing: { email: true, sms: true } })]
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      dataOf(yield* run.put(0, lines))
      const [player] = dataOf(yield* casino.get(`/players?external_id=${run.name}-a`))
      assert.deepStrictEqual(player.marketing, { email: false, sms: false, newsletter: false })
      const shown = dataOf(yield* casino.get(`/players/${player.id}/consents`))
      assert.isFalse(shown.some((consent: { readonly granted: boolean }) => consent.granted))
      const ofAll = { channel: "*", product: "casino", granted: false, at: at(now - day), source: "player" }
      const many = Array.from({ length: 400 }, (_, index) => ({ ...ofAll, channel: `c${index}` }))
      const { rejected } = yield* checkOf(casino, [
        playerLine(`${run.name}-b`, { consents: [ofAll] }),
        playerLine(`${run.name}-c`, { consents: many })
      ])
      assert.deepStrictEqual(reasonsIn({ rejected }), ["consents product must be * where channel is *"])
    }))

  it.effect("a chunk sent twice at the same time is posted once, and both answers say so", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const lines = Array.from({ length: 100 }, (_, index) => playerLine(`${run.name}-${index}`, { balance: 7 }))
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      const answers = yield* Effect.all([run.put(0, lines), run.put(0, lines)], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.map((answer) => [reasonsIn(dataOf(answer)), dataOf(answer).totals.balances]),
        [[[], { EUR: 700 }], [[], { EUR: 700 }]]
      )
      assert.strictEqual(dataOf(yield* casino.get("/players?per_page=100")).length, 100)
    }))

  it.effect("an import whose process died after its last chunk is completed when that chunk is sent again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const lines = [playerLine(`${run.name}-a`)]
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      dataOf(yield* run.put(0, lines))
      yield* sql`UPDATE import_runs SET status = 'approved' WHERE id = ${run.id}`
      dataOf(yield* run.put(0, lines))
      assert.strictEqual((yield* staff("GET", `/import-runs/${run.id}`)).status, "posted")
    }))

  it.effect("an export gives a player without external_id a generated one that differs from every existing one", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      yield* casino.register({ external_id: `pitboss-${id}` })
      const { lines, next } = yield* staff("GET", `/import-lines?operator=${casino.slug}`)
      const names = lines.map((line: { readonly external_id: string }) => line.external_id)
      assert.deepStrictEqual(names.toSorted(), [`pitboss-${id}`, `pitboss-${id}-${casino.id}`])
      assert.isNull(next)
    }))

  it.effect("an export that does not begin with the first player leaves a line in the audit log as well", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      yield* casino.register({ external_id: fresh("exported-") })
      const lines = yield* staff("GET", `/import-lines?operator=${casino.slug}&after=!`)
      assert.strictEqual(lines.lines.length, 1)
      yield* staff("GET", `/import-lines?operator=${casino.slug}&after=!`)
      const noted = yield* staff("GET", `/audit?operator=${casino.slug}&action=import_run.export`)
      assert.strictEqual(noted.length, 1)
    }))

  it.effect("totals show negative balances separately, so that they hide no credits", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const name = fresh("gross-")
      const { totals } = yield* checkOf(casino, [
        playerLine(`${name}-a`, { balance: 500_000 }),
        playerLine(`${name}-b`, { balance: -500_000 })
      ])
      assert.deepInclude(totals, { balances: { EUR: 0 }, negative_balances: { EUR: -500_000 } })
    }))

  it.effect("negative used amounts, a future as_of, and a return_at before return_from are refused", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const name = fresh("odd-")
      const exclusion = { type: "self_exclusion", since: at(now - day), until: null, ends: "on_request" }
      const { rejected } = yield* checkOf(casino, [
        playerLine(`${name}-a`, { used: { max_daily_deposit: -1 } }),
        playerLine(`${name}-b`, { used: { max_weekly_loss: -1, as_of: at(now - 1000) } }),
        playerLine(`${name}-c`, { used: { max_daily_deposit: 1, as_of: at(now + day) } }),
        playerLine(`${name}-d`, {
          self_exclusion: { ...exclusion, return_from: at(now + 2 * day), return_at: at(now + day) }
        })
      ])
      assert.deepStrictEqual(
        rejected.map(({ line, reasons }: { readonly line: number; readonly reasons: object }) => [line, reasons]),
        [
          [1, ["used.max_daily_deposit must be between 0 and 1000000000000000"]],
          [2, ["used.max_weekly_loss must be between 0 and 1000000000000000"]],
          [3, ["used.as_of must not be in the future"]],
          [4, ["self_exclusion.return_at must not be before return_from"]]
        ]
      )
    }))

  it.effect("an imported exclusion that ends on request does not shorten the exclusion that the same person already has at the operator", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const person = { first_name: "Eve", last_name: fresh("Known "), birth_date: "1971-01-01" }
      const { id } = yield* casino.register(person)
      const { self_exclusion: here } = dataOf(yield* casino.exclude(id, { period: "6_months" }))
      const own = {
        type: "self_exclusion",
        since: at(now - 30 * day),
        until: null,
        ends: "on_request",
        return_from: at(now - day),
        return_at: at(now + day)
      }
      const lines = [playerLine(`${run.name}-eve`, { ...person, self_exclusion: own })]
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      assert.deepStrictEqual(dataOf(yield* run.put(0, lines)).rejected, [])
      const [eve] = dataOf(yield* casino.get(`/players?external_id=${run.name}-eve`))
      assert.deepInclude(eve.self_exclusion, { ends: "on_request", until: null, return_at: here.until })
    }))

  it.effect("an imported self-exclusion holds at all operators of the licensee and ends on request where the jurisdiction has it so and the line says nothing", () =>
    Effect.gen(function*() {
      const { id: licensee } = yield* made("/licensees", { name: fresh("licensee-") })
      const casino = yield* casinoUnder({
        breaks: {
          periods: { "6_months": "self_exclusion" },
          self_exclusion: { min: "P6M", max: null },
          scope: "licensee",
          ends: "on_request"
        }
      }, { licensee: Number(licensee) })
      const other = yield* openCasino({
        profiles: [casino.profile, "none"],
        default_profile: casino.profile,
        licensee: Number(licensee)
      })
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const person = { first_name: "Eve", last_name: fresh("Licensed "), birth_date: "1971-01-01" }
      const until = at(now + 300 * day)
      const exclusion = { type: "self_exclusion", since: at(now - 30 * day), until }
      const lines = [
        playerLine(`${run.name}-silent`, { ...person, self_exclusion: exclusion }),
        playerLine(`${run.name}-said`, { self_exclusion: { ...exclusion, scope: "operator", ends: "by_itself" } }),
        playerLine(`${run.name}-over`, { self_exclusion: { ...exclusion, until: at(now - day) } }),
        playerLine(`${run.name}-closed`, { self_exclusion: { ...exclusion, type: "self_closure" } })
      ]
      dataOf(yield* run.put(0, lines))
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      assert.deepStrictEqual(dataOf(yield* run.put(0, lines)).rejected, [])
      const [silent] = dataOf(yield* casino.get(`/players?external_id=${run.name}-silent`))
      assert.deepInclude(silent.self_exclusion, { ends: "on_request", until })
      const [said] = dataOf(yield* casino.get(`/players?external_id=${run.name}-said`))
      assert.deepInclude(said.self_exclusion, { ends: "by_itself", until })
      const [over] = dataOf(yield* casino.get(`/players?external_id=${run.name}-over`))
      assert.isNull(over.self_exclusion)
      const [closed] = dataOf(yield* casino.get(`/players?external_id=${run.name}-closed`))
      assert.deepInclude(closed.self_exclusion, { type: "self_closure", ends: "by_itself", until })
      const refused = yield* other.post("/players", { ...registration(fresh("again-")), ...person })
      assert.strictEqual(refused.code, "SELF_EXCLUDED_IDENTITY")
    }))

  it.effect("an imported player excluded for the whole licensee waits for the return as long as the jurisdiction of either account wants", () =>
    Effect.gen(function*() {
      const { id } = yield* made("/licensees", { name: fresh("licensee-") })
      const months = { periods: { "6_months": "self_exclusion" }, scope: "licensee", ends: "on_request" }
      const licensee = { licensee: Number(id) }
      const brief = yield* casinoUnder({ breaks: { ...months, return_wait: "PT24H" } }, licensee)
      const long = yield* casinoUnder({ breaks: { ...months, return_wait: "P7D" } }, licensee)
      const waitAfter = Effect.fnUntraced(function*(from: Casino, to: Casino) {
        const { checker, maker } = yield* people
        const run = yield* begunImport(to, maker.token)
        const person = { first_name: "Eve", last_name: fresh("Waiting "), birth_date: "1971-01-01" }
        dataOf(yield* from.exclude((yield* from.register(person)).id, { period: "6_months" }))
        const lines = [playerLine(`${run.name}-eve`, person)]
        dataOf(yield* run.put(0, lines))
        dataOf(yield* run.propose(1))
        dataOf(yield* run.approve(checker.token))
        assert.deepStrictEqual(dataOf(yield* run.put(0, lines)).rejected, [])
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql`SELECT exclusion_return_wait AS wait FROM players
          WHERE operator_id = ${to.id} AND external_id = ${`${run.name}-eve`}`
        return row?.["wait"]
      })
      assert.deepStrictEqual([yield* waitAfter(brief, long), yield* waitAfter(long, brief)], ["P7D", "P7D"])
    }))

  it.effect("an import into a sandbox uses the sandbox's clock", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ is_sandbox: true })
      dataOf(yield* casino.post("/sandbox/clock/advance", { seconds: 20 * 86_400 }))
      const { checker, maker } = yield* people
      const run = yield* begunImport(casino, maker.token)
      const created_at = at(now + 10 * day)
      const lines = [playerLine(`${run.name}-a`, { created_at, balance: 7 })]
      assert.deepStrictEqual(dataOf(yield* run.put(0, lines)).rejected, [])
      dataOf(yield* run.propose(1))
      dataOf(yield* run.approve(checker.token))
      assert.deepStrictEqual(dataOf(yield* run.put(0, lines)).rejected, [])
      const [player] = dataOf(yield* casino.get(`/players?external_id=${run.name}-a`))
      assert.strictEqual(player.created_at, created_at)
      const entries = dataOf(yield* casino.get(`/players/${player.id}/transactions`))
      assert.isAbove(Date.parse(entries[0].created_at), now + 19 * day)
    }))
})
