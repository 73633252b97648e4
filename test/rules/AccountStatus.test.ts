import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  issueTokenStep,
  isTokenValid,
  moveKycStep,
  restrictStep,
  setStatusStep,
  signOutStep
} from "../../src/domain/player/AccountStatus.ts"
import { refuseAccount } from "../../src/domain/player/RefuseAccount.ts"
import type { Step } from "../../src/domain/state/Decision.ts"
import { type KycStatus, noRestrictions, type Player, type PlayerStatus } from "../../src/domain/state/Player.ts"
import { newPlayer } from "../kit/players.ts"

const now = Date.parse("2026-11-20T12:00:00.000Z")

const run = <Reply, Error>(step: Step<Reply, Error>, player: Player, at = now) =>
  step(player, { now: at, firstId: 100, known: undefined })

const accepted = <Reply, Error>(step: Step<Reply, Error>, player: Player, at = now) => {
  const decision = run(step, player, at)
  return decision._tag === "Accept" ? decision : assert.fail(decision._tag)
}

const statuses: ReadonlyArray<PlayerStatus> = ["active", "locked", "closed"]

describe("setStatusStep", () => {
  it("moves an account from any status to any other, and stores the note", () => {
    for (const from of statuses) {
      for (const status of statuses.filter((status) => status !== from)) {
        const player = newPlayer({ status: from, exclusion: { type: "time_out", since: 1, until: now + 1 } })
        const { change, idsUsed, reply, state } = accepted(
          setStatusStep({ status, reason: "asked by mail", actor: "key:pk" }),
          player
        )
        // locking and closing end all sessions, reopening does not
        const ended = status === "active" ? null : now
        assert.deepStrictEqual(state, { ...player, status, sessionsEndedAt: ended })
        assert.strictEqual(reply, state)
        assert.deepInclude(change?.settings, { status, exclusion: player.exclusion, updatedAt: now })
        assert.deepStrictEqual(change?.audit, [{
          id: 101,
          at: now,
          actor: "key:pk",
          action: "player.status",
          operatorId: 1,
          playerId: 1,
          subject: "player:1",
          before: { status: from },
          after: { status },
          reason: "asked by mail"
        }])
        assert.deepStrictEqual(change?.notes, [{
          id: 100,
          operatorId: 1,
          playerId: 1,
          author: "key:pk",
          text: "asked by mail",
          createdAt: now
        }])
        assert.strictEqual(idsUsed, 2)
        assert.deepStrictEqual(
          accepted(setStatusStep({ status, reason: null, actor: "key:pk" }), player).change?.notes,
          []
        )
      }
    }
  })

  it("stores a note sent with an unchanged status, and writes nothing without a note", () => {
    const player = newPlayer({ status: "locked" })
    const noted = accepted(setStatusStep({ status: "locked", reason: "called", actor: "key:pk" }), player)
    assert.deepStrictEqual(noted.change?.audit.map(({ reason }) => reason), ["called"])
    assert.deepStrictEqual(noted.change?.notes.map(({ text }) => text), ["called"])
    assert.strictEqual(noted.state.status, "locked")
    const silent = accepted(setStatusStep({ status: "locked", reason: null, actor: "key:pk" }), player)
    assert.isNull(silent.change)
    assert.strictEqual(silent.state, player)
  })
})

const kycStatuses: ReadonlyArray<KycStatus> = ["not_started", "pending_review", "verified", "rejected", "expired"]

describe("moveKycStep", () => {
  // Goal: exactly the specified transitions are allowed. Method: all 25 pairs against a list written by hand.
  it("allows the documented transitions only", () => {
    const ways = [
      "not_started > pending_review",
      "pending_review > verified",
      "pending_review > rejected",
      "rejected > pending_review",
      "verified > expired",
      "verified > pending_review",
      "expired > pending_review"
    ]
    const open = kycStatuses.flatMap((from) =>
      kycStatuses.filter((status) => {
        const decision = run(
          moveKycStep({ status, documentExpiresAt: null, reason: null, actor: "staff:1" }),
          newPlayer({ kycStatus: from })
        )
        if (decision._tag === "Accept") return decision.state.kycStatus === status
        assert.deepStrictEqual(
          decision._tag === "Refuse" && [decision.error.code, Object.keys(decision.error.details)],
          ["VALIDATION_FAILED", ["status"]]
        )
        return false
      }).map((status) => `${from} > ${status}`)
    )
    assert.sameMembers(open, ways)
  })

  it("emits kyc.status_changed and writes the audit log", () => {
    const move = (kycStatus: KycStatus, status: KycStatus) =>
      accepted(
        moveKycStep({ status, documentExpiresAt: null, reason: "passport", actor: "staff:7" }),
        newPlayer({ kycStatus })
      )
    const { change, idsUsed } = move("pending_review", "verified")
    assert.deepStrictEqual(change?.events, [{
      id: 100,
      operatorId: 1,
      playerId: 1,
      type: "kyc.status_changed",
      data: { previous_status: "pending_review", status: "verified", is_verified: true },
      createdAt: now
    }])
    assert.deepInclude(change?.audit[0], {
      id: 101,
      actor: "staff:7",
      action: "player.kyc",
      before: { kyc_status: "pending_review" },
      after: { kyc_status: "verified" },
      reason: "passport"
    })
    assert.deepInclude(change?.settings, { kycStatus: "verified", updatedAt: now })
    assert.strictEqual(idsUsed, 2)
    assert.deepStrictEqual(move("verified", "expired").change?.events[0]?.data, {
      previous_status: "verified",
      status: "expired",
      is_verified: false
    })
  })
})

