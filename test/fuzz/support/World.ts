/** Fixtures of the fuzzer: operators, providers, games and players, made through the service's own APIs. */
import { Effect, Schema } from "effect"
import type * as Http from "node:http"
import { callWallet, dataAs, deposit, launch, register, type Unexpected } from "../../kit/Casino.ts"
import { callerOf, type ConnectionLost, exchange, type Signer } from "../../kit/HttpCalls.ts"
import { type StrangerAddress, strangerAddresses, strangerProviders } from "../../kit/Strangers.ts"
import { Known } from "./Values.ts"

export interface FuzzTargets {
  readonly agent: Http.Agent
  readonly publicPort: number
  readonly backofficePort: number
  readonly staffToken: string
}

/** Credentials and addresses of the callers. */
export interface Callers {
  readonly operator: Signer
  readonly provider: Signer
  /** Of the operator. */
  readonly slug: string
  readonly operatorId: number
  readonly providerId: number
  /** Ids of the games in the catalogue. */
  readonly slots: number
  readonly dice: number
}

const Made = Schema.Struct({
  id: Schema.optionalKey(Schema.Int),
  key: Schema.optionalKey(Schema.String),
  secret: Schema.optionalKey(Schema.String)
})
const Token = Schema.Struct({ token: Schema.String })
const Authenticated = Schema.Struct({ player_ref: Schema.String })

let count = 0

/** Calls of staff that must succeed. */
const staffOf = ({ agent, backofficePort, staffToken }: FuzzTargets) =>
  Effect.fnUntraced(function*(method: "POST" | "PATCH", path: string, body: object) {
    const headers = { authorization: `Bearer ${staffToken}` }
    const reply = yield* exchange(agent, backofficePort, `/backoffice/v1${path}`, { method, body, headers })
    return yield* dataAs(reply, method === "POST" ? 201 : 200, Made, path)
  })

/** A fixture's keys and one provider in each vendor's protocol: the addresses where strangers' bodies arrive. */
export const openAddresses = Effect.fnUntraced(
  function*(targets: FuzzTargets): Effect.fn.Return<ReadonlyArray<StrangerAddress>, Unexpected | ConnectionLost> {
    const { operator, provider } = yield* openFixture(targets, new Known())
    const vendors = strangerProviders((sample) => `strangers-${sample}`, "https://vendor.example")
    const staff = staffOf(targets)
    for (const { provider } of vendors) yield* staff("POST", "/providers", provider)
    return [
      ...vendors.map(({ address }) => address),
      ...strangerAddresses({ operator: operator.key, provider: provider.key })
    ]
  }
)

/** Seats a new player with money at the slot game. */
const seat = Effect.fnUntraced(function*({ agent, publicPort }: FuzzTargets, callers: Callers, known: Known) {
  const operator = callerOf(agent, publicPort, callers.operator)
  const username = `guest_${count++}`
  const playerId = yield* register(operator, username)
  const payment = yield* deposit(operator, playerId, 1_000_000, username)
  const session = yield* launch(operator, playerId, callers.slots)
  const issued = yield* operator.post(`/api/v1/operator/players/${playerId}/session-tokens`, {})
  const { token } = yield* dataAs(issued, 201, Token)
  const provider = callerOf(agent, publicPort, callers.provider)
  const authenticated = yield* callWallet(provider, "authenticate", { session_token: session })
  const { player_ref: ref } = yield* dataAs(authenticated, 200, Authenticated)
  for (const name of ["player", "player_id"]) known.add(name, playerId)
  known.add("session_token", session)
  known.add("player_ref", ref)
  known.add(`player_ref of ${session}`, ref)
  known.add("bearer", token)
  known.add("payment", payment.id)
  known.add("external_reference", username)
})

/** Opens a fixture: an operator with a key, a studio with two games, a way to pay, a bonus, a promo code, and players with money. */
export const openFixture = Effect.fnUntraced(
  function*(targets: FuzzTargets, known: Known): Effect.fn.Return<Callers, Unexpected | ConnectionLost> {
    const staff = staffOf(targets)
    const slug = `fixture-${count++}`
    const provider = `${slug}-studio`
    const make = (path: string, body: object) => staff("POST", path, body)
    const { id: operatorId } = yield* make("/operators", { slug, name: slug, currency: "EUR" })
    const key = yield* make("/keys", { operator: slug, name: slug, rate_limit_per_minute: 1_000_000 })
    const spare = yield* make("/keys", { operator: slug, name: `${slug} spare` })
    const studio = yield* make("/providers", {
      slug: provider,
      name: slug,
      launch_url: "https://hook.invalid/?t={token}&g={game}&m={mode}",
      demo_url: "https://hook.invalid/demo?g={game}"
    })
    const slots = yield* make("/games", { provider, external_id: "slots", name: `Slots ${slug}` })
    const dice = yield* make("/games", { provider, external_id: "own", name: `Dice ${slug}`, original: "dice" })
    yield* make("/payment-methods", { operator: slug, code: "bank", name: "Bank", currencies: ["EUR", "SEK"] })
    const bonus = yield* make("/bonuses", {
      operator: slug,
      name: "Welcome",
      type: "deposit_match",
      default_amount: 500,
      wagering_multiplier: 3,
      valid_days: 7
    })
    yield* make("/promo-codes", { operator: slug, code: "WELCOME", bonus: bonus.id })

    const callers: Callers = {
      operator: { header: "X-Api-Key", key: key.key ?? "", secret: key.secret ?? "" },
      provider: { header: "X-Provider-Key", key: studio.key ?? "", secret: studio.secret ?? "" },
      slug,
      operatorId: operatorId ?? 0,
      providerId: studio.id ?? 0,
      slots: slots.id ?? 0,
      dice: dice.id ?? 0
    }
    known.add("operator", operatorId)
    known.add("operator", slug)
    known.add("provider", provider)
    known.add("key", spare.key)
    known.add("bonus", bonus.id)
    known.add("bonus_id", bonus.id)
    for (const game of [slots, dice]) known.add("game", game.id)
    known.add("game_id", "slots")
    for (const code of ["WELCOME", "welcome"]) known.add("code", code)
    known.add("payment_method", "bank")
    yield* seat(targets, callers, known)
    yield* seat(targets, callers, known)
    return callers
  }
)

/** Reverts switches changed by generated requests of staff, and seats one more player. */
export const tidy = Effect.fnUntraced(
  function*(targets: FuzzTargets, callers: Callers, known: Known): Effect.fn.Return<void, Unexpected | ConnectionLost> {
    const staff = staffOf(targets)
    const { dice, operatorId, providerId, slots, slug } = callers
    yield* staff("PATCH", `/operators/${operatorId}`, {
      slug,
      active: true,
      disabled_features: [],
      kyc_withdrawal_threshold: null,
      daily_deposit_cap: null,
      daily_withdrawal_cap: null,
      default_limits: {}
    })
    yield* staff("PATCH", `/providers/${providerId}`, {
      slug: `${slug}-studio`,
      active: true,
      ip: [],
      launch_url: "https://hook.invalid/?t={token}&g={game}&m={mode}"
    })
    for (const [game, external] of [[slots, "slots"], [dice, "own"]]) {
      yield* staff("PATCH", `/games/${game}`, { active: true, external_id: external })
    }
    yield* seat(targets, callers, known)
  }
)
