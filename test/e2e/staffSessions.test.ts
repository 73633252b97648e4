import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { needsStepUp } from "../../src/office/Authorisation.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { BothServers, fresh, made, openCasino, staffCall } from "../kit/Casino.ts"
import { send } from "../kit/HttpCalls.ts"
import { raisedAlert } from "../kit/commands/Scene.ts"
import {
  browse,
  codeOf,
  cookieOf,
  inSession,
  ofPages,
  signIn,
  withPassword,
  withSecondFactor
} from "../kit/StaffBrowser.ts"

// Goal: staff sign in by browser with their factors, once per code and link, and a session's rights are those of its account at
// that moment. Method: the staff API over HTTP as a browser sends it; times are moved in the database.

const outcome = ({ code, status }: { readonly status: number; readonly code: string | undefined }) => [status, code]

/** Clears used codes and their times, as if half a minute had passed. */
const later = (id: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE staff SET totp_step = totp_step - 5 WHERE id = ${id}`)

layer(layerCasinos, { excludeTestServices: true })("staff sessions", (it) => {
  it.effect("begin with name and password in an HttpOnly cookie, and show the account", () =>
    Effect.gen(function*() {
      const name = fresh("Ann ")
      const password = "correct horse battery"
      const { id } = yield* made("/staff", { name, role: "support", password })
      const answer = yield* signIn({ name: name.toUpperCase(), password })
      assert.strictEqual(answer.status, 201)
      assert.match(
        answer.headers["set-cookie"] ?? "",
        /^pitboss_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/
      )
      const call = inSession(cookieOf(answer))
      const shown = yield* call("GET", "/session")
      assert.deepStrictEqual(shown.data, answer.data)
      assert.deepInclude(shown.data, {
        staff: { id, name, role: "support", operators: null },
        has_password: true,
        has_second_factor: false,
        stepped_up_until: null,
        service: { oidc: false }
      })
      assert.include(shown.data.actions, "player.show")
      assert.notInclude(shown.data.actions, "staff.create")
      assert.strictEqual((yield* call("GET", "/players")).status, 200)
      assert.deepStrictEqual(outcome(yield* call("GET", "/staff")), [403, "INSUFFICIENT_SCOPE"])
      // the audit log names the account, as with its token
      const sql = yield* SqlClient.SqlClient
      const [line] = yield* sql`SELECT actor FROM audit_log WHERE action = 'player.list' ORDER BY id DESC LIMIT 1`
      assert.deepStrictEqual(line, { actor: `staff:${id}` })
      const [kept] = yield* sql<{ readonly hash: string }>`SELECT password_hash AS hash FROM staff WHERE id = ${id}`
      assert.match(kept?.hash ?? "", /^\$argon2id\$/)
      // a name is unique among accounts that sign in
      const twin = yield* staffCall("POST", "/backoffice/v1/staff", { name, password })
      assert.deepStrictEqual([twin.code, twin.details], ["VALIDATION_FAILED", { name: ["is already taken"] }])
      const weak = yield* staffCall("POST", "/backoffice/v1/staff", {
        name: "Eve of the House",
        password: "eve of the house"
      })
      assert.deepStrictEqual(weak.details, { password: ["must not be the name"] })
    }))

  it.effect("are refused with the same error for a wrong name, a wrong password, a wrong code and a missing one", () =>
    Effect.gen(function*() {
      const { id, name, password, recovery, secret } = yield* withSecondFactor(fresh("Bea "))
      yield* later(id)
      const now = yield* Clock.currentTimeMillis
      const code = codeOf(secret, now)
      const wrong = [
        { name: fresh("Nobody "), password },
        { name, password: `${password}!`, code },
        { name, password },
        { name, password, code: codeOf(secret, now - 600_000) },
        { name, password, code: "aaaa-bbbb-cccc" }
      ]
      for (const fields of wrong) {
        const answer = yield* signIn(fields)
        assert.deepStrictEqual([answer.status, answer.headers["set-cookie"]], [401, undefined])
        assert.deepStrictEqual(answer.json, {
          error: { code: "INVALID_CREDENTIALS", message: "The name, the password or the code is wrong.", details: {} }
        })
      }
      const right = yield* signIn({ name, password, code: `${code.slice(0, 3)} ${code.slice(3)}` })
      assert.strictEqual(right.status, 201)
      assert.isString(right.data.stepped_up_until, "a code at sign-in is the second factor")
      assert.strictEqual((yield* signIn({ name, password, code })).status, 401, "a code works once")
      const [first = ""] = recovery
      assert.strictEqual(new Set(recovery).size, 10)
      assert.strictEqual((yield* signIn({ name, password, code: first })).status, 201)
      assert.strictEqual((yield* signIn({ name, password, code: first })).status, 401, "a recovery code works once")
    }))

  it.effect("are delayed after failed sign-ins, at any node, whether or not the account exists", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const name = fresh("Cid ")
      const password = "correct horse battery"
      yield* made("/staff", { name, password })
      for (const tried of [name, fresh("Nobody ")]) {
        for (let failure = 0; failure < 5; failure++) {
          assert.strictEqual((yield* signIn({ name: tried, password: "not this one" })).status, 401)
        }
        const waiting = yield* signIn({ name: tried, password })
        assert.deepStrictEqual(outcome(waiting), [429, "RATE_LIMITED"])
        assert.deepStrictEqual(waiting.details, { retry_after_seconds: 1 })
      }
      // the database takes a capital I with a dot for an i
      assert.strictEqual((yield* signIn({ name: name.replace("i", "İ"), password })).status, 429)
      yield* sql`UPDATE staff_attempts SET last_at = last_at - interval '10 seconds'`
      assert.strictEqual((yield* signIn({ name, password })).status, 201)
      // the count of failures is reset by a success
      assert.strictEqual((yield* signIn({ name, password: "not this one" })).status, 401)
    }))

  it.effect("end when they are idle, after twelve hours, when the account is disabled and when its password changes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { call, id, name, password } = yield* withPassword(fresh("Dan "), "support")
      const over = Effect.gen(function*() {
        const { cookie } = yield* Effect.map(signIn({ name, password }), (answer) => ({ cookie: cookieOf(answer) }))
        return inSession(cookie)
      })
      const isOver = Effect.fnUntraced(function*(session: typeof call) {
        const answer = yield* session("GET", "/session")
        assert.deepStrictEqual([answer.status, answer.code, answer.details], [401, "MISSING_CREDENTIALS", {
          reason: "session_over"
        }])
      })
      const idle = yield* over
      yield* sql`UPDATE staff_sessions SET last_seen_at = last_seen_at - interval '29 minutes' WHERE staff_id = ${id}`
      assert.strictEqual((yield* idle("GET", "/session")).status, 200, "and it is noted that it was used")
      yield* sql`UPDATE staff_sessions SET last_seen_at = last_seen_at - interval '29 minutes' WHERE staff_id = ${id}`
      assert.strictEqual((yield* idle("GET", "/session")).status, 200)
      yield* sql`UPDATE staff_sessions SET last_seen_at = last_seen_at - interval '31 minutes' WHERE staff_id = ${id}`
      yield* isOver(idle)
      const old = yield* over
      yield* sql`UPDATE staff_sessions SET expires_at = expires_at - interval '12 hours' WHERE staff_id = ${id}`
      yield* isOver(old)
      const current = yield* over
      yield* staffCall("PATCH", `/backoffice/v1/staff/${id}`, { role: "compliance" })
      assert.strictEqual((yield* current("GET", "/session")).data.staff.role, "compliance", "at once")
      yield* staffCall("PATCH", `/backoffice/v1/staff/${id}`, { active: false })
      yield* isOver(current)
      assert.strictEqual((yield* signIn({ name, password })).status, 401)
      yield* staffCall("PATCH", `/backoffice/v1/staff/${id}`, { active: true })
      yield* isOver(current)
      const [one, other] = [yield* over, yield* over]
      const changed = { password, new_password: "another good password" }
      const wrong = yield* one("POST", "/session/password", { ...changed, password: "not this one" })
      assert.deepStrictEqual(Object.keys(wrong.details), ["password"])
      assert.strictEqual((yield* one("POST", "/session/password", changed)).status, 200)
      assert.strictEqual((yield* one("GET", "/session")).status, 200)
      yield* isOver(other)
      yield* staffCall("PATCH", `/backoffice/v1/staff/${id}`, { password: "a third good password" })
      yield* isOver(one)
    }))

  it.effect("are listed, and ended one by one or all together", () =>
    whileTimePasses(Effect.gen(function*() {
      const { call, name, password } = yield* withPassword(fresh("Eli "), "support")
      const others = yield* Effect.forEach([1, 2], () =>
        Effect.map(Effect.andThen(pass(minuteMs), signIn({ name, password })), (answer) =>
          inSession(cookieOf(answer))))
      const listed = yield* call("GET", "/sessions")
      const isCurrent = listed.data.map(({ is_current }: { readonly is_current: boolean }) =>
        is_current
      )
      assert.deepStrictEqual(isCurrent, [false, false, true])
      assert.deepInclude(listed.data[0], { method: "password", address: "127.0.0.1" })
      assert.strictEqual((yield* call("DELETE", `/sessions/${listed.data[0].id}`)).status, 200)
      assert.strictEqual((yield* others[1]?.("GET", "/session") ?? Effect.die("no session")).status, 401)
      const stranger = yield* withPassword(fresh("Fay "), "admin")
      const foreign = yield* stranger.call("DELETE", `/sessions/${listed.data[1].id}`)
      assert.deepStrictEqual(outcome(foreign), [404, "NOT_FOUND"])
      const everywhere = yield* call("DELETE", "/sessions")
      assert.deepStrictEqual(everywhere.data, { ended: 2 })
      assert.match(everywhere.headers["set-cookie"] ?? "", /^pitboss_session=; .*Max-Age=0$/)
      for (const session of [call, ...others]) assert.strictEqual((yield* session("GET", "/session")).status, 401)
      const signedOut = yield* stranger.call("DELETE", "/session")
      assert.deepStrictEqual(signedOut.data, { ended: 1 })
      assert.strictEqual((yield* stranger.call("GET", "/session")).status, 401)
    })))

  // A page of another origin can make a browser send the cookie along with a form or a fetch; it can set neither header.
  it.effect("refuse changes that pages of other origins request", () =>
    Effect.gen(function*() {
      const { backofficePort } = yield* BothServers
      const { cookie, name, password } = yield* withPassword(fresh("Gus "), "support")
      const note = (headers: { readonly [name: string]: string }) =>
        browse("POST", "/players/999999999/notes", { body: { text: "x" }, headers: { cookie, ...headers } })
      const own = `http://127.0.0.1:${backofficePort}`
      for (
        const headers of [{}, { origin: "https://evil.example" }, { origin: "null" }, { "x-requested-with": "fetch" }]
      ) {
        const answer = yield* note({ ...headers })
        assert.deepStrictEqual([answer.status, answer.code, answer.details["reason"]], [
          403,
          "INSUFFICIENT_SCOPE",
          "other_origin"
        ])
      }
      assert.strictEqual((yield* note({ origin: own })).status, 404, "the handler was asked")
      assert.strictEqual((yield* note(ofPages)).status, 404)
      assert.strictEqual((yield* browse("GET", "/players", { headers: { cookie } })).status, 200)
      const body = { name, password }
      const login = yield* browse("POST", "/session", { body, headers: { origin: "https://evil.example" } })
      assert.deepStrictEqual(outcome(login), [403, "INSUFFICIENT_SCOPE"])
    }))

  it.effect("need a second factor from the last five minutes to move money or change authority", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actions = ["player.correct", "payment.approve", "staff.update", "key.rotate", "secret.reseal"]
      assert.isTrue(
        actions.every(needsStepUp) && !["player.note", "payment.list", "session.password"].some(needsStepUp)
      )
      const plain = yield* withPassword(fresh("Hal "))
      const correction = { amount: 1, reason: "x" }
      const without = yield* plain.call("POST", "/players/999999999/corrections", correction)
      assert.deepStrictEqual([without.status, without.details], [403, { reason: "second_factor_required" }])

      const account = yield* withSecondFactor(fresh("Ida "))
      assert.match(account.begun.uri, /^otpauth:\/\/totp\/Pitboss:Ida/)
      assert.match(account.begun.qr_svg, /^<svg /)
      const correct = account.call("POST", "/players/999999999/corrections", correction)
      assert.strictEqual((yield* correct).status, 404, "confirming it has shown it")
      const age = sql`UPDATE staff_sessions SET second_factor_at = second_factor_at - interval '5 minutes'`
      yield* age
      for (
        const [method, path, body] of [
          ["POST", "/players/999999999/corrections", correction],
          ["PATCH", `/staff/${plain.id}`, { role: "support" }]
        ] as const
      ) {
        const answer = yield* account.call(method, path, body)
        assert.deepStrictEqual([answer.status, answer.details], [403, { reason: "step_up_required" }])
      }
      const replaced = yield* account.call("POST", "/session/second-factor")
      assert.deepStrictEqual([replaced.status, replaced.details], [403, { reason: "step_up_required" }])
      const stale = yield* account.call("POST", "/session/step-up", { code: "000 000" })
      assert.deepStrictEqual(Object.keys(stale.details), ["code"])
      yield* later(account.id)
      const code = codeOf(account.secret, yield* Clock.currentTimeMillis)
      const stepped = yield* account.call("POST", "/session/step-up", { code })
      assert.isString(stepped.data.stepped_up_until)
      assert.strictEqual((yield* correct).status, 404)
      assert.strictEqual((yield* account.call("PATCH", `/staff/${plain.id}`, { role: "support" })).status, 200)
      // a script with the account's token has no second factor
      const script = yield* browse("POST", "/players/999999999/corrections", {
        body: correction,
        headers: { authorization: `Bearer ${account.token}` }
      })
      assert.strictEqual(script.status, 404)
      // removed by an admin: the sessions end, and the next sign-in takes the password alone
      yield* staffCall("PATCH", `/backoffice/v1/staff/${account.id}`, { reset_second_factor: true })
      assert.strictEqual((yield* account.call("GET", "/session")).status, 401)
      assert.strictEqual((yield* signIn({ name: account.name, password: account.password })).status, 201)
    }))

  it.effect("need a second factor to close an alert that holds withdrawals or to lift its hold by a restriction, but not to close an alert without a hold", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      const { call } = yield* withPassword(fresh("Lia "), "compliance")
      yield* staffCall("POST", `/backoffice/v1/alerts/${alert}/hold`, { reason: "asked for papers" })
      assert.strictEqual((yield* call("PATCH", `/alerts/${alert}`, { status: "in_review" })).status, 200)
      const held = yield* call("PATCH", `/alerts/${alert}`, { status: "closed" })
      assert.deepStrictEqual([held.status, held.details], [403, { reason: "second_factor_required" }])
      const lifted = yield* call("PATCH", `/players/${player}/restrictions`, { can_withdraw: true })
      assert.deepStrictEqual([lifted.status, lifted.details], [403, { reason: "second_factor_required" }])
      yield* staffCall("POST", `/backoffice/v1/alerts/${alert}/release`, { reason: "papers came" })
      assert.strictEqual((yield* call("PATCH", `/alerts/${alert}`, { status: "closed" })).status, 200)
    }))

  it.effect("can add a first second factor or first password only within minutes of the sign-in", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { call, id } = yield* withPassword(fresh("Kay "))
      yield* sql`UPDATE staff_sessions SET expires_at = expires_at - interval '5 minutes' WHERE staff_id = ${id}`
      const late = yield* call("POST", "/session/second-factor")
      assert.deepStrictEqual([late.status, late.details["reason"]], [403, "sign_in_again"])
      yield* sql`UPDATE staff SET password_hash = NULL WHERE id = ${id}`
      const password = yield* call("POST", "/session/password", { new_password: "a password of a stranger" })
      assert.deepStrictEqual([password.status, password.details["reason"]], [403, "sign_in_again"])
      yield* sql`UPDATE staff_sessions SET expires_at = expires_at + interval '1 minute' WHERE staff_id = ${id}`
      assert.strictEqual((yield* call("POST", "/session/second-factor")).status, 201)
    }))

  it.effect("end, and unused sign-in links with them, when another person rotates the account's token", () =>
    Effect.gen(function*() {
      const { call, id, token } = yield* withPassword(fresh("Lou "))
      const link = yield* browse("POST", "/staff/tickets", { headers: { authorization: `Bearer ${token}` }, body: {} })
      const ticket = new URL(link.data.url).searchParams.get("ticket")
      yield* staffCall("POST", `/backoffice/v1/staff/${id}/rotate`)
      assert.strictEqual((yield* call("GET", "/session")).status, 401)
      const redeemed = yield* browse("POST", "/session/ticket", { body: { ticket }, headers: ofPages })
      assert.deepStrictEqual(outcome(redeemed), [401, "INVALID_CREDENTIALS"])
    }))

  it.effect("are not kept alive by a page's unattended requests", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { cookie, id } = yield* withPassword(fresh("Max "), "support")
      const age =
        sql`UPDATE staff_sessions SET last_seen_at = last_seen_at - interval '16 minutes' WHERE staff_id = ${id}`
      const unattended = browse("GET", "/session", { headers: { cookie, "x-unattended": "1" } })
      yield* age
      assert.strictEqual((yield* unattended).status, 200)
      yield* age
      assert.strictEqual((yield* unattended).status, 401)
    }))

  it.effect("do not reset the count of wrong codes after a correct password", () =>
    Effect.gen(function*() {
      const account = yield* withSecondFactor(fresh("Noa "))
      const guess = account.call("POST", "/session/step-up", { code: "000000" })
      yield* Effect.repeat(guess, { until: ({ status }) => status === 429 })
      const same = { password: account.password, new_password: account.password }
      assert.strictEqual((yield* account.call("POST", "/session/password", same)).status, 200)
      assert.strictEqual((yield* guess).status, 429)
    }))

  it.effect("begin by a sign-in link only when its button is pressed, never when its URL is opened", () =>
    Effect.gen(function*() {
      const { backofficePort } = yield* BothServers
      const account = yield* made("/staff", { name: fresh("Pat "), role: "support" })
      const present = yield* withPassword(fresh("Quin "), "support")
      const { data } = yield* staffCall("POST", "/backoffice/v1/staff/tickets", { staff: account.id })
      const { pathname, search, searchParams } = new URL(data.url)
      const ticket = searchParams.get("ticket")
      // a preview, a prefetch, a mail scanner; the browser of a present session among them
      for (const headers of [{}, { purpose: "prefetch" }, { "sec-purpose": "prefetch" }, { cookie: present.cookie }]) {
        for (const method of ["GET", "HEAD"]) {
          const opened = yield* send(backofficePort, `${pathname}${search}`, { method, headers })
          assert.isUndefined(opened.headers["set-cookie"], method)
        }
        assert.strictEqual((yield* browse("GET", `/session/ticket${search}`, { headers })).status, 405)
      }
      const link = browse("POST", "/sign-in/link", { body: { ticket }, headers: ofPages })
      const named = yield* link
      assert.deepStrictEqual(named.data, { name: account.name, is_new: false, expires_at: data.expires_at })
      assert.strictEqual((yield* present.call("GET", "/session")).status, 200)
      const redeemed = yield* browse("POST", "/session/ticket", {
        body: { ticket },
        headers: { ...ofPages, cookie: present.cookie }
      })
      assert.deepStrictEqual([redeemed.status, redeemed.data.staff.id], [201, account.id])
      assert.strictEqual((yield* present.call("GET", "/session")).status, 401, "the session that it replaced")
      assert.deepStrictEqual(outcome(yield* link), [401, "INVALID_CREDENTIALS"])
      const foreign = yield* browse("POST", "/session/ticket", {
        body: { ticket },
        headers: { origin: "https://evil.example" }
      })
      assert.deepStrictEqual(outcome(foreign), [403, "INSUFFICIENT_SCOPE"])
    }))

  it.effect("begin by a sign-in link once, within 15 minutes, without a second factor", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const account = yield* made("/staff", { name: fresh("Jon "), role: "payments" })
      const ticketFor = (staff?: number) =>
        Effect.map(staffCall("POST", "/backoffice/v1/staff/tickets", { staff }), ({ data }) => {
          assert.match(data.url, /^http:\/\/[^/]+\/sign-in\?ticket=tk_\w{43}$/)
          return new URL(data.url).searchParams.get("ticket")
        })
      const redeem = (ticket: string | null) =>
        browse("POST", "/session/ticket", { body: { ticket }, headers: ofPages })
      const ticket = yield* ticketFor(account.id)
      const answer = yield* redeem(ticket)
      assert.deepStrictEqual([answer.status, answer.data.staff.id, answer.data.stepped_up_until], [
        201,
        account.id,
        null
      ])
      assert.deepStrictEqual(outcome(yield* redeem(ticket)), [401, "INVALID_CREDENTIALS"])
      const late = yield* ticketFor(account.id)
      yield* sql`UPDATE staff_tickets SET expires_at = expires_at - interval '15 minutes' WHERE used_at IS NULL`
      assert.deepStrictEqual(outcome(yield* redeem(late)), [401, "INVALID_CREDENTIALS"])
      // the four-eyes rule takes the creator of the link as the account's user since then
      const [facts] = yield* sql`SELECT entrusted_at IS NOT NULL AS entrusted, (SELECT issued_by FROM staff_tokens t
        WHERE t.staff_id = s.id ORDER BY issued_at DESC LIMIT 1) AS by FROM staff s WHERE id = ${account.id}`
      assert.deepStrictEqual(facts, { entrusted: true, by: "staff:bootstrap" })
      // the bootstrap token's link is for the first admin
      const first = yield* redeem(yield* ticketFor())
      assert.deepInclude(first.data.staff, { role: "admin", operators: null })
      const mine = { headers: { authorization: `Bearer ${account.token}` } }
      const others = yield* browse("POST", "/staff/tickets", { ...mine, body: { staff: first.data.staff.id } })
      assert.deepStrictEqual(outcome(others), [403, "INSUFFICIENT_SCOPE"])
      assert.strictEqual((yield* browse("POST", "/staff/tickets", { ...mine, body: {} })).status, 201)
      yield* staffCall("PATCH", `/backoffice/v1/staff/${account.id}`, { active: false })
      const off = yield* staffCall("POST", "/backoffice/v1/staff/tickets", { staff: account.id })
      assert.deepStrictEqual(outcome(off), [404, "NOT_FOUND"])
    }))
})
