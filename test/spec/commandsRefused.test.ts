import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { rolesFor } from "../../src/office/Authorisation.ts"
import { runHere } from "../kit/Backoffice.ts"
import { cases } from "../kit/commands/Cases.ts"
import { commandOf, filled, layerScene, Scene, refusal, shortened } from "../kit/commands/Scene.ts"

// Goal: every faulty command fails as CONTRACT 3 says, without a change: a refusal is the envelope on standard
// error and exit 1, wrong usage is the usage there and exit 2. Method: every command with an unknown id, with invalid
// values, without each required argument, with an insufficient role, without a token, with a removed account, and without a service; then the
// audit log, which must have no new line.

/** Action of a command in the table of roles. */
const actionOf = (line: string): string => commandOf(line).replace(" ", ".").replace("-", "_")

/** The cases by noun. */
const byNoun = Map.groupBy(cases, ({ line }) => line.split(" ")[0] ?? "")

/** Number of lines of the log. */
const lines = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly total: number }>`SELECT count(*)::int AS total FROM audit_log`
  return row?.total ?? 0
})

/** Runs an effect that must change nothing. */
const changingNothing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* lines
    yield* effect
    assert.strictEqual(yield* lines, before)
  })

layer(layerScene, { excludeTestServices: true })("commands that are refused", (it) => {
  for (const [noun, ours] of byNoun) {
    it.effect(`CONTRACT 3 an unknown id or an invalid value prints the error envelope and exits with 1: ${noun}`, () =>
      Effect.gen(function*() {
        const scene = yield* Scene
        yield* changingNothing(Effect.gen(function*() {
          for (const [line, code] of ours.flatMap(({ refused }) => refused)) {
            assert.strictEqual((yield* refusal(line, scene)).code, code, line)
          }
        }))
      }))
  }

  it.effect("CONTRACT 3 unknown, superfluous or missing arguments print the usage and exit with 2", () =>
    Effect.gen(function*() {
      const scene = yield* Scene
      const nouns = [...byNoun.keys()]
      const wrong = [
        "",
        "everything",
        ...nouns,
        ...nouns.map((noun) => `${noun} everything`),
        ...cases.flatMap((
          { line, misused }
        ) => [...misused, ...shortened(line), `${line} --colour red`, `${line} surplus`])
      ]
      yield* changingNothing(Effect.gen(function*() {
        for (const line of wrong) {
          const { exitCode, stderr, stdout } = yield* runHere(filled(scene, line))
          assert.deepStrictEqual([exitCode, stdout], [2, ""], `${line}: ${stderr.slice(0, 300)}`)
          assert.include(stderr, "USAGE", line)
        }
      }))
    }))

  it.effect("CONTRACT 3 without a service a command says what to do and exits with 1", () =>
    Effect.gen(function*() {
      const scene = yield* Scene
      for (const { line } of cases) {
        const { code, message } = yield* refusal(line, scene, { port: 1 })
        assert.strictEqual(code, "SERVER_ERROR", line)
        assert.match(
          message,
          /^Nothing answers at http:\/\/127\.0\.0\.1:1\. Start the service with npm start, or say /,
          line
        )
      }
    }))
})

/** An address that fails too often waits: no service is asked about more commands than it forgives. */
const halves = [[...byNoun].filter((_, index) => index % 2 === 0), [...byNoun].filter((_, index) => index % 2 === 1)]

for (const nouns of halves) {
  layer(layerScene, { excludeTestServices: true })("commands without permission", (it) => {
    for (const [noun, ours] of nouns) {
      it.effect(`CONTRACT 3 a role without permission, or a token that is missing, unknown or disabled, prints the envelope and exits with 1: ${noun}`, () =>
        Effect.gen(function*() {
          const scene = yield* Scene
          yield* changingNothing(Effect.gen(function*() {
            for (const { line } of ours) {
              const may: ReadonlyArray<string> = rolesFor(actionOf(line))
              assert.include(may, "admin", line)
              for (const [role, token] of Object.entries(scene.tokens)) {
                if (may.includes(role)) continue
                const { code } = yield* refusal(line, scene, { token })
                assert.strictEqual(code, "INSUFFICIENT_SCOPE", `${line} as ${role}`)
              }
              assert.deepStrictEqual(
                [
                  yield* refusal(line, scene, { token: undefined }),
                  yield* refusal(line, scene, { token: "nobodys-token-at-all" }),
                  yield* refusal(line, scene, { token: scene.lostToken })
                ].map(({ code }) => code),
                ["MISSING_CREDENTIALS", "INVALID_API_KEY", "INVALID_API_KEY"],
                line
              )
            }
          }))
        }))
    }
  })
}
