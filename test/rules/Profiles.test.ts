import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { oneForOne, parseFactor } from "../../src/domain/CurrencyConversion.ts"
import { builtInProfiles } from "../../src/domain/jurisdiction/BuiltIn.ts"
import { amountAt, differencesOf, stricterOf } from "../../src/domain/jurisdiction/Differences.ts"
import { after, Duration, durationText } from "../../src/domain/jurisdiction/Duration.ts"
import { Profile } from "../../src/domain/jurisdiction/Profile.ts"
import { inForce, type ProfileVersion, rulesIn, stakeCap } from "../../src/domain/jurisdiction/Rules.ts"

// Goal: a profile says one thing, whoever reads it; a new version never loosens anything before it may. Method: the eight
// built-in documents and mixtures of their parts, against laws over pairs of them.

const decode = Schema.decodeUnknownResult(Profile, { errors: "all", onExcessProperty: "error" })

const profile = (document: object): Profile => Result.getOrThrow(decode({ code: "x-test", name: "Test", ...document }))

const none = profile({})

const builtIn = (code: string): Profile => {
  const found = builtInProfiles.find((one) => one.code === code)
  assert(found !== undefined, code)
  return found
}

const isDuration = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(Duration)(text))

const at = (text: string) => Date.parse(text)

describe("durations", () => {
  it("are whole units of ISO 8601", () => {
    for (const text of ["PT24H", "P7D", "P6W", "P6M", "P1Y", "PT2S", "P0D", "P1Y2M3W4DT5H6M7S"]) {
      assert(isDuration(text), text)
    }
    for (const text of ["", "P", "PT", "P1.5D", "PT0.5H", "-P1D", "P1DT", "24H", "p1d", "P1H"]) {
      assert(!isDuration(text), text)
    }
  })

  it("count months and years by the calendar, days by their length", () => {
    assert.strictEqual(after("P1M", at("2027-01-31T10:00:00Z")), at("2027-02-28T10:00:00Z"))
    assert.strictEqual(after("P1Y", at("2028-02-29T10:00:00Z")), at("2029-02-28T10:00:00Z"))
    assert.strictEqual(after("P1DT12H", at("2026-03-29T00:00:00Z")), at("2026-03-30T12:00:00Z"))
    assert.strictEqual(after("P6W", 0), 42 * 86_400_000)
  })

  it("are written and read back unchanged", () => {
    const texts = ["PT24H", "P7D", "P1Y", "P1Y2M", "PT60S", "P0D"].map(durationText)
    assert.deepStrictEqual(texts, ["24 hours", "7 days", "1 year", "1 year 2 months", "60 seconds", "no time"])
  })
})

describe("built-in profiles", () => {
  it("have eight codes, the first of them \"none\"", () => {
    assert.deepStrictEqual(builtInProfiles.map(({ code }) => code), [
      "none",
      "gb",
      "mt",
      "se",
      "dk",
      "nl",
      "de",
      "ca-on"
    ])
  })

  it("include \"none\", which equals an empty document", () => {
    assert.deepStrictEqual(differencesOf(none, builtIn("none")).map(({ path }) => path), ["code", "name"])
  })

  it("name a source for each figure that differs from \"none\"", () => {
    for (const document of builtInProfiles) {
      const sources = Object.keys(document.sources)
      const unnamed = differencesOf(none, document).map(({ path }) => path).filter((path) =>
        !["code", "name", "currency", "sources"].includes(path) &&
        !sources.some((source) =>
          path === source || path.startsWith(`${source}.`) || source.startsWith(`${path}.`) ||
          // periods of a break rest on what is said of the break
          path.startsWith("breaks.periods.") && source.startsWith("breaks.") ||
          path.startsWith("limits.raise.") && source === "limits.raise"
        )
      )
      assert.deepStrictEqual(unnamed, [], document.code)
    }
  })
})

