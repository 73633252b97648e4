import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Http from "node:http"
import { otherHost } from "../../src/http/KnownHosts.ts"
import { writeRefusal } from "../../src/http/Refusals.ts"
import { runCommandLine } from "../../src/commandLine.ts"
import { CommandOutput } from "../../src/commands/Root.ts"

// Goal: the command line asks the endpoint of the command and no other, and takes no other answer for that of the service. Method: a service
// that answers anything, which keeps what it was asked.

/** Runs a command with these settings, over the HTTP client of its context. */
const outcomeOf = Effect.fnUntraced(
  function*(args: ReadonlyArray<string>, settings: { readonly [name: string]: string }) {
    const outcome = { exitCode: 0, stdout: "", stderr: "" }
    yield* runCommandLine(args).pipe(
      Effect.provideService(CommandOutput, {
        isTerminal: false,
        out: (text) => void (outcome.stdout += text),
        problem: (text) => void (outcome.stderr += text),
        end: (exitCode) => void (outcome.exitCode = exitCode)
      }),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown({ BACKOFFICE_TOKEN: "a-token-of-the-tests", ...settings })
      ),
      Effect.provide(NodeServices.layer)
    )
    return outcome
  }
)

/** Runs a command against a service that gives one answer to everything. */
const against = Effect.fnUntraced(function*(text: string, contentType: string, args: ReadonlyArray<string>) {
  const asked: Array<string> = []
  const outcome = yield* outcomeOf(args, {}).pipe(
    Effect.provideService(
      HttpClient.HttpClient,
      HttpClient.make((request, { pathname }) =>
        Effect.sync(() => {
          asked.push(`${request.method} ${pathname}`)
          return HttpClientResponse.fromWeb(request, new Response(text, { headers: { "content-type": contentType } }))
        })
      )
    )
  )
  return { asked, ...outcome }
})

/** A listener that deals with each request as it likes, until the scope closes; returns its port. */
const listening = (answer: Http.RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server>((resume) => {
        const server = Http.createServer(answer).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void server.close())
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

describe("the command line", () => {
  it.effect.each<[string, Http.RequestListener, RegExp]>([
    [
      "comes from another program",
      (_, response) => void response.writeHead(502).end("<html>"),
      /did not answer as a back office of this version.*BACKOFFICE_PORT.*"status": 502/s
    ],
    [
      "breaks off",
      (_, response) => void response.writeHead(200, { "content-length": 9 }).write("{", () => response.destroy()),
      /before the response was complete.*may have taken effect/
    ],
    [
      "never begins",
      (request) => void request.socket.destroy(),
      /before the response was complete.*may have taken effect/
    ],
    ["names another host", (_, response) => {
      writeRefusal(response, otherHost, "1", 421)
    }, /BACKOFFICE_URL.*"setting": "BACKOFFICE_URL"/s]
  ])("explains what happened when the answer %s", ([, answer, message]) =>
    Effect.gen(function*() {
      const port = yield* listening(answer)
      const { exitCode, stderr, stdout } = yield* outcomeOf(["operator", "list"], { BACKOFFICE_PORT: String(port) })
      assert.deepStrictEqual([exitCode, stdout], [1, ""])
      assert.match(stderr, message)
      assert.notInclude(stderr, "Nothing answers")
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerNodeHttp)))

  for (
    const line of [
      ["provider", "show", ""],
      ["provider", "update", ".", "--name", "x"],
      ["key", "revoke", ".."],
      ["round", "show", "..", "..", "staff"],
      ["round", "close", "studio", "slots", "..", "--reason", "x"]
    ]
  ) {
    it.effect(`refuses an argument that would lead to a different endpoint's path: ${line.join(" ")}`, () =>
      Effect.gen(function*() {
        const { asked, exitCode, stderr } = yield* against(`{"data":[]}`, "application/json", line)
        assert.deepStrictEqual([asked, exitCode], [[], 2])
        assert.include(stderr, "USAGE")
      }))
  }

  it.effect("refuses a fraction of minor units in an option that also accepts \"none\"", () =>
    Effect.gen(function*() {
      const line = ["staff", "create", "--name", "x", "--daily-budget"]
      const { asked, exitCode } = yield* against(`{"data":{}}`, "application/json", [...line, "1.5"])
      assert.deepStrictEqual([asked, exitCode], [[], 2])
      assert.strictEqual((yield* against(`{"data":{}}`, "application/json", [...line, "none"])).exitCode, 0)
      // a percentage may have one
      const game = ["game", "update", "7", "--rtp", "96.5"]
      assert.strictEqual((yield* against(`{"data":{}}`, "application/json", game)).exitCode, 0)
    }))

  it.effect("escapes arguments that become part of the path", () =>
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
    it.effect(`fails if another service answers with an HTML page: ${line.join(" ")}`, () =>
      Effect.gen(function*() {
        const { exitCode, stderr, stdout } = yield* against("<html></html>", "text/html", line)
        assert.deepStrictEqual([exitCode, stdout], [1, ""])
        assert.strictEqual(JSON.parse(stderr).error.code, "SERVER_ERROR")
      }))
  }
})
