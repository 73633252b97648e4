import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { deposit, register } from "../kit/Casino.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { callerOf, makeAgent } from "../kit/HttpCalls.ts"
import { environmentAt, freeAddress, operatorOf, playCasino, staff, staffToken } from "../kit/PlayedService.ts"
import { startService } from "../kit/ServiceProcess.ts"
import { makeSink, soon } from "../kit/WebhookSink.ts"

// Goal: `pitboss listen` posts each event once, signed so that a library verifies it, and goes on where it was ended. Method: the command as a process
// beside a service; it is ended with SIGINT between two deposits and started again.

const Key = Schema.Struct({ key: Schema.String, secret: Schema.String })

const pitboss = join(import.meta.dirname, "..", "..", "scripts", "pitboss.mjs")

it.live(
  "pitboss listen posts each event once across Ctrl-C (exit code 0) and a restart, and a library verifies the signatures",
  () =>
    Effect.gen(function*() {
      const dataDir = join(yield* serverFolder, "data")
      const agent = yield* makeAgent()
      const [hooks, local] = [yield* makeSink(), yield* makeSink()]
      const address = yield* freeAddress
      Fs.mkdirSync(dataDir, { mode: 0o711 })
      Fs.writeFileSync(join(dataDir, "backoffice.token"), staffToken, { mode: 0o600 })
      yield* startService({
        port: address.port,
        databaseUrl: "",
        environment: { ...environmentAt(address), DATA_DIR: dataDir, MASTER_KEY: "" }
      })
      const casino = yield* playCasino(agent, address, hooks)
      const operator = operatorOf(agent, address, casino)
      const playerId = casino.seated[0]?.playerId ?? 0

      const startFor = (url: string, slug = "acme") =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const args = ["listen", "--operator", slug, "--forward-to", url, "--events", "deposit.paid"]
            const child = spawn(process.execPath, [pitboss, ...args], {
              env: {
                PATH: process.env["PATH"],
                DATA_DIR: dataDir,
                PORT: String(address.port),
                BACKOFFICE_PORT: String(address.backofficePort)
              },
              stdio: ["ignore", "pipe", "inherit"]
            })
            const printed = { text: "" }
            child.stdout.on("data", (chunk: Buffer) => (printed.text += chunk.toString("utf8")))
            return { child, printed }
          }),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
      const start = startFor(local.url)
      const end = ({ child }: Effect.Success<typeof start>) =>
        Effect.callback<number | null>((resume) => {
          child.once("exit", (code) => resume(Effect.succeed(code)))
          child.kill("SIGINT")
        })
      const arrived = (reference: string) => soon(() => local.received.some(({ body }) => body.includes(reference)))

      const first = yield* start
      yield* soon(() => first.printed.text.includes("\n"))
      const [secret = ""] = first.printed.text.split("\n")
      yield* deposit(operator, playerId, 100, "while-it-runs")
      yield* arrived("while-it-runs")
      assert.strictEqual(yield* end(first), 0)
      yield* deposit(operator, playerId, 100, "while-it-is-away")

      const second = yield* start
      yield* arrived("while-it-is-away")
      yield* soon(() => second.printed.text.includes("deposit.paid"))
      assert.strictEqual(yield* end(second), 0)
      assert.isTrue(second.printed.text.startsWith(`${secret}\n`))
      assert.match(second.printed.text, /^\S+Z {2}deposit\.paid {2}\d+ {2}2\d\d {2}\d+ ms$/m)

      // another receiver is at a place of its own, and has a secret of its own
      const other = yield* startFor(`${local.url}/other`)
      yield* soon(() => other.printed.text.includes("\n"))
      assert.isFalse(other.printed.text.startsWith(secret))
      assert.strictEqual(yield* end(other), 0)

      // the events of a sandbox whose clock is ahead lie in the future, and are not new for that
      yield* staff(address, "/operators", Schema.Unknown, {
        slug: "sand",
        name: "Sand",
        currency: "EUR",
        is_sandbox: true
      })
      const sandKey = yield* staff(address, "/keys", Key, { operator: "sand" })
      const sandbox = callerOf(agent, address.port, { header: "X-Api-Key", ...sandKey })
      yield* sandbox.post("/sandbox/clock/advance", { seconds: 86_400 })
      const sandPlayer = yield* register(sandbox, "ada")
      yield* deposit(sandbox, sandPlayer, 100, "before-it-listens")
      const sandSink = yield* makeSink()
      const ahead = yield* startFor(sandSink.url, "sand")
      yield* soon(() => ahead.printed.text.includes("\n"))
      yield* deposit(sandbox, sandPlayer, 100, "while-it-listens")
      yield* soon(() => sandSink.received.some(({ body }) => body.includes("while-it-listens")))
      assert.lengthOf(sandSink.received, 1)
      assert.strictEqual(yield* end(ahead), 0)

      assert.lengthOf(local.received, 2)
      for (const { body, headers } of local.received) {
        new Webhook(secret).verify(
          body,
          Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
        )
        assert.strictEqual(headers["x-service-event"], "deposit.paid")
      }
    }).pipe(Effect.scoped),
  120_000
)
