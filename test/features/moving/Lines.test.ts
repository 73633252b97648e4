import { assert, it } from "@effect/vitest"
import { Struct } from "effect"
import * as FastCheck from "fast-check"
import { movedSums } from "../../../src/domain/limit/LimitUsage.ts"
import { arriveStep, arrivingPlayer } from "../../../src/domain/moving/Arrival.ts"
import { arrivalRow } from "../../../src/features/moving/internal/ArrivalRow.ts"
import { type LineContext, readLine } from "../../../src/features/moving/internal/Lines.ts"
import { lineOf } from "../../../src/features/moving/internal/PlayersAsLines.ts"
import { noon as noonText } from "../../kit/Noon.ts"

// Goal: what an import reads of a line, an export writes. Method: random lines through the rule of an arrival: the line that comes out says all that went
// in, and is itself equal to the byte when it goes in again.

const noon = Date.parse(noonText)

type Line = { readonly [field: string]: unknown }

const context: LineContext = {
  operatorId: 1,
  baseCurrency: "EUR",
  terms: { minimumAges: new Map([["none", 18]]), defaultProfile: "none" },
  profileOf: () => undefined,
  runId: 2,
  batch: "batch",
  actor: "staff:1",
  bonusId: 3,
  sendsEvents: false,
  passwordHash: "none",
  defaultLimits: () => ({}),
  lineDigest: "00",
  now: noon
}

const passed = (line: Line): Line => {
  const read = readLine(line, context)
  if (read._tag !== "Arrival") return assert.fail(JSON.stringify(read.messages))
  const { arrival } = read
  const decision = arriveStep(arrival, null)(arrivingPlayer(9, arrival), { now: noon, firstId: 10, known: undefined })
  if (decision._tag !== "Accept") return assert.fail(decision._tag)
  return lineOf(decision.state, arrivalRow(9, arrival, noon), { ...arrival.imported, consents: arrival.consents })
}

const instant = (from: number, to: number) =>
  FastCheck.integer({ min: from, max: to }).map((ms) => new Date(ms).toISOString())
const before = instant(Date.parse("2015-01-01"), noon)
const ahead = instant(noon + 1, noon + 1e11)
const amount = FastCheck.integer({ min: 1, max: 1e12 })

