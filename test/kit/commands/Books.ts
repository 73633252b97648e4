/** Cases of `webhook`, `delivery`, `rate`, `report`, `ledger`, `round`, `job` and `audit`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { StaleRounds } from "../../../src/features/settlement/StaleRounds.ts"
import { SqlClient } from "effect/sql"
import { RememberedEnds } from "../../../src/chain/Ends.ts"
import { runHere } from "../Backoffice.ts"
import { dataOf, made, openCasino, staffCall } from "../Casino.ts"
import { dayMs, pass, whileTimePasses } from "../Calendar.ts"
import { expectedSignature, makeSink } from "../WebhookSink.ts"
import { type CommandCase, done, nobody, refusal, type SceneShape } from "./Scene.ts"

const sleeping = ({ house }: SceneShape) =>
  made("/webhooks", { operator: house.slug, url: "https://hooks.example/in", active: false })

/** A webhook at a sink of its own, which is sent nothing but pings. */
const heard = Effect.fnUntraced(function*({ house }: SceneShape) {
  const sink = yield* makeSink()
  const webhook = yield* made("/webhooks", { operator: house.slug, url: sink.url, active: false })
  return { sink, webhook }
})

/** Has the service remember a seal that the tables do not have, as before a backup was restored. */
const loseEnd = Effect.flatMap(
  RememberedEnds,
  ({ restore }) => Effect.sync(() => restore({ seal: { seal: "999999", hash: "0".repeat(64) }, heads: [], at: 0 }))
)

const verification = Effect.map(staffCall("GET", "/backoffice/v1/ledger/verification"), ({ data }) => data)

const onlyOf = (name: string): ReadonlyArray<readonly [line: string, code: string]> => [
  [`webhook ${name} ${nobody}`, "NOT_FOUND"],
  [`webhook ${name} $webhook --operator $rival`, "NOT_FOUND"],
  [`webhook ${name} $webhook --operator nobody`, "NOT_FOUND"]
]

