import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { ExportCheck } from "../../src/chain/ExportLines.ts"
import { hashOf } from "../../src/chain/Lines.ts"
import { Seals } from "../../src/chain/Seals.ts"
import { describeSqlError } from "../../src/platform/Database.ts"
import { Retention } from "../../src/features/privacy/Retention.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import { noon } from "../kit/Noon.ts"
import { dayMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import {
  assertRefused,
  BothServers,
  type Casino,
  casinoUnder,
  dataOf,
  type Fields,
  fresh,
  made,
  move,
  openCasino,
  registration,
  staff,
  staffCall
} from "../kit/Casino.ts"

/** Values that stand nowhere else, one for every field that tells of a person. */
const plant = () => {
  const at = fresh("zq")
  const word = (name: string) => `${at}${name}`
  return {
    username: word("username"),
    email: `${word("email")}@example.com`,
    first_name: word("first"),
    last_name: word("last"),
    middle_name: word("middle"),
    birth_name: word("bornas"),
    birth_place: word("bornat"),
    last_name_prefix: word("prefix"),
    city: word("city"),
    address: word("street"),
    zip_code: `Z${at}`.slice(0, 20),
    phone: `+4915${String(10_000_000 + Number(at.slice(2)))}`,
    external_id: word("external"),
    personal_id: word("personal"),
    document_number: word("document"),
    birth_date: new Date(Date.UTC(1960, 1, 2 + Number(at.slice(2)))).toISOString().slice(0, 10),
    registration_ip: `2001:db8::${Number(at.slice(2)).toString(16)}:77`,
    affiliate_id: word("affiliate"),
    btag: word("btag")
  }
}

type Planted = ReturnType<typeof plant>

/** Every table, every row of it as text, and bytes as the text that they may be. */
const findAll = Effect.fnUntraced(function*(values: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p')`
  const found: Array<string> = []
  for (const { name } of tables) {
    const rows = yield* sql<{ readonly value: string }>`SELECT v.value FROM unnest(${`{${
      values.map((value) => `"${value}"`).join(",")
    }}`}::text::text[]) AS v (value)
      WHERE EXISTS (SELECT FROM ${sql(name)} t WHERE position(lower(v.value) in lower(t::text)) > 0
        OR position(encode(convert_to(v.value, 'UTF8'), 'hex') in t::text) > 0)`
    found.push(...rows.map(({ value }) => `${name}: ${value}`))
  }
  return found
})

const verified = Effect.gen(function*() {
  const { exitCode, stdout } = yield* runHere(["ledger", "verify"])
  assert.deepStrictEqual([exitCode, JSON.parse(stdout).violations], [0, []])
})

const ggr = (casino: Pick<Casino, "slug">) =>
  Effect.map(
    runHere(["report", "ggr", "--operator", casino.slug, "--from", "2026-11-01", "--to", "2026-11-30"]),
    (run) => {
      assert.strictEqual(run.exitCode, 0, run.stderr)
      return run.stdout
    }
  )

/** Lets a player play, pay and be noted by everybody with planted values, then settles everything and closes the account. */
const live = Effect.fnUntraced(function*(casino: Casino, planted: Planted) {
  const sql = yield* SqlClient.SqlClient
  const texts: Array<string> = []
  const text = (name: string) => {
    const value = `${planted.username}${name}`
    texts.push(value)
    return value
  }
  const { affiliate_id, btag, ...person } = planted
  const address = `198.51.100.${Number(planted.username.replaceAll(/\D/g, "")) % 250}`
  const registered = yield* casino.post(
    "/players",
    {
      ...person,
      affiliate_id,
      btag,
      country: "MT",
      gender: "female",
      password: "correct horse battery 9",
      terms_accepted: true,
      marketing: { email: true, sms: true, newsletter: true }
    },
    { "idempotency-key": fresh("key-") }
  )
  const id: number = dataOf(registered, 201).id
  const consent = { channel: "email", product: "casino", granted: true, text_version: "2026-11" }
  dataOf(yield* casino.put(`/players/${id}/consents`, { consents: [consent] }))
  yield* casino.deposit(id, 1000, { info: text("info") })
  const launched = dataOf(yield* casino.launch(id, { ip: address, platform: "desktop" }))
  const ref = dataOf(yield* casino.callWallet("authenticate", { session_token: launched.session_token })).player_ref
  const play = casino.playOf(launched.session_token, ref)
  const bet = dataOf(yield* play.bet(300))
  dataOf(yield* play.win(bet.transaction_id, 100))
  const other = plant()
  for (
    const changes of [{ first_name: other.first_name, last_name: other.last_name }, {
      email: other.email,
      city: other.city
    }]
  ) {
    dataOf(yield* casino.send(`/players/${id}`, { method: "PATCH", body: changes }))
  }
  yield* staff("POST", `/players/${id}/notes`, { text: text("note") })
  yield* staff("POST", `/players/${id}/kyc`, { status: "pending_review", reason: text("kyc") })
  yield* staff("PATCH", `/players/${id}/restrictions`, { excluded_from_bonuses: true, reason: text("restrict") })
  yield* staff("PATCH", `/players/${id}/limits`, { set: { max_daily_deposit: 500_000 }, reason: text("limit") })
  const withdrawal = dataOf(
    yield* casino.withdraw(id, 100, { info: text("iban"), bank_name: text("bank"), notes: text("asked") }),
    201
  )
  const payment: number = withdrawal.payment_request?.id ?? withdrawal.id
  yield* move(payment, "reject", text("reject"))
  const second = dataOf(yield* casino.withdraw(id, 50), 201)
  const many = { payments: [second.payment_request?.id ?? second.id], reason: text("many") }
  assert.deepInclude(yield* staff("POST", "/payments/reject", many), { done: 1 })
  const alert = yield* made("/cases", { type: "aml", player: id, note: text("case") })
  yield* sql`UPDATE cases SET status = 'closed', closed_at = created_at WHERE id = ${alert.id}`
  const { balance } = dataOf(yield* casino.get(`/players/${id}/wallet`))
  yield* staff("POST", `/players/${id}/corrections`, { wallet: "real", amount: -balance, reason: text("correct") })
  yield* sql`INSERT INTO webhook_deliveries (id, event_id, endpoint_id, operator_id, status, attempts, response_status, response_body,
      created_at, updated_at)
    SELECT (SELECT max(id) FROM events) + 1, e.id, w.id, e.operator_id, 'delivered', 1, 200, ${
    text("echo")
  }, now(), now()
    FROM events e JOIN webhook_endpoints w ON w.operator_id = e.operator_id WHERE e.player_id = ${id} ORDER BY e.id LIMIT 1`
  yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: text("closed") })
  const values = [
    ...Object.values(planted),
    other.first_name,
    other.last_name,
    other.email,
    other.city,
    address,
    ...texts
  ]
  return { id, values }
})

