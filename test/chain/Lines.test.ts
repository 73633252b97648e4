import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as FastCheck from "fast-check"
import {
  type AuditLine,
  auditLine,
  auditLineSql,
  entryLine,
  entryLineSql,
  hashOf,
  instantSql,
  jsonbText,
  valuesLine,
  valuesLineSql
} from "../../src/chain/Lines.ts"
import { type Entry, entryTypes } from "../../src/domain/state/Change.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { layerTestService } from "../kit/TestService.ts"

const texts = FastCheck.oneof(
  FastCheck.string({ unit: "binary", maxLength: 20 }),
  FastCheck.string({ maxLength: 20 }),
  FastCheck.constantFrom("\"", "\\", "\u2028", "\u007f", "\u001f\b\f\n\r\t", "é", "🎰", "__proto__", "toString")
).map((text) => text.replaceAll("\u0000", ""))

const money = FastCheck.maxSafeInteger()
const ids = FastCheck.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const orNull = <A>(arbitrary: FastCheck.Arbitrary<A>) => FastCheck.option(arbitrary, { nil: null })
const instants = FastCheck.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2090, 0) })

const entries: FastCheck.Arbitrary<Entry> = FastCheck.record({
  id: ids,
  playerId: ids,
  operatorId: ids,
  seq: ids,
  wallet: FastCheck.constantFrom("real", "bonus"),
  type: FastCheck.constantFrom(...entryTypes),
  amount: money,
  balanceAfter: money,
  currency: FastCheck.constant("EUR"),
  paymentRequestId: orNull(ids),
  gameId: orNull(ids),
  gameRoundId: orNull(texts),
  playerBonusId: orNull(ids),
  createdAt: instants
})

/** JSON that `jsonb` accepts: no NUL, no unpaired surrogate. */
const jsonWith = (keys: FastCheck.Arbitrary<string>): FastCheck.Arbitrary<unknown> =>
  FastCheck.letrec((tie) => ({
    value: FastCheck.oneof(
      { maxDepth: 3 },
      FastCheck.constant(null),
      FastCheck.boolean(),
      FastCheck.integer(),
      FastCheck.double({ noNaN: true, noDefaultInfinity: true, min: -1e200, max: 1e200 }),
      FastCheck.constantFrom(1e21, 1.5e-7, -0, 5e-324, 123_456_789_012_345_680_000),
      texts,
      FastCheck.array(tie("value"), { maxLength: 4 }),
      FastCheck.dictionary(keys, tie("value"), { maxKeys: 4 })
    )
  })).value
const json = jsonWith(texts)

/** V8 reads `{"\n":1}` as `{"\\":1}` after `{"\\":1}`: keys without escapes, which it reads right, where a test reads JSON. */
const readable = jsonWith(texts.filter((text) => JSON.stringify(text) === `"${text}"`))

const lines: FastCheck.Arbitrary<AuditLine> = FastCheck.record({
  id: ids,
  at: instants,
  actor: texts,
  action: texts,
  operatorId: orNull(ids),
  playerId: orNull(ids),
  subject: texts,
  before: json,
  after: json,
  reason: orNull(texts)
})

describe("canonical lines of the hash chain", () => {
  it("are JSON, and differ for different rows", () => {
    FastCheck.assert(FastCheck.property(entries, entries, (one, other) => {
      assert.isArray(JSON.parse(entryLine(one)))
      const { currency: _, ...fields } = one
      const { currency: __, ...others } = other
      assert.strictEqual(entryLine(one) === entryLine(other), JSON.stringify(fields) === JSON.stringify(others))
    }))
    FastCheck.assert(FastCheck.property(lines, readable, readable, (line, before, after) => {
      assert.deepStrictEqual(
        JSON.parse(valuesLine({ ...line, before, after, salt: "00" })).slice(2, 4),
        JSON.parse(JSON.stringify([before, after]))
      )
    }))
  })

  it("keep every key, including keys with escaped characters", () => {
    for (const key of ["\\", "\"", "\n", "\u001f"]) {
      assert.strictEqual(jsonbText({ only: 1, [key]: 2 }), `{${JSON.stringify(key)}: 2, "only": 1}`)
    }
  })

  it("print numbers without an exponent", () => {
    assert.strictEqual(
      jsonbText([1e21, -2.5e-7, 1.5e21, 0.1, -0, 1e-7]),
      "[1000000000000000000000, -0.00000025, 1500000000000000000000, 0.1, 0, 0.0000001]"
    )
    assert.strictEqual(
      jsonbText({ bb: undefined, c: [], é: {}, aa: new Date(0) }),
      `{"c": [], "aa": "1970-01-01T00:00:00.000Z", "é": {}}`
    )
  })
})

