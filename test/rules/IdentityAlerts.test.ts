import { assert, describe, it } from "@effect/vitest"
import {
  alertStatuses,
  alertTransitions,
  defaultSettings,
  settingsWith
} from "../../src/domain/compliance/AlertRules.ts"
import {
  countryMismatch,
  type FactKind,
  identityChangeAfterVerification,
  identityChangeBeforeWithdrawal,
  maxSharedAddress,
  multiAccount
} from "../../src/domain/compliance/IdentityAlerts.ts"

// Goal: each identity rule finds exactly the cases that it is named after. Method: players as values, each rule at
// and around each of its terms.

const hour = 3_600_000
const now = Date.parse("2026-11-20T12:00:00.000Z")

describe("multiAccount", () => {
  const found = (...others: ReadonlyArray<readonly [playerId: number, ...kinds: ReadonlyArray<FactKind>]>) =>
    multiAccount(defaultSettings, others.map(([playerId, ...kinds]) => ({ playerId, kinds })))

  it("has a higher severity the more personal the data is that two players share", () => {
    for (
      const [kind, severity] of [
        ["personal_id", "critical"],
        ["document_number", "critical"],
        ["name_and_birth_date", "high"],
        ["email", "high"],
        ["phone", "high"],
        ["similar_name_and_birth_date", "medium"],
        ["address", "medium"]
      ] as const
    ) {
      assert.strictEqual(found([7, kind])?.severity, severity, kind)
    }
    assert.strictEqual(found([7, "address", "phone"])?.severity, "high")
    assert.deepInclude(found([9, "phone"], [7, "address"]), {
      occurrence: "players 7+9",
      details: { players: [7, 9], accounts: 3, shared: ["phone", "address"] }
    })
  })

  it("does not also report similar names where the names are equal", () => {
    const details = (...kinds: ReadonlyArray<FactKind>) => found([7, ...kinds])?.details
    assert.deepInclude(details("similar_name_and_birth_date", "name_and_birth_date"), {
      shared: ["name_and_birth_date"]
    })
    assert.deepInclude(details("similar_name_and_birth_date", "ip"), { shared: ["similar_name_and_birth_date", "ip"] })
  })

  it("needs several players on one IP address, and ignores addresses with very many players", () => {
    assert.isUndefined(found([1, "ip"]))
    assert.strictEqual(found([1, "ip"], [2, "ip"])?.severity, "low")
    assert.strictEqual(found([1, "ip", "address"])?.severity, "medium")
    const network = Array.from({ length: maxSharedAddress }, (_, index) => [index + 1, "ip"] as const)
    assert.isUndefined(found(...network))
    assert.isDefined(found(...network.slice(1)))
    assert.deepInclude(found(...network, [99, "phone"])?.details, { players: [99] })
    const two = settingsWith({ multi_account: { count: 2 } })
    assert.isDefined(multiAccount(two, [{ playerId: 1, kinds: ["ip"] }]))
  })

  it("is not raised when no data is shared, and lists at most 20 players", () => {
    assert.isUndefined(found())
    const many = Array.from({ length: 40 }, (_, index) => [40 - index, "phone"] as const)
    const { details } = found(...many) ?? {}
    assert.deepInclude(details, { accounts: 41, players: Array.from({ length: 20 }, (_, index) => index + 1) })
    assert.isUndefined(
      multiAccount(settingsWith({ multi_account: { enabled: false } }), [{ playerId: 1, kinds: ["email"] }])
    )
  })
})

describe("countryMismatch", () => {
  const found = (profile: string, ...phone: ReadonlyArray<string>) =>
    countryMismatch(defaultSettings, { profile, phone })

  it("is raised for a phone number of another country", () => {
    assert.deepInclude(found("MT", "DE"), {
      severity: "low",
      occurrence: "countries MT and DE",
      details: { profile: "MT", phone: ["DE"] }
    })
    assert.isUndefined(found("MT", "MT"))
    assert.isUndefined(found("CA", "US", "CA"))
    assert.strictEqual(found("MT", "US", "CA")?.occurrence, "countries MT and CA+US")
    assert.isUndefined(found("MT"))
    assert.isUndefined(
      countryMismatch(settingsWith({ country_mismatch: { enabled: false } }), { profile: "MT", phone: ["DE"] })
    )
  })
})

describe("identityChange", () => {
  const change = { at: now, fields: ["birth_date", "last_name"] }

  it("is raised for changed personal data after verification", () => {
    assert.deepInclude(identityChangeAfterVerification(defaultSettings, change, now - 1), {
      severity: "medium",
      paymentId: null,
      details: { fields: ["birth_date", "last_name"], after: "verification" }
    })
    assert.isUndefined(identityChangeAfterVerification(defaultSettings, change, null))
    assert.isUndefined(identityChangeAfterVerification(defaultSettings, change, now + 1))
    assert.isUndefined(identityChangeAfterVerification(defaultSettings, { at: now, fields: [] }, now - 1))
  })

  it("is raised for changed personal data less than 72 hours before a withdrawal", () => {
    const found = (hours: number, changes = [change]) =>
      identityChangeBeforeWithdrawal(defaultSettings, { id: 5, at: now + hours * hour }, changes)
    assert.deepInclude(found(71), { severity: "high", paymentId: 5 })
    assert.isUndefined(found(72))
    assert.isUndefined(found(-1))
    assert.isUndefined(found(1, []))
    const latest = { at: now + hour, fields: ["first_name"] }
    assert.deepInclude(found(2, [latest, change])?.details, { fields: ["first_name"] })
    assert.deepInclude(found(0.5, [latest, change])?.details, { fields: change.fields })
  })

  it("counts as one alert per change (by its occurrence key), even if both of its conditions find the change", () => {
    assert.strictEqual(
      identityChangeAfterVerification(defaultSettings, change, 0)?.occurrence,
      identityChangeBeforeWithdrawal(defaultSettings, { id: 5, at: now }, [change])?.occurrence
    )
    const off = settingsWith({ identity_change: { enabled: false } })
    assert.isUndefined(identityChangeAfterVerification(off, change, 0))
    assert.isUndefined(identityChangeBeforeWithdrawal(off, { id: 5, at: now }, [change]))
  })
})

describe("alertTransitions", () => {
  it("lead from open to review, escalation or closed, and never out of closed", () => {
    assert.deepStrictEqual(Object.fromEntries(alertStatuses.map((status) => [status, alertTransitions(status)])), {
      open: ["in_review", "escalated", "closed"],
      in_review: ["escalated", "closed"],
      escalated: ["in_review", "closed"],
      closed: []
    })
  })
})
