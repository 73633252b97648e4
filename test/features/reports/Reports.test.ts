import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as FastCheck from "fast-check"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { ExchangeRates } from "../../../src/features/exchangeRates/ExchangeRates.ts"
import { LedgerAudit } from "../../../src/features/ledger/LedgerAudit.ts"
import { Bonuses } from "../../../src/features/bonuses/Bonuses.ts"
import { Corrections } from "../../../src/features/corrections/Corrections.ts"
import type { Operator, Provider } from "../../../src/domain/state/Operator.ts"
import type { Settlement } from "../../../src/domain/settlement/Settlement.ts"
import { Games } from "../../../src/features/games/Games.ts"
import { Launches } from "../../../src/features/launches/Launches.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { Approvals } from "../../../src/features/payments/Approvals.ts"
import { Payments } from "../../../src/features/payments/Payments.ts"
import { GameSums } from "../../../src/features/reports/GameSums.ts"
import { Reports } from "../../../src/features/reports/Reports.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { ProviderWallet } from "../../../src/features/settlement/ProviderWallet.ts"
import { ownWallet } from "../../kit/OwnWallet.ts"
import { Wallet } from "../../../src/features/wallet/Wallet.ts"
import { Calendar, goTo, pass } from "../../kit/Calendar.ts"
import { dayText, ReportNotes, slowReports, type Source } from "../../kit/ReportModel.ts"
import { runs } from "../../kit/Runs.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: a report of any range equals the ledger's sums, to the unit, and past days never change. Method: random traffic of two
// operators through the service on a calendar of the test's (bets in one round over midnight, rollbacks days later, games whose type
// changes, wins without a game, deposits, payouts and chargebacks, bonuses, rates that change, one currency without any); then
// reports of random ranges against sums over every entry in exact fractions. `ledger verify` must agree.

const start = "2026-06-10T12:00:00Z"
const staff = { id: null, name: "test", role: "admin", operators: null, label: "staff:1" } as const
const quiet = { claim: undefined, render: () => ({ status: 200, body: "{}" }) }

const providerOf = (id: number, name: string): Provider => ({
  id,
  slug: name.toLowerCase(),
  name,
  key: name,
  launchUrl: null,
  demoUrl: null,
  ipAllowlist: [],
  active: true
})
const studios = [providerOf(1, "Zeta"), providerOf(2, "Alpha")]
const names = new Map(studios.map(({ id, name }) => [id, name]))

const live = layerBackoffice.pipe(
  Layer.provideMerge(layerTestService()),
  Layer.provideMerge(Layer.effectDiscard(goTo(start))),
  Layer.provideMerge(Calendar.layer)
)

const step = FastCheck.record({
  player: FastCheck.nat(5),
  what: FastCheck.constantFrom(
    "bet",
    "bet",
    "bet",
    "bet",
    "same round",
    "free bet",
    "win",
    "win",
    "bet and win",
    "batch",
    "rollback",
    "rollback",
    "promo",
    "prize",
    "deposit",
    "payout",
    "chargeback",
    "correct",
    "bonus",
    "cash",
    "rate",
    "game"
  ),
  amount: FastCheck.integer({ min: 1, max: 900 }),
  pick: FastCheck.nat(1000),
  ahead: FastCheck.constantFrom("none", "none", "none", "none", "minute", "midnight", "midnight", "day", "days")
})

type Step = typeof step extends FastCheck.Arbitrary<infer A> ? A : never

interface Seat {
  readonly id: number
  readonly operator: Operator
  readonly currency: string
}

interface Played {
  readonly transactionId: string
  readonly seat: Seat
  readonly provider: Provider
  readonly game: string
  readonly roundId: string
  readonly source: Source | null
}

const rateTexts = ["0.0061", "0.92", "3.2511", "1.000000001", "162.4"]

