import { noRules } from "../../src/domain/jurisdiction/Rules.ts"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { readLimitChanges, setLimitsStep } from "../../src/domain/limit/LimitChanges.ts"
import { type LimitField, limitFields } from "../../src/domain/LimitFields.ts"
import { raiseFrom } from "../../src/domain/limit/LimitRaise.ts"
import { limitsResource } from "../../src/domain/limit/LimitUsage.ts"
import { limitBit } from "../../src/domain/state/Limits.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { newPlayer } from "../kit/players.ts"

const start = Date.parse("2026-11-20T12:00:00.000Z")
const hour = 3_600_000

type Sent = { readonly [field in LimitField]?: number | null }

const read = (sent: unknown) => {
  const changes = readLimitChanges(sent)
  return "_tag" in changes ? assert.fail(JSON.stringify(changes.details)) : changes
}

const decide = (player: Player, sent: Sent, now: number, coolingOffHours = 24) => {
  const step = setLimitsStep({ changes: read(sent), coolingOffHours, actor: "key:pk" })
  const decision = step(player, { now, firstId: 100, known: undefined })
  return decision._tag === "Accept" ? decision : assert.fail(decision._tag)
}

const set = (player: Player, sent: Sent, now: number, coolingOffHours = 24) =>
  decide(player, sent, now, coolingOffHours).state

const limitAt = (player: Player, now: number, field: LimitField = "max_daily_bet") =>
  limitsResource(player, now).limits[field]

const pendingAt = (player: Player, now: number) =>
  limitsResource(player, now).pending_changes.map(({ effective_at, field, requested_value }) => [
    field,
    requested_value,
    (Date.parse(effective_at) - start) / hour
  ])

describe("readLimitChanges", () => {
  it("accepts an amount or null for every limit", () => {
    const amounts = Object.fromEntries(limitFields.map((field) => [field, 60]))
    assert.deepStrictEqual(Object.fromEntries(read(amounts)), amounts)
    const nothing = Object.fromEntries(limitFields.map((field) => [field, null]))
    assert.deepStrictEqual(Object.fromEntries(read(nothing)), nothing)
    assert.deepStrictEqual([...read({})], [])
    assert.deepStrictEqual([...read({ max_balance: 0, max_daily_loss: Number.MAX_SAFE_INTEGER })], [
      ["max_balance", 0],
      ["max_daily_loss", Number.MAX_SAFE_INTEGER]
    ])
  })

  // Goal: bad values are refused, all in one response. Method: break each limit in another way, at once.
  it("reports every wrong value and every unknown limit at once", () => {
    const broken: { readonly [field: string]: unknown } = {
      max_single_bet: -1,
      max_daily_bet: 1.5,
      max_weekly_bet: "100",
      max_monthly_bet: true,
      casino_max_single_bet: [],
      casino_max_daily_bet: {},
      max_daily_loss: Number.NaN,
      max_weekly_loss: Number.MAX_SAFE_INTEGER + 1,
      max_monthly_loss: Number.POSITIVE_INFINITY,
      max_single_deposit: undefined,
      max_session_minutes: 4,
      max_daily_bets: 100,
      toString: 1
    }
    const refusal = readLimitChanges({ ...broken, max_balance: 1000 })
    assert.isTrue("_tag" in refusal && refusal.code === "VALIDATION_FAILED")
    assert.deepStrictEqual(
      "_tag" in refusal && Object.keys(refusal.details).sort(),
      Object.keys(broken).map((field) => `limits.${field}`).sort()
    )
    for (const minutes of [0, 4, 1441, 5.5]) {
      assert.property(readLimitChanges({ max_session_minutes: minutes }), "_tag", `${minutes}`)
    }
    for (const minutes of [5, 1440]) assert.strictEqual(read({ max_session_minutes: minutes }).size, 1)
  })

  it("refuses a body that is not an object", () => {
    for (const sent of [undefined, null, [], "max_daily_bet", 1]) {
      const refusal = readLimitChanges(sent)
      assert.deepStrictEqual("_tag" in refusal && Object.keys(refusal.details), ["limits"])
    }
  })
})

describe("raiseFrom (time from which a raised limit applies)", () => {
  it("is the latest of the operator's hours, the jurisdiction's waiting period and the end of the limit's period", () => {
    const raise = { wait: "PT72H", until_period_ends: true, confirm: false }
    const from = (field: LimitField, coolingOffHours: number, terms = raise) => {
      const { at, waitsFor } = raiseFrom(field, { coolingOffHours, raise: terms }, start)
      return [waitsFor, (at - start) / hour]
    }
    assert.deepStrictEqual(from("max_daily_bet", 24), ["jurisdiction", 72])
    assert.deepStrictEqual(from("max_daily_bet", 96), ["cooling_off", 96])
    // from the twentieth at noon to the first of the next month
    assert.deepStrictEqual(from("max_monthly_bet", 24), ["period", 252])
    assert.deepStrictEqual(from("max_monthly_bet", 24, { ...raise, until_period_ends: false }), ["jurisdiction", 72])
    assert.deepStrictEqual(from("max_balance", 24), ["jurisdiction", 72])
  })
})