const webhookCases: ReadonlyArray<CommandCase> = [
  {
    line: "webhook create --operator $house --url https://hooks.example/in",
    misused: [
      "webhook create --operator $house --url https://hooks.example/in --events everything",
      "webhook create --operator $house --url https://hooks.example/in --active maybe"
    ],
    refused: [
      ["webhook create --operator nobody --url https://hooks.example/in", "NOT_FOUND"],
      ["webhook create --operator $house --url ftp://hooks.example/in", "VALIDATION_FAILED"],
      ["webhook create --operator $house --url nowhere", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const sink = yield* makeSink()
      const all = yield* done(`webhook create --operator ${casino.slug} --url ${sink.url} --active false`)
      assert.deepInclude(all, { operator_id: casino.id, url: sink.url, active: false, previous_secret_until: null })
      assert.isAbove(all.events.length, 8)
      const some = yield* done(
        `webhook create --operator ${casino.id} --url ${sink.url} --events deposit.paid,bonus.granted --active false`
      )
      assert.sameMembers(some.events, ["deposit.paid", "bonus.granted"])
      yield* done(`webhook ping ${all.id}`)
      const [ping] = sink.received
      assert(ping !== undefined)
      assert.strictEqual(ping.headers["x-service-signature"], expectedSignature(all.secret, ping))
    },
    changes: () =>
      Effect.map(openCasino(), ({ slug }) => ({
        line: `webhook create --operator ${slug} --url https://hooks.example/in --active false`,
        differs: []
      }))
  },
  {
    line: "webhook rotate $webhook",
    misused: ["webhook rotate first", "webhook rotate $webhook --secret mine"],
    refused: onlyOf("rotate"),
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      const rotated = yield* done(`webhook rotate ${webhook.id} --operator ${scene.house.slug}`)
      assert.notStrictEqual(rotated.secret, webhook.secret)
      assert.isString(rotated.previous_secret_until)
      yield* done(`webhook ping ${webhook.id}`)
      const [ping] = sink.received
      assert(ping !== undefined)
      assert.strictEqual(ping.headers["x-service-signature"], expectedSignature(rotated.secret, ping))
      assert.isString(ping.headers["x-service-signature-previous"])
      const ended = yield* done(`webhook rotate ${webhook.id} --now`)
      assert.deepStrictEqual([ended.secret, ended.previous_secret_until], [undefined, null])
      yield* done(`webhook ping ${webhook.id}`)
      const alone = sink.received[1]
      assert(alone !== undefined)
      assert.strictEqual(alone.headers["x-service-signature"], expectedSignature(rotated.secret, alone))
      assert.isUndefined(alone.headers["x-service-signature-previous"])
    },
    changes: (scene) =>
      Effect.map(sleeping(scene), ({ id }) => ({
        line: `webhook rotate ${id}`,
        differs: ["previous_secret_until"]
      }))
  },
  {
    line: "webhook update $webhook",
    misused: ["webhook update first", "webhook update $webhook --events everything"],
    refused: [...onlyOf("update"), ["webhook update $webhook --url ftp://hooks.example/in", "VALIDATION_FAILED"]],
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      const other = yield* makeSink()
      const updated = yield* done(
        `webhook update ${webhook.id} --operator ${scene.house.id} --url ${other.url} --events deposit.paid`
      )
      assert.deepInclude(updated, { id: webhook.id, url: other.url, events: ["deposit.paid"], active: false })
      assert.notProperty(updated, "secret")
      yield* done(`webhook ping ${webhook.id}`)
      assert.deepStrictEqual([sink.received.length, other.received.length], [0, 1])
      yield* done(`webhook update ${webhook.id} --active true`)
      yield* done(`webhook update ${webhook.id} --active false`)
    },
    changes: (scene) =>
      Effect.map(sleeping(scene), ({ id }) => ({
        line: `webhook update ${id} --events deposit.paid`,
        differs: ["events"]
      }))
  },
  {
    line: "webhook ping $webhook",
    misused: ["webhook ping first"],
    refused: onlyOf("ping"),
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      const sent = { webhook_id: webhook.id, type: "ping", attempts: 1, next_attempt_at: null }
      const good = yield* done(`webhook ping ${webhook.id} --operator ${scene.house.slug}`)
      assert.deepInclude(good, { ...sent, status: "delivered", response_status: 200 })
      sink.answer = () => 500
      const bad = yield* done(`webhook ping ${webhook.id}`)
      assert.deepInclude(bad, { ...sent, status: "failed", response_status: 500 })
      assert.deepStrictEqual(sink.received.map(({ headers }) => headers["x-service-event"]), ["ping", "ping"])
    },
    changes: (scene) => Effect.map(heard(scene), ({ webhook }) => ({ line: `webhook ping ${webhook.id}`, differs: [] }))
  },
  {
    line: "webhook list",
    misused: ["webhook list all"],
    refused: [["webhook list --operator nobody", "NOT_FOUND"]],
    *works() {
      const { slug } = yield* openCasino()
      const { secret: _, ...webhook } = yield* made("/webhooks", {
        operator: slug,
        url: "https://hooks.example/in",
        active: false
      })
      assert.deepStrictEqual(yield* done(`webhook list --operator ${slug}`), [webhook])
    }
  },
  {
    line: "delivery list",
    misused: ["delivery list --status lost", "delivery list --webhook first"],
    refused: [["delivery list --operator nobody", "NOT_FOUND"], ["delivery list --cursor x", "VALIDATION_FAILED"]],
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      const delivered = yield* done(`webhook ping ${webhook.id}`)
      sink.answer = () => 500
      const failed = yield* done(`webhook ping ${webhook.id}`)
      const ids = (flags: string) =>
        Effect.map(
          done(`delivery list --webhook ${webhook.id} ${flags}`),
          (found: ReadonlyArray<{ readonly id: number }>) => found.map(({ id }) => id)
        )
      assert.sameMembers(yield* ids(""), [delivered.id, failed.id])
      assert.deepStrictEqual([yield* ids("--status failed"), yield* ids("--status pending")], [[failed.id], []])
      assert.sameMembers(yield* ids(`--operator ${scene.house.slug}`), [delivered.id, failed.id])
      const [shown] = yield* done(`delivery list --webhook ${webhook.id} --status failed`)
      assert.deepInclude(shown, {
        id: failed.id,
        event_id: failed.event_id,
        type: "ping",
        status: "failed",
        attempts: 1,
        next_attempt_at: null,
        response_status: 500
      })
    }
  },
  {
    line: "delivery undelivered --webhook $webhook",
    misused: ["delivery undelivered --webhook first"],
    refused: [
      [`delivery undelivered --webhook $webhook --since yesterday`, "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      sink.answer = () => 500
      const line = `delivery undelivered --webhook ${webhook.id}`
      assert.deepInclude(yield* done(line), { failed: 0, retrying: 0, since: null })
      const failed = yield* done(`webhook ping ${webhook.id}`)
      assert.deepInclude(yield* done(line), { failed: 1, retrying: 0, since: failed.created_at })
      assert.deepInclude(yield* done(`${line} --since 2099-01-01T00:00:00Z`), { failed: 0, since: null })
    }
  },
  {
    line: "delivery redeliver --webhook $webhook --since 2020-01-01T00:00:00Z",
    misused: ["delivery redeliver --webhook first --since 2020-01-01T00:00:00Z"],
    refused: [
      [`delivery redeliver --webhook ${nobody} --since 2020-01-01T00:00:00Z`, "NOT_FOUND"],
      ["delivery redeliver --webhook $webhook --since yesterday", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      yield* done(`webhook ping ${webhook.id}`)
      sink.answer = () => 500
      const failed = yield* done(`webhook ping ${webhook.id}`)
      const line = `delivery redeliver --webhook ${webhook.id} --since ${failed.created_at}`
      // the one that arrived is not sent again
      assert.deepInclude(yield* done(line), { queued: 1, has_more: false })
      assert.deepInclude(yield* done(`delivery show ${failed.id}`), { status: "pending", attempts: 0 })
      // there is nothing to send: no success
      const { exitCode, stdout } = yield* runHere(line.split(" "))
      assert.deepStrictEqual([exitCode, JSON.parse(stdout).queued], [1, 0])
    },
    changes: (scene) =>
      Effect.gen(function*() {
        const { sink, webhook } = yield* heard(scene)
        sink.answer = () => 500
        yield* done(`webhook ping ${webhook.id}`)
        return {
          line: `delivery redeliver --webhook ${webhook.id} --since 2020-01-01T00:00:00Z`,
          differs: []
        }
      })
  },
  {
    line: "delivery retry $webhook",
    misused: ["delivery retry first"],
    refused: [[`delivery retry ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const { sink, webhook } = yield* heard(scene)
      sink.answer = () => 500
      const failed = yield* done(`webhook ping ${webhook.id}`)
      const retried = yield* done(`delivery retry ${failed.id}`)
      assert.deepInclude(retried, { id: failed.id, status: "pending", attempts: 0, response_status: null })
      assert.isString(retried.next_attempt_at)
      assert.deepStrictEqual(yield* done(`delivery list --webhook ${webhook.id}`), [retried])
    },
    changes: (scene) =>
      Effect.gen(function*() {
        const { sink, webhook } = yield* heard(scene)
        sink.answer = () => 500
        const failed = yield* done(`webhook ping ${webhook.id}`)
        return {
          line: `delivery retry ${failed.id}`,
          differs: ["status", "attempts", "next_attempt_at", "response_status", "error"]
        }
      })
  }
]

export const bookCases: ReadonlyArray<CommandCase> = [
  ...webhookCases,
  {
    line: "rate set --currency CHF --base EUR --rate 1.05",
    misused: ["rate set --currency CHF --base EUR --rate high"],
    refused: [
      ["rate set --currency XXX --base EUR --rate 1.5", "VALIDATION_FAILED"],
      ["rate set --currency EUR --base EUR --rate 1", "VALIDATION_FAILED"],
      ["rate set --currency CHF --base EUR --rate 0", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const rate = yield* done("rate set --currency SEK --base EUR --rate 0.09")
      assert.deepInclude(rate, { currency: "SEK", base: "EUR", rate: 0.09 })
      const { id } = yield* casino.register({ currency: "SEK" })
      dataOf(yield* casino.deposit(id, 10_000), 201)
      yield* done("rate set --currency SEK --base EUR --rate 0.1")
      dataOf(yield* casino.deposit(id, 10_000), 201)
      const report = yield* done(`report ggr --operator ${casino.slug} --from 2026-11-20 --to 2026-11-20`)
      assert.strictEqual(report.payments.deposits, 1900)
    },
    changes: () =>
      Effect.as(done("rate set --currency CHF --base EUR --rate 1.05"), {
        line: "rate set --currency CHF --base EUR --rate 1.07",
        differs: ["rate"]
      })
  },
  {
    line: "rate list",
    misused: ["rate list all", "rate list --page 2"],
    refused: [["rate list --currency francs", "VALIDATION_FAILED"], ["rate list --cursor !", "VALIDATION_FAILED"]],
    *works() {
      const first = yield* done("rate set --currency NOK --base EUR --rate 0.085")
      const second = yield* done("rate set --currency NOK --base EUR --rate 0.086")
      assert.deepStrictEqual(yield* done("rate list --currency NOK --base EUR"), [second, first])
      const behind = second.id.toString(36)
      assert.deepStrictEqual(yield* done(`rate list --currency NOK --per-page 1 --cursor ${behind}`), [first])
    }
  },
  {
    line: "report ggr --operator $house --from 2026-11-01 --to 2026-11-20",
    misused: ["report ggr --operator $house --from 2026-11-01 --to 2026-11-20 --include-test-players maybe"],
    refused: [
      ["report ggr --operator nobody --from 2026-11-01 --to 2026-11-20", "NOT_FOUND"],
      ["report ggr --operator $house --from 2026-11-21 --to 2026-11-20", "VALIDATION_FAILED"],
      ["report ggr --operator $house --from 2024-01-01 --to 2026-11-20", "VALIDATION_FAILED"],
      ["report ggr --operator $house --from yesterday --to today", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const { transaction_id: bet } = dataOf(yield* seat.bet(100))
      dataOf(yield* seat.win(bet, 30))
      const { id: tester } = yield* casino.register({ is_test: true })
      dataOf(yield* casino.deposit(tester, 5), 201)
      const line = `report ggr --operator ${casino.slug} --from 2026-11-20 --to 2026-11-20`
      const report = yield* done(line)
      assert.deepInclude(report, {
        from: "2026-11-20",
        to: "2026-11-20",
        currency: "EUR",
        include_test_players: false
      })
      assert.deepInclude(report.casino, { bets: 100, wins: 30, ggr: 70, rounds: 1, players: 1 })
      assert.deepInclude(report.payments, { deposits: 1000, depositing_players: 1, net_deposits: 1000 })
      const all = yield* done(`${line} --include-test-players true`)
      assert.strictEqual(all.payments.deposits, 1005)
    }
  },
  {
    line: "ledger accept-restore --reason backup",
    misused: ["ledger accept-restore", "ledger accept-restore now --reason backup"],
    refused: [["ledger accept-restore --reason backup", "INVALID_REQUEST"]],
    *works({ tokens }) {
      const second = yield* made("/staff", { name: "Second", role: "admin" })
      const puppet = yield* done("staff create --name Puppet", undefined, tokens["admin"])
      yield* pass(1000)
      yield* loseEnd
      const lost: ReadonlyArray<{ readonly rule: string }> = (yield* verification).violations
      assert.deepStrictEqual(lost.map(({ rule }) => rule), ["chain_seal_broken"])
      const asked = yield* done("ledger accept-restore --reason backup", undefined, tokens["admin"])
      assert.deepInclude(asked, { status: "pending", reason: "backup", old_seal: 999_999, approved_by: null })
      // once more by the same person, and by one that is the same
      assert.deepStrictEqual(yield* done("ledger accept-restore --reason again", undefined, tokens["admin"]), asked)
      const one = yield* refusal("ledger accept-restore --reason backup", undefined, { token: puppet.token })
      assert.strictEqual(one.code, "INVALID_REQUEST")
      assert.match(one.message, /created the account of the other/)
      assert.lengthOf((yield* verification).violations, 1)
      const accepted = yield* done("ledger accept-restore --reason backup", undefined, second.token)
      assert.deepInclude(accepted, { id: asked.id, status: "accepted", approved_by: `staff:${second.id}` })
      assert.deepStrictEqual((yield* verification).violations, [])
      const { look } = yield* RememberedEnds
      yield* look
      // an acceptance that was written past the service is none
      yield* loseEnd
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO ledger_restores SELECT id + 1, reason, requested_by, requested_at, old_seal, old_hash, approved_by,
        approved_at + interval '1 hour', new_seal, new_hash, tag, requested_end, request_tag, accepted_end FROM ledger_restores WHERE id = ${asked.id}`
      yield* look
      assert.lengthOf((yield* verification).violations, 1)
      yield* sql`DELETE FROM ledger_restores WHERE id = ${asked.id + 1}`
      for (const token of [tokens["admin"], second.token]) {
        yield* pass(1000)
        yield* done("ledger accept-restore --reason backup", undefined, token)
      }
      assert.deepStrictEqual((yield* verification).violations, [])
    },
    changes: () => Effect.as(loseEnd, { line: "ledger accept-restore --reason backup", differs: [] })
  },
  {
    line: "ledger verify",
    misused: ["ledger verify all"],
    refused: [["ledger verify --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      dataOf(yield* seat.bet(100))
      assert.deepInclude(yield* done(`ledger verify --operator ${casino.slug}`), {
        players: 1,
        entries: 2,
        violations: []
      })
      const all = yield* done("ledger verify")
      assert.deepStrictEqual(all.violations, [])
      assert.isAtLeast(all.entries, 2)
    }
  },
  {
    line: "round list",
    misused: ["round list --older-than-hours long", "round list --per-page first"],
    refused: [["round list --operator nobody", "NOT_FOUND"], ["round list --older-than-hours 1", "VALIDATION_FAILED"]],
    *works() {
      yield* whileTimePasses(Effect.gen(function*() {
        const casino = yield* openCasino()
        const seat = yield* casino.sit(1000)
        const { transaction_id: bet } = dataOf(yield* seat.bet(100))
        yield* pass(3 * dayMs)
        const rounds = yield* StaleRounds
        yield* rounds.run
        const line = `round list --operator ${casino.slug}`
        const [open] = yield* done(line)
        assert.deepInclude(open, {
          operator_id: casino.id,
          player_id: seat.id,
          game_id: casino.slots.id,
          round_id: bet,
          real_stake: 100
        })
        assert.deepStrictEqual(yield* done(`${line} --older-than-hours 96`), [])
        assert.strictEqual((yield* refusal(`${line} --cursor x`)).code, "VALIDATION_FAILED")
      }))
    }
  },
  {
    line: "job list",
    misused: ["job list all"],
    refused: [],
    // test servers have no jobs; status of jobs is tested in platform/Scheduler.test.ts
    *works() {
      assert.deepStrictEqual(yield* done("job list"), [])
    }
  },
  {
    line: "audit list",
    misused: ["audit list --player ada", "audit list --per-page first"],
    refused: [
      ["audit list --operator nobody", "NOT_FOUND"],
      ["audit list --staff Eve", "VALIDATION_FAILED"],
      ["audit list --from yesterday", "VALIDATION_FAILED"],
      ["audit list --cursor x", "VALIDATION_FAILED"]
    ],
    *works({ house, tokens }) {
      const { id } = yield* house.register()
      yield* done(`player correct ${id} --amount 2500 --reason welcome`, undefined, tokens["payments"])
      const [line] = yield* done(`audit list --player ${id} --operator ${house.slug}`)
      assert.deepInclude(line, {
        action: "player.correct",
        operator_id: house.id,
        player_id: id,
        subject: `player:${id}`,
        before: { wallet: "real", balance: 0 },
        after: { wallet: "real", balance: 2500 },
        reason: "welcome"
      })
      const staff = String(line.actor).replace("staff:", "")
      const lines = (flags: string) => done(`audit list --player ${id} ${flags}`)
      assert.deepStrictEqual(yield* lines(`--staff ${staff} --action player.correct --per-page 5`), [line])
      assert.deepStrictEqual(yield* lines("--staff bootstrap"), [])
      assert.deepStrictEqual(yield* lines("--to 2020-01-01T00:00:00Z"), [])
      assert.deepStrictEqual(yield* lines("--from 2020-01-01T00:00:00Z --cursor \"\""), [line])
      assert.deepStrictEqual(yield* lines(`--cursor ${line.id}`), [])
    }
  }
]
