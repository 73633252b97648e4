import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { runCommandLine } from "../../src/commandLine.ts"
import { CommandOutput } from "../../src/commands/Root.ts"

// Goal: the command line asks the endpoint of the command and no other, and takes no other answer for that of the service. Method: a service
// that answers anything, which keeps what it was asked.

/** Runs a command against a service that gives one answer to everything. */
const against = Effect.fnUntraced(function*(text: string, contentType: string, args: ReadonlyArray<string>) {
  const asked: Array<string> = []
  const outcome = { exitCode: 0, stdout: "", stderr: "" }
  yield* runCommandLine(args).pipe(
    Effect.provideService(CommandOutput, {
      isTerminal: false,
      out: (text) => void (outcome.stdout += text),
      problem: (text) => void (outcome.stderr += text),
      end: (exitCode) => void (outcome.exitCode = exitCode)
    }),
    Effect.provideService(
      HttpClient.HttpClient,
      HttpClient.make((request, { pathname }) =>
        Effect.sync(() => {
          asked.push(`${request.method} ${pathname}`)
          return HttpClientResponse.fromWeb(request, new Response(text, { headers: { "content-type": contentType } }))
        })
      )
    ),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown({ BACKOFFICE_TOKEN: "a-token-of-the-tests" })
    ),
    Effect.provide(NodeServices.layer)
  )
  return { asked, ...outcome }
})

describe("the command line", () => {
  for (
    const line of [
      ["provider", "show", ""],
      ["provider", "update", ".", "--name", "x"],
      ["key", "revoke", ".."],
      ["round", "show", "..", "..", "staff"],
      ["round", "close", "studio", "slots", "..", "--reason", "x"]
    ]
  ) {
    it.effect(`does not ask another endpoint: ${line.join(" ")}`, () =>
      Effect.gen(function*() {
        const { asked, exitCode, stderr } = yield* against(`{"data":[]}`, "application/json", line)
        assert.deepStrictEqual([asked, exitCode], [[], 2])
        assert.include(stderr, "USAGE")
      }))
  }

  it.effect("takes no fraction for minor units that none removes", () =>
    Effect.gen(function*() {
      const line = ["staff", "create", "--name", "x", "--daily-budget"]
      const { asked, exitCode } = yield* against(`{"data":{}}`, "application/json", [...line, "1.5"])
      assert.deepStrictEqual([asked, exitCode], [[], 2])
      assert.strictEqual((yield* against(`{"data":{}}`, "application/json", [...line, "none"])).exitCode, 0)
      // a percentage may have one
      const game = ["game", "update", "7", "--rtp", "96.5"]
      assert.strictEqual((yield* against(`{"data":{}}`, "application/json", game)).exitCode, 0)
    }))

  it.effect("escapes what is a part of the path", () =>
    Effect.gen(function*() {
      const { asked } = yield* against(`{"data":[]}`, "application/json", [
        "round",
        "show",
        "a/../b",
        "%2e$&",
        ":round"
      ])
      assert.deepStrictEqual(asked, ["GET /backoffice/v1/rounds/a%2F..%2Fb/%252e%24%26/%3Around"])
    }))

  for (const line of [["ledger", "export"], ["figures", "live", "--seconds", "1"], ["operator", "list"]]) {
    it.effect(`prints no page of another service: ${line.join(" ")}`, () =>
      Effect.gen(function*() {
        const { exitCode, stderr, stdout } = yield* against("<html></html>", "text/html", line)
        assert.deepStrictEqual([exitCode, stdout], [1, ""])
        assert.strictEqual(JSON.parse(stderr).error.code, "SERVER_ERROR")
      }))
  }
})