describe("setLimitsStep", () => {
  it("delays raises and removals limit by limit, applies reductions at once, and keeps limits that were not sent", () => {
    const player = newPlayer({
      limits: { max_daily_bet: 100, max_daily_loss: 100, max_balance: 100, max_weekly_bet: 7 }
    })
    const sent = { max_daily_bet: 200, max_daily_loss: null, max_balance: 50 }
    const { reply, state } = decide(player, sent, start, 24)
    assert.deepStrictEqual(reply.applied, ["max_balance"])
    assert.deepStrictEqual(reply.pending, ["max_daily_bet", "max_daily_loss"])
    assert.strictEqual(reply.coolingOffHours, 24)
    const effective_at = "2026-11-21T12:00:00.000Z"
    assert.deepStrictEqual(reply.resource.pending_changes, [
      { field: "max_daily_bet", current_value: 100, requested_value: 200, effective_at },
      { field: "max_daily_loss", current_value: 100, requested_value: null, effective_at }
    ])
    const early = limitsResource(state, start + 24 * hour - 1)
    assert.deepInclude(early.limits, { max_daily_bet: 100, max_daily_loss: 100, max_balance: 50, max_weekly_bet: 7 })
    const due = limitsResource(state, start + 24 * hour)
    assert.deepInclude(due.limits, { max_daily_bet: 200, max_daily_loss: null, max_balance: 50, max_weekly_bet: 7 })
    assert.deepStrictEqual(due.pending_changes, [])
  })

  it("writes nothing for the value in force, an absent limit or a raise that is already pending", () => {
    const limits = { max_daily_bet: 100, max_balance: 5 }
    const player = set(newPlayer({ limits, limitsSet: limitBit("max_balance") }), { max_daily_bet: 500 }, start)
    const sent = { max_daily_bet: 500, max_balance: 5, max_daily_loss: null }
    const { change, idsUsed, reply, state } = decide(player, sent, start + hour)
    assert.isNull(change)
    assert.strictEqual(idsUsed, 0)
    assert.strictEqual(state, player)
    assert.deepStrictEqual([reply.applied, reply.pending], [["max_balance", "max_daily_loss"], ["max_daily_bet"]])
    assert.deepStrictEqual(pendingAt(state, start + hour), [["max_daily_bet", 500, 24]])
    assert.isNull(decide(player, {}, start).change)
  })

  it("treats a raise whose waiting period is over as the limit in force, and stores it with the next change", () => {
    const waiting = set(newPlayer({ limits: { max_daily_bet: 100 } }), { max_daily_bet: 500 }, start)
    const later = start + 24 * hour
    // 300 is lower than the effective 500, though higher than the stored 100
    assert.deepStrictEqual(decide(waiting, { max_daily_bet: 300 }, later).reply.applied, ["max_daily_bet"])
    assert.deepStrictEqual(decide(waiting, { max_daily_bet: 300 }, later - 1).reply.pending, ["max_daily_bet"])
    const other = set(waiting, { max_balance: 1 }, later)
    assert.deepStrictEqual(other.limits, { max_daily_bet: 500, max_balance: 1 })
    assert.deepStrictEqual(other.pendingLimits, [])
  })

  it("writes the settings and one line of the audit log, and moves no money", () => {
    const player = newPlayer({ limits: { max_daily_bet: 100, max_balance: 9, max_weekly_bet: 7 }, walletSeq: 4 })
    const { change, idsUsed, state } = decide(player, { max_daily_bet: 500, max_balance: 5 }, start)
    assert.deepStrictEqual(change?.settings, {
      status: "active",
      kycStatus: "verified",
      documentExpiresAt: null,
      restrictions: player.restrictions,
      withdrawalHolds: [],
      netDepositCap: null,
      exclusion: null,
      sessionsEndedAt: null,
      extras: null,
      limits: { max_daily_bet: 100, max_balance: 5, max_weekly_bet: 7 },
      pendingLimits: [{ field: "max_daily_bet", value: 500, effectiveAt: start + 24 * hour }],
      limitsSet: limitBit("max_daily_bet") | limitBit("max_balance"),
      rules: noRules,
      termsVersion: null,
      limitsReviewed: 0,
      fundsNoticed: 0,
      registers: [],
      updatedAt: start
    })
    assert.deepStrictEqual(state, {
      ...player,
      limits: { max_daily_bet: 100, max_balance: 5, max_weekly_bet: 7 },
      pendingLimits: [{ field: "max_daily_bet", value: 500, effectiveAt: start + 24 * hour }],
      limitsSet: limitBit("max_daily_bet") | limitBit("max_balance")
    })
    assert.deepStrictEqual(change?.audit, [{
      id: 100,
      at: start,
      actor: "key:pk",
      action: "player.limits",
      operatorId: 1,
      playerId: 1,
      subject: "player:1",
      before: { limits: { max_daily_bet: 100, max_balance: 9 }, pending_changes: [] },
      after: {
        limits: { max_daily_bet: 100, max_balance: 5 },
        pending_changes: [
          { field: "max_daily_bet", requested_value: 500, effective_at: "2026-11-21T12:00:00.000Z" }
        ]
      },
      reason: null
    }])
    assert.strictEqual(idsUsed, 1)
    assert.deepStrictEqual([change?.entries, change?.events], [[], []])
  })
})

