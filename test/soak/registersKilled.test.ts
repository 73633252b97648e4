import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { addTenant, dataOf, registration } from "../kit/Casino.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { makeAgent, patiently, staffOf } from "../kit/HttpCalls.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: a process killed between a register's question and its answer lets nobody in without a proper answer, loses no answer that let somebody in, and
// keeps none twice. Method: registrations and sign-ins under a slow register, each third person excluded, are repeated under their keys until they are
// answered, while the process is killed with SIGKILL three times with questions under way.

const kills = 3
const perRound = 12

const always = { max_age: "PT0S", unavailable: "refuse" }

layer(layerOwnDatabase, { excludeTestServices: true })(
  "12.6: a process that is killed while it queries registers",
  (it) => {
    it.effect("admits nobody without a valid answer, and keeps each valid one", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const port = yield* freePort
        const agent = yield* makeAgent()
        const start = startService({
          port,
          databaseUrl: yield* databaseUrl,
          environment: { LOG_LEVEL: "error", REGISTER_ALLOW_INSECURE: "on" }
        })
        let service = yield* start
        const { call, operator } = yield* addTenant(agent, port, "acme")
        const staff = staffOf(agent, () => service.backofficePort, yield* addStaff("Grace"))
        const fake = yield* makeFakeRegister({ kind: "generic" })
        const made = (path: string, body: unknown) =>
          Effect.map(
            staff.send(`/backoffice/v1${path}`, { method: "POST", body }),
            ({ status, text }) => assert.strictEqual(status, 201, text)
          )
        const code = "x-killed"
        yield* made("/profiles", {
          code,
          name: "Killed",
          registers: [{ kind: "generic", on: { registration: always, login: always } }]
        })
        yield* made("/registers", { operator: "acme", kind: "generic", settings: fake.settings })
        const patch = yield* staff.send("/backoffice/v1/operators/acme", {
          method: "PATCH",
          body: { profiles: [code], default_profile: code }
        })
        assert.strictEqual(patch.status, 200, patch.text)
        const excluded = (name: string) => ({
          first_name: "Ada",
          last_name: name,
          birth_date: "1990-12-31",
          verdict: "excluded" as const
        })
        const names = Array.from({ length: (kills + 1) * perRound }, (_, index) => `player${index}`)
        fake.know(names.filter((_, index) => index % 3 === 2).map(excluded))
        fake.setMode("slow", 300)

        const caller = patiently(call)
        /** Registers, and signs in whoever is in. */
        const visit = (name: string) =>
          Effect.gen(function*() {
            const reply = yield* caller.post("/players", registration(name))
            if (reply.status !== 201) return { name, id: undefined, code: reply.code }
            const id: number = dataOf(reply, 201).id
            const { status } = yield* caller.post(`/players/${id}/session-tokens`, {})
            return { name, id, code: status }
          })
        const outcomes = []
        for (let round = 0; round <= kills; round++) {
          const asked = fake.asked.length
          const visits = yield* Effect.forkChild(
            Effect.forEach(names.slice(round * perRound, (round + 1) * perRound), visit, { concurrency: perRound })
          )
          if (round < kills) {
            // with questions under way
            yield* Effect.sleep("20 millis").pipe(Effect.repeat({ until: () => fake.asked.length > asked + round * 4 }))
            service.kill("SIGKILL")
            yield* service.exited
            service = yield* start
          }
          outcomes.push(...yield* Fiber.join(visits))
        }

        for (const [index, { code: outcome, name }] of outcomes.entries()) {
          assert.strictEqual(outcome, index % 3 === 2 ? "SELF_EXCLUDED_IDENTITY" : 201, name)
        }
        const players = yield* sql<{ readonly id: number; readonly kept: number; readonly clear: boolean }>`
        SELECT p.id::float8 AS id, (SELECT count(*)::float8 FROM register_checks c
            WHERE c.player_id = p.id AND c.event = 'registration' AND c.verdict = 'clear') AS kept,
          p.registers @> '[{"kind": "generic", "verdict": "clear"}]' AS clear
        FROM players p WHERE p.operator_id = ${operator.id}`
        assert.sameMembers(
          players.map(({ id }) => id),
          outcomes.flatMap(({ id }) => id === undefined ? [] : [id])
        )
        assert.deepStrictEqual(players.filter(({ clear, kept }) => kept !== 1 || !clear), [])
        const { json } = yield* staff.send("/backoffice/v1/ledger/verification")
        assert.deepStrictEqual(exceptAddedStaff(Object(json).data.violations), [])
      }), 240_000)
  }
)
