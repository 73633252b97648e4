import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { noRules } from "../../src/domain/jurisdiction/Rules.ts"
import {
  excludeForLicenseeStep,
  type LicenseeExclusion,
  type SelfExclude,
  selfExcludeStep
} from "../../src/domain/limit/Exclusions.ts"
import { activeExclusion, type Exclusion, type Player } from "../../src/domain/state/Player.ts"
import { newPlayer } from "../kit/players.ts"
import { runs } from "../kit/Runs.ts"

// Goal: 3.4, an exclusion for a whole licensee is asked for as the jurisdiction says, and at an account of the same person it shortens nothing, ends in
// the harder way and may be repeated. Method: tables for the scope; any two exclusions for what becomes of an account that has one already.

const noon = Date.UTC(2026, 10, 20, 12)
const day = 86_400_000
const context = (now = noon) => ({ now, firstId: 100, known: undefined })

const underScope = (scope: "operator" | "licensee" | "ask", more: Partial<Player> = {}) =>
  newPlayer({ rules: { ...noRules, breaks: { ...noRules.breaks, scope } }, ...more })

/** Scope of the exclusion, or the refused fields. */
const scopeOf = (player: Player, request: Partial<SelfExclude>) => {
  const decision = selfExcludeStep({ period: null, until: null, type: null, actor: "key:pk", ...request })(
    player,
    context()
  )
  if (decision._tag === "Refuse") return Object.keys(decision.error.details)
  return decision._tag === "Accept" ? decision.state.exclusion?.scope : assert.fail(decision._tag)
}

describe("3.4 the scope of an exclusion", () => {
  it("is set by the jurisdiction, or required in the request where the jurisdiction lets the player choose", () => {
    const months = { period: "6_months" } as const
    const rows: ReadonlyArray<readonly ["operator" | "licensee" | "ask", SelfExclude["scope"], unknown]> = [
      ["operator", undefined, undefined],
      ["operator", "operator", undefined],
      ["operator", "licensee", ["scope"]],
      ["licensee", undefined, "licensee"],
      ["licensee", "licensee", "licensee"],
      ["licensee", "operator", ["scope"]],
      ["ask", undefined, ["scope"]],
      ["ask", "operator", undefined],
      ["ask", "licensee", "licensee"]
    ]
    for (const [rule, scope, expected] of rows) {
      assert.deepStrictEqual(scopeOf(underScope(rule), { ...months, scope }), expected, `${rule} ${scope}`)
    }
  })

  it("of a time-out is one operator, whatever scope the request names", () => {
    for (const rule of ["licensee", "ask"] as const) {
      for (const scope of [undefined, "operator", "licensee"] as const) {
        assert.isUndefined(scopeOf(underScope(rule), { period: "7_days", scope }))
      }
    }
  })

  it("stays the whole licensee when the player prolongs the exclusion for one operator only", () => {
    const exclusion: Exclusion = { type: "self_exclusion", since: noon, until: noon + 200 * day, scope: "licensee" }
    const player = underScope("ask", { exclusion })
    assert.strictEqual(scopeOf(player, { period: "12_months", scope: "operator" }), "licensee")
  })
})

const types = ["self_exclusion", "self_closure"] as const

/** Days from noon, a few of them in the past. */
const days = fc.integer({ min: -20, max: 400 }).map((count) => noon + count * day)

/** What another operator of the licensee asks: one without end ends on request only. */
const asking: fc.Arbitrary<LicenseeExclusion> = fc.record({
  type: fc.constantFrom(...types),
  until: fc.option(days),
  returnFrom: fc.option(days)
}).map(({ returnFrom, type, until }) =>
  until === null
    ? { type, until, returnFrom: returnFrom ?? noon + day }
    : { type, until, returnFrom: returnFrom && until }
)

const owned: fc.Arbitrary<Exclusion | null> = fc.option(
  fc.record({
    asked: asking,
    isTimeOut: fc.boolean(),
    returnAt: fc.option(days),
    scope: fc.constantFrom(undefined, "licensee" as const)
  }).map(({ asked: { returnFrom, type, until }, isTimeOut, returnAt, scope }): Exclusion => ({
    type: isTimeOut && returnFrom === null ? "time_out" : type,
    since: noon - 30 * day,
    until,
    ...(scope === undefined ? {} : { scope }),
    ...(returnFrom === null ? {} : { onRequest: { returnFrom, returnAt } })
  }))
)

const applied = (player: Player, other: LicenseeExclusion, now = noon) => {
  const decision = excludeForLicenseeStep(other)(player, context(now))
  return decision._tag === "Accept" ? decision : assert.fail(decision._tag)
}

/** Whether an exclusion is in force at a time when nobody has asked for a return. */
const standsAt = (now: number, { onRequest, until }: Pick<Exclusion, "onRequest" | "until">) =>
  until === null || onRequest !== undefined || now < until

const moments = [0, 1, 10, 50, 100, 300, 401, 9000].map((count) => noon + count * day)