const modelFields = ["max_daily_bet", "max_monthly_deposit", "max_session_minutes"] as const
type ModelField = (typeof modelFields)[number]

interface Request {
  /** Hours and milliseconds since the previous request. */
  readonly wait: readonly [hours: number, ms: number]
  readonly sent: { readonly [field in ModelField]?: number | null }
  readonly coolingOffHours: number
}

const value = fc.option(fc.constantFrom(5, 10, 20, 30, 40))

const requests: fc.Arbitrary<ReadonlyArray<Request>> = fc.array(
  fc.record({
    wait: fc.tuple(fc.constantFrom(0, 0, 1, 2, 23, 24, 48, 72), fc.constantFrom(0, 0, 1, 3_599_999)),
    sent: fc.record(
      { max_daily_bet: value, max_monthly_deposit: value, max_session_minutes: value },
      { requiredKeys: [] }
    ),
    coolingOffHours: fc.constantFrom(24, 24, 24, 2, 72, 0)
  }),
  { maxLength: 20 }
)

/** Every request with its time, the player after it, and some times to check. */
const replay = (list: ReadonlyArray<Request>) => {
  let now = start
  let player = newPlayer()
  return list.map(({ coolingOffHours, sent, wait: [hours, ms] }) => {
    now += hours * hour + ms
    player = set(player, sent, now, coolingOffHours)
    // round trip through the stored form
    player = {
      ...player,
      ...JSON.parse(JSON.stringify({ limits: player.limits, pendingLimits: player.pendingLimits }))
    }
    return { now, sent, coolingOffHours, player }
  })
}

const loose = (limit: number | null | undefined) => limit ?? Number.POSITIVE_INFINITY

describe("limits over time", () => {
  // Goal: no interleaving of requests makes a raise effective early, and a restriction never waits. Method: judge only the requests
  // and the limits in force, independent of the rule's state: whenever a limit is looser than a moment
  // before, that value was requested at least its cooling-off period ago, and no other since.
  it("become looser only by a request whose waiting period is over, and stricter at once", () => {
    let raises = 0
    fc.assert(
      fc.property(requests, (list) => {
        const history = replay(list)
        const moments = [
          ...new Set(
            history.flatMap(({ coolingOffHours, now }) => [-1, 0, 1].map((ms) => now + coolingOffHours * hour + ms))
          )
        ].sort((a, b) => a - b)
        for (const field of modelFields) {
          let before: number | null = null
          const look = (moment: number, player: Player, requestsSeen: number) => {
            const limit = limitAt(player, moment, field)
            if (loose(limit) > loose(before)) {
              raises += 1
              const asked = history.slice(0, requestsSeen).filter(({ sent }) => sent[field] !== undefined)
              const unbroken = asked.slice(asked.findLastIndex(({ sent }) => sent[field] !== limit) + 1)
              assert.isTrue(
                unbroken.some(({ coolingOffHours, now }) => now + coolingOffHours * hour <= moment),
                `${field} ${before} became ${limit} at ${(moment - start) / hour}`
              )
            }
            before = limit
          }
          let previous = newPlayer()
          for (const [index, { now, player, sent }] of history.entries()) {
            look(now, previous, index)
            const inForce = before
            look(now, player, index + 1)
            const asked = sent[field]
            if (asked !== undefined && loose(asked) <= loose(inForce)) {
              assert.strictEqual(limitAt(player, now, field), asked)
            }
            const end = history[index + 1]?.now ?? Number.POSITIVE_INFINITY
            for (
              const moment of moments.filter((at) => at > now && at < end)
            ) look(moment, player, index + 1)
            previous = player
          }
        }
      }),
      { numRuns: 500 }
    )
    assert.isAbove(raises, 100, "the requests raise limits")
  })
})
