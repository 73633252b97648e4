import { assert, describe, it } from "@effect/vitest"
import { moveKycStep } from "../../src/domain/player/AccountStatus.ts"
import type { PlayerStatus } from "../../src/domain/state/Player.ts"
import { applyDueChanges, exclusionRetentionMs } from "../../src/domain/limit/DueChanges.ts"
import { newPlayer } from "../kit/players.ts"

// Goal: due account changes are applied at their instant, once, with their events; none is applied early.
// Method: call the rule one millisecond before and at each instant, and again on the result.

const due = 1_800_000_000_000
const at = (now: number) => ({ now, firstId: 50, known: undefined })
const active: PlayerStatus = "active"

describe("due changes", () => {
  it("applies a raised limit when its waiting period is over, and no other limit", () => {
    const player = newPlayer({
      limits: { max_daily_bet: 100, max_balance: 5, max_single_bet: 9 },
      pendingLimits: [
        { field: "max_daily_bet", value: 500, effectiveAt: due },
        { field: "max_balance", value: null, effectiveAt: due },
        { field: "max_single_bet", value: 20, effectiveAt: due + 1 }
      ]
    })
    assert.strictEqual(applyDueChanges(player, at(due - 1)).state, player)
    const { change, state } = applyDueChanges(player, at(due))
    assert.deepStrictEqual(state.limits, { max_daily_bet: 500, max_single_bet: 9 })
    assert.deepStrictEqual(state.pendingLimits, [{ field: "max_single_bet", value: 20, effectiveAt: due + 1 }])
    assert.deepStrictEqual(change?.settings?.limits, state.limits)
    assert.deepStrictEqual(
      change?.audit.map(({ action, actor, after, before }) => ({ action, actor, before, after })),
      [{
        action: "player.limits",
        actor: "scheduler",
        before: { limits: { max_daily_bet: 100, max_balance: 5 } },
        after: { limits: { max_daily_bet: 500, max_balance: null } }
      }]
    )
    assert.isNull(applyDueChanges(state, at(due)).change)
  })

  it("removes a past exclusion from memory once every session token issued before it has expired", () => {
    const exclusion = { type: "time_out", since: due - 1000, until: due } as const
    const player = newPlayer({ exclusion, status: active })
    assert.strictEqual(applyDueChanges(player, at(due + exclusionRetentionMs - 1)).state, player)
    const { change, state } = applyDueChanges(player, at(due + exclusionRetentionMs))
    assert.isNull(state.exclusion)
    assert.deepStrictEqual(change?.audit.map(({ after }) => after), [{ self_exclusion: null }])
    const forGood = newPlayer({ exclusion: { type: "self_closure", since: 0, until: null } })
    assert.strictEqual(applyDueChanges(forGood, at(Number.MAX_SAFE_INTEGER)).state, forGood)
  })

  it("expires the verification when the identity document expires, with an event", () => {
    const verified = newPlayer({ kycStatus: "verified", documentExpiresAt: due })
    assert.strictEqual(applyDueChanges(verified, at(due - 1)).state, verified)
    const { change, idsUsed, state } = applyDueChanges(verified, at(due))
    assert.strictEqual(state.kycStatus, "expired")
    assert.isNull(state.documentExpiresAt)
    assert.deepStrictEqual(change?.events.map(({ data, type }) => ({ type, data })), [{
      type: "kyc.status_changed",
      data: { previous_status: "verified", status: "expired", is_verified: false }
    }])
    assert.strictEqual(new Set([...change?.events ?? [], ...change?.audit ?? []].map(({ id }) => id)).size, 2)
    assert.strictEqual(idsUsed, 2)
    const other = newPlayer({ kycStatus: "pending_review", documentExpiresAt: due })
    assert.strictEqual(applyDueChanges(other, at(due)).state, other)
  })

  it("applies everything that is due in one change", () => {
    const { change, state } = applyDueChanges(
      newPlayer({
        documentExpiresAt: due,
        exclusion: { type: "time_out", since: 0, until: due - exclusionRetentionMs },
        limits: { max_balance: 1 },
        pendingLimits: [{ field: "max_balance", value: 2, effectiveAt: due }]
      }),
      at(due)
    )
    assert.deepStrictEqual(change?.audit.map(({ action }) => action), [
      "player.limits",
      "player.self_exclusion",
      "player.kyc"
    ])
    assert.deepStrictEqual([state.limits, state.exclusion, state.kycStatus], [{ max_balance: 2 }, null, "expired"])
  })
})

describe("the day on which a document expires", () => {
  const verify = (documentExpiresAt: number | null, status: "verified" | "rejected" = "verified") =>
    moveKycStep({ status, documentExpiresAt, reason: null, actor: "staff:1" })(
      newPlayer({ kycStatus: "pending_review" }),
      at(due)
    )

  it("is stored with a verification and in the audit log", () => {
    const midnight = Date.UTC(2031, 5, 1)
    const decision = verify(midnight)
    assert(decision._tag === "Accept")
    assert.strictEqual(decision.state.documentExpiresAt, midnight)
    assert.deepStrictEqual(decision.change?.audit[0]?.after, {
      kyc_status: "verified",
      document_expires_on: "2031-05-31"
    })
  })

  it("is refused when it has passed, and with any status but verified", () => {
    for (const decision of [verify(due), verify(due + 1, "rejected")]) {
      assert(decision._tag === "Refuse")
      assert.deepStrictEqual(Object.keys(decision.error.details), ["document_expires_on"])
    }
    assert.strictEqual(verify(due + 1)._tag, "Accept")
  })
})
