import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { declaredTables } from "../../src/platform/Privileges.ts"
import { rolesFor } from "../../src/office/Authorisation.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { BothServers, dataOf, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { browserCall, send } from "../kit/HttpCalls.ts"

// Goal: 9.3: nobody but compliance and admins learns that there is a report to an authority. Method: a report with a text of its own is noted; then
// every reading operation of both documents is asked for, by every role, the operator and the player, and every table and log line is searched.

const planted = "sar-canary"

interface Reading {
  readonly action: string
  readonly path: string
  readonly query: ReadonlyArray<string>
}

/** Reading operations of a document, with the names of what is in their queries. */
const readingOf = (document: unknown): ReadonlyArray<Reading> =>
  Object.entries(Object(Object(document).paths)).flatMap(([path, methods]) => {
    const get:
      | { readonly operationId: string; readonly parameters?: ReadonlyArray<Record<string, string>> }
      | undefined = Object(methods).get
    return get === undefined ? [] : [{
      action: get.operationId,
      path,
      query: (get.parameters ?? []).filter((one) => one["in"] === "query").map((one) => String(one["name"]))
    }]
  })

/** Answers without an end. */
const streams = ["figures.live"]

layer(layerCasinos, { excludeTestServices: true, timeout: "60 seconds" })("reports to authorities", (it) => {
  it.effect("9.3: are in no answer to other roles, operators or players, in no other table, and in no log or metric", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { backofficePort, logged, publicPort } = yield* BothServers
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const payment = dataOf(yield* casino.withdraw(seat.id, 100), 201)
      const { id } = yield* made("/cases", { type: "aml", player: seat.id, note: "structured deposits" })
      yield* staff("POST", `/cases/${id}/sar`, {
        authority: `${planted} unit`,
        reference: `${planted}-77`,
        submitted_at: "2026-11-20T10:00:00Z",
        consent_requested: true
      })
      const refused = yield* casino.withdraw(seat.id, 100)
      assert.deepInclude(refused, { status: 422, code: "PLAYER_RESTRICTED" })
      assert.notInclude(refused.text, "sar")

      const values: { readonly [name: string]: string } = {
        player: String(seat.id),
        case: String(id),
        payment: String(payment.id),
        operator: casino.slug,
        game: String(casino.slots.id),
        provider: casino.studio.slug,
        q: planted,
        from: "2026-11-01",
        to: "2026-11-30",
        metric: "bets",
        step: "day",
        by: "provider"
      }
      const urlOf = ({ path, query }: Reading): string => {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "1")
        const given = query.filter((name) => values[name] !== undefined).map((name) => `${name}=${values[name]}`)
        return `${filled}?${given.join("&")}`
      }
      const told: Array<string> = []
      let answered = 0
      const search = (asked: string, { status, text }: { readonly status: number; readonly text: string }) => {
        if (status === 200) answered++
        if (text.includes(planted)) told.push(asked)
      }
      const staffActions = readingOf((yield* send(backofficePort, "/openapi.json")).json)
        .filter(({ action }) => rolesFor(action).length > 0 && !streams.includes(action))
      for (const role of ["support", "payments", "compliance", "admin"]) {
        const { token } = yield* made("/staff", { name: role, role })
        for (const reading of staffActions) {
          const { text, status } = yield* send(backofficePort, urlOf(reading), {
            headers: { authorization: `Bearer ${token}` }
          })
          search(`${role} ${reading.action}`, { status, text })
        }
      }
      const toStaff = told.splice(0)
      assert.deepStrictEqual(toStaff, ["compliance case.show", "admin case.show"])
      assert.isAbove(answered, 100)

      answered = 0
      const { token } = dataOf(yield* casino.post(`/players/${seat.id}/session-tokens`), 201)
      assert.strictEqual((yield* browserCall(token, "/obligations")).status, 200)
      for (const reading of readingOf((yield* send(publicPort, "/openapi.json")).json)) {
        const url = urlOf(reading).replace(/\?$/, "")
        if (url.startsWith("/api/v1/player/")) {
          search(reading.action, yield* browserCall(token, url.slice("/api/v1/player".length)))
        }
        if (url.startsWith("/api/v1/operator/")) {
          search(reading.action, yield* casino.get(url.slice("/api/v1/operator".length)))
        }
      }
      assert.deepStrictEqual(told, [])
      assert.isAbove(answered, 15)

      const found: Array<string> = []
      for (const table of declaredTables) {
        const [row] = yield* sql`SELECT 1 FROM ${sql(table)} t WHERE t::text LIKE ${`%${planted}%`} LIMIT 1`
        if (row !== undefined) found.push(table)
      }
      assert.deepStrictEqual(found, ["case_reports"])
      assert.notInclude(logged.join("\n"), planted)
      assert.notInclude(JSON.stringify(yield* staffCall("GET", "/metrics")), planted)
    }))
})
