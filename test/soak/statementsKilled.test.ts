import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Http from "node:http"
import { addTenant, register } from "../kit/Casino.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { addStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: a statement of a service that dies is known to be unfinished by its reader, in each form, and nothing has changed by it. Method: readers of one
// statement in each form stop after the first bytes, the service is killed, and what they hold is compared with the statement before and after.

const entries = 40_000
const day = "2026-11-20"

layer(layerOwnDatabase, { excludeTestServices: true })("statements of a service that is killed", (it) => {
  it.effect(
    "12.6: are recognisably incomplete when cut off, and can all be read afterwards",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const port = yield* freePort
        const agent = yield* makeAgent()
        const start = startService({ port, databaseUrl: yield* databaseUrl, environment: { LOG_LEVEL: "error" } })
        let service = yield* start
        const token = yield* addStaff("Grace")
        const { call, operator } = yield* addTenant(agent, port, "acme")
        const player = yield* register(call, "ada")
        yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, game_round_id, created_at)
        SELECT ${player}, n, n, ${operator.id}, 'real', 'casino_win', 1, n, repeat('r', 100), ${`${day}T12:00:00Z`}::timestamptz
        FROM generate_series(1, ${entries}::integer) n`
        yield* sql`UPDATE accounts SET entry_seq = ${entries}, real_balance = ${entries} WHERE player_id = ${player}`
        const forms = ["json", "csv", "spreadsheet", "html"]
        const pathOf = (form: string) =>
          `/backoffice/v1/players/${player}/statement?from=${day}&to=${day}&format=${form}`
        const staff = staffOf(agent, () => service.backofficePort, token)
        const statements = Effect.forEach(forms, (form) =>
          Effect.map(staff.send(pathOf(form)), ({ status, text }) => {
            assert.strictEqual(status, 200, text.slice(0, 200))
            const rows = text.split("r".repeat(100))
            // without the head, which has the time at which it was read
            return [rows.length - 1, rows.slice(1).join("")]
          }))
        const stateOf =
          sql`SELECT (SELECT count(*) FROM ledger_entries)::integer AS entries, version::float8 AS version,
        real_balance::float8 AS balance FROM accounts WHERE player_id = ${player}`
        const [whole, state] = [yield* statements, yield* stateOf]
        assert.deepStrictEqual(whole.map(([rows]) => rows), forms.map(() => entries))

        /** Takes the first bytes, and no more. */
        const begun = (form: string) =>
          Effect.callback<Http.IncomingMessage>((resume) => {
            const headers = { authorization: `Bearer ${token}` }
            const options = {
              host: "127.0.0.1",
              port: service.backofficePort,
              path: pathOf(form),
              agent: false,
              headers
            }
            Http.get(options, (response) => {
              response.on("error", () => {})
              response.once("data", () => {
                response.pause()
                resume(Effect.succeed(response))
              })
            })
          })
        const readers = yield* Effect.forEach(forms, begun, { concurrency: "unbounded" })
        service.kill("SIGKILL")
        yield* service.exited
        const isWhole = yield* Effect.forEach(readers, (reader) =>
          Effect.callback<boolean>((resume) => {
            const told = () => resume(Effect.succeed(reader.complete))
            if (reader.closed) return told()
            reader.once("close", told)
            reader.resume()
          }))
        assert.deepStrictEqual(isWhole, forms.map(() => false))
        service = yield* start
        assert.deepStrictEqual(yield* statements, whole)
        assert.deepStrictEqual(yield* stateOf, state)
      })),
    120_000
  )
})
