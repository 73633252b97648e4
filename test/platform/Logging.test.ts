import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, References } from "effect"
import { jsonLines } from "../../src/platform/Logging.ts"

// Goal: a log line is one machine-readable JSON object without forbidden content, whatever its source.
// Method: a logger with recorded lines; messages, causes and annotations with such content.

const linesOf = (log: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = jsonLines(() => ({ request_id: "r-1", operator_id: undefined }), (line) => void lines.push(line))
    yield* log.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Trace"))
    return lines
  })

describe("log lines", () => {
  it.effect("contain message, time, level and annotations", () =>
    Effect.gen(function*() {
      const [line = "", ...more] = yield* linesOf(
        Effect.annotateLogs(Effect.logWarning("two\nlines", { count: 3 }), { player_id: 7 })
      )
      assert.lengthOf(more, 0)
      assert.notInclude(line, "\n")
      assert.deepInclude(JSON.parse(line), {
        level: "warn",
        message: "two\nlines {\"count\":3}",
        request_id: "r-1",
        player_id: 7
      })
      assert.notProperty(JSON.parse(line), "operator_id")
      assert.match(JSON.parse(line).timestamp, /^\d{4}-\d\d-\d\dT/)
    }))

  const secrets: ReadonlyArray<readonly [text: string, hidden: string]> = [
    ["mail to ada.lovelace+1@mail.example.com now", "lovelace"],
    ["Bearer pt_AbCdEf0123456789", "AbCdEf0123456789"],
    ["session gs_AbCdEf0123456789-_x", "AbCdEf0123456789"],
    ["key sk_live_AbCdEf0123456789", "AbCdEf0123456789"],
    ["hook whsec_AbCdEf0123456789", "AbCdEf0123456789"],
    ["postgres://pitboss:hunter2hunter2@db:5432/x", "hunter2"],
    ["Key (username)=(zebulon) already exists.", "zebulon"]
  ]
  for (const [text, hidden] of secrets) {
    it.effect(`mask secrets and personal data: ${text.slice(0, 20)}`, () =>
      Effect.gen(function*() {
        const lines = yield* linesOf(Effect.andThen(
          Effect.andThen(Effect.logError(text), Effect.logError("it broke", Cause.die(new Error(text)))),
          Effect.annotateLogs(Effect.logError("it broke"), { about: text })
        ))
        assert.lengthOf(lines, 3)
        for (const line of lines) {
          assert.notInclude(line, hidden)
          assert.strictEqual(JSON.parse(line).level, "error")
        }
      }))
  }

  it.effect("name the place of an error, and its database message only if that quotes no values", () =>
    Effect.gen(function*() {
      const failed = (code: string) =>
        Object.assign(new Error("outer"), { reason: { cause: Object.assign(new Error("value 'zebulon'"), { code }) } })
      const [quoted = "", plain = "", refusal = ""] = yield* linesOf(
        Effect.forEach(
          [
            Cause.die(failed("22P02")),
            Cause.die(failed("42P01")),
            Cause.fail({ _tag: "Refusal", code: "NOT_FOUND", message: "x" })
          ],
          (cause) => Effect.logError("it broke", cause),
          { discard: true }
        )
      )
      assert.notInclude(quoted, "zebulon")
      assert.include(quoted, "SQLSTATE 22P02")
      assert.include(JSON.parse(quoted).cause, "Logging.test.ts")
      assert.include(plain, "zebulon")
      assert.strictEqual(JSON.parse(refusal).cause, "NOT_FOUND")
    }))
})