describe("a document", () => {
  const pathsOf = (document: object): ReadonlyArray<string> => {
    const decoded = decode({ code: "x-test", name: "Test", ...document })
    return Result.isSuccess(decoded) ? [] : String(decoded.failure).split("\n")
  }

  it("with an unknown key or an invalid value is refused", () => {
    const wrong = [
      { colour: "red" },
      { limits: { raise: { wait: "one day" } } },
      { limits: { caps: { max_hourly_bet: 1 } } },
      { limits: { caps: { max_daily_bet: 1.5 } } },
      { minimum_age: 17 },
      { breaks: { periods: { "24_hours": "holiday" } } },
      { breaks: { periods: { "2_days": "time_out" } } },
      { stakes: [{ categories: ["slots"], amount: 500, under_age: 25 }] },
      { registers: [{ kind: "gamstop", on: { payout: {} } }] },
      { registers: [{ kind: "phonebook", on: {} }] },
      { retention: { gossip: "P1Y" } },
      { code: "GB" },
      // nobody could meet a group of no limits, and a cap on no category holds nobody
      { limits: { required: [["max_daily_bet"], []] } },
      { stakes: [{ categories: [], amount: 500 }] },
      ...["a\u0000b", "\ud800"].flatMap((text) => [
        { name: text },
        { sources: { [text]: { confidence: "A", source: "law" } } },
        { sources: { stakes: { confidence: "A", source: text } } }
      ])
    ]
    for (const document of wrong) assert.isNotEmpty(pathsOf(document), JSON.stringify(document))
  })
})

/** A profile whose groups come each from any of the built-in ones, with some figures of its own. */
const anyProfile: fc.Arbitrary<Profile> = fc.array(fc.constantFrom(...builtInProfiles), {
  minLength: 12,
  maxLength: 12
})
  .chain((from) =>
    fc.record({
      wait: fc.constantFrom(null, "PT24H", "P7D"),
      age: fc.integer({ min: 18, max: 21 }),
      stake: fc.option(fc.integer({ min: 1, max: 900 }), { nil: null }),
      net: fc.option(fc.integer({ min: 1, max: 900 }), { nil: null }),
      cap: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined })
    }).map(({ age, cap, net, stake, wait }) => {
      const [
        a = none,
        b = none,
        c = none,
        d = none,
        e = none,
        f = none,
        g = none,
        h = none,
        i = none,
        j = none,
        k = none,
        l = none
      ] = from
      return profile({
        ...none,
        minimum_age: age,
        breaks: { ...a.breaks, scope: b.breaks.scope, periods: c.breaks.periods },
        limits: {
          ...d.limits,
          caps: cap === undefined ? e.limits.caps : { ...e.limits.caps, max_daily_bet: cap },
          raise: { ...f.limits.raise, wait }
        },
        deposits: net === null ? g.deposits : { net_cap: { amount: net } },
        stakes: stake === null ? h.stakes : [...h.stakes, { categories: ["slots", "live"], amount: stake }],
        bonuses: i.bonuses,
        reality_check: j.reality_check,
        registers: k.registers,
        vulnerability: l.vulnerability,
        reviews: l.reviews,
        retention: a.retention
      })
    })
  )

