import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Http from "node:http"
import * as Path from "node:path"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { until } from "../kit/Client.ts"
import { freePort, runProgram, startService } from "../kit/ServiceProcess.ts"

// Goal: the first steps work as written, and the demo is a valid check: it passes with a correct service, also over
// a bad network, and fails with a service that miscounts. Method: the service as a process with its embedded database; the commands
// of docs/first-steps.md run by bash; the demo run as a child, straight and through a proxy that drops answers or changes them.

const root = Path.join(import.meta.dirname, "..", "..")

/** A service started as by `npm start`, and the environment with its folder and ports. */
class Started extends Context.Service<Started, {
  readonly port: number
  readonly environment: { readonly [name: string]: string }
}>()("pitboss/test/Started") {}

const layerStarted = Layer.effect(
  Started,
  Effect.gen(function*() {
    const port = yield* freePort
    const environment = {
      PATH: `${Path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      PORT: String(port),
      BACKOFFICE_PORT: String(yield* freePort),
      DATA_DIR: yield* serverFolder
    }
    const service = yield* startService({
      port,
      databaseUrl: "",
      environment: { ...environment, DEMO: "on", LOG_LEVEL: "error", REGISTER_ALLOW_INSECURE: "on" }
    })
    // readiness comes shortly before the demo operator exists, which the output reports
    yield* until(() => service.output().includes("Pitboss is up."))
    // the database stops with the service before its folder is removed
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        service.kill("SIGTERM")
        return service.exited
      })
    )
    return { port, environment }
  })
)

const run = Effect.fnUntraced(
  function*(command: string, args: ReadonlyArray<string>, more: { readonly [name: string]: string } = {}) {
    const { environment } = yield* Started
    return yield* runProgram([command, ...args], { ...environment, ...more })
  }
)

const runDemo = (args: ReadonlyArray<string>, more?: { readonly [name: string]: string }) =>
  run(process.execPath, [Path.join("scripts", "demo.ts"), ...args], more)

/** The code block of a language under a heading of the page of first steps. */
const codeUnder = (heading: string, language: string): string => {
  const [, section = ""] = Fs.readFileSync(Path.join(root, "docs", "first-steps.md"), "utf8").split(`\n## ${heading}\n`)
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section.split("\n## ")[0] ?? "")?.[1]
  assert(code !== undefined, `no ${language} under ${heading}`)
  return code
}

/** Removes values that differ in every run: ids and times. */
const withoutIds = (text: string): string =>
  text
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, "\"time\"")
    .replaceAll(/"(id|player_id)":\d+/g, "\"$1\":0")
    .replaceAll(/"(psp|bet)-\d+"/g, "\"$1\"")
    .replaceAll(/"wallet_transaction_ids":\[\d+\]/g, "\"wallet_transaction_ids\":[0]")

const isInstalled = (command: string): boolean => spawnSync(command, ["--version"]).error === undefined
const cannotRun = !["bash", "curl", "openssl", "sed"].every(isInstalled)

/** Proxy in front of the service that alters answers of the wallet API by `alter`; undefined drops one. */
const proxy = Effect.fnUntraced(function*(alter: (path: string, answer: string) => string | undefined) {
  const { port } = yield* Started
  const server = yield* Effect.acquireRelease(
    Effect.callback<Http.Server>((resume) => {
      const server = Http.createServer((source, target) => {
        const chunks: Array<Buffer> = []
        source.on("error", () => target.destroy())
        source.on("data", (chunk: Buffer) => chunks.push(chunk))
        source.on("end", () => {
          const { headers, method, url = "/" } = source
          const request = Http.request({ host: "127.0.0.1", port, path: url, method, headers }, (answer) => {
            const parts: Array<Buffer> = []
            answer.on("data", (chunk: Buffer) => parts.push(chunk))
            answer.on("end", () => {
              const text = Buffer.concat(parts).toString("utf8")
              const altered = url.startsWith("/api/v1/provider/wallet/") ? alter(url, text) : text
              if (altered === undefined) {
                target.destroy()
              } else {
                const length = Buffer.byteLength(altered)
                target.writeHead(answer.statusCode ?? 500, { ...answer.headers, "content-length": length })
                target.end(altered)
              }
            })
          })
          request.on("error", () => target.destroy())
          request.end(Buffer.concat(chunks))
        })
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
})

const short = ["--rate", "60", "--seconds", "2", "--players", "3"]

const Verification = Schema.fromJsonString(
  Schema.Struct({ players: Schema.Int, entries: Schema.Int, violations: Schema.Array(Schema.Unknown) })
)

layer(layerStarted, { excludeTestServices: true, timeout: 120_000 })("the demo and the first steps", (it) => {
  it.effect.skipIf(cannotRun)(
    "the first steps by hand and in the back office print what the documentation shows",
    Effect.fnUntraced(function*() {
      const between = "what follows is the back office's"
      const script = [
        codeUnder("By hand", "bash"),
        `echo "${between}"`,
        // without the time npm takes: npm run -s backoffice -- …
        `npm() { shift 4; node src/cli.ts "$@"; }`,
        "set -e",
        codeUnder("Back office", "bash")
      ]
      const { exitCode, stderr, stdout } = yield* run("bash", ["-c", script.join("\n")])
      assert.deepStrictEqual([exitCode, stderr], [0, ""], stdout)
      const [byHand = "", backOffice = ""] = stdout.split(`${between}\n`)
      assert.strictEqual(withoutIds(byHand), withoutIds(codeUnder("By hand", "json")))
      const documents = backOffice.trim().split(/\n(?=[{[])/)
      assert.lengthOf(documents, 6)
      const { entries, violations } = yield* Schema.decodeUnknownEffect(Verification)(documents.at(-1))
      assert.isAtLeast(entries, 3)
      assert.deepStrictEqual(violations, [])
    })
  )

  it.effect("the demo finds nothing wrong with the service", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runDemo(short)
      assert.deepStrictEqual([exitCode, stderr], [0, ""], stdout)
      assert.match(stdout, /\n0 violations: /)
      assert.match(stdout, /ledger verify\n  players \d+, entries \d+, violations 0\n/)
      assert.notInclude(stdout, "DIFFERS")
    }))

  it.effect("the demo plays as a Swedish operator, with each player checked against the register", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runDemo([...short, "--jurisdiction", "se"])
      assert.deepStrictEqual([exitCode, stderr], [0, ""], stdout)
      assert.include(stdout, "  SELF_EXCLUDED_IDENTITY\n")
      // the refused registration, three others, and a sign-in
      assert.match(
        stdout,
        /\nspelpaus was asked 5 times\. .* demo_\w+_1: sign-in PLAYER_RESTRICTED, deposit PLAYER_RESTRICTED\n/
      )
      assert.match(stdout, /\n0 violations: /)
    }))

  it.effect("the demo succeeds when answers are lost", () =>
    Effect.gen(function*() {
      let answers = 0
      const url = yield* proxy((path, answer) =>
        !path.endsWith("/authenticate") && ++answers % 3 === 0 ? undefined : answer
      )
      const { exitCode, stderr, stdout } = yield* runDemo([...short, "--url", url])
      assert.deepStrictEqual([exitCode, stderr], [0, ""], stdout)
      assert.match(stdout, /\d  no answer\n/)
    }))

  it.effect("the demo detects a service whose balances are one cent off", () =>
    Effect.gen(function*() {
      const url = yield* proxy((_, answer) =>
        answer.replaceAll(/"balance":(-?\d+)(?=.*"wallet_seq")/g, (_, balance) => `"balance":${Number(balance) + 1}`)
      )
      const { exitCode, stderr, stdout } = yield* runDemo([...short, "--url", url])
      assert.deepStrictEqual([exitCode, stderr], [1, "demo: the service and the contract disagree\n"])
      assert.match(stdout, /\nviolations: \d+\n {2}demo_\w+: .*balance \d+ instead of \d+/)
    }))

  it.effect("the demo says what to do when there is no service", () =>
    Effect.gen(function*() {
      const port = String(yield* freePort)
      const { exitCode, stderr, stdout } = yield* runDemo(short, { PORT: port })
      assert.deepStrictEqual([exitCode, stdout], [1, ""])
      assert.match(
        stderr,
        new RegExp(`^demo: nothing answers at http://127\\.0\\.0\\.1:${port}\\. Run "npm start" .*\\n$`)
      )
    }))
})
