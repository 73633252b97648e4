import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { BetMessage, Message, Session, WinMessage } from "../../vendor/Dialect.ts"
import { parseDecimal } from "../../src/protocols/Decimal.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { holdPlayer, untilSomeoneWaits } from "../kit/E2eHold.ts"
import { makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addTenant, deposit, freshName, register, type Tenant } from "../kit/E2eWorld.ts"
import { addVendor, openSeat, play, type Vendor, type VendorCase, vendorCases } from "../kit/Vendors.ts"

// Goal: money moves once for any order and repetition of a vendor's messages, and answers use the vendor's codes, TRY_AGAIN's included.
// Method: every protocol's dialect against the public server and a real database.

const opening = 100_000

const amount = (text: string) => parseDecimal(text) ?? { coefficient: Number.NaN, scale: 0 }

interface Table {
  readonly vendor: Vendor
  readonly playerId: number
  readonly session: Session
}

const takeSeat = Effect.fnUntraced(function*(vendor: Vendor, playerId: number) {
  const session = yield* openSeat(vendor, playerId)
  if (vendor.dialect.authenticate === "none") return { vendor, playerId, session } satisfies Table
  const { token } = yield* play(vendor, session, { kind: "authenticate" }, "hello")
  return { vendor, playerId, session: { ...session, token: token ?? session.token } } satisfies Table
})

const newPlayer = Effect.fnUntraced(function*({ call }: Tenant) {
  const name = yield* freshName
  const playerId = yield* register(call, `p${name}`)
  yield* deposit(call, playerId, opening, name)
  return playerId
})

/** A player of a new operator at a new vendor's game, with 1,000.00 EUR. */
const newTable = Effect.fnUntraced(function*(vendorCase: VendorCase) {
  const port = yield* portOf
  const agent = yield* makeAgent()
  const name = (yield* freshName).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")
  const tenant = yield* addTenant(agent, port, `o${name}`)
  const vendor = yield* addVendor(agent, port, `v${name}`, vendorCase)
  return yield* takeSeat(vendor, yield* newPlayer(tenant))
})

const realOf = (playerId: number) =>
  Effect.flatMap(PlayerActors, (actors) => Effect.map(actors.read(null, playerId), ({ real }) => real))

const betOf = ({ session }: Table, id: string, text = "10.50"): BetMessage => ({
  kind: "bet",
  id,
  roundId: `round-${id}`,
  gameId: session.gameId,
  amount: amount(text),
  grant: null
})

const winOf = ({ vendor: { dialect } }: Table, id: string, bet: BetMessage, text = "25.00"): WinMessage => ({
  ...bet,
  kind: "win",
  id,
  bet: dialect.winsName === "bet" ? bet : null,
  amount: amount(text),
  closes: true
})

const rollbackOf = (id: string, bet: BetMessage): Message => ({
  kind: "rollback",
  id,
  bet,
  roundId: bet.roundId,
  gameId: bet.gameId
})

/** Sends a message that must be accepted or replayed. */
const send = Effect.fnUntraced(function*({ session, vendor }: Table, message: Message, callId: string) {
  const answer = yield* play(vendor, session, message, callId)
  const { codes: first } = vendor.dialect.expect(message.kind, "first")
  const { codes: again } = vendor.dialect.expect(message.kind, "again")
  assert.include([...first, ...again], answer.code, answer.text)
  assert.deepStrictEqual(answer.problems, [], answer.text)
  return answer
})

const copies = 20

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("vendors", (it) => {
  for (const vendorCase of vendorCases) {
    const { dialect, name } = vendorCase

    it.effect(`${name}: twenty equal messages at once move money once`, () =>
      Effect.gen(function*() {
        const table = yield* newTable(vendorCase)
        const bet = betOf(table, "b1")
        const lost = betOf(table, "b2", "100")
        const steps: ReadonlyArray<readonly [Message, number]> = [
          [bet, opening - 1_050],
          [winOf(table, "w1", bet), opening + 1_450],
          [lost, opening - 8_550],
          [rollbackOf("x2", lost), opening + 1_450],
          ...dialect.promo
            ? [
              [
                { kind: "promo", id: "p1", gameId: bet.gameId, amount: amount("7"), grant: null },
                opening + 2_150
              ] as const
            ]
            : []
        ]
        for (const [message, real] of steps) {
          yield* Effect.all(Array.from({ length: copies }, (_, copy) => send(table, message, `c${copy}`)), {
            concurrency: copies
          })
          assert.strictEqual(yield* realOf(table.playerId), real, message.kind)
        }
      }))

    it.effect(`${name}: a plug pulled in the middle of a call is "try again", and trying again settles once`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const table = yield* newTable(vendorCase)
        const bet = betOf(table, "b1")
        const lost = betOf(table, "b2")
        const steps: ReadonlyArray<readonly [Message, number]> = [
          [bet, opening - 1_050],
          [winOf(table, "w1", bet), opening + 1_450],
          [lost, opening + 400],
          [rollbackOf("x2", lost), opening + 1_450],
          ...dialect.promo
            ? [
              [
                { kind: "promo", id: "p1", gameId: bet.gameId, amount: amount("7"), grant: null },
                opening + 2_150
              ] as const
            ]
            : []
        ]
        for (const [message, real] of steps) {
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

  it.effect("one player plays at every vendor at once, with the same ids", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const agent = yield* makeAgent()
      const tenant = yield* addTenant(agent, port, "everywhere")
      const playerId = yield* newPlayer(tenant)
      const tables = yield* Effect.forEach(vendorCases, (vendorCase, index) =>
        Effect.flatMap(addVendor(agent, port, `everywhere-${index}`, vendorCase), (vendor) =>
          takeSeat(vendor, playerId)))
      yield* Effect.forEach(tables, (table) =>
        Effect.gen(function*() {
          for (let round = 1; round <= 5; round++) {
            const bet = betOf(table, `b${round}`, "2.00")
            yield* send(table, bet, `c${round}`)
            const settled = round === 5 ? rollbackOf("x5", bet) : winOf(table, `w${round}`, bet, "3.00")
            yield* send(table, settled, `d${round}`)
          }
        }), { concurrency: "unbounded" })
      // four rounds won by one each, one rolled back
      assert.strictEqual(yield* realOf(playerId), opening + vendorCases.length * 400)
    }))
})