const line = FastCheck.record({
  external_id: FastCheck.stringMatching(/^[A-Za-z0-9-]{1,30}$/),
  username: FastCheck.stringMatching(/^[a-z][a-z0-9_]{4,20}$/),
  email: FastCheck.nat().map((n) => `m${n}@example.com`),
  first_name: FastCheck.constantFrom("Ada", "Åsa Brit", "O'Neil"),
  last_name: FastCheck.constantFrom("Lovelace", "Müller-Lüdenscheidt", "李"),
  birth_date: FastCheck.constantFrom("1950-01-01", "1996-02-29"),
  country: FastCheck.constantFrom("DE", "MT"),
  created_at: before,
  balance: FastCheck.integer({ min: -1e9, max: 1e12 }),
  phone: FastCheck.constant("+4915112345678"),
  personal_id: FastCheck.constantFrom("AB 12", "7"),
  gender: FastCheck.constantFrom("male", "female"),
  city: FastCheck.constantFrom("Köln", "Valletta"),
  currency: FastCheck.constantFrom("EUR", "SEK"),
  language: FastCheck.constantFrom("en", "de"),
  promo_code: FastCheck.constant("WELCOME"),
  btag: FastCheck.constant("b-1"),
  terms_version: FastCheck.constant("3"),
  is_test: FastCheck.constant(true),
  status: FastCheck.constantFrom("active", "locked", "closed"),
  kyc_status: FastCheck.constantFrom("not_started", "pending_review", "verified"),
  last_login_at: before,
  document_expires_at: ahead,
  category: FastCheck.constantFrom("vip", "new"),
  risk_level: FastCheck.constantFrom("low", "high"),
  restrictions: FastCheck.record({
    can_login: FastCheck.boolean(),
    can_deposit: FastCheck.boolean(),
    can_withdraw: FastCheck.boolean(),
    can_bet: FastCheck.constant(false),
    excluded_from_bonuses: FastCheck.boolean()
  }),
  limits: FastCheck.record({ max_daily_bet: amount, max_balance: amount, max_yearly_deposit: amount }, {
    requiredKeys: []
  }),
  pending_changes: FastCheck.array(
    FastCheck.record({
      field: FastCheck.constantFrom("max_daily_bet", "max_daily_loss"),
      requested_value: FastCheck.option(amount),
      effective_at: ahead
    }),
    { minLength: 1, maxLength: 2 }
  ),
  self_exclusion: FastCheck.oneof(
    FastCheck.record({ type: FastCheck.constant("time_out"), since: before, until: ahead }),
    FastCheck.record({
      type: FastCheck.constant("self_exclusion"),
      since: before,
      until: FastCheck.oneof(ahead, FastCheck.constant(null)),
      ends: FastCheck.constant("by_itself")
    }),
    FastCheck.record({
      type: FastCheck.constant("self_exclusion"),
      since: before,
      until: ahead,
      source: FastCheck.constantFrom("player", "operator"),
      ends: FastCheck.constant("on_request"),
      return_from: ahead,
      return_at: FastCheck.constant(null),
      return_wait: FastCheck.constantFrom("P7D", "PT24H")
    })
  ),
  bonus: FastCheck.record({
    name: FastCheck.constant("Welcome"),
    type: FastCheck.constant("no_deposit"),
    amount,
    balance: FastCheck.nat(),
    wager_requirement: amount,
    wagered_amount: FastCheck.nat(),
    max_bet: FastCheck.nat(),
    max_conversion: amount,
    started_at: before,
    expires_at: ahead
  }),
  pending_bonuses: FastCheck.array(
    FastCheck.record({
      name: FastCheck.constant("Reload"),
      type: FastCheck.constant("deposit_match"),
      amount,
      wager_requirement: amount,
      max_bet: FastCheck.nat(),
      max_conversion: amount,
      valid_days: FastCheck.integer({ min: 1, max: 90 }),
      granted_at: before,
      interrupted: FastCheck.record({
        balance: FastCheck.nat(),
        wagered_amount: FastCheck.nat(),
        started_at: before,
        remaining_ms: FastCheck.integer({ min: 1, max: 1e9 })
      })
    }, { requiredKeys: ["name", "type", "amount", "wager_requirement", "max_bet", "valid_days", "granted_at"] }),
    { minLength: 1, maxLength: 4 }
  ),
  consents: FastCheck.tuple(
    ...([["*", "*"], ["email", "*"], ["email", "casino"], ["sms", "casino"]] as const).map((
      [channel, product],
      index
    ) =>
      FastCheck.option(FastCheck.record({
        channel: FastCheck.constant(channel),
        product: FastCheck.constant(product),
        granted: FastCheck.boolean(),
        at: instant(Date.parse(`${2015 + index}-01-01`), Date.parse(`${2015 + index}-12-31`)),
        source: FastCheck.constantFrom("player", "exclusion"),
        text_version: FastCheck.constant("2024-01")
      }, { requiredKeys: ["channel", "product", "granted", "at", "source"] }))
    )
  ).map((consents) => consents.filter((consent) => consent !== null)),
  net_deposit_cap: amount,
  reality_check: FastCheck.constantFrom("PT10M", "PT1H"),
  moved: FastCheck.record({ from: FastCheck.constantFrom("gb", "x-own"), until: ahead }),
  used: FastCheck.record({
    as_of: before,
    ...Struct.Record(Struct.keys(movedSums), amount)
  }),
  lifetime: FastCheck.record({ deposits: amount, withdrawals: FastCheck.nat() }),
  unverified_withdrawn: amount,
  password_hash: FastCheck.constant("$2b$10$x")
}, {
  requiredKeys: [
    "external_id",
    "username",
    "email",
    "first_name",
    "last_name",
    "birth_date",
    "country",
    "created_at",
    "balance"
  ]
})

const smallest = {
  external_id: "e-1",
  username: "ada_l",
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "Lovelace",
  birth_date: "1950-01-01",
  country: "DE",
  created_at: "2020-01-01T00:00:00.000Z",
  balance: 0
}

it("an import line keeps all its values, and is the same bytes after another export and import", () => {
  FastCheck.assert(
    FastCheck.property(line, (sent) => {
      const out = passed(sent)
      const { marketing: _marketing, ...said } = out
      assert.deepStrictEqual({ ...said, ...sent }, said)
      assert.strictEqual(JSON.stringify(passed(out)), JSON.stringify(out))
    }),
    { numRuns: 300 }
  )
})

it("limits that the player did not choose are not the player's own after another import", () => {
  const own = { limits: { max_daily_bet: 100, max_balance: 500 }, limits_chosen: ["max_balance"] }
  const sent = { ...smallest, ...own }
  const out = passed(sent)
  assert.deepInclude(out, own)
  assert.deepInclude(passed(out), own)
})
