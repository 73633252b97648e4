import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { command, layerBothServers, made, runCommand, staffCall } from "../kit/Backoffice.ts"

// Goal: staff set rates and read reports on the command line, each as far as their role goes, and the audit log says who set what.
// Method: the command line as a child process; refusals by the staff API.

layer(layerBothServers, { excludeTestServices: true })("reports and rates on the command line", (it) => {
  it.effect("are printed, refused and kept", () =>
    Effect.gen(function*() {
      yield* made("/operators", { slug: "lucky", name: "Lucky", currency: "EUR" })
      const first = yield* command("rate", "set", "--currency", "JPY", "--base", "EUR", "--rate", "0.0061")
      assert.deepInclude(first, { currency: "JPY", base: "EUR", rate: 0.0061 })
      const second = yield* command("rate", "set", "--currency", "JPY", "--base", "EUR", "--rate", "0.0062")
      assert.deepStrictEqual(yield* command("rate", "list", "--currency", "JPY"), [second, first])
      const [line] = yield* command("audit", "list")
      assert.deepInclude(line, { action: "rate.set", subject: `rate:${second.id}`, before: first, after: second })

      const report = yield* command(
        "report",
        "ggr",
        "--operator",
        "lucky",
        "--from",
        "2026-11-01",
        "--to",
        "2026-11-30"
      )
      assert.deepInclude(report, { from: "2026-11-01", to: "2026-11-30", currency: "EUR", include_test_players: false })
      const { exitCode, stderr } = yield* runCommand(
        ["report", "ggr", "--operator", "lucky", "--from", "2026-11-01", "--to", "2026-10-30"]
      )
      assert.strictEqual(exitCode, 1)
      assert.include(stderr, "VALIDATION_FAILED")

      for (
        const [body, fields] of [
          [{ currency: "EUR", base: "EUR", rate: 1 }, ["base"]],
          [{ currency: "XAU", base: "XTS", rate: 1 }, ["base", "currency"]],
          [{ currency: "JPY", base: "EUR", rate: 0 }, ["rate"]],
          [{ currency: "JPY", base: "EUR", rate: -1 }, ["rate"]],
          [{ currency: "jpy", base: "EUR" }, ["currency", "rate"]]
        ] as const
      ) {
        const refused = yield* staffCall("POST", "/backoffice/v1/rates", body)
        assert.deepStrictEqual([refused.status, refused.code], [422, "VALIDATION_FAILED"], JSON.stringify(body))
        assert.deepStrictEqual(Object.keys(refused.details).toSorted(), [...fields])
      }
      assert.strictEqual((yield* command("rate", "list")).length, 2)
      const unknown = yield* staffCall(
        "GET",
        "/backoffice/v1/reports/ggr?operator=nobody&from=2026-11-01&to=2026-11-02"
      )
      assert.strictEqual(unknown.status, 404)

      const support = yield* made("/staff", { name: "Sam", role: "support" })
      const asSupport = { authorization: `Bearer ${support.token}` }
      const range = "operator=lucky&from=2026-11-01&to=2026-11-02"
      for (
        const [method, path, body] of [
          ["GET", `/backoffice/v1/reports/ggr?${range}`, undefined],
          ["POST", "/backoffice/v1/rates", { currency: "JPY", base: "EUR", rate: 1 }]
        ] as const
      ) {
        const reply = yield* staffCall(method, path, body, asSupport)
        assert.deepStrictEqual([reply.status, reply.code], [403, "INSUFFICIENT_SCOPE"])
      }
      assert.strictEqual((yield* staffCall("GET", "/backoffice/v1/rates", undefined, asSupport)).status, 200)
    }))
})