const casinoWithWebhook = Effect.gen(function*() {
  const casino = yield* openCasino()
  yield* made("/webhooks", { operator: casino.slug, url: "https://hooks.example/" })
  return casino
})

const Result = Schema.Struct({
  erased: Schema.Array(Schema.String),
  kept: Schema.Array(Schema.Struct({ class: Schema.String, until: Schema.NullOr(Schema.String), basis: Schema.String }))
})
const readResult = Schema.decodeUnknownSync(Result)

const requested = (casino: Casino, id: number, type: string) => casino.post(`/players/${id}/data-requests`, { type })

layer(layerCasinos, { excludeTestServices: true, timeout: 60_000 })("data requests", (it) => {
  it.effect("11.5: an erased person no longer appears in any table, log, metric, export or event, and no figure changes", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWithWebhook
      const planted = plant()
      const { id, values } = yield* live(casino, planted)
      yield* (yield* Seals).run
      const before = yield* findAll(values)
      // what is sealed or digested stands nowhere in clear from the beginning
      const sealed = /personal$|document$|info$|iban$|bank$|asked$/
      for (const value of values) {
        if (!sealed.test(value)) assert.isTrue(before.some((one) => one.endsWith(`: ${value}`)), `${value} was planted`)
      }
      yield* verified
      const figures = yield* ggr(casino)
      const entries = yield* casino.get(`/players/${id}/transactions`)

      // a name that somebody else took cannot keep the person from being erased
      const taken = yield* casino.post("/players", {
        ...planted,
        username: `Erased-${id}`,
        email: `erased-${id}@erased.invalid`
      })
      assert.includeMembers(Object.keys(Object(taken.details)), ["username", "email"])

      const request = dataOf(yield* requested(casino, id, "erasure"), 201)
      assert.deepInclude(request, { player_id: id, type: "erasure", status: "completed" })
      assert.deepStrictEqual(readResult(request.result).kept, [])
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${id}/data-requests/${request.id}`)), request)

      assert.deepStrictEqual(yield* findAll(values), [])
      const sql = yield* SqlClient.SqlClient
      const [left] =
        yield* sql`SELECT num_nonnulls(p.numbers_sealed, p.personal_id_digest, p.document_number_digest, p.password_hash,
            (SELECT max(details_sealed) FROM payment_requests WHERE player_id = p.id),
            (SELECT max(body_sealed) FROM idempotency_keys WHERE player_id = p.id),
            (SELECT max(digest) FROM player_facts WHERE player_id = p.id))::float8 AS sealed, birth_date::text AS born
        FROM players p WHERE id = ${id}`
      assert.deepStrictEqual(left, { sealed: 0, born: `${planted.birth_date.slice(0, 4)}-01-01` })
      const player = dataOf(yield* casino.get(`/players/${id}`))
      assert.deepInclude(player, {
        username: `erased-${id}`,
        email: `erased-${id}@erased.invalid`,
        first_name: "erased",
        last_name: "erased",
        phone: null,
        external_id: null
      })

      yield* verified
      assert.strictEqual(yield* ggr(casino), figures)
      assert.deepStrictEqual((yield* casino.get(`/players/${id}/transactions`)).data, entries.data)
      const { logged } = yield* BothServers
      const exported = yield* runHere(["ledger", "export"])
      const read = (path: string) =>
        Effect.map(staffCall("GET", path), ({ status, text }) => {
          assert.strictEqual(status, 200, path)
          return text
        })
      const events = yield* read(`/backoffice/v1/deliveries?operator=${casino.slug}`)
      const metrics = yield* read("/metrics")
      const audit = yield* read(`/backoffice/v1/audit?player=${id}&per_page=100`)
      const listed = yield* casino.get("/events?per_page=100")
      assert.strictEqual(listed.status, 200, listed.text)
      const found = yield* read(`/backoffice/v1/search?q=${values[0]}`)
      for (
        const [name, text] of Object.entries({
          logged: logged.join("\n"),
          exported: exported.stdout,
          events,
          listed: listed.text,
          metrics,
          audit
        })
      ) {
        for (const value of values) assert.notInclude(text, value, name)
      }
      assert.notInclude(found, String(id))
      assert.include(audit, "\"erasure\"")

      // the export is whole as well, and says that the values are gone
      yield* (yield* Seals).run
      const lines = (yield* runHere(["ledger", "export"])).stdout.trimEnd().split("\n")
      const check = new ExportCheck(hashOf(lines.findLast((line) => line.startsWith("[\"seal\"")) ?? ""))
      for (const line of lines) check.take(line)
      assert.deepStrictEqual(check.report().violations, [])
      assert.include(lines, "[\"erased\"]")
    }))

  it.effect("11.4: a refused erasure lists everything that prevents it, except the request's own case", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const blocking = (id: number) =>
        Effect.map(requested(casino, id, "erasure"), (reply) => {
          assertRefused(reply, 422, "INVALID_REQUEST")
          return Reflect.get(Object(reply.details), "blocking")
        })
      dataOf(yield* seat.bet(100))
      dataOf(yield* casino.withdraw(seat.id, 50), 201)
      yield* made("/cases", { type: "harm", player: seat.id })
      dataOf(yield* casino.exclude(seat.id, { period: "24_hours" }))
      assert.deepStrictEqual(yield* blocking(seat.id), [
        "account_open",
        "balance",
        "open_round",
        "open_payment",
        "open_case",
        "exclusion"
      ])
      // the function of the database refuses by itself
      const sql = yield* SqlClient.SqlClient
      const direct = yield* Effect.flip(
        sql`SELECT erase_personal_data(${seat.id}::float8::bigint, ARRAY['identity'], ARRAY[now()], now(),
        1::bigint, 'nobody', 'none', ''::bytea)`
      )
      assert.include(describeSqlError(direct), "erasure is blocked")

      const { id } = yield* casino.register()
      yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: "asked" })
      const access = dataOf(yield* requested(casino, id, "access"), 201)
      assert.deepInclude(access, { status: "open" })
      const [open] = yield* staff("GET", `/cases?player=${id}`)
      assert.deepInclude(open, { type: "data_subject", status: "open" })
      assert.strictEqual(dataOf(yield* requested(casino, id, "erasure"), 201).status, "completed")
      assert.lengthOf(yield* staff("GET", `/cases?player=${id}&status=closed`), 1)
    }))

  it.effect("11.3: an access request gives one document with everything the person may know, and reading it completes the request", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWithWebhook
      const planted = plant()
      const { id, values } = yield* live(casino, planted)
      const other = yield* casino.register()
      const request = dataOf(yield* requested(casino, id, "access"), 201)
      const at = new Date(request.created_at)
      at.setUTCMonth(at.getUTCMonth() + 1)
      assert.strictEqual(request.due_at, at.toISOString())
      const read = casino.get(`/players/${id}/data-requests/${request.id}/document`)
      const document = dataOf(yield* read)
      assert.deepInclude(document.player, { id, external_id: planted.external_id, personal_id: planted.personal_id })
      assert.deepInclude(document.former_identities[0], {
        first_name: planted.first_name,
        birth_date: planted.birth_date
      })
      const listed = yield* casino.get(`/players/${id}/transactions?per_page=100`)
      assert.lengthOf(document.ledger, dataOf(listed).length)
      assert.include(JSON.stringify(document.payments), `${planted.username}iban`)
      assert.deepInclude(document.consents.find((one: Fields) => one["channel"] === "email"), {
        channel: "email",
        product: "casino",
        granted: true
      })
      for (
        const part of [
          "wallets",
          "bonuses",
          "limits",
          "limit_changes",
          "exclusions",
          "sessions",
          "acknowledgements",
          "consents",
          "checks",
          "notes",
          "statement"
        ]
      ) {
        assert.isDefined(document[part], part)
      }
      // what staff set is the person's to know as well
      assert.include(JSON.stringify(document.limit_changes), "500000")
      const text = JSON.stringify(document)
      for (const value of values) {
        if (!/case$|echo$|restrict$|kyc$|limit$|correct$|last$|city$/.test(value)) assert.include(text, value)
      }
      for (const hidden of [`${planted.username}case`, "staff:", "password", other.username]) {
        assert.notInclude(text, hidden)
      }
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}/data-requests/${request.id}`)).status, "completed")
      assert.deepStrictEqual(dataOf(yield* read).ledger, document.ledger)
      assertRefused(
        yield* casino.get(`/players/${other.id}/data-requests/${request.id}/document`),
        404,
        "NOT_FOUND"
      )
    }))

  it.effect("5.7: the keyed digest of the person in a register check, also of a refused registration, is erased after its period; the proof of the check stays", () =>
    whileTimePasses(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fake = yield* makeFakeRegister({ kind: "generic" })
      const on = { registration: { max_age: "PT0S", unavailable: "refuse" } }
      const casino = yield* casinoUnder({ registers: [{ kind: "generic", on }], retention: { checks: "P1D" } })
      yield* staff("POST", "/registers", { operator: casino.slug, kind: "generic", settings: fake.settings })
      const { id } = yield* casino.register()
      const excluded = { first_name: "Ada", last_name: fresh("Excluded"), birth_date: "1980-01-01" }
      fake.know([{ ...excluded, verdict: "excluded" }])
      assertRefused(yield* casino.post("/players", registration(fresh("p-"), excluded)), 422, "SELF_EXCLUDED_IDENTITY")
      yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: "asked" })
      const checks = sql`SELECT verdict, person_digest IS NOT NULL AS known FROM register_checks
        WHERE operator_id = ${casino.id} ORDER BY id`
      const digests = [{ verdict: "clear", known: true }, { verdict: "excluded", known: true }]
      assert.deepStrictEqual(yield* checks, digests)
      const { result } = dataOf(yield* requested(casino, id, "erasure"), 201)
      assert.deepStrictEqual(readResult(result).kept.map((one) => one.class), ["checks"])
      assert.deepStrictEqual(yield* checks, digests)
      yield* pass(2 * dayMs)
      yield* (yield* Retention).run
      assert.deepStrictEqual(yield* checks, digests.map(({ verdict }) => ({ verdict, known: false })))
      const [line] = yield* sql`SELECT after ->> 'verdict' AS verdict FROM audit_log
        WHERE player_id = ${id} AND action = 'register.check'`
      assert.deepStrictEqual(line, { verdict: "clear" })
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}/register-checks`))[0].verdict, "clear")
      assert.isNull(dataOf(yield* casino.get(`/players/${id}`)).register)
      yield* verified
    })))

  it.effect("5.7: the digests of more refused registrations than one run erases are all erased in the same night", () =>
    whileTimePasses(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { run } = yield* Retention
      const casino = yield* casinoUnder({ retention: { checks: "P1D" } })
      yield* sql`INSERT INTO register_checks (id, operator_id, kind, event, verdict, asked_at, answered_at, request_id, profile,
          profile_version, person_digest, ask_again)
        SELECT -n, ${casino.id}, 'generic', 'registration', 'excluded', at, at, 'r' || n, ${casino.profile}, 1, '\\x00', false
        FROM generate_series(1, 5001) n, (SELECT ${new Date(noon)}::timestamptz) one (at)`
      yield* pass(2 * dayMs)
      assert.deepStrictEqual([yield* run, yield* run], [{ done: 5000, hasMore: true }, { done: 1, hasMore: false }])
      const [line] = yield* sql`SELECT after -> 'refused_registrations' AS count FROM audit_log
        WHERE action = 'retention' ORDER BY id DESC LIMIT 1`
      assert.deepStrictEqual(line, { count: 5001 })
    })))

  it.effect("11.6: each data class is erased when its period is over, and the nightly audit log line has the counts", () =>
    whileTimePasses(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const retention = yield* Retention
      const periods = {
        identity: "P10D",
        payments: "P20D",
        gambling: "P20D",
        exclusion: "P15D",
        marketing: "P0D",
        security: "P5D"
      }
      const casino = yield* casinoUnder({ retention: periods })
      yield* made("/webhooks", { operator: casino.slug, url: "https://hooks.example/" })
      const { id, values } = yield* live(casino, plant())
      const active = yield* casino.sit(100)
      const column = (name: string) =>
        Effect.map(
          sql<{ readonly value: unknown }>`SELECT ${sql(name)} AS value FROM players WHERE id = ${id}`,
          ([row]) => row?.value
        )
      const report = staff("GET", `/retention?operator=${casino.slug}`)
      const figuresOf = Effect.map(
        report,
        ({ classes }: { readonly classes: ReadonlyArray<Fields> }) =>
          Object.fromEntries(classes.map((one) => [one["class"], [one["due"], one["kept"]]]))
      )
      assert.deepInclude(yield* figuresOf, { marketing: [1, 1], identity: [0, 2] })

      const dry = yield* staff("POST", `/players/${id}/erase`, { dry_run: true })
      assert.include(dry.erased, "marketing")
      assert.deepInclude(dry.kept.find((one: Fields) => one["class"] === "identity"), {
        basis: `${casino.profile} version 1: retention.identity P10D`
      })
      yield* retention.run
      assert.isNull(yield* column("registration_btag"))
      assert.isNotNull(yield* column("external_id"))

      yield* pass(6 * dayMs)
      yield* retention.run
      const addresses =
        yield* sql`SELECT FROM game_sessions WHERE player_id IN (${id}, ${active.id}) AND ip IS NOT NULL`
      assert.lengthOf(addresses, 0)
      assert.isNotNull(yield* column("external_id"))
      yield* pass(5 * dayMs)
      yield* retention.run
      assert.strictEqual(yield* column("username"), `erased-${id}`)
      assert.isNotNull(yield* column("personal_id_digest"))
      yield* pass(5 * dayMs)
      yield* retention.run
      assert.isNull(yield* column("personal_id_digest"))
      assert.isAbove((yield* findAll(values)).length, 0)
      yield* pass(5 * dayMs)
      assert.strictEqual((yield* retention.run).done, 1)
      assert.deepStrictEqual((yield* findAll(values)).filter((one) => !one.startsWith("case_notes")), [])
      assert.strictEqual((yield* retention.run).done, 0)
      yield* verified
      const [line] = yield* sql`SELECT after FROM audit_log WHERE action = 'retention' ORDER BY id DESC LIMIT 1`
      assert.deepStrictEqual(line, {
        after: { players: 1, classes: { payments: 1, gambling: 1 }, refused_registrations: 0 }
      })
      // who uses the account keeps everything but old addresses
      assert.strictEqual((yield* (yield* PlayerActors).read(casino.id, active.id)).status, "active")
    })))

  it.effect("11.6: a player whose data cannot be erased is logged each night, and the others are erased", () =>
    whileTimePasses(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { logged } = yield* BothServers
      const casino = yield* casinoUnder({ retention: { marketing: "P0D" } })
      const players = [yield* casino.register(), yield* casino.register()]
      const [failing] = players
      for (const { id } of players) yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: "asked" })
      yield* sql`CREATE FUNCTION test_keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'kept by a test'; END $$`
      yield* sql.unsafe(`CREATE TRIGGER test_keep BEFORE UPDATE ON players FOR EACH ROW WHEN (OLD.id = ${failing?.id})
        EXECUTE FUNCTION test_keep()`)
      yield* pass(dayMs)
      assert.strictEqual((yield* (yield* Retention).run).done, 1)
      const lines = logged.filter((line) => line.includes("personal data of a player was not erased"))
      assert.lengthOf(lines, 1)
      assert.include(lines[0], `"player_id":${failing?.id}`)
      assert.include(lines[0], "kept by a test")
      yield* sql`DROP TRIGGER test_keep ON players`
      assert.strictEqual((yield* (yield* Retention).run).done, 1)
    })))

  it.effect("11.5: an erased account that is reopened is not verified, and cannot sign in or deposit", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      for (const status of ["pending_review", "verified"]) yield* staff("POST", `/players/${id}/kyc`, { status })
      dataOf(yield* casino.put(`/players/${id}/status`, { status: "closed" }))
      dataOf(yield* requested(casino, id, "erasure"), 201)
      const opened = dataOf(yield* casino.put(`/players/${id}/status`, { status: "active" }))
      assert.deepInclude(opened, { first_name: "erased", kyc_status: "not_started", is_verified: false })
      assert.strictEqual((yield* casino.post(`/players/${id}/session-tokens`)).code, "PLAYER_RESTRICTED")
      assert.strictEqual((yield* casino.deposit(id, 100)).code, "PLAYER_RESTRICTED")
    }))

  it.effect("11.5: stored idempotent answers are erased with their player, however the request path was percent-encoded", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      const key = fresh("key-")
      const escaped = String(id).replaceAll(/\d/g, "%3$&")
      dataOf(yield* casino.post(`/players/${escaped}/session-tokens`, {}, { "idempotency-key": key }), 201)
      const stored =
        sql`SELECT num_nonnulls(nullif(body, ''), body_sealed)::float8 AS parts FROM idempotency_keys WHERE key = ${key}`
      assert.deepStrictEqual(yield* stored, [{ parts: 1 }])
      yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: "asked" })
      dataOf(yield* requested(casino, id, "erasure"), 201)
      assert.deepStrictEqual(yield* stored, [{ parts: 0 }])
    }))

  it.effect("11.3: closing the case of an open access request refuses the request, and its document is no longer available", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      const request = dataOf(yield* requested(casino, id, "access"), 201)
      const [found] = yield* staff("GET", `/cases?player=${id}`)
      yield* staff("PATCH", `/cases/${found.id}`, { status: "in_progress" })
      yield* staff("PATCH", `/cases/${found.id}`, { status: "decided", decision: "no_action" })
      const path = `/players/${id}/data-requests/${request.id}`
      assert.deepInclude(dataOf(yield* casino.get(path)), { status: "open" })
      yield* staff("PATCH", `/cases/${found.id}`, { status: "closed" })
      assert.deepInclude(dataOf(yield* casino.get(path)), { status: "refused" })
      assertRefused(yield* casino.get(`${path}/document`), 422, "INVALID_REQUEST")
      // three changes of one instant, by as many nodes, have no order among themselves
      const lines = yield* staff("GET", `/audit?player=${id}&action=case.update`)
      const refused = lines.flatMap(({ after }: { after: Record<string, unknown> }) => after["refused_requests"] ?? [])
      assert.deepStrictEqual(refused, [request.id])
    }))

  it.effect("11.1: data stored with a case is erased with it, also a report without notes and a waived question", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* casinoUnder({ retention: { aml: "P1D" } })
      const { id: player } = yield* casino.register()
      const { id } = yield* made("/cases", { type: "aml", player })
      const values = [fresh("zqtext"), fresh("zqreference")]
      yield* staff("POST", `/cases/${id}/funds`, { text: values[0], due: "P14D" })
      const report = { reference: values[1], authority: "FIU", submitted_at: "2026-11-20T10:00:00Z" }
      yield* staff("POST", `/cases/${id}/sar`, report)
      yield* staff("PATCH", `/cases/${id}`, { status: "in_progress" })
      yield* staff("PATCH", `/cases/${id}`, { status: "decided", decision: "report" })
      const { obligations: [asked] } = yield* staff("PATCH", `/cases/${id}`, { status: "closed" })
      yield* staff("POST", `/obligations/${asked.id}/waive`, { reason: "answered by phone" })
      const kept = Effect.map(findAll(values), (found) => found.filter((one) => !one.startsWith("audit_log")))
      yield* (yield* Retention).run
      assert.deepStrictEqual((yield* kept).toSorted(), [`case_reports: ${values[1]}`, `obligations: ${values[0]}`])
      yield* pass(2 * dayMs)
      yield* (yield* Retention).run
      assert.deepStrictEqual(yield* kept, [])
      assert.strictEqual((yield* (yield* Retention).run).done, 0)
    })))

  it.effect("11.6: consents given in a reopened account are erased again after it is closed", () =>
    whileTimePasses(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* casinoUnder({ retention: { marketing: "P0D" } })
      const { id } = yield* casino.register()
      const status = (to: string) => staff("POST", `/players/${id}/status`, { status: to, reason: "asked" })
      const consented = Effect.gen(function*() {
        yield* pass(dayMs)
        yield* (yield* Retention).run
        const [row] = yield* sql`SELECT consents IS NOT NULL OR marketing_email AS said FROM players WHERE id = ${id}`
        return row?.["said"]
      })
      for (const _ of [1, 2]) {
        yield* status("active")
        dataOf(
          yield* casino.put(`/players/${id}/consents`, {
            consents: [{ channel: "email", product: "casino", granted: true }]
          })
        )
        assert.isTrue(yield* consented)
        yield* status("closed")
        assert.isFalse(yield* consented)
        assert.strictEqual((yield* (yield* Retention).run).done, 0)
      }
    })))
})