layer(live, { excludeTestServices: true })("reports", (it) => {
  it.effect(
    "equal the figures computed from the ledger",
    Effect.fnUntraced(function*() {
      const context = yield* Effect.context<Effect.Services<ReturnType<typeof traffic>>>()
      const run = Effect.runPromiseWith(context)
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(
            FastCheck.array(step, { minLength: 20, maxLength: 45 }),
            FastCheck.infiniteStream(FastCheck.nat(400)),
            (steps, chance) => run(traffic(steps, chance))
          ),
          { numRuns: runs(3, 12), endOnFailure: true }
        )
      )
    }),
    300_000
  )
})

/** Providers, days and currencies of which sums by game are not those of the commits. */
const unlikeProviders = Effect.flatMap(SqlClient.SqlClient, (sql) => {
  const key = sql.literal("operator_id, day, is_test, currency, provider_id")
  const sums = sql.literal(
    "sum(entries)::text, sum(rounds)::text, sum(bets)::text, sum(bonus_bets)::text, sum(wins)::text"
  )
  return sql`(SELECT 'commits', ${key}, ${sums} FROM daily_sums WHERE provider_id <> 0 GROUP BY ${key}
      EXCEPT SELECT 'commits', ${key}, ${sums} FROM game_sums GROUP BY ${key})
    UNION ALL (SELECT 'games', ${key}, ${sums} FROM game_sums GROUP BY ${key}
      EXCEPT SELECT 'games', ${key}, ${sums} FROM daily_sums WHERE provider_id <> 0 GROUP BY ${key})`
})

