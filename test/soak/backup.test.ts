import { assert, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Schedule, Schema, Scope } from "effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import { backUp } from "../../scripts/backup/Backup.ts"
import { restore } from "../../scripts/backup/Restore.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { callWallet, dataOf, registration, settledOf } from "../kit/Casino.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { makeAgent } from "../kit/HttpCalls.ts"
import {
  environmentAt,
  expectSame,
  freeAddress,
  operatorOf,
  playCasino,
  playOn,
  staff,
  staffToken,
  studioOf
} from "../kit/PlayedService.ts"
import { startService } from "../kit/ServiceProcess.ts"
import { makeSink } from "../kit/WebhookSink.ts"

// Goal: `pitboss backup` of a running service is the whole casino at its end, holds nothing of who was erased before, and is refused when it is not whole.
// Method: the service as a process on an embedded database of its own, whose backup is taken while bets run, restored elsewhere and started.

const passphrase = "a passphrase of the test"
const marker = "zqperson"

const Verification = Schema.Struct({ violations: Schema.Array(Schema.Unknown) })

const openHouse = Effect.gen(function*() {
  const folder = yield* serverFolder
  const agent = yield* makeAgent()
  const sink = yield* makeSink()
  const address = yield* freeAddress
  const start = (dataDir: string) =>
    startService({
      port: address.port,
      databaseUrl: "",
      environment: { ...environmentAt(address), DATA_DIR: dataDir, MASTER_KEY: "" }
    })
  const dataDir = join(folder, "data")
  // the staff token that the service would make up
  Fs.mkdirSync(dataDir, { mode: 0o711 })
  Fs.writeFileSync(join(dataDir, "backoffice.token"), staffToken, { mode: 0o600 })
  const running = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
  const service = yield* Scope.provide(start(dataDir), running)
  const casino = yield* playCasino(agent, address, sink)
  return {
    folder,
    dataDir,
    agent,
    sink,
    address,
    casino,
    start,
    stop: Effect.gen(function*() {
      service.kill("SIGTERM")
      yield* service.exited
      yield* Scope.close(running, Exit.void)
    }),
    backUpTo: (name: string) =>
      backUp(dataDir, join(folder, name), passphrase).pipe(Effect.scoped, Effect.provide(Entropy.layer))
  }
})

/** Files below a folder that hold these bytes. */
const filesWith = (folder: string, bytes: string): ReadonlyArray<string> =>
  Fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => Fs.readFileSync(file).includes(bytes))
    .map((file) => file.slice(folder.length))

it.live(
  "a backup taken under load has every bet that was answered before its end, and verifies",
  () =>
    Effect.gen(function*() {
      const { address, agent, backUpTo, casino, folder, sink, start, stop } = yield* openHouse
      const studio = studioOf(agent, address, casino)
      const session = casino.seated[0]?.session ?? ""
      const answered: Array<{ readonly id: string; readonly at: number }> = []
      const play = { isOver: false }
      const bets = (better: number) =>
        Effect.gen(function*() {
          for (let index = 0; !play.isOver; index++) {
            const id = `during-${better}-${index}`
            const bet = {
              request_id: id,
              transaction_id: id,
              game_id: "reels",
              round_id: id,
              amount: 1,
              currency: "EUR"
            }
            yield* settledOf(yield* callWallet(studio, "bet", { ...bet, session_token: session }))
            answered.push({ id, at: yield* Clock.currentTimeMillis })
          }
        })
      const betting = yield* Effect.forkChild(Effect.forEach([1, 2, 3, 4], bets, { concurrency: 4, discard: true }))
      const report = yield* backUpTo("backup")
      play.isOver = true
      yield* Fiber.join(betting)
      const [begun, ended] = [Date.parse(report.started_at), Date.parse(report.ended_at)]
      const owed = answered.filter(({ at }) => at < ended)
      assert.isAbove(owed.filter(({ at }) => at > begun).length, 0, "no bet ran beside the backup")
      yield* stop

      const restored = join(folder, "restored")
      const { ledger } = yield* restore(join(folder, "backup"), restored, passphrase)
      assert.deepStrictEqual(ledger.violations, [])
      assert.isAtLeast(ledger.entries, owed.length)
      const again = yield* start(restored)
      for (const { id } of owed) {
        const { json, text } = yield* studio.get(`/transactions/${id}`)
        assert.strictEqual(Object(json).data?.status, "processed", text)
      }
      // of the other two, who did not bet meanwhile
      yield* expectSame(agent, address, { ...casino, seated: casino.seated.slice(1) })
      yield* playOn(agent, address, casino, sink)
      assert.deepStrictEqual((yield* staff(address, "/ledger/verification", Verification)).violations, [])
      again.kill("SIGTERM")
      yield* again.exited
    }).pipe(Effect.scoped),
  180_000
)

