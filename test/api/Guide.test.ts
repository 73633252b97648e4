import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import { openCasinoInRows } from "../kit/Casino.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { portOf } from "../kit/HttpCalls.ts"

// Goal: the code of docs/api.md works as written. Method: take the blocks of each language from the page, put them together
// in their order, and run them against the service; then give their check of webhooks a delivery, and one that was changed.

const root = Path.join(import.meta.dirname, "..", "..")
const page = Fs.readFileSync(Path.join(root, "docs", "api.md"), "utf8")
const blocks = [...page.matchAll(/<!-- run: (\w+) -->\n+```\w+\n([\s\S]*?)```/g)]
const shown = /print the same in every language:\n+```text\n([\s\S]*?)```/.exec(page)?.[1] ?? ""

const programOf = (language: string): string =>
  blocks.filter(([, name]) => name === language).map(([, , code]) => code).join("\n")

interface Language {
  readonly name: string
  readonly file: string
  readonly command: ReadonlyArray<string>
  /** Result of the page's check for the delivery in the environment, and for the same with a blank after it. */
  readonly webhooks: string
}

const languages: ReadonlyArray<Language> = [
  {
    name: "shell",
    file: "guide.sh",
    command: ["bash", "-euo", "pipefail"],
    webhooks: `
printf '%s' "$HOOK_BODY" > body; printf '%s ' "$HOOK_BODY" > changed
is_genuine "$HOOK_TIMESTAMP" "$HOOK_PREVIOUS" body "$HOOK_SECRET" && echo -n "webhooks true "
is_genuine "$HOOK_TIMESTAMP" "$HOOK_PREVIOUS" changed "$HOOK_SECRET" || echo false`
  },
  {
    name: "client",
    file: "guide.mts",
    command: [process.execPath],
    webhooks: `
const hook = (body: string) =>
  Effect.runPromise(receive(
    {
      "X-Service-Timestamp": process.env.HOOK_TIMESTAMP!,
      "X-Service-Signature": process.env.HOOK_SIGNATURE!,
      "X-Service-Signature-Previous": process.env.HOOK_PREVIOUS!
    },
    new TextEncoder().encode(body),
    process.env.HOOK_SECRET!
  )).then((type) => type === "deposit.paid", () => false)
console.log("webhooks", await hook(process.env.HOOK_BODY!), await hook(process.env.HOOK_BODY + " "))
const poor = Effect.gen(function*() {
  const operator = yield* OperatorClient.make({
    baseUrl: process.env.PITBOSS_URL!,
    key: process.env.PITBOSS_KEY!,
    secret: Redacted.make(process.env.PITBOSS_SECRET!)
  })
  const { data: [last] } = yield* operator.players.list()
  return yield* balanceOf(operator, last!.id)
})
if (await Effect.runPromise(poor.pipe(Effect.provide(Services.layer))) !== 5000) throw new Error("another balance")`
  },
  {
    name: "python",
    file: "guide.py",
    command: ["python3"],
    webhooks: `
environment = os.environ
sent = {
    "X-Service-Timestamp": environment["HOOK_TIMESTAMP"],
    "X-Service-Signature": environment["HOOK_SIGNATURE"],
    "X-Service-Signature-Previous": environment["HOOK_PREVIOUS"],
}
given = environment["HOOK_BODY"].encode()
print("webhooks", *[str(is_genuine(sent, body, environment["HOOK_SECRET"])).lower() for body in (given, given + b" ")])`
  },
  {
    name: "php",
    file: "guide.php",
    command: ["php"],
    webhooks: `
$sent = [
    'HTTP_X_SERVICE_TIMESTAMP' => getenv('HOOK_TIMESTAMP'),
    'HTTP_X_SERVICE_SIGNATURE' => getenv('HOOK_SIGNATURE'),
    'HTTP_X_SERVICE_SIGNATURE_PREVIOUS' => getenv('HOOK_PREVIOUS'),
];
$hook = fn (string $body) => var_export(isGenuine($sent, $body, getenv('HOOK_SECRET')), true);
echo 'webhooks ', $hook(getenv('HOOK_BODY')), ' ', $hook(getenv('HOOK_BODY') . ' '), "\\n";`
  }
]

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end; undefined when not installed. */
const run = (command: ReadonlyArray<string>, cwd: string, environment: { readonly [name: string]: string }) =>
  Effect.callback<Ended | undefined>((resume) => {
    const [program = "", ...args] = command
    const env = { PATH: process.env["PATH"], HOME: cwd, LC_ALL: "C.UTF-8", ...environment }
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")))
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")))
    child.on("error", () => resume(Effect.undefined))
    child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** A folder in which a program finds the packages of the project. */
const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-guide-"))
    Fs.symlinkSync(Path.join(root, "node_modules"), Path.join(path, "node_modules"))
    return path
  }),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
)

/** A current delivery, signed with the next secret as well as with the endpoint's. */
const delivery = () => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const body = JSON.stringify({
    id: "evt_1",
    type: "deposit.paid",
    api_version: "v1",
    created_at: "2026-11-20T12:00:00.000Z",
    data: { info: "Müller" }
  })
  const signed = (secret: string) => createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")
  return {
    HOOK_SECRET: "whsec_now",
    HOOK_BODY: body,
    HOOK_TIMESTAMP: timestamp,
    HOOK_SIGNATURE: signed("whsec_next"),
    HOOK_PREVIOUS: signed("whsec_now")
  }
}

layer(layerE2eServer, { excludeTestServices: true })("docs/api.md", (it) => {
  it.effect("has example programs only in languages that this test runs", () =>
    Effect.sync(() => {
      assert.sameMembers([...new Set(blocks.map(([, name = ""]) => name))], languages.map(({ name }) => name))
      const fences = [...page.matchAll(/^```(bash|ts|python|php)$/gm)]
      assert.lengthOf(fences, blocks.length, "every program says that it is run")
      assert.include(shown, "operator guide")
    }))

  for (const { command, file, name, webhooks } of languages) {
    it.effect(`has a working example in ${name}`, () =>
      Effect.gen(function*() {
        const cwd = yield* folder
        const { key } = yield* openCasinoInRows(`guide-${name}`)
        const source = programOf(name).replaceAll("\"./src/", `"${pathToFileURL(root).href}/src/`)
        Fs.writeFileSync(Path.join(cwd, file), source + webhooks)
        const ended = yield* run([...command, file], cwd, {
          PITBOSS_URL: `http://127.0.0.1:${yield* portOf}`,
          PITBOSS_KEY: key.key,
          PITBOSS_SECRET: key.secret,
          ...delivery()
        })
        if (ended === undefined) {
          process.stdout.write(`docs/api.md in ${name} is not run: there is no ${command[0]} on this machine\n`)
          return
        }
        const expected = `${shown.replace("operator guide", `operator guide-${name}`)}webhooks true false\n`
        assert.deepStrictEqual([ended.stdout, ended.code], [expected, 0], ended.stderr)
      }))
  }
})