describe("restrictStep", () => {
  it("changes only the restrictions that the request names", () => {
    const before = { ...noRestrictions, canBet: false }
    const player = newPlayer({ restrictions: before })
    const { change, state } = accepted(
      restrictStep({ restrictions: { canLogin: false, excludedFromBonuses: true, canBet: false }, actor: "staff:7" }),
      player
    )
    const after = { canLogin: false, canDeposit: true, canWithdraw: true, canBet: false, excludedFromBonuses: true }
    assert.deepStrictEqual(state, { ...player, restrictions: after, sessionsEndedAt: now })
    assert.deepInclude(change?.settings, { restrictions: after })
    assert.deepInclude(change?.audit[0], {
      action: "player.restrict",
      before: {
        can_login: true,
        can_deposit: true,
        can_withdraw: true,
        can_bet: false,
        excluded_from_bonuses: false
      },
      after: { can_login: false, can_deposit: true, can_withdraw: true, can_bet: false, excluded_from_bonuses: true }
    })
    const back = accepted(restrictStep({ restrictions: { canBet: true }, actor: "staff:7" }), state)
    assert.deepStrictEqual(back.state.restrictions, { ...after, canBet: true })
  })
})

describe("session tokens", () => {
  it("are refused to accounts that are locked, closed, barred from login or excluded", () => {
    const reason = (overrides: Partial<Player>) => refuseAccount(newPlayer(overrides), "canLogin", now)?.details
    assert.isUndefined(reason({}))
    assert.deepStrictEqual(reason({ status: "locked" }), { reason: "locked" })
    assert.deepStrictEqual(reason({ status: "closed" }), { reason: "closed" })
    assert.deepStrictEqual(reason({ restrictions: { ...noRestrictions, canLogin: false } }), { reason: "can_login" })
    for (const type of ["time_out", "self_exclusion", "self_closure"] as const) {
      assert.deepStrictEqual(reason({ exclusion: { type, since: 1, until: now + 1 } }), { reason: type })
      assert.deepStrictEqual(reason({ exclusion: { type, since: 1, until: null } }), { reason: type })
      assert.isUndefined(reason({ exclusion: { type, since: 1, until: now } }))
    }
    const other = { ...noRestrictions, canBet: false, canDeposit: false, canWithdraw: false, excludedFromBonuses: true }
    assert.isUndefined(reason({ restrictions: other }))
  })

  // Goal: a token issued before an end of all sessions never works again, one issued afterwards does, also within one
  // millisecond. Method: random ends and issues in the player's actor.
  it("stay valid until a sign-out, a lock or a login restriction ends all sessions", () => {
    const by = { actor: "staff:1", reason: null }
    const ends = {
      "sign out": [signOutStep(by)],
      lock: [setStatusStep({ ...by, status: "locked" }), setStatusStep({ ...by, status: "active" })],
      login: [
        restrictStep({ ...by, restrictions: { canLogin: false } }),
        restrictStep({ ...by, restrictions: { canLogin: true } })
      ]
    } as const
    const actions = fc.tuple(fc.constantFrom("issue", "sign out", "lock", "login"), fc.integer({ min: 0, max: 2 }))
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 40 }), (all) => {
        let player = newPlayer()
        let at = now
        let issued: ReadonlyArray<number> = []
        for (const [action, ms] of all) {
          at += ms
          if (action === "issue") {
            issued = [...issued, accepted(issueTokenStep(), player, at).reply]
          } else {
            for (const step of ends[action]) player = accepted<Player, unknown>(step, player, at).state
            for (const token of issued) assert.isFalse(isTokenValid(player, token))
            issued = []
          }
          for (const token of issued) assert.isTrue(isTokenValid(player, token))
        }
      })
    )
  })

  it("issued in the millisecond in which an exclusion is written are invalid until that exclusion has ended", () => {
    const player = newPlayer({ exclusion: { type: "time_out", since: now, until: now + 1000 } })
    assert.deepStrictEqual([-1, 0, 1, 999, 1000].map((ms) => isTokenValid(player, now + ms)), [
      false,
      false,
      false,
      false,
      true
    ])
    assert.isFalse(isTokenValid(newPlayer({ exclusion: { type: "self_closure", since: 1, until: null } }), now))
    assert.isTrue(isTokenValid(newPlayer(), 0))
  })
})
