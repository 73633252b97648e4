/** Vendors at the end-to-end server, each of a new operator, with players at their games and the messages of play. */
import { Effect } from "effect"
import { parseDecimal } from "../../src/protocols/Decimal.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import type {
  BetMessage,
  Dialect,
  PromoMessage,
  RollbackMessage,
  WinMessage
} from "../../scripts/simulators/Dialect.ts"
import { addTenant, deposit, fresh, register } from "./Casino.ts"
import { makeAgent, portOf } from "./HttpCalls.ts"
import { addVendor, openSeat, type VendorCase } from "./Vendors.ts"

interface Options {
  readonly currency?: string
  /** Minor units that each player has. */
  readonly opening?: number
}

/** A vendor with one game, and a new operator. */
export const openVendor = Effect.fnUntraced(
  function*(vendorCase: VendorCase, { currency = "EUR", opening = 10_000 }: Options = {}) {
    const port = yield* portOf
    const agent = yield* makeAgent()
    const slug = fresh("s")
    const { call: operator } = yield* addTenant(agent, port, `o${slug}`, { currency })
    const vendor = yield* addVendor(agent, port, `v${slug}`, vendorCase)
    const newPlayer = Effect.fnUntraced(function*(balance = opening) {
      const name = fresh("s")
      const playerId = yield* register(operator, `p${name}`, { currency })
      yield* deposit(operator, playerId, balance, name)
      return playerId
    })
    return { operator, vendor, newPlayer }
  }
)

/** The same with a player at the game. */
export const openTable = Effect.fnUntraced(function*(vendorCase: VendorCase, options?: Options) {
  const opened = yield* openVendor(vendorCase, options)
  const playerId = yield* opened.newPlayer()
  const session = yield* openSeat(opened.vendor, playerId)
  return { ...opened, playerId, session }
})

/** A player's real money, minor units. */
export const realOf = (playerId: number) =>
  Effect.flatMap(PlayerActors, (actors) => Effect.map(actors.read(null, playerId), ({ real }) => real))

export const decimalOf = (text: string) => parseDecimal(text) ?? { coefficient: Number.NaN, scale: 0 }

/** Messages of a vendor about one game. Amounts are texts of major units; each bet has a round of its own. */
export const messagesOf = ({ winsName }: Dialect, gameId: string) => ({
  bet: (id: string, amount = "10.50"): BetMessage => ({
    kind: "bet",
    id,
    roundId: `round-${id}`,
    gameId,
    amount: decimalOf(amount),
    grant: null
  }),
  win: (id: string, bet: BetMessage, amount = "25.00"): WinMessage => ({
    ...bet,
    kind: "win",
    id,
    bet: winsName === "bet" ? bet : null,
    amount: decimalOf(amount),
    closes: true
  }),
  rollback: (id: string, bet: BetMessage): RollbackMessage => ({
    kind: "rollback",
    id,
    bet,
    roundId: bet.roundId,
    gameId
  }),
  promo: (id: string, amount: string): PromoMessage => ({
    kind: "promo",
    id,
    gameId,
    amount: decimalOf(amount),
    grant: null
  })
})
