import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import { eventTypes } from "../../src/domain/state/Events.ts"
import { dataOf } from "../kit/Casino.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { callerOf, makeAgent } from "../kit/HttpCalls.ts"
import { environmentAt, freeAddress, staff, staffToken } from "../kit/PlayedService.ts"
import { type CommandOutcome, runProgram, startService } from "../kit/ServiceProcess.ts"

// Goal: `pitboss trigger` makes every type of event really happen in a sandbox, as staff and by a key, and nothing in a live operator. Method: the command as
// a process beside a service; each event is read from the operator's events.

const pitboss = join(import.meta.dirname, "..", "..", "scripts", "pitboss.mjs")

const Key = Schema.Struct({ key: Schema.String, secret: Schema.String })
const Keys = Schema.Array(Schema.Struct({ key: Schema.String, revoked_at: Schema.NullOr(Schema.String) }))

const scene = Effect.gen(function*() {
  const dataDir = join(yield* serverFolder, "data")
  const agent = yield* makeAgent()
  const address = yield* freeAddress
  Fs.mkdirSync(dataDir, { mode: 0o711 })
  Fs.writeFileSync(join(dataDir, "backoffice.token"), staffToken, { mode: 0o600 })
  yield* startService({
    port: address.port,
    databaseUrl: "",
    environment: { ...environmentAt(address), DATA_DIR: dataDir, MASTER_KEY: "" }
  })

  const trigger = (args: ReadonlyArray<string>, given: { readonly [variable: string]: string } = {}) =>
    runProgram([process.execPath, pitboss, "trigger", ...args], {
      PORT: String(address.port),
      BACKOFFICE_PORT: String(address.backofficePort),
      DATA_DIR: dataDir,
      ...given
    })

  const open = Effect.fnUntraced(function*(slug: string, isSandbox: boolean) {
    yield* staff(address, "/operators", Schema.Unknown, { slug, name: slug, currency: "EUR", is_sandbox: isSandbox })
    const { key, secret } = yield* staff(address, "/keys", Key, { operator: slug })
    return { key, secret, caller: callerOf(agent, address.port, { header: "X-Api-Key", key, secret }) }
  })
  const sandbox = yield* open("sand", true)
  yield* staff(address, "/providers", Schema.Unknown, {
    slug: "studio",
    name: "Studio",
    launch_url: "https://play.example/?t={token}&g={game}&m={mode}"
  })
  yield* staff(address, "/games", Schema.Unknown, { provider: "studio", external_id: "reels", name: "Reels" })

  const byKey = {
    PITBOSS_KEY: sandbox.key,
    PITBOSS_SECRET: sandbox.secret,
    PITBOSS_URL: `http://127.0.0.1:${address.port}`,
    // not as staff
    DATA_DIR: join(dataDir, "none")
  }
  const expectEvent = Effect.fnUntraced(function*(type: string, { exitCode, stderr, stdout }: CommandOutcome) {
    assert.strictEqual(exitCode, 0, `${type}: ${stderr}`)
    const report = JSON.parse(stdout)
    assert.deepStrictEqual([report.operator, report.event.type], ["sand", type])
    assert.isAbove(report.steps.length, 0)
    const path = `/api/v1/operator/events?type=${type}&player_id=${report.player_id}&per_page=100`
    assert.deepInclude(dataOf(yield* sandbox.caller.get(path)), report.event)
  })

  // a sandbox in which staff have made nothing
  for (
    const [type, words] of [
      ["withdrawal.paid", "pitboss payment-method create"],
      ["bonus.granted", "pitboss bonus create"],
      ["obligation.met", "--profiles none,gb"]
    ] as const
  ) {
    const refused = yield* trigger([type], byKey)
    assert.deepStrictEqual([refused.exitCode, refused.stdout], [1, ""])
    assert.include(refused.stderr, words)
  }
  for (const type of eventTypes) yield* expectEvent(type, yield* trigger([type, "--operator", "sand"]))
  // what was made for these is there now
  for (const type of ["withdrawal.rejected", "bonus.completed", "limit.raise_confirmable"]) {
    yield* expectEvent(type, yield* trigger([type], byKey))
  }
  const keys = yield* staff(address, "/keys?operator=sand", Keys)
  assert.deepStrictEqual(keys.filter(({ revoked_at: at }) => at === null).map(({ key }) => key), [sandbox.key])

  const stranger = yield* trigger(["player.registered"], { ...byKey, PITBOSS_SECRET: "sk_test_of_nobody" })
  assert.deepStrictEqual([stranger.exitCode, stranger.stdout], [1, ""])

  const live = yield* open("live", false)
  const { length } = yield* staff(address, "/audit?operator=live", Schema.Array(Schema.Unknown))
  const liveKey = { ...byKey, PITBOSS_KEY: live.key, PITBOSS_SECRET: live.secret }
  for (const [args, given] of [[["--operator", "live"], {}], [[], liveKey]] as const) {
    assert.deepStrictEqual(yield* trigger(["player.registered", ...args], given), {
      exitCode: 1,
      stdout: "",
      stderr: "pitboss: live is a live operator: this is for sandboxes only (pitboss operator create --sandbox)\n"
    })
  }
  assert.lengthOf(yield* staff(address, "/audit?operator=live", Schema.Array(Schema.Unknown)), length)
  assert.deepStrictEqual(dataOf(yield* live.caller.get("/api/v1/operator/players")), [])
})

it.live(
  "pitboss trigger causes every event type in a sandbox, and none at a live operator",
  () => Effect.scoped(scene),
  300_000
)