/** Plays the steps, and compares. */
const traffic = (steps: ReadonlyArray<Step>, chance: IterableIterator<number>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const wallet = yield* Wallet
    const runner = ownWallet(yield* ProviderWallet)
    const games = yield* Games
    const run = yield* (yield* Ids).reserve(1)
    const at = new Date(yield* Clock.currentTimeMillis)
    for (const { id, key, name, slug } of studios) {
      yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
            VALUES (${id}, ${slug}, ${name}, ${key}, '\\x00', ${at}, ${at}) ON CONFLICT DO NOTHING`
    }
    // games of this run, since their types change
    const gameIds = [run * 10, run * 10 + 1, run * 10 + 2]
    for (const [index, id] of gameIds.entries()) {
      yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
            VALUES (${id}, ${index === 0 ? 1 : 2}, ${`g${id}`}, 'Game', ${
        index === 1 ? "live" : "rng"
      }, 'slots', ${at}, ${at})`
    }
    const operators = [yield* addOperator(`e${run}`), yield* addOperator(`j${run}`, "JPY")] as const
    const seats: Array<Seat> = []
    const seatAt = Effect.fnUntraced(function*(operator: Operator, currency: string, isTest = false) {
      const id = yield* addPlayer({ ...operator, currency }, `p${run}-${seats.length}`)
      yield* sql`UPDATE players SET is_test = ${isTest}, created_at = ${at} WHERE id = ${id}`
      seats.push({ id, operator, currency })
    })
    yield* seatAt(operators[0], "EUR")
    yield* seatAt(operators[0], "EUR")
    yield* seatAt(operators[0], "JPY")
    yield* seatAt(operators[0], "KWD")
    yield* seatAt(operators[0], "EUR", true)
    yield* seatAt(operators[1], "EUR")
    yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
            updated_at)
          SELECT o.id * 10 + b.n, o.id, 'B', b.type, 300, b.n, 3, ${at}, ${at}
          FROM operators o, (VALUES (0, 'cash'), (1, 'no_deposit')) AS b (n, type)
          WHERE o.id IN (${operators[0].id}, ${operators[1].id})`
    for (const operator of operators) {
      yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, created_at)
            VALUES (${operator.id * 10}, ${operator.id}, 'bank', 'Bank', '{EUR,JPY,KWD}', ${at})`
    }

    const notes = new ReportNotes()
    const played: Array<Played> = []
    const rounds = new Map<string, Source>()
    const deposits: Array<{ readonly id: number }> = []
    let number = 0
    const next = () => `${run}-${++number}`
    /** Newest rate of a pair, as set by the test. */
    const rates = new Map<string, number>()
    const known = yield* sql<{ readonly id: number; readonly pair: string }>`SELECT id::float8 AS id,
          currency || base AS pair FROM exchange_rates ORDER BY id`
    for (const { id, pair } of known) rates.set(pair, id)
    const rateOf = ({ currency, operator }: Seat) =>
      currency === operator.currency ? null : rates.get(currency + operator.currency) ?? null

    const ahead = Effect.fnUntraced(function*(how: Step["ahead"], pick: number) {
      const now = yield* Clock.currentTimeMillis
      const toMidnight = 86_400_000 - now % 86_400_000
      const ms = {
        none: 0,
        minute: 60_000,
        midnight: pick % 2 === 0 ? toMidnight - 1 : toMidnight,
        day: 86_400_000,
        days: 86_400_000 * (2 + pick % 3)
      }[how]
      yield* pass(ms)
    })

    /** Records the movements of a settlement; existing entries were recorded before. */
    const note = (settlement: Settlement, source: Source | null): void => {
      for (const id of settlement.entryIds) if (!notes.sources.has(id)) notes.sources.set(id, source)
    }
    const session = Effect.fnUntraced(function*(seat: Seat, gameId: number) {
      return (yield* (yield* Launches).launch(seat.operator.id, seat.id, gameId, {
        mode: "real",
        platform: null,
        ip: null
      }, quiet)).sessionToken
    })
    const typeNow = new Map<number, boolean>()
    for (const [index, id] of gameIds.entries()) typeNow.set(id, index === 1)

    const bet = Effect.fnUntraced(function*(seat: Seat, gameIndex: number, amount: number, roundId: string) {
      const gameId = gameIds[gameIndex] ?? 0
      const provider = studios[gameIndex === 0 ? 0 : 1] ?? assert.fail("no studio")
      const sessionToken = yield* session(seat, gameId)
      return { gameId, provider, game: `g${gameId}`, roundId, amount, sessionToken, transactionId: next() }
    })
    const tookBet = Effect.fnUntraced(function*(seat: Seat, message: Effect.Success<ReturnType<typeof bet>>) {
      const now = yield* Clock.currentTimeMillis
      const { game, gameId, provider, roundId, transactionId } = message
      const key = `${seat.id} ${gameId} ${roundId}`
      const source = rounds.get(key) ?? { providerId: provider.id, isLive: typeNow.get(gameId) === true }
      if (!rounds.has(key)) notes.rounds.push({ playerId: seat.id, at: now, source })
      rounds.set(key, source)
      notes.bets.push({ playerId: seat.id, at: now, isLive: source.isLive })
      played.push({ transactionId, seat, provider, game, roundId, source })
      return source
    })
    const messageOf = (
      { amount, game, roundId, sessionToken, transactionId }: Effect.Success<ReturnType<typeof bet>>,
      currency: string
    ) => ({
      transaction_id: transactionId,
      session_token: sessionToken,
      game_id: game,
      round_id: roundId,
      amount,
      currency
    })
    const refs = yield* PlayerRefs

    const one = Effect.fnUntraced(function*({ amount, pick, player, what }: Step) {
      const seat = seats[player] ?? assert.fail("no seat")
      const { currency, operator } = seat
      const earlier = played.length === 0 ? undefined : played[pick % played.length]
      switch (what) {
        case "bet":
        case "free bet": {
          const message = yield* bet(seat, pick % 3, what === "bet" ? amount : 0, next())
          note(yield* runner.bet(message.provider, messageOf(message, currency)), yield* tookBet(seat, message))
          return
        }
        case "same round": {
          if (earlier?.roundId === undefined || earlier.roundId === "") return
          const message = yield* bet(
            earlier.seat,
            gameIds.findIndex((id) => `g${id}` === earlier.game),
            amount,
            earlier.roundId
          )
          const settled = yield* runner.bet(message.provider, messageOf(message, earlier.seat.currency))
          note(settled, yield* tookBet(earlier.seat, message))
          return
        }
        case "bet and win": {
          const message = yield* bet(seat, pick % 3, amount, next())
          const won = next()
          const settled = yield* runner.betWin(message.provider, {
            ...messageOf(message, currency),
            win: { transaction_id: won, amount: pick }
          })
          const source = yield* tookBet(seat, message)
          note(settled, source)
          played.push({ ...message, transactionId: won, seat, source })
          return
        }
        case "batch": {
          const message = yield* bet(seat, pick % 3, amount, next())
          const playerRef = refs.playerRef(message.provider.id, seat.id)
          const other = { ...message, roundId: next(), transactionId: next() }
          const settled = yield* runner.batch(message.provider, [
            { action: "bet", ...messageOf(message, currency) },
            { action: "bet", ...messageOf(other, currency) },
            {
              action: "rollback",
              transaction_id: next(),
              player_ref: playerRef,
              target_transaction_id: message.transactionId
            }
          ])
          const [first, second, third] = settled
          if (first === undefined || second === undefined || third === undefined) return assert.fail("three were sent")
          const source = yield* tookBet(seat, message)
          note(first, source)
          note(third, source)
          note(second, yield* tookBet(seat, other))
          return
        }
        case "win": {
          if (earlier === undefined || earlier.roundId === "") return
          const transactionId = next()
          note(
            yield* runner.win(earlier.provider, {
              transaction_id: transactionId,
              player_ref: refs.playerRef(earlier.provider.id, earlier.seat.id),
              game_id: earlier.game,
              round_id: earlier.roundId,
              bet_transaction_id: earlier.transactionId,
              amount: pick % 5 === 0 ? 0 : amount,
              currency: earlier.seat.currency
            }),
            earlier.source
          )
          played.push({ ...earlier, transactionId })
          return
        }
        case "rollback": {
          if (earlier === undefined) return
          note(
            yield* runner.rollback(earlier.provider, {
              transaction_id: next(),
              player_ref: refs.playerRef(earlier.provider.id, earlier.seat.id),
              target_transaction_id: earlier.transactionId
            }),
            earlier.source
          )
          return
        }
        case "promo":
        case "prize": {
          const provider = studios[pick % 2] ?? assert.fail("no studio")
          yield* session(seat, gameIds[pick % 2] ?? 0)
          const source = what === "prize" ? null : { providerId: provider.id, isLive: false }
          const transactionId = next()
          note(
            yield* runner.promoWin(provider, {
              transaction_id: transactionId,
              player_ref: refs.playerRef(provider.id, seat.id),
              amount,
              currency,
              kind: what === "prize" ? "tournament" : "jackpot",
              campaign_id: "c"
            }),
            source
          )
          played.push({ transactionId, seat, provider, game: "", roundId: "", source })
          return
        }
        case "deposit": {
          const { payment } = yield* wallet.deposit(operator, seat.id, {
            amount: amount * 10,
            externalReference: next(),
            paymentMethod: null,
            info: null,
            notes: null
          }, quiet)
          deposits.push(payment)
          return
        }
        case "payout": {
          const approvals = yield* Approvals
          const { payment } = yield* (yield* Payments).withdraw(operator, seat.id, {
            amount,
            externalReference: next(),
            paymentMethod: "bank",
            info: null,
            notes: null,
            bankName: null
          }, quiet)
          const command = { paymentId: payment.id, actor: "staff:1", reason: null }
          yield* approvals.apply({ ...command, transition: "approve" })
          yield* ahead(pick % 2 === 0 ? "day" : "none", 0)
          yield* approvals.apply({ ...command, transition: "pay" })
          notes.payouts.push({ playerId: seat.id, at: yield* Clock.currentTimeMillis, amount, rate: rateOf(seat) })
          return
        }
        case "chargeback": {
          const deposit = deposits.pop()
          if (deposit === undefined) return
          yield* (yield* Approvals).apply({
            paymentId: deposit.id,
            transition: "chargeback",
            actor: "staff:1",
            reason: null
          })
          return
        }
        case "correct":
          yield* (yield* Corrections).correct(staff, seat.id, {
            wallet: "real",
            amount: pick % 2 === 0 ? amount : -amount,
            reason: "test"
          })
          return
        case "bonus":
        case "cash":
          yield* (yield* Bonuses).grant(operator.id, seat.id, {
            bonusId: operator.id * 10 + (what === "cash" ? 0 : 1),
            amount: null,
            note: null
          }, quiet)
          return
        case "rate": {
          const [currency, base] = pick % 3 === 0 ? ["EUR", "JPY"] as const : ["JPY", "EUR"] as const
          const set = yield* (yield* ExchangeRates).set(staff, {
            currency,
            base,
            rate: Number(rateTexts[pick % rateTexts.length])
          })
          rates.set(currency + base, set.id)
          return
        }
        case "game": {
          const id = gameIds[pick % 3] ?? 0
          const isLive = typeNow.get(id) !== true
          yield* sql`UPDATE games SET type = ${isLive ? "live" : "rng"} WHERE id = ${id}`
          yield* games.refresh
          typeNow.set(id, isLive)
          return
        }
      }
    })

    for (const seat of seats) {
      deposits.push(
        (yield* wallet.deposit(seat.operator, seat.id, {
          amount: 20_000,
          externalReference: next(),
          paymentMethod: null,
          info: null,
          notes: null
        }, quiet)).payment
      )
    }
    let done = 0
    for (const taken of steps) {
      yield* ahead(taken.ahead, taken.pick)
      // a refusal has no effect, and so is not recorded
      const exit = yield* Effect.exit(one(taken))
      if (Exit.isSuccess(exit)) done++
      else if (Exit.hasDies(exit)) return yield* exit
    }
    assert.isAtLeast(done, steps.length / 4, "most of what was tried was refused")

    const reports = yield* Reports
    const end = yield* Clock.currentTimeMillis
    const days = Math.floor(end / 86_400_000) - Math.floor(at.getTime() / 86_400_000)
    const draw = () => chance.next().value
    for (const operator of operators) {
      const expected = yield* slowReports(operator, notes, names)
      for (let asked = 0; asked < 8; asked++) {
        const first = asked === 0 ? 0 : draw() % (days + 1)
        const last = asked === 0 ? Math.min(days, 365) : Math.min(first + draw() % 366, days + 2)
        const range = {
          from: dayText(at.getTime() + first * 86_400_000),
          to: dayText(at.getTime() + Math.max(first, last) * 86_400_000),
          includeTestPlayers: asked % 3 === 1
        }
        assert.deepStrictEqual(yield* reports.ggr(operator.id, range), expected(range))
      }
    }
    // by game, once everything is ten minutes old, play is what it is by provider; two that add it up at once add it once
    yield* pass(600_001)
    const { addUp, report } = yield* GameSums
    yield* Effect.all([addUp, addUp], { concurrency: 2 })
    while ((yield* addUp).hasMore);
    const yen = operators[1]
    const range = { from: dayText(at.getTime()), to: dayText(end + 600_000), includeTestPlayers: draw() % 2 === 0 }
    if (days < 366) {
      // in the operator's currency the parts are rounded one by one
      const { casino } = yield* reports.ggr(yen.id, range)
      const { rows } = yield* report(yen.id, range)
      for (const { bets, bonus_bets, provider, rounds: opened, wins } of casino.by_provider) {
        const own = rows.filter((row) => row.provider === provider)
        const sum = (figure: "bets" | "bonus_bets" | "wins" | "rounds") =>
          own.reduce((total, { [figure]: value }) => total + value, 0)
        assert.strictEqual(sum("rounds"), opened)
        assert.closeTo(sum("bets"), bets, own.length)
        assert.closeTo(sum("bonus_bets"), bonus_bets, own.length)
        assert.closeTo(sum("wins"), wins, own.length)
      }
      const moved = rows.filter(({ bets, bonus_bets, rounds: opened, wins }) =>
        [bets, bonus_bets, opened, wins].some((figure) => figure !== 0)
      )
      assert.includeMembers(
        casino.by_provider.map(({ provider }) => provider),
        moved.map(({ provider }) => provider ?? "")
      )
    }
    // in the players' own currencies, day by day, to the unit
    assert.deepStrictEqual(yield* unlikeProviders, [])
    assert.deepStrictEqual((yield* (yield* LedgerAudit).verify(undefined)).violations, [])
  })
