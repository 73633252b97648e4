import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { parseDecimal, toMinorUnits } from "../../src/protocols/Decimal.ts"
import type { BetMessage, Message } from "../../vendor/Dialect.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addTenant, deposit, freshName, register } from "../kit/E2eWorld.ts"
import { addVendor, openSeat, play, vendorCases } from "../kit/Vendors.ts"

// Goal: amounts of currencies with no and with three decimals are parsed and formatted as each protocol writes them. Method: a round of every
// vendor over HTTP in both currencies, and a stake that is no whole number of minor units; the player's money besides the answers.

const currencies = [
  { currency: "JPY", digits: 0, stake: "250", fine: "250.5", prize: "1000" },
  { currency: "KWD", digits: 3, stake: "2.505", fine: "2.5055", prize: "10.001" }
] as const

const decimalOf = (text: string) => parseDecimal(text) ?? { coefficient: Number.NaN, scale: 0 }

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("currencies of vendors", (it) => {
  for (const found of vendorCases) {
    for (const { currency, digits, fine, prize, stake } of currencies) {
      it.effect(`${found.name}: ${currency}`, () =>
        Effect.gen(function*() {
          const port = yield* portOf
          const agent = yield* makeAgent()
          const actors = yield* PlayerActors
          const name = (yield* freshName).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")
          const tenant = yield* addTenant(agent, port, `o${name}`, { currency })
          const vendor = yield* addVendor(agent, port, `v${name}`, found)
          const playerId = yield* register(tenant.call, `p${name}`, { currency })
          yield* deposit(tenant.call, playerId, 100_000, name)
          const session = yield* openSeat(vendor, playerId)
          let calls = 0
          const send = (message: Message) => play(vendor, session, message, `call-${++calls}`)
          const bet = (id: string, amount: string): BetMessage => ({
            kind: "bet",
            id: `${name}-${id}`,
            roundId: `${name}-r`,
            gameId: session.gameId,
            amount: decimalOf(amount),
            grant: null
          })
          const unitsOf = (amount: string): number => toMinorUnits(decimalOf(amount), digits) ?? Number.NaN

          if (found.dialect.tooFine(decimalOf(stake), digits) !== undefined) {
            const refused = yield* send(bet("fine", fine))
            assert.include(found.dialect.expect("bet", "too_fine").codes, refused.code, refused.text)
          }
          const first = bet("b", stake)
          const placed = yield* send(first)
          assert.include(found.dialect.expect("bet", "first").codes, placed.code, placed.text)
          const paid = yield* send({
            ...first,
            kind: "win",
            id: `${name}-w`,
            bet: found.dialect.winsName === "bet" ? first : null,
            amount: decimalOf(prize),
            closes: true
          })
          assert.include(found.dialect.expect("win", "first").codes, paid.code, paid.text)
          for (const { problems } of [placed, paid]) assert.deepStrictEqual(problems, [])
          const left = 100_000 - unitsOf(stake) + unitsOf(prize)
          assert.isDefined(paid.balance, paid.text)
          assert.strictEqual(toMinorUnits(paid.balance, digits), left, paid.text)
          assert.strictEqual((yield* actors.read(null, playerId)).real, left)
        }))
    }
  }
})
