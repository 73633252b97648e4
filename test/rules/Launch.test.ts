import { assert, describe, it } from "@effect/vitest"
import { type Launch, launchStep } from "../../src/domain/settlement/Launch.ts"
import { noRestrictions, type Player } from "../../src/domain/player/Player.ts"
import { settle } from "../../src/domain/settlement/Settlement.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { bet, hour, makePlayer, minute, noon } from "../kit/Messages.ts"

const launch = (overrides: Partial<Launch> = {}) =>
  launchStep({ gameId: 11, providerId: 9, mode: "real", platform: "web", ip: "203.0.113.5", ...overrides })

describe("a launch", () => {
  it("for money opens a session and makes the provider one of the player's", () => {
    const runner = new RuleRunner([makePlayer()], () => true)
    const { expiresAt, sessionId } = runner.accept(launch())
    assert.strictEqual(expiresAt, noon + 12 * hour)
    assert.deepStrictEqual(runner.store.tables().sessions, [{
      id: sessionId,
      playerId: 1,
      gameId: 11,
      mode: "real",
      platform: "web",
      ip: "203.0.113.5",
      openedAt: noon,
      expiresAt
    }])
    runner.accept(launch())
    const { counters, providerIds, walletSeq } = runner.player()
    assert.deepStrictEqual(providerIds, [1, 9])
    assert.deepInclude(counters, { playSince: noon, lastBetAt: 0 })
    assert.strictEqual(walletSeq, 0)
  })

  const barred: ReadonlyArray<readonly [reason: string, settings: Partial<Player>]> = [
    ["locked", { status: "locked" }],
    ["can_bet", { restrictions: { ...noRestrictions, canBet: false } }],
    ["self_exclusion", { exclusion: { type: "self_exclusion", since: 0, until: null } }]
  ]
  for (const [reason, settings] of barred) {
    it(`for money is refused to a player who is barred (${reason}); a demo is not, and leaves the account alone`, () => {
      const runner = new RuleRunner([makePlayer(settings)])
      assert.deepInclude(runner.refuse(launch()), { code: "PLAYER_RESTRICTED", details: { reason } })
      const before = runner.player()
      runner.accept(launch({ mode: "demo" }))
      assert.deepStrictEqual(runner.player(), before)
      assert.strictEqual(runner.store.tables().sessions[0]?.mode, "demo")
    })
  }

  it("is refused when the player has played for too long, until a break has passed", () => {
    const runner = new RuleRunner([makePlayer({ limits: { max_session_minutes: 20 } })])
    runner.accept(launch())
    for (const number of [1, 2]) {
      runner.now += 10 * minute
      const message = bet(`b${number}`, 1)
      if (number === 1) runner.accept((player, context) => settle(player, message, context))
    }
    assert.deepInclude(runner.refuse(launch()), { code: "LIMIT_EXCEEDED" })
    runner.accept(launch({ mode: "demo" }))
    runner.now = noon + 25 * minute
    runner.accept(launch())
  })
})
