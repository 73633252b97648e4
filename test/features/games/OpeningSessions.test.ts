import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { settle } from "../../../src/domain/settlement/Settlement.ts"
import { OpeningSessions } from "../../../src/features/games/OpeningSessions.ts"
import { bet, makePlayer } from "../../kit/Messages.ts"
import { RuleRunner } from "../../kit/RuleRunner.ts"

it.effect("a new bet is refused with TRY_AGAIN while its session's launch is being committed; known bets and bets of other sessions are not", () =>
  Effect.gen(function*() {
    const openings = yield* OpeningSessions
    const runner = new RuleRunner([makePlayer({ real: 1000 })])
    const known = bet("known", 1)
    runner.accept((player, context) => settle(player, known, context))
    const [opening, running] = [7, 8].map((id) => ({ id, expiresAt: Number.MAX_SAFE_INTEGER }))
    if (opening === undefined || running === undefined) return assert.fail("no sessions")
    const launch = openings.begin()
    launch.add(opening)
    const refusalOf = (...actions: Parameters<typeof openings.refuse>[1]) =>
      openings.refuse(runner.player(), actions, runner.now)?.code
    const [waiting, other] = [{ ...bet("new", 1), session: opening }, { ...bet("other", 1), session: running }]
    assert.strictEqual(refusalOf(known, waiting), "TRY_AGAIN")
    assert.strictEqual(refusalOf(other, waiting), "TRY_AGAIN")
    assert.isUndefined(refusalOf({ ...known, session: opening }, other))
    launch.close()
    assert.isUndefined(refusalOf(known, waiting))
  }).pipe(Effect.provide(OpeningSessions.layer)))
