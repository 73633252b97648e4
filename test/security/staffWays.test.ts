import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { waysIn } from "../../src/features/staff/WaysIn.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { bootstrapToken, fresh, made, staffCall } from "../kit/Casino.ts"
import { browse, codeOf, cookieOf, enrols, inSession, ofPages, signIn, withPassword } from "../kit/StaffBrowser.ts"

// Goal: what a stolen token made ends with it. Method: a thief with a staff token over HTTP, then each change by another person;
// the columns of the tables of staff against the list of ways in.

const api = "/backoffice/v1"

const as = (token: string) => ({ authorization: `Bearer ${token}` })

/** A session of the link that a token makes; of its own account unless another is named. */
const linked = Effect.fnUntraced(function*(token: string, staff?: number) {
  const { data } = yield* staffCall("POST", `${api}/staff/tickets`, { staff }, as(token))
  const ticket = new URL(data.url).searchParams.get("ticket")
  const answer = yield* browse("POST", "/session/ticket", { body: { ticket }, headers: ofPages })
  return inSession(cookieOf(answer))
})

const isOpen = (call: ReturnType<typeof inSession>) =>
  Effect.map(call("GET", "/session"), ({ status }) => status === 200)

layer(layerCasinos, { excludeTestServices: true })("a stolen staff token", (it) => {
  it.effect("cannot set a password or a second factor", () =>
    Effect.gen(function*() {
      const name = fresh("Ann ")
      const { id, token } = yield* made("/staff", { name, role: "support" })
      const { id: admin, token: adminToken } = yield* made("/staff", { name: fresh("Adm "), role: "admin" })
      for (
        const [method, path, body] of [
          ["POST", "/session/password", { new_password: "a password of a thief" }],
          ["POST", "/session/second-factor", undefined],
          ["POST", "/session/second-factor/confirm", { code: "000000" }]
        ] as const
      ) {
        const answer = yield* staffCall(method, `${api}${path}`, body, as(token))
        assert.deepStrictEqual([answer.code, answer.details["reason"]], ["INVALID_REQUEST", "session_required"], path)
      }
      for (const body of [{ password: "a password of a thief" }, { reset_second_factor: true }]) {
        const own = yield* staffCall("PATCH", `${api}/staff/${admin}`, body, as(adminToken))
        assert.deepStrictEqual([own.code, Object.keys(own.details)], ["VALIDATION_FAILED", Object.keys(body)])
      }
      const sql = yield* SqlClient.SqlClient
      const [kept] =
        yield* sql`SELECT password_hash AS password, totp_pending_sealed AS pending FROM staff WHERE id = ${id}`
      assert.deepStrictEqual(kept, { password: null, pending: null })
    }))

  it.effect("loses the password, factors, sessions and links made with it when somebody else rotates it", () =>
    Effect.gen(function*() {
      const name = fresh("Bea ")
      const { id, token } = yield* made("/staff", { name, role: "admin" })
      const victim = yield* made("/staff", { name: fresh("Vic "), role: "support" })
      const thief = yield* linked(token)
      const password = "a password of a thief"
      assert.strictEqual((yield* thief("POST", "/session/password", { new_password: password })).status, 200)
      // further ways out of the first: a session by the password, its second factor, a link of that session, one of a colleague
      const second = inSession(cookieOf(yield* signIn({ name, password })))
      const { recovery, secret } = yield* enrols(second)
      const third = yield* linked(token)
      const colleague = yield* linked(token, victim.id)
      const unused = yield* second("POST", "/staff/tickets", {})
      const rotated = yield* second("POST", `/staff/${id}/rotate`)
      assert.strictEqual(rotated.status, 200, "and a token of the thief's own")
      assert.isFalse(yield* isOpen(third), "which ends what the one before made")

      const replaced = yield* staffCall("POST", `${api}/staff/${id}/rotate`, undefined, as(bootstrapToken))
      assert.deepInclude(replaced.data, { has_password: false, has_second_factor: false })
      for (const call of [thief, second, third, colleague]) assert.isFalse(yield* isOpen(call))
      const code = codeOf(secret, yield* Clock.currentTimeMillis)
      for (
        const fields of [{ name, password }, { name, password, code }, { name, password, code: recovery[0] ?? "" }]
      ) {
        assert.strictEqual((yield* signIn(fields)).status, 401)
      }
      const ticket = new URL(unused.data.url).searchParams.get("ticket")
      assert.strictEqual((yield* browse("POST", "/session/ticket", { body: { ticket }, headers: ofPages })).status, 401)
      for (const old of [token, rotated.data.token]) {
        assert.strictEqual((yield* staffCall("GET", `${api}/session`, undefined, as(old))).status, 401)
      }
    }))

  it.effect("loses the sessions and password made with it when its account is disabled or gets another role or operators", () =>
    Effect.gen(function*() {
      const { id: operator } = yield* made("/operators", { slug: fresh("o").toLowerCase(), name: "O", currency: "EUR" })
      for (const change of [{ active: false }, { role: "support" }, { operators: [String(operator)] }]) {
        const name = fresh("Cid ")
        const { id, token } = yield* made("/staff", { name, role: "compliance" })
        const thief = yield* linked(token)
        const password = "a password of a thief"
        assert.strictEqual((yield* thief("POST", "/session/password", { new_password: password })).status, 200)
        assert.strictEqual((yield* staffCall("PATCH", `${api}/staff/${id}`, change, as(bootstrapToken))).status, 200)
        yield* staffCall("PATCH", `${api}/staff/${id}`, { active: true }, as(bootstrapToken))
        assert.isFalse(yield* isOpen(thief), JSON.stringify(change))
        assert.strictEqual((yield* signIn({ name, password })).status, 401, JSON.stringify(change))
      }
    }))

  it.effect("ends when it is rotated, and the owner's password and second factor stay valid", () =>
    Effect.gen(function*() {
      const { call, id, name, password } = yield* withPassword(fresh("Dan "), "support")
      const { recovery } = yield* enrols(call)
      yield* staffCall("POST", `${api}/staff/${id}/rotate`, undefined, as(bootstrapToken))
      assert.isFalse(yield* isOpen(call))
      assert.strictEqual((yield* signIn({ name, password, code: recovery[0] ?? "" })).status, 201)
    }))

  it.effect("cannot use an overlooked credential: every column about staff is listed as a way to sign in or as none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly name: string }>`SELECT table_name || '.' || column_name AS name
        FROM information_schema.columns c WHERE table_schema = 'public'
          AND (table_name LIKE 'staff%' OR column_name LIKE 'staff%' OR EXISTS (
            SELECT FROM information_schema.key_column_usage k
            JOIN information_schema.referential_constraints r ON r.constraint_name = k.constraint_name
            JOIN information_schema.table_constraints t ON t.constraint_name = r.unique_constraint_name
            WHERE k.table_name = c.table_name AND t.table_name = 'staff'))
        ORDER BY name`
      const known = new Set([...waysIn.flatMap(({ columns }) => columns), ...opensNothing])
      assert.deepStrictEqual(rows.map(({ name }) => name).filter((name) => !known.has(name)), [])
      const all = new Set(rows.map(({ name }) => name))
      assert.deepStrictEqual([...known].filter((name) => !all.has(name)), [])
    }))
})

/** Columns about staff that say who, when, how often, and let nobody in. */
const opensNothing = Object.entries({
  staff:
    "id name role active created_at created_by daily_budget operator_ids last_used_at token_issued_at token_issued_by " +
    "entrusted_at totp_step factor_since factor_proved_at password_of_token factor_of_token",
  staff_attempts: "subject failures last_at",
  staff_recovery_codes: "staff_id",
  staff_sessions: "id staff_id method created_at last_seen_at expires_at second_factor_at address user_agent of_token",
  staff_tickets: "staff_id issued_by created_at expires_at used_at of_token",
  staff_tokens: "staff_id issued_at issued_by kind issuer_proved_at issuer_renewed_at",
  staff_spending: "id at staff approved_by operator_id player_id kind amount value is_released"
}).flatMap(([table, columns]) => columns.split(" ").map((column) => `${table}.${column}`))