it.live(
  "a backup contains nothing of persons erased before it, and a restore refuses an incomplete or changed backup",
  () =>
    Effect.gen(function*() {
      const { address, agent, backUpTo, casino, dataDir, folder, stop } = yield* openHouse
      const operator = operatorOf(agent, address, casino)
      const persons = Array.from({ length: 300 }, (_, index) => `${marker}${index}`)
      const leave = Effect.fnUntraced(function*(name: string) {
        const person = registration(name, {
          city: `${marker} town`,
          phone: `+49170${1_000_000 + Number(name.slice(8))}`
        })
        const id: number = dataOf(yield* operator.post("/players", person), 201).id
        dataOf(yield* operator.put(`/players/${id}/status`, { status: "closed", reason: `${marker} asked` }))
        // TRY_AGAIN while the player's actor writes
        const erased = yield* operator.post(`/players/${id}/data-requests`, { type: "erasure" }).pipe(
          Effect.repeat({ until: ({ status }) => status !== 503, schedule: Schedule.spaced("50 millis"), times: 200 })
        )
        assert.strictEqual(erased.status, 201, erased.text)
      })
      yield* Effect.forEach(persons, leave, { concurrency: 16 })
      const report = yield* backUpTo("backup")
      assert.isTrue(report.erased_data_left_out)
      // removed rows are still in the room of the database's own pages, and in its WAL
      for (const part of ["base", "pg_wal"]) {
        assert.isNotEmpty(filesWith(join(dataDir, "postgres", part), marker), `nothing to leave out of ${part}`)
      }
      const backup = join(folder, "backup")
      assert.deepStrictEqual(filesWith(backup, marker), [])
      const secret = Fs.readFileSync(join(dataDir, "master.key"), "utf8").trim()
      assert.deepStrictEqual(filesWith(backup, secret), [])

      const refused = (name: string, phrase = passphrase) =>
        Effect.map(
          Effect.flip(restore(backup, join(folder, name), phrase)),
          ({ message }) => {
            const left = join(folder, name)
            assert.deepStrictEqual(Fs.existsSync(left) ? Fs.readdirSync(left) : [], [])
            return message
          }
        )
      assert.include(yield* refused("by-another", "another passphrase"), "the passphrase is not that of")
      Fs.mkdirSync(join(folder, "full"))
      Fs.writeFileSync(join(folder, "full", "mine"), "")
      assert.include((yield* Effect.flip(restore(backup, join(folder, "full"), passphrase))).message, "is not empty")
      const control = join(backup, "data", "postgres", "global", "pg_control")
      const whole = Fs.readFileSync(control)
      Fs.writeFileSync(control, whole.subarray(0, 100))
      assert.include(yield* refused("shortened"), "pg_control is not as it was written")
      Fs.rmSync(control)
      assert.include(yield* refused("incomplete"), "pg_control is missing")
      Fs.rmSync(join(backup, "backup.json"))
      assert.include(yield* refused("broken-off"), "is no whole backup")
      yield* stop
    }).pipe(Effect.scoped),
  180_000
)