describe("3.4 an exclusion at another operator of the licensee", () => {
  it("keeps the account excluded for the longer of both exclusions, without an earlier return", () => {
    fc.assert(
      fc.property(owned, asking, (exclusion, other) => {
        const { change, state } = applied(newPlayer({ exclusion }), other)
        const own = activeExclusion(newPlayer({ exclusion }), noon)
        const other_ = {
          until: other.until,
          ...(other.returnFrom === null ? {} : { onRequest: { returnFrom: other.returnFrom, returnAt: null } })
        }
        const after = state.exclusion
        if (change === null) assert.strictEqual(after, exclusion)
        else {
          for (const at of moments) {
            const stands = own !== null && standsAt(at, own) || standsAt(at, other_)
            assert.strictEqual(after !== null && standsAt(at, after), stands, `${(at - noon) / day}`)
          }
          const froms = [own?.onRequest?.returnFrom, other.returnFrom].filter((from) => typeof from === "number")
          if (after?.onRequest !== undefined) assert.isAtLeast(after.onRequest.returnFrom, Math.max(...froms))
          assert.isNull(after?.onRequest?.returnAt ?? null)
          assert.strictEqual(after?.source, "licensee")
          assert.strictEqual(after?.scope, own?.scope)
          assert.strictEqual(after?.since, own?.since ?? noon)
          assert.notStrictEqual(after?.type, "time_out")
          if (own !== null && own.type !== "time_out") assert.strictEqual(after?.type, own.type)
        }
      }),
      { numRuns: runs(300, 3000) }
    )
  })

  it("changes nothing when it is reported again, even after the player has returned from it", () => {
    fc.assert(
      fc.property(owned, asking, (exclusion, other) => {
        const { state } = applied(newPlayer({ exclusion }), other)
        assert.isNull(applied(state, other).change)
        const { exclusion: own } = state
        if (own?.onRequest === undefined) return
        const back = Math.max(own.onRequest.returnFrom, noon) + day
        const returned = { ...state, exclusion: { ...own, onRequest: { ...own.onRequest, returnAt: back } } }
        for (const now of [back - 1, back + 1]) assert.isNull(applied(returned, other, now).change)
      }),
      { numRuns: runs(300, 3000) }
    )
  })

  it("lets the account return after the longest of its own wait, its jurisdiction's and the other exclusion's", () => {
    const waitOf = (own: string | undefined, jurisdiction: string | null, wait?: string) => {
      const rules = { ...noRules, breaks: { ...noRules.breaks, return_wait: jurisdiction } }
      const onRequest = { returnFrom: noon + day, returnAt: null, ...(own === undefined ? {} : { wait: own }) }
      const exclusion: Exclusion = { type: "self_exclusion", since: noon - day, until: noon + day, onRequest }
      const until = noon + 200 * day
      const asked = {
        type: "self_exclusion",
        until,
        returnFrom: until,
        ...(wait === undefined ? {} : { wait })
      } as const
      return applied(newPlayer({ rules, exclusion: own === undefined ? null : exclusion }), asked).state.exclusion
        ?.onRequest?.wait
    }
    const rows = [[undefined, null], [undefined, null, "P7D"], [undefined, "P7D", "PT24H"], ["P30D", "P7D", "PT24H"]]
    assert.deepStrictEqual(
      rows.map(([own, jurisdiction, wait]) => waitOf(own ?? undefined, jurisdiction ?? null, wait ?? undefined)),
      ["PT0S", "P7D", "P7D", "P30D"]
    )
  })

  it("is ignored once it has ended, and replaces an ended exclusion of the account itself", () => {
    const over: LicenseeExclusion = { type: "self_exclusion", until: noon, returnFrom: null }
    assert.isNull(applied(newPlayer(), over).change)
    assert.isNotNull(applied(newPlayer(), over, noon - 1).change)
    const own: Exclusion = { type: "self_closure", since: noon - 9 * day, until: noon - day }
    const { exclusion } = applied(newPlayer({ exclusion: own }), { ...over, until: noon + day }).state
    assert.deepStrictEqual(exclusion, { type: "self_exclusion", since: noon, until: noon + day, source: "licensee" })
  })

  it("ends the sessions, and emits an event and an audit line that do not name the other operator", () => {
    const { change, state } = applied(newPlayer(), {
      type: "self_exclusion",
      until: noon + 200 * day,
      returnFrom: null
    })
    assert.strictEqual(state.sessionsEndedAt, noon)
    assert.deepStrictEqual(change?.events.map(({ data, type }) => [type, data]), [["player.self_excluded", {
      self_exclusion: {
        type: "self_exclusion",
        since: "2026-11-20T12:00:00.000Z",
        until: "2027-06-08T12:00:00.000Z",
        ends: "by_itself",
        return_at: null,
        source: "licensee"
      }
    }]])
    assert.deepStrictEqual(
      change?.audit.map(({ action, actor, before, reason }) => ({ action, actor, before, reason })),
      [{
        action: "player.self_exclusion",
        actor: "scheduler",
        before: { self_exclusion: null },
        reason: "the person is excluded for the whole licensee"
      }]
    )
  })
})
