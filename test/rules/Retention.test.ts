import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { after, before } from "../../src/domain/jurisdiction/Duration.ts"
import { retentionClasses } from "../../src/domain/jurisdiction/Profile.ts"
import {
  erasureBlocking,
  periodBegins,
  retentionPlan,
  type RetentionFacts
} from "../../src/domain/privacy/Retention.ts"

const at = (date: string) => Date.parse(`${date}T00:00:00Z`)
const now = at("2030-06-15")

const ended: RetentionFacts = {
  closedAt: at("2024-01-10"),
  lastTransactionAt: at("2024-03-01"),
  exclusionEnd: null,
  amlEnd: null,
  firstAmlEnd: null,
  lastSignInAt: at("2024-02-01"),
  firstSignInAt: at("2023-02-01"),
  lastCheckAt: at("2024-02-01"),
  firstCheckAt: at("2024-02-01"),
  lastAnswerAt: null,
  firstAnswerAt: null,
  balance: 0,
  openRounds: 0,
  openPayments: 0,
  openCases: 0
}

const dueOf = (facts: RetentionFacts, retention: Parameters<typeof retentionPlan>[0]) =>
  retentionPlan(retention, facts, now).filter(({ erasable }) => erasable !== null).map((plan) => plan.class)

describe("11.1: retention periods of data classes", () => {
  it("run from the latest of account closure, last transaction and end of exclusion, and not while the account is open", () => {
    assert.strictEqual(periodBegins("identity", ended), at("2024-03-01"))
    assert.strictEqual(periodBegins("payments", { ...ended, exclusionEnd: at("2025-05-05") }), at("2025-05-05"))
    assert.strictEqual(periodBegins("gambling", { ...ended, lastTransactionAt: null }), at("2024-01-10"))
    assert.strictEqual(periodBegins("marketing", { ...ended, closedAt: null }), Infinity)
  })

  it("run, for the classes with a start of their own, from the end of the exclusion, the end of the case or the first row", () => {
    assert.strictEqual(periodBegins("exclusion", { ...ended, exclusionEnd: at("2022-05-05") }), at("2022-05-05"))
    assert.strictEqual(periodBegins("exclusion", ended), at("2024-03-01"))
    assert.strictEqual(
      periodBegins("exclusion", { ...ended, closedAt: null, exclusionEnd: at("2022-05-05") }),
      Infinity
    )
    assert.strictEqual(periodBegins("aml", { ...ended, amlEnd: Infinity }), Infinity)
    assert.isNull(periodBegins("aml", ended))
    assert.strictEqual(periodBegins("security", { ...ended, closedAt: null }), at("2024-02-01"))
  })

  it("make a class erasable when its period is over, and not a millisecond earlier", () => {
    const last = { ...ended, closedAt: at("2025-06-15"), lastTransactionAt: null }
    assert.include(dueOf(last, { identity: "P5Y" }), "identity")
    assert.notInclude(dueOf({ ...last, closedAt: at("2025-06-15") + 1 }, { identity: "P5Y" }), "identity")
  })

  it("allow rows of sign-ins and checks to be erased one by one, even of an open account", () => {
    const [security] = retentionPlan({ security: "P1Y" }, { ...ended, closedAt: null }, now)
      .filter((plan) => plan.class === "security")
    assert.deepInclude(security, { erasable: at("2029-06-15"), until: at("2025-02-01") })
    const young = { ...ended, firstSignInAt: at("2029-06-16"), lastSignInAt: at("2030-06-14") }
    assert.notInclude(dueOf(young, { security: "P1Y" }), "security")
    assert.include(dueOf({ ...young, firstSignInAt: at("2029-06-15") }, { security: "P1Y" }), "security")
  })

  it("require nothing to be kept after closure where the profile has no period", () => {
    assert.deepStrictEqual(dueOf(ended, null), retentionClasses.filter((name) => name !== "aml" && name !== "consents"))
    assert.deepStrictEqual(dueOf({ ...ended, closedAt: null }, null), ["checks", "security"])
    assert.include(dueOf({ ...ended, amlEnd: Infinity, firstAmlEnd: at("2020-01-01") }, null), "aml")
  })
})

it("11.4: an erasure that is refused names everything that prevents it, and nothing else", () => {
  assert.deepStrictEqual(erasureBlocking(ended, now), [])
  assert.deepStrictEqual(erasureBlocking({ ...ended, exclusionEnd: now }, now), [])
  assert.deepStrictEqual(
    erasureBlocking(
      {
        ...ended,
        closedAt: null,
        balance: 1,
        openRounds: 1,
        openPayments: 2,
        openCases: 3,
        exclusionEnd: Infinity
      },
      now
    ),
    ["account_open", "balance", "open_round", "open_payment", "open_case", "exclusion"]
  )
})

it("a row is erased only after its whole period, and at most four days later", () => {
  const instants = FastCheck.integer({ min: at("2001-01-01"), max: at("2060-01-01") })
  const periods = FastCheck.constantFrom("P1M", "P1Y", "P5Y", "P6M", "P1Y2M3DT4H", "P30D", "P0D")
  FastCheck.assert(FastCheck.property(instants, periods, (instant, period) => {
    const cut = before(period, instant)
    assert.isAtMost(after(period, cut), instant)
    assert.isAbove(after(period, cut + 4 * 86_400_000), instant)
  }))
})
