/**
 * A casino after ten days, for tests and pictures of pages: every page has rows, with realistic names
 * of people. Every list is short enough to be rendered completely.
 */
import { assert } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { FigureReadings } from "../../src/features/figures/FigureReadings.ts"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { WebhookSender } from "../../src/features/webhooks/WebhookSender.ts"
import { backgroundJobs, layerWebhooks } from "../../src/service.ts"
import { Scheduler } from "../../src/platform/Scheduler.ts"
import { protocols } from "../../src/protocols/Protocols.ts"
import { layerBothServers } from "./Backoffice.ts"
import { assertRefused, type Casino, dataOf, fresh, made, openCasino, staff, staffCall } from "./Casino.ts"
import { Browser, signedInFully } from "./Browser.ts"
import { Calendar, dayMs, hourMs, pass } from "./Calendar.ts"
import { fakeProtocol, makeFakeVendor } from "./FakeVendor.ts"
import { makeSink } from "./WebhookSink.ts"

const people = [
  ["mara_lind", "Mara", "Lind", "DE", "Hamburg"],
  ["tom_okafor", "Tom", "Okafor", "IE", "Cork"],
  ["ines77", "Inês", "Duarte", "PT", "Porto"],
  ["paul-weber", "Paul", "Weber", "AT", "Graz"],
  ["lotte_v", "Lotte", "Visser", "NL", "Utrecht"]
] as const

/** Registers a person with a first deposit. Amounts in minor units. */
const seated = Effect.fnUntraced(
  function*(casino: Casino, [username, first, last, country, city]: (typeof people)[number], deposit: number) {
    const seat = yield* casino.sit(deposit, {
      username,
      email: `${username}@mail.example`,
      first_name: first,
      last_name: last,
      country,
      city
    })
    return { ...seat, username }
  }
)

type Seat = Effect.Success<ReturnType<typeof seated>>

/** Opens the game for a player: a session of its own. */
const opened = Effect.fnUntraced(function*(casino: Casino, { id }: Pick<Seat, "id">) {
  const { session_token } = dataOf(yield* casino.launch(id))
  const { player_ref } = dataOf(yield* casino.callWallet("authenticate", { session_token }))
  return casino.playOf(session_token, player_ref)
})

/** Plays a bet and its win; returns the round. */
const round = Effect.fnUntraced(function*(casino: Casino, player: Pick<Seat, "id">, stake: number, won: number) {
  const seat = yield* opened(casino, player)
  const { transaction_id: bet } = dataOf(yield* seat.bet(stake))
  dataOf(yield* seat.win(bet, won))
})

/** Large enough for an alert. */
const jackpot = Effect.fnUntraced(function*(casino: Casino, player: Pick<Seat, "id">) {
  const { ref: player_ref } = yield* opened(casino, player)
  const name = fresh("jackpot-")
  const named = { request_id: name, transaction_id: name, campaign_id: name, kind: "jackpot" }
  dataOf(yield* casino.callWallet("promo-win", { ...named, player_ref, amount: 120_000, currency: "EUR" }))
})