describe("differences of two versions", () => {
  it("are empty exactly when the documents are equal", () => {
    fc.assert(fc.property(anyProfile, anyProfile, (before, next) => {
      assert.isEmpty(differencesOf(before, before))
      if (differencesOf(before, next).length === 0) assert.deepStrictEqual(next, before)
    }))
  })

  it("from the old version to the new are stricter where those from the new to the old are looser, and the other way round", () => {
    const opposite = { stricter: "looser", looser: "stricter", neutral: "neutral" } as const
    fc.assert(fc.property(anyProfile, anyProfile, (before, next) => {
      const back = new Map(differencesOf(next, before).map(({ effect, path }) => [path, effect]))
      for (const { effect, path } of differencesOf(before, next)) {
        // a change that is stricter for some and looser for others is looser both ways
        if (back.get(path) === "looser" && effect === "looser") continue
        assert.strictEqual(back.get(path), opposite[effect], path)
      }
    }))
  })

  it("include none that is looser from the old version to the stricter combination of both, and none that is stricter from there to the new version", () => {
    fc.assert(fc.property(anyProfile, anyProfile, (before, next) => {
      const between = stricterOf(before, next)
      assert.isEmpty(differencesOf(before, between).filter(({ effect }) => effect === "looser"))
      assert.isEmpty(differencesOf(between, next).filter(({ effect }) => effect === "stricter"))
    }))
  })

  it("at one path, one looser and one stricter, leave what is stricter of both until the looser may count", () => {
    const capped = (net_cap: object) => profile({ deposits: { net_cap } })
    const caps = stricterOf(
      capped({ amount: 70, under_age: 24, amount_under: 30 }),
      capped({ amount: 50, under_age: null })
    ).deposits.net_cap
    assert(caps !== null)
    assert.deepStrictEqual([18, 23, 24, 40].map((age) => amountAt(caps, age)), [30, 30, 50, 50])

    const watched = (net_deposits: number, window: string) =>
      profile({ vulnerability: { net_deposits, window, repeat: "P30D" } })
    assert.deepStrictEqual(stricterOf(watched(100, "P30D"), watched(50, "P1D")).vulnerability, {
      net_deposits: 50,
      window: "P30D",
      repeat: "P30D"
    })

    const asked = (on: object, last_good_max_age: string) =>
      profile({ registers: [{ kind: "generic", on, last_good_max_age }] })
    const { registers } = stricterOf(
      asked({ login: { max_age: "PT0S", unavailable: "last_good" }, marketing: {} }, "P1D"),
      asked({ login: { unavailable: "refuse" }, deposit: {} }, "P2D")
    )
    const daily = { max_age: "PT24H", unavailable: "refuse" } as const
    assert.deepStrictEqual(registers, [{
      kind: "generic",
      on: { login: { max_age: "PT0S", unavailable: "refuse" }, marketing: daily, deposit: daily },
      last_good_max_age: "P1D"
    }])
  })

  it.each([
    ["limits.raise.wait", { limits: { raise: { wait: "PT24H" } } }, { limits: { raise: { wait: "PT72H" } } }],
    ["limits.required", {}, { limits: { required: [["max_daily_deposit"]] } }],
    [
      "limits.required",
      { limits: { required: [["max_daily_deposit", "max_weekly_deposit"]] } },
      { limits: { required: [["max_daily_deposit"]] } }
    ],
    ["limits.caps.max_daily_bet", { limits: { caps: { max_daily_bet: 10 } } }, {
      limits: { caps: { max_daily_bet: 9 } }
    }],
    ["stakes", { stakes: [{ categories: ["slots"], amount: 9 }] }, {
      stakes: [{ categories: ["slots"], amount: 9, under_age: 25, amount_under: 3 }]
    }],
    ["deposits.net_cap", {}, { deposits: { net_cap: { amount: 9 } } }],
    ["breaks.ends", {}, { breaks: { ends: "on_request" } }],
    ["breaks.self_exclusion.min", {}, { breaks: { self_exclusion: { min: "P6M", max: null } } }],
    ["registers", { registers: [{ kind: "rofus", on: { login: { unavailable: "last_good" } } }] }, {
      registers: [{ kind: "rofus", on: { login: {} } }]
    }],
    ["registers", { registers: [{ kind: "rofus", on: { login: {} } }] }, {
      registers: [{ kind: "rofus", on: { login: { max_age: "PT0S" } } }]
    }],
    ["vulnerability", { vulnerability: { net_deposits: 9, window: "P1D", repeat: "P30D" } }, {
      vulnerability: { net_deposits: 9, window: "P30D", repeat: "P30D" }
    }],
    ["vulnerability", { vulnerability: { net_deposits: 9, window: "P30D", repeat: "P1Y" } }, {
      vulnerability: { net_deposits: 9, window: "P30D", repeat: "P30D" }
    }],
    ["bonuses.first_only", {}, { bonuses: { first_only: true } }],
    ["reality_check.default", {}, { reality_check: { default: "PT60M" } }]
  ])("of %s are stricter where they protect more", (path, before, next) => {
    assert.deepStrictEqual(differencesOf(profile(before), profile(next)).map(({ effect, path }) => [path, effect]), [[
      path,
      "stricter"
    ]])
  })
})

const version = (number: number, document: object, when: Partial<ProfileVersion> = {}): ProfileVersion => ({
  version: number,
  validFrom: number * 100,
  looserFrom: number * 100,
  isApproved: true,
  document: profile(document),
  ...when
})

