import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toMinorUnits } from "../../src/protocols/Decimal.ts"
import type { Message } from "../../scripts/simulators/Dialect.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { play, vendorCases } from "../kit/Vendors.ts"
import { decimalOf, messagesOf, openTable, realOf } from "../kit/VendorTables.ts"

// Goal: amounts of currencies with no and with three decimals are parsed and formatted as each protocol writes them. Method: a round of every
// vendor over HTTP in both currencies, and a stake that is no whole number of minor units; the player's money besides the answers.

const currencies = [
  { currency: "JPY", digits: 0, stake: "250", fine: "250.5", prize: "1000" },
  { currency: "KWD", digits: 3, stake: "2.505", fine: "2.5055", prize: "10.001" }
] as const

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })(
  "currencies with no or three decimals at vendors",
  (it) => {
    for (const found of vendorCases) {
      for (const { currency, digits, fine, prize, stake } of currencies) {
        it.effect(`${found.name}: a round in ${currency} is settled exactly, and fractions of a minor unit are refused`, () =>
          Effect.gen(function*() {
            const { playerId, session, vendor } = yield* openTable(found, { currency, opening: 100_000 })
            const { bet, win } = messagesOf(found.dialect, session.gameId)
            let calls = 0
            const send = (message: Message) => play(vendor, session, message, `call-${++calls}`)
            const unitsOf = (amount: string): number => toMinorUnits(decimalOf(amount), digits) ?? Number.NaN

            if (found.dialect.tooFine(decimalOf(stake), digits) !== undefined) {
              const refused = yield* send(bet("fine", fine))
              assert.include(found.dialect.expect("bet", "fractional_amount").codes, refused.code, refused.text)
            }
            const first = bet("b", stake)
            const placed = yield* send(first)
            assert.include(found.dialect.expect("bet", "new").codes, placed.code, placed.text)
            const paid = yield* send(win("w", first, prize))
            assert.include(found.dialect.expect("win", "new").codes, paid.code, paid.text)
            for (const { problems } of [placed, paid]) assert.deepStrictEqual(problems, [])
            const left = 100_000 - unitsOf(stake) + unitsOf(prize)
            assert.isDefined(paid.balance, paid.text)
            assert.strictEqual(toMinorUnits(paid.balance, digits), left, paid.text)
            assert.strictEqual(yield* realOf(playerId), left)
          }))
      }
    }
  }
)
