import { assert, describe, it } from "@effect/vitest"
import {
  checkProfileChanges,
  checkRegistration,
  profileFields
} from "../../../src/contract/players/RegistrationResource.ts"

// Goal: a profile can change exactly to values valid at registration (SPEC section 4.2). Method: each field by itself,
// compared with the registration's validation of the same value.

const now = Date.parse("2026-11-20T12:00:00.000Z")

const whole = {
  username: "ada",
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "L",
  birth_date: "1990-12-31",
  country: "MT",
  terms_accepted: true
}

const values = [
  "ada2@example.com",
  " Ada@Example.com ",
  "no address",
  "MT",
  "mt",
  "XX",
  "1990-02-30",
  "1990-02-28",
  "2008-11-20",
  "2008-11-21",
  "en",
  "EN",
  "+35621234567",
  "21234567",
  "x".repeat(255),
  "x".repeat(256),
  "x".repeat(501),
  "a\u0000b",
  "\ud800",
  "two\nlines",
  5,
  true,
  {},
  []
]

const terms = { defaultProfile: "none", minimumAges: new Map([["none", 18]]) }

describe("checkProfileChanges", () => {
  it("accepts and refuses the same values as a registration", () => {
    for (const field of profileFields.filter((name) => name !== "marketing.email")) {
      for (const value of values) {
        const registered = checkRegistration({ ...whole, [field]: value }, terms, now)
        const checked = checkProfileChanges({ [field]: value }, now)
        const label = `${field} ${JSON.stringify(value)}`
        assert.deepStrictEqual(checked.messages, registered.messages, label)
        const { registration } = registered
        const expected = registration === undefined ? undefined : new Map([[field, registration[field] ?? null]])
        assert.deepStrictEqual(checked.changes, expected, label)
      }
    }
  })

  it("allows only optional fields to be cleared", () => {
    for (const blank of [null, "", "  "]) {
      const { changes, messages } = checkProfileChanges({
        city: blank,
        address: blank,
        phone: blank,
        external_id: blank
      }, now)
      assert.deepStrictEqual(messages, {})
      assert.deepStrictEqual(
        changes,
        new Map([["city", null], ["address", null], ["phone", null], ["external_id", null]])
      )
      for (const field of ["email", "first_name", "last_name", "birth_date", "country", "language"]) {
        const checked = checkProfileChanges({ [field]: blank }, now)
        assert.deepStrictEqual([checked.changes, checked.messages], [undefined, { [field]: ["must not be empty"] }])
      }
    }
  })

  it("ignores absent fields and fields that are not part of the profile", () => {
    const { changes } = checkProfileChanges({ username: "eve", status: "closed", currency: "USD", marketing: {} }, now)
    assert.deepStrictEqual(changes, new Map())
    assert.deepStrictEqual(
      checkProfileChanges({ marketing: { email: false, sms: true } }, now).changes,
      new Map([["marketing.email", false]])
    )
    assert.hasAllKeys(checkProfileChanges({ marketing: { email: 1 } }, now).messages, ["marketing.email"])
    assert.hasAllKeys(checkProfileChanges({ marketing: 1 }, now).messages, ["marketing"])
  })
})