describe("the version in force", () => {
  const versions = [
    version(1, { minimum_age: 18 }),
    version(2, { minimum_age: 20, limits: { prompt: true } }),
    version(3, { minimum_age: 19, limits: { prompt: true }, bonuses: { first_only: true } }, { looserFrom: 350 }),
    version(4, { minimum_age: 25 }, { isApproved: false })
  ]
  const ageOf = (now: number) => inForce(versions, now)?.profile.minimum_age

  it("is the latest that was approved and has begun", () => {
    assert.strictEqual(inForce(versions, 99), undefined)
    assert.deepStrictEqual([100, 199, 200, 299].map(ageOf), [18, 18, 20, 20])
    assert.deepStrictEqual([400, 500].map(ageOf), [19, 19])
  })

  it("takes effect at once where it is stricter, and later where it is looser", () => {
    const waiting = inForce(versions, 300)
    assert.deepInclude(waiting, { version: 3, until: 350 })
    assert.strictEqual(waiting?.profile.minimum_age, 20)
    assert.isTrue(waiting?.profile.bonuses.first_only)
    assert.strictEqual(ageOf(350), 19)
  })

  it("states until when it applies", () => {
    assert.deepStrictEqual([100, 200, 300, 350].map((now) => inForce(versions, now)?.until), [200, 300, 350, Infinity])
  })

  it("becomes looser when the first of two looser versions has passed its waiting period, but not looser than the second", () => {
    const waiting = [
      version(1, { minimum_age: 25 }),
      version(2, { minimum_age: 18 }, { looserFrom: 400 }),
      version(3, { minimum_age: 20 }, { looserFrom: 900 })
    ]
    const at = [300, 400, 900].map((now) => inForce(waiting, now))
    assert.deepStrictEqual(at.map((one) => one?.until), [400, 900, Infinity])
    assert.deepStrictEqual(at.map((one) => one?.profile.minimum_age), [25, 20, 20])
  })
})

describe("a version that was announced before a stricter one which counts already", () => {
  it("makes it stricter where it is, and looser nowhere", () => {
    const versions = [
      version(1, { minimum_age: 18 }),
      version(2, { name: "Old", minimum_age: 20, limits: { prompt: true } }, { validFrom: 900, looserFrom: 900 }),
      version(3, { name: "New", minimum_age: 25, consents: { channels: ["email", "post"] } })
    ]
    assert.deepInclude(inForce(versions, 300), { version: 3, until: 900 })
    const both = inForce(versions, 900)
    assert.deepInclude(both, { version: 3, until: Infinity })
    assert.deepStrictEqual([both?.profile.minimum_age, both?.profile.limits.prompt], [25, true])
    // what protects neither more nor less stays as the newer version says
    assert.deepStrictEqual([both?.profile.name, both?.profile.consents.channels], ["New", ["email", "post"]])
  })
})

describe("rules in a player's currency", () => {
  it("have their amounts converted and rounded down, and their minutes unchanged", () => {
    const document = profile({
      limits: { caps: { max_daily_bet: 1000, max_session_minutes: 60 }, contact_above: { max_daily_bet: 500 } },
      deposits: { net_cap: { amount: 700, under_age: 24, amount_under: 300 } },
      stakes: [{ categories: ["slots"], amount: 500, under_age: 25, amount_under: 200 }],
      bonuses: { max_amount: 100 },
      vulnerability: { net_deposits: 150, window: "P30D", repeat: "P1Y" }
    })
    const rules = rulesIn({ profile: document, version: 7 }, parseFactor("3") ?? oneForOne)
    assert.deepStrictEqual(rules.limits.caps, { max_daily_bet: 333, max_session_minutes: 60 })
    assert.deepStrictEqual(rules.limits.contact_above, { max_daily_bet: 166 })
    assert.deepInclude(rules.deposits.net_cap, { amount: 233, amount_under: 100, under_age: 24 })
    assert.deepInclude(rules.stakes[0], { amount: 166, amount_under: 66, under_age: 25 })
    assert.strictEqual(rules.bonuses.max_amount, 33)
    assert.strictEqual(rules.vulnerability?.net_deposits, 50)
    assert.strictEqual(rules.version, 7)
  })

  it("apply the lowest stake cap for a category and an age", () => {
    const rules = rulesIn({ profile: builtIn("gb"), version: 1 }, oneForOne)
    assert.deepStrictEqual([stakeCap(rules, "slots", 24), stakeCap(rules, "slots", 25), stakeCap(rules, "table", 24)], [
      200,
      500,
      undefined
    ])
  })
})