const makeScene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const readings = yield* FigureReadings
  const { flush } = yield* WebhookSender
  const jobs = yield* backgroundJobs

  const casino = yield* openCasino({
    name: "Lucky Casino",
    withdrawal_second_approval_above: 50_000,
    forfeit_bonus_on_withdrawal: false
  })
  const other = yield* openCasino({ name: "Nordlys", currency: "SEK" })
  for (
    const [{ slots, studio, table }, name, slot, live] of [
      [casino, "North Studio", "Golden Reels", "Live Blackjack"],
      [other, "Fjord Games", "Harbour Lights", "Live Roulette"]
    ] as const
  ) {
    yield* staff("PATCH", `/providers/${studio.id}`, { name })
    yield* staff("PATCH", `/games/${slots.id}`, { name: slot, rtp: 96.2 })
    yield* staff("PATCH", `/games/${table.id}`, { name: live, rtp: 99.5 })
  }
  const vendor = yield* makeFakeVendor
  const partner = yield* made("/providers", {
    slug: fresh("aviate-"),
    name: "Aviate Games",
    protocol: "fake",
    settings: vendor.settings
  })
  const book = yield* made("/games", { provider: partner.slug, external_id: "book", name: "Book of Tides", rtp: 95.8 })

  // ten days of play
  const seats = yield* Effect.forEach(people, (person, index) => seated(casino, person, 30_000 + index * 7500))
  const [mara, tom, ines, paul, lotte] = seats
  assert(mara !== undefined && tom !== undefined && ines !== undefined && paul !== undefined && lotte !== undefined)
  yield* staff("PATCH", "/alert-rules/large_credit", { operator: casino.slug, threshold: 100_000 })
  const jackpots = new Map([[4, ines], [7, tom]])
  for (let day = 0; day < 9; day++) {
    for (const [index, seat] of seats.entries()) {
      const stake = 500 + (day * 370 + index * 910) % 2400
      yield* round(casino, seat, stake, (day + index) % 3 === 0 ? Math.round(stake * 1.7) : 0)
    }
    const winner = jackpots.get(day)
    if (winner !== undefined) yield* jackpot(casino, winner)
    // totals of the day, an hour apart
    yield* readings.readHour
    yield* pass(hourMs)
    yield* readings.readHour
    yield* pass(dayMs - hourMs)
  }
  const foreigner = yield* other.register({
    currency: "SEK",
    username: "sven_ek",
    email: "sven_ek@mail.example",
    first_name: "Sven",
    last_name: "Ek",
    country: "SE"
  })
  dataOf(yield* other.deposit(foreigner.id, 250_000), 201)
  for (const seat of seats.slice(1)) yield* round(casino, seat, 9000, 0)
  const seat = yield* opened(casino, mara)
  const { transaction_id: shown } = dataOf(yield* seat.bet(2000))
  const { transaction_id: taken } = dataOf(yield* seat.bet(800, { round_id: shown }))
  dataOf(yield* seat.rollback(taken))
  const late = fresh("win-")
  assertRefused(yield* seat.win(taken, 1500, { round_id: shown, transaction_id: late }), 409, "BET_ROLLED_BACK")
  dataOf(yield* seat.win(shown, 3450))
  dataOf(yield* seat.bet(300))
  yield* readings.readHour

  // offers
  const welcome = yield* casino.newBonus({
    name: "Welcome offer",
    default_amount: 5000,
    wagering_multiplier: 30,
    max_conversion_multiplier: 5
  })
  yield* casino.newBonus({ name: "Friday cashback", type: "cashback", default_amount: 2000, wagering_multiplier: 5 })
  dataOf(yield* casino.grant(mara.id, welcome.id), 201)
  dataOf(yield* casino.grant(paul.id, welcome.id), 201)
  yield* made("/promo-codes", { operator: casino.slug, code: "WELCOME50", bonus: welcome.id, max_redemptions: 500 })
  yield* made("/promo-codes", { operator: casino.slug, code: "COMEBACK", bonus: welcome.id })
  yield* made("/free-rounds", { player: mara.id, game: book.id, rounds: 20, stake: 20, valid_days: 7 })

  // staff
  const admin = yield* signedInFully({ name: "Ann Berg" })
  const officer = yield* made("/staff", { name: "Cleo Martin", role: "compliance" })
  yield* made("/staff", { name: "Sam Novak", role: "support", operators: [casino.slug] })
  const cashier = yield* made("/staff", { name: "Ben Roth", role: "payments" })

  // players as staff know them
  yield* staff("POST", `/players/${mara.id}/kyc`, { status: "pending_review" })
  yield* staff("POST", `/players/${mara.id}/kyc`, { status: "verified", document_expires_on: "2031-04-30" })
  yield* staff("POST", `/players/${paul.id}/status`, { status: "locked", reason: "Asked by phone" })
  yield* staff("POST", `/players/${mara.id}/notes`, { text: "Called about a card that is new. Sent the form." })
  dataOf(yield* casino.limit(mara.id, { max_daily_bet: 10_000, max_weekly_loss: 50_000, max_session_minutes: 120 }))

  // money that waits, was paid and was refused
  const held = dataOf(yield* casino.withdraw(lotte.id, 12_000), 201)
  for (const [player, amount] of [[mara, 20_000], [lotte, 9500], [mara, 4500]] as const) {
    dataOf(yield* casino.withdraw(player.id, amount), 201)
  }
  yield* staff("POST", `/payments/${held.id}/approve`, {})
  const { status } = yield* staffCall(
    "POST",
    `/backoffice/v1/players/${ines.id}/corrections`,
    { amount: 60_000, reason: "The win of Saturday was not paid" },
    { authorization: `Bearer ${cashier.token}` }
  )
  assert.strictEqual(status, 202)

  // alerts
  const [{ id: alert }] = yield* staff("GET", `/alerts?player=${ines.id}&rule=large_credit`)
  yield* staff("POST", `/alerts/${alert}/assign`, { staff: String(officer.id) })
  yield* staff("PATCH", `/alerts/${alert}`, { status: "in_review", note: "Asked the provider to confirm the jackpot." })

  const { id: file } = yield* made("/cases", {
    type: "aml",
    player: ines.id,
    alerts: [alert],
    note: "A jackpot on the first day: who is she?"
  })
  yield* staff("POST", `/cases/${file}/funds`, { text: "Please send us your last three payslips.", due: "P14D" })

  dataOf(yield* casino.exclude(tom.id, { period: "7_days" }))

  // webhooks, one of which fails
  const sink = yield* makeSink()
  const broken = yield* makeSink(() => (response) => response.writeHead(503).end("maintenance until 14:00"))
  yield* made("/webhooks", { operator: other.slug, url: sink.url })
  const webhook = yield* made("/webhooks", { operator: casino.slug, url: broken.url })
  dataOf(yield* casino.deposit(mara.id, 12_345), 201)
  dataOf(yield* other.deposit(foreigner.id, 40_000), 201)
  yield* flush
  const [delivery] = yield* staff("GET", `/deliveries?webhook=${webhook.id}`)

  const newcomer = yield* made("/operators", { slug: fresh("aurora-"), name: "Aurora", currency: "EUR" })
  yield* made("/keys", { operator: newcomer.slug })

  yield* readings.readFunds
  yield* Effect.scoped(
    Layer.build(Layer.fresh(Scheduler.layerIdle(jobs))).pipe(
      Effect.flatMap((built) => Context.get(built, Scheduler).runDue)
    )
  )
  // an account that was used: every page is opened in its session
  yield* sql`UPDATE staff SET last_used_at = ${new Date(
    (yield* Clock.currentTimeMillis) - hourMs
  )} WHERE id = ${admin.id}`

  const browser = yield* Browser
  return {
    casino,
    /** An operator that is being set up. */
    newcomer,
    admin,
    player: mara,
    locked: paul,
    excluded: tom,
    round: String(shown),
    /** A win that was refused. */
    late,
    bonus: welcome,
    partner,
    alert,
    file,
    webhook,
    delivery,
    window: yield* browser.open({ cookie: admin.cookie })
  }
})

/** The casino's resources, and a browser window of an admin. */
export class PageScene
  extends Context.Service<PageScene, Effect.Success<typeof makeScene>>()("pitboss/test/PageScene")
{
  static readonly layer = Layer.effect(PageScene, makeScene).pipe(
    Layer.provideMerge(Browser.layer),
    Layer.provideMerge(layerWebhooks.pipe(Layer.provideMerge(layerBothServers))),
    Layer.provideMerge(Calendar.layer),
    Layer.provideMerge(Browser.layerBuilt),
    Layer.provide(Layer.succeed(ProviderProtocols, [...protocols, fakeProtocol]))
  )
}
