import { assert, describe, it } from "@effect/vitest"
import { endSession, exchangeSession, type Launch, launchStep } from "../../src/domain/settlement/Launch.ts"
import { endedSessionsCarried, noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import { type BetSession, settle } from "../../src/domain/settlement/Settlement.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { bet, hour, makePlayer, minute, noon, win } from "../kit/Messages.ts"

const launch = (overrides: Partial<Launch> = {}) =>
  launchStep({ gameId: 11, providerId: 9, mode: "real", platform: "web", ip: "203.0.113.5", ...overrides })

describe("a launch", () => {
  it("in real mode opens a session and adds the provider to the player's providers", () => {
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
    it(`in real mode is refused to a barred player (${reason}); a demo launch is allowed and leaves the account unchanged`, () => {
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

for (const remembers of [true, false]) {
  describe(`a game session, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
    const start = () => {
      const runner = new RuleRunner([makePlayer({ real: 100_000 })], () => !remembers)
      const { expiresAt, sessionId } = runner.accept(launch({ providerId: 1 }))
      return { runner, session: { id: sessionId, expiresAt, gameId: 11, providerId: 1, platform: "web", ip: null } }
    }
    let bets = 0
    const codeOf = (runner: RuleRunner, session: BetSession) => {
      const message = bet(`b${++bets}`, 1, { session })
      const answer = runner.ask((player, context) => settle(player, message, context))
      return "reply" in answer ? answer.reply.status : answer.refusal.code
    }

    it("can be exchanged for a session with the same expiry, and then takes no more bets", () => {
      const { runner, session } = start()
      assert.strictEqual(codeOf(runner, session), "processed")
      runner.now += hour
      const next = runner.accept(exchangeSession(session))
      assert.strictEqual(next.expiresAt, session.expiresAt)
      assert.strictEqual(codeOf(runner, session), "INVALID_SESSION")
      assert.strictEqual(codeOf(runner, { id: next.sessionId, expiresAt: next.expiresAt }), "processed")
      const [old, opened] = runner.store.tables().sessions
      assert.deepInclude(old, { id: session.id, endedAt: noon + hour })
      assert.deepInclude(opened, {
        id: next.sessionId,
        gameId: 11,
        mode: "real",
        platform: "web",
        openedAt: noon + hour
      })
      // a retry of the exchange gets another session, and the exchanged one stays ended
      const again = runner.accept(exchangeSession(session))
      assert.notStrictEqual(again.sessionId, next.sessionId)
      assert.strictEqual(codeOf(runner, { id: again.sessionId, expiresAt: again.expiresAt }), "processed")
      assert.strictEqual(codeOf(runner, { id: next.sessionId, expiresAt: next.expiresAt }), "processed")
      assert.strictEqual(codeOf(runner, session), "INVALID_SESSION")
    })

    it("that has expired or was ended cannot be exchanged", () => {
      const { runner, session } = start()
      runner.now = session.expiresAt
      assert.strictEqual(runner.refuse(exchangeSession(session)).code, "INVALID_SESSION")
      const ended = start()
      ended.runner.set({ sessionsEndedAt: noon })
      assert.strictEqual(ended.runner.refuse(exchangeSession(ended.session)).code, "INVALID_SESSION")
    })

    it("whose launch failed takes no more bets, while wins are still paid", () => {
      const { runner, session } = start()
      assert.strictEqual(codeOf(runner, session), "processed")
      runner.accept(endSession(session))
      runner.accept(endSession(session))
      assert.strictEqual(codeOf(runner, session), "INVALID_SESSION")
      assert.strictEqual(runner.refuse(exchangeSession(session)).code, "INVALID_SESSION")
      const paid = runner.accept((player, context) => settle(player, win("w", `b${bets - 1}`, 5), context))
      assert.strictEqual(paid.status, "processed")
      runner.now = session.expiresAt
      runner.accept(endSession({ id: 77, expiresAt: session.expiresAt }))
      assert.strictEqual(runner.player().endedSessions.length, 1, "one that has expired needs no end")
    })

    it("whose launch fails after the vendor exchanged it cannot be exchanged again", () => {
      const { runner, session } = start()
      const next = runner.accept(exchangeSession(session))
      runner.accept(endSession(session))
      assert.strictEqual(runner.refuse(exchangeSession(session)).code, "INVALID_SESSION")
      const exchanged = { ...session, id: next.sessionId, expiresAt: next.expiresAt }
      assert.strictEqual(codeOf(runner, exchanged), "processed")
      runner.accept(endSession(exchanged))
      assert.strictEqual(codeOf(runner, exchanged), "INVALID_SESSION")
      assert.deepStrictEqual(runner.player().endedSessions.map((ended) => ended.exchanged), [false, false])
    })

    it("that was exchanged stays ended until it expires, however many exchanges follow", () => {
      const { runner, session } = start()
      let last = session
      for (let number = 0; number < endedSessionsCarried + 3; number++) {
        runner.now += minute
        const { sessionId } = runner.accept(exchangeSession(last))
        last = { ...last, id: sessionId }
      }
      assert.strictEqual(runner.player().endedSessions.length, endedSessionsCarried)
      assert.strictEqual(codeOf(runner, session), "INVALID_SESSION")
      assert.strictEqual(codeOf(runner, last), "processed")
      runner.now = session.expiresAt + minute
      const next = runner.accept(launch({ providerId: 1 }))
      runner.accept(exchangeSession({ ...session, id: next.sessionId, expiresAt: next.expiresAt }))
      assert.deepStrictEqual(runner.player().endedSessions, [
        { id: next.sessionId, expiresAt: next.expiresAt, exchanged: true }
      ])
    })
  })
}

// Goal: calls that name no session need a running one of the player at their provider, and settlement needs none. Method: bets and wins without a
// session around launches, failures, exchanges and ends.
for (const remembers of [true, false]) {
  describe(`the right to bet without naming a session, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
    const start = () => new RuleRunner([makePlayer({ real: 100_000, openSessions: [] })], () => !remembers)
    const opened = (runner: RuleRunner, providerId = 1) => {
      const { expiresAt, sessionId } = runner.accept(launch({ providerId }))
      return { id: sessionId, expiresAt, gameId: 11, providerId, platform: "web", ip: null }
    }
    let bets = 0
    const codeOf = (runner: RuleRunner) => {
      const message = bet(`n${++bets}`, 1, { session: "none" })
      const answer = runner.ask((player, context) => settle(player, message, context))
      return "reply" in answer ? answer.reply.status : answer.refusal.code
    }

    it("begins with a launch at that provider, and ends after twelve hours", () => {
      const runner = start()
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
      opened(runner, 9)
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
      const { expiresAt } = opened(runner)
      assert.strictEqual(codeOf(runner), "processed")
      runner.now = expiresAt - 1
      assert.strictEqual(codeOf(runner), "processed")
      runner.now = expiresAt
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
      const paid = runner.accept((player, context) => settle(player, win("late", `n${bets - 1}`, 5), context))
      assert.strictEqual(paid.status, "processed")
    })

    it("ends with a failed launch, unless an earlier launch is still valid", () => {
      const runner = start()
      runner.accept(endSession(opened(runner)))
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
      const good = opened(runner)
      runner.now += hour
      const failed = [opened(runner), opened(runner), opened(runner)]
      for (const session of failed) runner.accept(endSession(session))
      assert.strictEqual(codeOf(runner), "processed")
      runner.now = good.expiresAt
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
    })

    it("ends when all sessions are ended, returns with the next launch, and is checked after the account's status", () => {
      const runner = start()
      opened(runner)
      runner.set({ sessionsEndedAt: noon })
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
      runner.set({ status: "locked" })
      assert.strictEqual(codeOf(runner), "PLAYER_RESTRICTED")
      runner.set({ status: "active" })
      opened(runner)
      assert.strictEqual(codeOf(runner), "processed")
    })

    it("survives an exchange of the session for a new one, and ends with the new session", () => {
      const runner = start()
      const session = opened(runner)
      const next = runner.accept(exchangeSession(session))
      assert.strictEqual(codeOf(runner), "processed")
      runner.accept(endSession({ id: next.sessionId, expiresAt: next.expiresAt }))
      assert.strictEqual(codeOf(runner), "INVALID_SESSION")
    })
  })
}
