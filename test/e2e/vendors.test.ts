import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { Message } from "../../scripts/simulators/Dialect.ts"
import { holdPlayer, untilSomeoneWaits } from "../kit/E2eHold.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { openSeat, play, type Vendor, type VendorCase, vendorCases } from "../kit/Vendors.ts"
import { messagesOf, openVendor, realOf } from "../kit/VendorTables.ts"

// Goal: money moves once for any order and repetition of a vendor's messages, and answers use the vendor's codes, TRY_AGAIN's included.
// Method: every protocol's dialect against the public server and a real database.

const opening = 100_000

/** A player at a vendor's game, authenticated as the vendor does it. */
const takeSeat = Effect.fnUntraced(function*(vendor: Vendor, playerId: number) {
  const opened = yield* openSeat(vendor, playerId)
  const { token = opened.token } = vendor.dialect.authenticate === "none"
    ? opened
    : yield* play(vendor, opened, { kind: "authenticate" }, "hello")
  return { vendor, playerId, session: { ...opened, token }, ...messagesOf(vendor.dialect, opened.gameId) }
})

type Table = Effect.Success<ReturnType<typeof takeSeat>>

/** A player of a new operator at a new vendor's game, with 1,000.00 EUR. */
const newTable = Effect.fnUntraced(function*(vendorCase: VendorCase) {
  const { newPlayer, vendor } = yield* openVendor(vendorCase, { opening })
  return yield* takeSeat(vendor, yield* newPlayer())
})

/** Messages, each with the player's money after it. */
const stepsAt = ({ bet, promo, rollback, vendor, win }: Table): ReadonlyArray<readonly [Message, number]> => {
  const [won, lost] = [bet("b1"), bet("b2", "100")]
  return [
    [won, opening - 1_050],
    [win("w1", won), opening + 1_450],
    [lost, opening - 8_550],
    [rollback("x2", lost), opening + 1_450],
    ...vendor.dialect.promo ? [[promo("p1", "7"), opening + 2_150] as const] : []
  ]
}

/** Sends a message that must be accepted or replayed. */
const send = Effect.fnUntraced(function*({ session, vendor }: Table, message: Message, callId: string) {
  const answer = yield* play(vendor, session, message, callId)
  const { codes: first } = vendor.dialect.expect(message.kind, "new")
  const { codes: again } = vendor.dialect.expect(message.kind, "duplicate")
  assert.include([...first, ...again], answer.code, answer.text)
  assert.deepStrictEqual(answer.problems, [], answer.text)
  return answer
})

const copies = 20

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("vendors", (it) => {
  for (const vendorCase of vendorCases) {
    const { name } = vendorCase

    it.effect(`${name}: twenty identical messages at the same time move money once`, () =>
      Effect.gen(function*() {
        const table = yield* newTable(vendorCase)
        for (const [message, real] of stepsAt(table)) {
          yield* Effect.all(Array.from({ length: copies }, (_, copy) => send(table, message, `c${copy}`)), {
            concurrency: copies
          })
          assert.strictEqual(yield* realOf(table.playerId), real, message.kind)
        }
      }))

    it.effect(`${name}: a database connection cut during a call is answered "try again", and the retry settles once`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const table = yield* newTable(vendorCase)
        for (const [message, real] of stepsAt(table)) {
          const release = yield* holdPlayer(table.playerId)
          const cut = yield* Effect.forkChild(play(table.vendor, table.session, message, "cut"))
          yield* untilSomeoneWaits
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE wait_event = 'PgSleep' AND datname = current_database()`
          const answer = yield* Fiber.join(cut)
          assert.isTrue(answer.retry, `${message.kind}: ${answer.status} ${answer.text}`)
          yield* release
          yield* send(table, message, "again")
          yield* send(table, message, "once-more")
          assert.strictEqual(yield* realOf(table.playerId), real, message.kind)
        }
      }))
  }

  it.effect("one player plays at every vendor at the same time with the same ids, and every amount is correct", () =>
    Effect.gen(function*() {
      const vendors = yield* Effect.forEach(vendorCases, (vendorCase) => openVendor(vendorCase, { opening }))
      const playerId = yield* (vendors[0] ?? assert.fail("no vendor")).newPlayer()
      const tables = yield* Effect.forEach(vendors, ({ vendor }) => takeSeat(vendor, playerId))
      yield* Effect.forEach(tables, (table) =>
        Effect.gen(function*() {
          for (let round = 1; round <= 5; round++) {
            const bet = table.bet(`b${round}`, "2.00")
            yield* send(table, bet, `c${round}`)
            const settled = round === 5 ? table.rollback("x5", bet) : table.win(`w${round}`, bet, "3.00")
            yield* send(table, settled, `d${round}`)
          }
        }), { concurrency: "unbounded" })
      // four rounds won by one each, one rolled back
      assert.strictEqual(yield* realOf(playerId), opening + vendorCases.length * 400)
    }))
})