// Goal: the bytes that a commit hashes equal PostgreSQL's form of the stored row, for any text, number and JSON.
layer(layerTestService(), { excludeTestServices: true })("canonical lines computed from stored rows", (it) => {
  it.effect("equal the lines of the hash chain that were computed when the rows were written", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const chain = yield* Chain
      const rows = FastCheck.sample(entries, 150).map((entry, index) => ({ ...entry, seq: index + 1 }))
      for (const entry of rows) {
        yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after,
            payment_request_id, game_id, game_round_id, player_bonus_id, created_at)
          VALUES (${entry.playerId}, ${entry.seq}, ${entry.id}, ${entry.operatorId}, ${entry.wallet}, ${entry.type},
            ${entry.amount}, ${entry.balanceAfter}, ${entry.paymentRequestId}, ${entry.gameId}, ${entry.gameRoundId},
            ${entry.playerBonusId}, ${new Date(entry.createdAt)})`
        const [stored] = yield* sql`SELECT ${sql.literal(entryLineSql("e"))} AS line FROM ledger_entries e
          WHERE player_id = ${entry.playerId} AND seq = ${entry.seq}`
        assert.deepStrictEqual(stored, { line: entryLine(entry) })
      }
      const written = FastCheck.sample(lines, 300).map((line, index) => ({
        ...line,
        id: line.id - line.id % 1000 + index
      }))
      for (const line of written) yield* sql.withTransaction(chain.writeAuditLines([line]))
      const salts = new Set<string>()
      for (const line of written) {
        const [stored] = yield* sql<{
          readonly line: string
          readonly values: string
          readonly salt: string
        }>`SELECT ${sql.literal(auditLineSql("a"))} AS line,
          ${
          sql.literal(valuesLineSql("a"))
        } AS values, encode(salt, 'hex') AS salt FROM audit_log a WHERE id = ${line.id}`
        const salt = stored?.salt ?? ""
        salts.add(salt)
        const own = { ...line, salt }
        assert.deepStrictEqual(stored, { line: auditLine(own), values: valuesLine(own), salt })
        assert.strictEqual(JSON.parse(auditLine(own))[8], hashOf(valuesLine(own)))
      }
      assert.strictEqual(salts.size, written.length)
    }))

  it.effect("print any instant to the microsecond", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const exactBefore = Date.UTC(2100, 0) * 1000
      const micros = [0, -1, exactBefore - 1, exactBefore, exactBefore + 1].concat(
        FastCheck.sample(FastCheck.integer({ min: 1, max: 2 * exactBefore }), 2000)
      )
      const different = yield* sql`SELECT micros, line FROM (
          SELECT micros, ${sql.literal(instantSql("at"))} AS line
          FROM (SELECT micros, timestamptz 'epoch' + micros * interval '1 microsecond' AS at
            FROM unnest(${`{${micros.join()}}`}::text::bigint[]) AS given (micros)) instants) printed
        WHERE line <> micros::text`
      assert.deepStrictEqual(different, [])
    }))

  it.effect("quote a wallet and a type that no commit writes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [stored] = yield* sql<{ readonly line: string }>`SELECT ${sql.literal(entryLineSql("e"))} AS line
        FROM (SELECT 1 AS player_id, 2 AS seq, 3 AS id, 4 AS operator_id, 'real"' AS wallet, 'casino_bet","1' AS type, 5 AS amount,
          6 AS balance_after, null AS payment_request_id, null AS game_id, null AS game_round_id, null AS player_bonus_id,
          timestamptz 'epoch' AS created_at) e`
      assert.deepStrictEqual(JSON.parse(stored?.line ?? "null").slice(5, 7), ["real\"", "casino_bet\",\"1"])
    }))
})
