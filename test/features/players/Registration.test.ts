import { assert, describe, it } from "@effect/vitest"
import { checkRegistration } from "../../../src/contract/players/RegistrationResource.ts"

const now = Date.parse("2026-11-20T12:00:00.000Z")

const terms = { defaultProfile: "none", minimumAges: new Map([["none", 18], ["x-late", 21]]) }

const complete = {
  username: "lucky_luke",
  email: "luke@example.com",
  first_name: "Luke",
  last_name: "Lucky",
  birth_date: "1990-12-31",
  country: "DE",
  terms_accepted: true
}

const check = (fields: { readonly [field: string]: unknown }) =>
  checkRegistration({ ...complete, ...fields }, terms, now)
const badFields = (fields: { readonly [field: string]: unknown }) => Object.keys(check(fields).messages).sort()
const valueOf = (fields: { readonly [field: string]: unknown }) => check(fields).registration

describe("checkRegistration", () => {
  it("accepts a complete registration and refuses each missing field", () => {
    assert.deepStrictEqual(valueOf({}), { ...complete, terms_accepted: true })
    for (const field of Object.keys(complete)) {
      for (const nothing of [undefined, null, "", "  "]) {
        const { messages, registration } = check({ [field]: nothing })
        assert.isUndefined(registration, field)
        assert.deepStrictEqual(Object.keys(messages), [field])
      }
    }
  })

  // Goal: one refusal lists all invalid fields. Method: break every field at once; each must be named.
  it("reports every invalid field at once, with dotted names for nested ones", () => {
    const broken = {
      username: "a b",
      email: "nobody",
      first_name: 5,
      last_name: [],
      birth_date: "1990-02-30",
      country: "XX",
      terms_accepted: "yes",
      external_id: {},
      password: "short",
      middle_name: true,
      city: "a\u0000b",
      address: "x".repeat(501),
      zip_code: 12345,
      personal_id: "x".repeat(65),
      document_number: false,
      gender: "unknown",
      phone: "0151 2345678",
      language: "eng",
      currency: "XXX",
      promo_code: 1,
      affiliate_id: 7,
      btag: {},
      registration_ip: "300.1.1.1",
      terms_version: [],
      marketing: { email: 1, sms: "no", newsletter: 0 },
      is_test: "true"
    }
    const { messages } = checkRegistration(broken, terms, now)
    const expected = Object.keys(broken).filter((field) => field !== "marketing")
    assert.deepStrictEqual(
      Object.keys(messages).sort(),
      [...expected, "marketing.email", "marketing.newsletter", "marketing.sms"].sort()
    )
    for (const [field, texts] of Object.entries(messages)) assert.isAbove(texts.length, 0, field)
  })

  it("optional fields may be null or blank; unknown ones are ignored", () => {
    assert.deepStrictEqual(valueOf({ middle_name: null, city: " ", phone: "", marketing: { sms: null }, colour: 1 }), {
      ...complete,
      terms_accepted: true,
      marketing: {}
    })
  })

  // Goal: each field accepts well-formed values, stores one normal form, and refuses the rest. Method: by field, values sent and stored, and
  // values refused.
  type Row = readonly [
    field: "birth_date" | "country" | "currency" | "email" | "password" | "phone" | "terms_accepted" | "username",
    good: ReadonlyArray<string | readonly [sent: string, kept: string]>,
    bad: ReadonlyArray<unknown>
  ]
  const rows: ReadonlyArray<Row> = [
    ["terms_accepted", [], [false, "true", 1]],
    ["username", ["abc", "A-b_9", "x".repeat(30)], ["ab", "x".repeat(31), "a.b.c", "näme", "abc ", "abc\n"]],
    ["email", [[" Luke.L+x@EXAMPLE.Co.UK ", "luke.l+x@example.co.uk"]], [
      "luke",
      "luke@host",
      "@example.com",
      "a@b@c.de",
      "a b@example.com",
      "a@example..com",
      "a@.com"
    ]],
    ["birth_date", ["2008-11-20", "1908-02-29", "1900-01-01"], [
      "2008-11-21",
      "2030-01-01",
      "1990-13-01",
      "1990-02-29",
      "90-01-01",
      "1990-1-1",
      "1990-01-01T00:00:00Z"
    ]],
    ["country", ["DE", "MT", "GB"], ["de", "DEU", "XX", "UK", "XK", "EU"]],
    ["currency", ["EUR", "JPY", "KWD", "XOF", "XCG"], [
      "eur",
      "EURO",
      "XXX",
      "XTS",
      "XAU",
      "HRK",
      "DEM",
      "ANG",
      "BTC"
    ]],
    ["phone", [["+49 (151) 234-56789", "+4915123456789"], ["+1 202 555 0123", "+12025550123"]], [
      "0151 23456789",
      "0049 151 23456789",
      "+49",
      "+999 123456789",
      "+4915123456789123456",
      "phone"
    ]],
    ["password", ["abcdefg1", "pässwört9", "1234567ж"], [
      "abcdef1",
      "abcdefgh",
      "12345678",
      "        ",
      "x1".repeat(101)
    ]]
  ]
  for (const [field, good, bad] of rows) {
    it(`${field}: keeps good values, refuses bad ones`, () => {
      for (const value of good) {
        const [sent, kept] = typeof value === "string" ? [value, value] : value
        assert.strictEqual(valueOf({ [field]: sent })?.[field], kept)
      }
      for (const value of bad) assert.deepStrictEqual(badFields({ [field]: value }), [field], String(value))
    })
  }

  // Goal: well-formed unique fields are available beside malformed ones. Method: one bad field among good unique ones.
  it("of an invalid registration, returns the valid fields that must be unique, so that duplicates are reported at once", () => {
    const { unique } = check({ country: "??", email: "nobody", phone: "+49 151 23456789", external_id: " x1 " })
    assert.deepStrictEqual(unique, {
      username: "lucky_luke",
      email: undefined,
      phone: "+4915123456789",
      external_id: "x1"
    })
  })
})

describe("an age", () => {
  it("counts calendar days in UTC", () => {
    const messages = (birth_date: string, at: string) =>
      Object.keys(checkRegistration({ ...complete, birth_date }, terms, Date.parse(at)).messages)
    assert.deepStrictEqual(messages("2008-11-21", "2026-11-20T23:59:59.999Z"), ["birth_date"])
    assert.deepStrictEqual(messages("2008-11-21", "2026-11-21T00:00:00.000Z"), [])
    // born on a leap day: of age on the first of March of a common year
    assert.deepStrictEqual(messages("2008-02-29", "2026-02-28T12:00:00.000Z"), ["birth_date"])
    assert.deepStrictEqual(messages("2008-02-29", "2026-03-01T00:00:00.000Z"), [])
  })
})

describe("a registration's jurisdiction", () => {
  it("is one of the operator's profiles", () => {
    assert.strictEqual(valueOf({ jurisdiction: "x-late" })?.jurisdiction, "x-late")
    assert.deepStrictEqual(check({ jurisdiction: "se" }).messages, { jurisdiction: ["must be one of none, x-late"] })
  })

  it("sets the player's minimum age", () => {
    const fields = { birth_date: "2006-11-20" }
    assert.deepStrictEqual(badFields(fields), [])
    assert.deepStrictEqual(check({ ...fields, jurisdiction: "x-late" }).messages, {
      birth_date: ["must be at least 21 years ago"]
    })
  })
})
