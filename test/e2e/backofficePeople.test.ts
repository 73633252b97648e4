import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { bootstrapToken, dataOf, type Fields, made, staff, staffCall } from "../kit/Casino.ts"
import type { Reply } from "../kit/HttpCalls.ts"
import { pass, whileTimePasses } from "../kit/Calendar.ts"

// Goal: there is always an admin; notes about players and the audit log are durable, immutable and readable by every filter. Method: the
// staff API over HTTP, and direct changes of the tables, which must fail.

const api = "/backoffice/v1"

const as = (token: string) => ({ authorization: `Bearer ${token}` })

/** Lines of the log with their envelope. */
const readAudit = (query: string) => staffCall("GET", `${api}/audit?${query}`)

const linesOf = (query: string) => Effect.map(readAudit(query), ({ data }) => data)

layer(layerCasinos, { excludeTestServices: true })("staff, notes and the audit log", (it) => {
  // Goal: the installation keeps an admin who can create accounts. Method: two admins who remove each other at the same moment, until
  // both orders have occurred; then every way to lose the last one.
  it.effect("the last active admin cannot be disabled, demoted or bound to operators, and of two changed simultaneously one remains", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const change = (id: number, body: Fields) => staffCall("PATCH", `${api}/staff/${id}`, body)
      // an admin bound to operators cannot create accounts: the bootstrap token is still the only way in
      const { slug } = yield* SharedCasino
      const bound = yield* made("/staff", { name: "Bound", operators: [slug] })
      const early = yield* staffCall("POST", `${api}/staff/bootstrap/retirement`, {})
      assert.strictEqual(early.code, "INVALID_REQUEST")
      yield* change(bound.id, { active: false })
      const first = yield* made("/staff", { name: "First" })
      for (let round = 0; round < 5; round++) {
        const second = yield* made("/staff", { name: "Second" })
        const answers = yield* Effect.all([
          change(first.id, round % 2 === 0 ? { active: false } : { role: "support" }),
          change(second.id, { active: false })
        ], { concurrency: 2 })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted((a, b) => a - b), [200, 422])
        const [{ admins } = { admins: 0 }] = yield* sql<
          { readonly admins: number }
        >`SELECT count(*)::int AS admins FROM staff WHERE role = 'admin' AND active`
        assert.strictEqual(admins, 1)
        yield* change(first.id, { active: true, role: "admin" })
        yield* change(second.id, { active: false })
      }
      yield* change(bound.id, { active: true })
      for (
        const [body, field] of [
          [{ active: false }, "active"],
          [{ role: "payments" }, "role"],
          [{ operators: [slug] }, "operators"]
        ] as const
      ) {
        const refused = yield* change(first.id, body)
        assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", [field]])
      }
      assert.strictEqual((yield* change(first.id, { name: "The first" })).status, 200)
      assert.strictEqual((yield* change(bound.id, { active: false })).status, 200)
      // a disabled account does not count as an admin
      const off = yield* made("/staff", { name: "Off" })
      yield* change(off.id, { active: false })
      assert.strictEqual((yield* change(first.id, { active: false })).code, "VALIDATION_FAILED")
    }))

  it.effect("notes about staff, operators, payments and bonuses are kept with their authors", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const author = yield* made("/staff", { name: "Ann", role: "payments" })
      const note = yield* staffCall("POST", `${api}/players/${id}/notes`, { text: "called\ntwice" }, as(author.token))
      assert.strictEqual(note.status, 201)
      const mine = {
        player_id: id,
        author: `staff:${author.id}`,
        text: "called\ntwice",
        subject: `player:${id}`
      }
      assert.deepInclude(note.data, mine)
      dataOf(yield* house.put(`/players/${id}/status`, { status: "locked", reason: "asked by mail" }))
      yield* staff("POST", `/players/${id}/status`, { status: "active", reason: "papers came" })
      yield* staff("POST", `/players/${id}/status`, { status: "active" })
      const deposit = dataOf(yield* house.deposit(id, 5000, { notes: "by phone" }), 201)
      dataOf(yield* house.deposit(id, 10), 201)
      const bonus = yield* house.newBonus()
      const granted = dataOf(yield* house.grant(id, bonus.id, { note: "sorry" }), 201)
      const withdrawal = dataOf(yield* house.withdraw(id, 50, { notes: "in a hurry" }), 201)

      const { data } = yield* staffCall("GET", `${api}/players/${id}/notes`)
      const notes: ReadonlyArray<Fields> = data
      assert.sameDeepMembers(
        notes.map(({ author, subject, text }) => ({ author, subject, text })),
        [
          { author: mine.author, subject: mine.subject, text: mine.text },
          { author: `key:${house.key.key}`, subject: `player:${id}`, text: "asked by mail" },
          { author: "staff:bootstrap", subject: `player:${id}`, text: "papers came" },
          { author: `operator:${house.id}`, subject: `payment:${deposit.id}`, text: "by phone" },
          { author: `operator:${house.id}`, subject: `player_bonus:${granted.id}`, text: "sorry" },
          { author: `operator:${house.id}`, subject: `payment:${withdrawal.id}`, text: "in a hurry" }
        ]
      )
      const walked: Array<Fields> = []
      for (let cursor: string | null = ""; cursor !== null;) {
        const part: Reply = yield* staffCall("GET", `${api}/players/${id}/notes?per_page=4&cursor=${cursor}`)
        walked.push(...part.data)
        cursor = part.meta.next_cursor
      }
      assert.deepStrictEqual(walked, notes)
      const [line] = yield* linesOf(`player=${id}&action=player.note`)
      assert.deepInclude(line, { actor: mine.author, before: null, after: { note_id: note.data.id, text: mine.text } })
      for (const text of ["", " ", "x".repeat(2001)]) {
        assert.strictEqual((yield* staffCall("POST", `${api}/players/${id}/notes`, { text })).code, "VALIDATION_FAILED")
      }
      for (const method of ["GET", "POST"]) {
        const body = method === "GET" ? undefined : { text: "x" }
        assert.strictEqual((yield* staffCall(method, `${api}/players/999999999/notes`, body)).code, "NOT_FOUND")
      }
    }))

  it.effect("the audit log is filtered by staff, action, player and time, and read by cursor", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const [one, two] = [yield* house.register(), yield* house.register()]
      const ann = yield* made("/staff", { name: "Ann", role: "admin" })
      const write = (id: number, text: string, token: string) =>
        staffCall("POST", `${api}/players/${id}/notes`, { text }, as(token))
      for (let index = 0; index < 5; index++) yield* write(one.id, `${index}`, ann.token)
      yield* write(two.id, "other", bootstrapToken)
      yield* pass(1000)
      yield* staffCall("POST", `${api}/players/${one.id}/corrections`, { amount: 5, reason: "gift" }, as(ann.token))

      const all: ReadonlyArray<Fields> = yield* linesOf(`staff=${ann.id}`)
      assert.deepStrictEqual(all.map(({ action }) => action), ["player.correct", ...Array(5).fill("player.note")])
      assert.isTrue(all.every(({ actor, player_id }) => actor === `staff:${ann.id}` && player_id === one.id))
      const notes = `staff=${ann.id}&action=player.note`
      assert.deepStrictEqual(yield* linesOf(`${notes}&player=${one.id}&operator=${house.slug}`), all.slice(1))
      assert.deepStrictEqual(yield* linesOf(`${notes}&player=${two.id}`), [])
      assert.deepStrictEqual(
        (yield* linesOf(`staff=bootstrap&player=${two.id}`)).map(({ action }: Fields) => action),
        ["player.note"]
      )
      // the notes were written at noon
      for (
        const [range, count] of [
          ["from=2026-11-20T12:00:00Z", 5],
          ["to=2026-11-20T12:00:00Z", 5],
          ["from=2026-11-20T12:00:00.001Z", 0],
          ["to=2026-11-20T11:59:59Z", 0]
        ] as const
      ) {
        assert.strictEqual((yield* linesOf(`${notes}&${range}`)).length, count, range)
      }
      const walked: Array<Fields> = []
      for (let cursor: string | null = ""; cursor !== null;) {
        const { data, meta }: Reply = yield* readAudit(`staff=${ann.id}&per_page=4&cursor=${cursor}`)
        walked.push(...data)
        cursor = meta.next_cursor
        // lines added meanwhile move no page
        yield* write(two.id, "meanwhile", bootstrapToken)
      }
      assert.deepStrictEqual(walked, all)
      assert.deepStrictEqual(yield* linesOf("cursor=999999999"), [])
      for (const wrong of ["staff=ann", "cursor=a", "from=today", "player=x", "per_page=0"]) {
        assert.strictEqual((yield* staffCall("GET", `${api}/audit?${wrong}`)).code, "VALIDATION_FAILED", wrong)
      }
    })))

  it.effect("the audit log and notes cannot be rewritten, not even by the owner of the database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      yield* staff("POST", `/players/${id}/notes`, { text: "stays" })
      for (const table of ["audit_log", "player_notes"]) {
        const before = yield* sql`SELECT * FROM ${sql(table)} ORDER BY id`
        for (
          const statement of [
            sql`UPDATE ${sql(table)} SET player_id = player_id`,
            sql`DELETE FROM ${sql(table)} WHERE id = 0`,
            sql`TRUNCATE ${sql(table)}`
          ]
        ) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(statement)), table)
        }
        assert.deepStrictEqual(yield* sql`SELECT * FROM ${sql(table)} ORDER BY id`, before)
      }
    }))
})
