import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { StaffAccounts } from "../../src/features/staff/Staff.ts"
import { StaffTokens } from "../../src/endpoints/staff/StaffAuthLive.ts"
import { AuthenticationFailures } from "../../src/http/AuthenticationFailures.ts"
import { AnonymousLimits } from "../../src/http/AnonymousLimits.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { bootstrapToken, BothServers } from "../kit/Casino.ts"
import { send } from "../kit/HttpCalls.ts"
import { addStaff } from "../kit/Keys.ts"
import { parseMetrics } from "../kit/Metrics.ts"

// Goal: who tries staff tokens is slowed down and seen, and staff who work from the same address are not. Method: wrong tokens against
// the staff API in this process, until they are not looked up any more.

layer(layerBothServers, { excludeTestServices: true, timeout: "60 seconds" })("wrong staff tokens", (it) => {
  // each node counts the strangers that come to it
  it.effect.skipIf(nodesOfRun > 1)(
    "are counted, logged and rate-limited by address; a token that has worked before is still accepted",
    Effect.fnUntraced(function*() {
      const { backofficePort, logged } = yield* BothServers
      const listStaff = (token: string) =>
        send(backofficePort, "/backoffice/v1/staff", { headers: { authorization: `Bearer ${token}` } })
      const [working, unused] = [yield* addStaff("working"), yield* addStaff("unused")]
      assert.strictEqual((yield* listStaff(working)).status, 200)
      const failures = Effect.map(
        send(backofficePort, "/metrics", { headers: { authorization: `Bearer ${bootstrapToken}` } }),
        ({ text }) => parseMetrics(text).value("pitboss_authentication_failures_total", { kind: "staff_token" }) ?? 0
      )
      // counted since the process began, the tests before this one included
      const failuresBefore = yield* failures
      const codes = new Map<string | undefined, number>()
      for (let count = 0; count < 310; count++) {
        const { code } = yield* listStaff(`st_wrong-${count}`)
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
      assert.strictEqual(codes.get("INVALID_API_KEY"), 300)
      const refused = yield* listStaff(unused)
      assert.deepStrictEqual([refused.status, refused.code], [429, "RATE_LIMITED"])
      assert.match(refused.headers["retry-after"] ?? "", /^[1-9]\d*$/)
      assert.strictEqual((yield* listStaff(working)).status, 200)
      assert.isAtLeast((yield* failures) - failuresBefore, 300)
      assert.isTrue(logged.some((line) => line.includes("authentication failed")))
      assert.isFalse(logged.some((line) => line.includes("st_wrong-0")))
    })
  )
})

let lookUps = 0
const tokens = StaffTokens.layer.pipe(
  Layer.provide(
    Layer.mock(StaffAccounts)({
      authenticate: () =>
        Effect.sync(() => {
          lookUps++
          return undefined
        })
    })
  ),
  Layer.provide(AuthenticationFailures.layer),
  Layer.provide(AnonymousLimits.layer),
  Layer.provide(Settings.layerTest())
)

layer(tokens)("wrong staff tokens of one IPv6 network", (it) => {
  it.effect("share one rate limit, whatever addresses of the network they come from", () =>
    Effect.gen(function*() {
      const { authenticate } = yield* StaffTokens
      for (let count = 0; count < 400; count++) {
        const origin = { peer: `2001:db8::${(count + 1).toString(16)}`, forwardedFor: undefined }
        yield* Effect.flip(authenticate(`st_wrong-${count}`, origin))
      }
      assert.strictEqual(lookUps, 300)
    }))
})
