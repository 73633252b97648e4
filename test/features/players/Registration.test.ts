import { assert, describe, it } from "@effect/vitest"
import { checkRegistration, isAdult } from "../../../src/features/players/RegistrationResource.ts"

const now = Date.parse("2026-11-20T12:00:00.000Z")

const complete = {
  username: "lucky_luke",
  email: "luke@example.com",
  first_name: "Luke",
  last_name: "Lucky",
  birth_date: "1990-12-31",
  country: "DE",
  terms_accepted: true
}

const check = (fields: { readonly [field: string]: unknown }) => checkRegistration({ ...complete, ...fields }, now)
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

  // Goal: a caller repairs a request in one go. Method: break every field there is at once; each must be named.
  it("names every bad field at once, nested ones with dots", () => {
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
    const { messages } = checkRegistration(broken, now)
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

  it("terms must have been accepted", () => {
    for (const value of [false, "true", 1]) {
      assert.deepStrictEqual(badFields({ terms_accepted: value }), ["terms_accepted"])
    }
  })

  it("usernames", () => {
    for (const good of ["abc", "A-b_9", "x".repeat(30)]) assert.strictEqual(valueOf({ username: good })?.username, good)
    for (const bad of ["ab", "x".repeat(31), "a.b.c", "näme", "abc ", "abc\n"]) {
      assert.deepStrictEqual(badFields({ username: bad }), ["username"], bad)
    }
  })

  it("e-mail addresses are kept in lower case", () => {
    assert.strictEqual(valueOf({ email: " Luke.L+x@EXAMPLE.Co.UK " })?.email, "luke.l+x@example.co.uk")
    for (
      const bad of ["luke", "luke@host", "@example.com", "a@b@c.de", "a b@example.com", "a@example..com", "a@.com"]
    ) {
      assert.deepStrictEqual(badFields({ email: bad }), ["email"], bad)
    }
  })

  it("birth dates are days that exist, and 18 years past", () => {
    for (const good of ["2008-11-20", "1908-02-29", "1900-01-01"]) {
      assert.strictEqual(valueOf({ birth_date: good })?.birth_date, good)
    }
    for (
      const bad of [
        "2008-11-21",
        "2030-01-01",
        "1990-13-01",
        "1990-02-29",
        "90-01-01",
        "1990-1-1",
        "1990-01-01T00:00:00Z"
      ]
    ) {
      assert.deepStrictEqual(badFields({ birth_date: bad }), ["birth_date"], bad)
    }
  })

  it("countries and currencies are on the lists of ISO", () => {
    for (const good of ["DE", "MT", "GB"]) assert.strictEqual(valueOf({ country: good })?.country, good)
    for (const bad of ["de", "DEU", "XX", "UK", "XK", "EU"]) {
      assert.deepStrictEqual(badFields({ country: bad }), ["country"])
    }
    for (const good of ["EUR", "JPY", "KWD", "XOF", "XCG"]) {
      assert.strictEqual(valueOf({ currency: good })?.currency, good)
    }
    for (const bad of ["eur", "EURO", "XXX", "XTS", "XAU", "HRK", "DEM", "ANG", "BTC"]) {
      assert.deepStrictEqual(badFields({ currency: bad }), ["currency"], bad)
    }
  })

  it("phone numbers are international and kept as E.164", () => {
    assert.strictEqual(valueOf({ phone: "+49 (151) 234-56789" })?.phone, "+4915123456789")
    assert.strictEqual(valueOf({ phone: "+1 202 555 0123" })?.phone, "+12025550123")
    for (
      const bad of ["0151 23456789", "0049 151 23456789", "+49", "+999 123456789", "+4915123456789123456", "phone"]
    ) {
      assert.deepStrictEqual(badFields({ phone: bad }), ["phone"], bad)
    }
  })

  it("passwords have 8 characters with letters and digits", () => {
    for (const good of ["abcdefg1", "pässwört9", "1234567ж"]) {
      assert.strictEqual(valueOf({ password: good })?.password, good)
    }
    for (const bad of ["abcdef1", "abcdefgh", "12345678", "        ", "x1".repeat(101)]) {
      assert.deepStrictEqual(badFields({ password: bad }), ["password"], bad)
    }
  })

  // Goal: what is taken can be said beside what is malformed. Method: one bad field among good unique ones.
  it("returns well-formed unique fields of an invalid registration", () => {
    const { unique } = check({ country: "??", email: "nobody", phone: "+49 151 23456789", external_id: " x1 " })
    assert.deepStrictEqual(unique, {
      username: "lucky_luke",
      email: undefined,
      phone: "+4915123456789",
      external_id: "x1"
    })
  })
})

describe("isAdult", () => {
  it("counts calendar days in UTC", () => {
    const at = (text: string) => Date.parse(text)
    assert.isFalse(isAdult("2008-11-21", at("2026-11-20T23:59:59.999Z")))
    assert.isTrue(isAdult("2008-11-21", at("2026-11-21T00:00:00.000Z")))
    // born on a leap day: of age on the first of March of a common year
    assert.isFalse(isAdult("2008-02-29", at("2026-02-28T12:00:00.000Z")))
    assert.isTrue(isAdult("2008-02-29", at("2026-03-01T00:00:00.000Z")))
  })
})
