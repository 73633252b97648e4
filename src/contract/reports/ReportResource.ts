/** Wire schemas of the GGR (gross gaming revenue) report and of exchange rates. */
import { Schema } from "effect"
import { integer } from "../common/Fields.ts"
import { currencyCode, id, money } from "../common/Resource.ts"

const day = Schema.String.annotate({ format: "date", examples: ["2026-11-01"] })

const count = Schema.Int.annotate({ examples: [120] })

const play = { bets: money, wins: money, ggr: money, rounds: count, players: count }

const TypeFigures = Schema.Struct(play).annotate({ identifier: "GgrOfType" })

const ProviderFigures = Schema.Struct({
  provider_id: id,
  provider: Schema.String.annotate({ description: "Its name." }),
  bets: money,
  wins: money,
  ggr: money,
  bonus_bets: money.annotate({ description: "The part of `bets` that was bonus money." }),
  rounds: count
}).annotate({ identifier: "GgrOfProvider" })

const Unconverted = Schema.Struct({
  currency: currencyCode,
  entries: count,
  bets: money,
  wins: money,
  bonus_bets: money,
  bonus_conversions: money,
  deposits: money,
  chargebacks: money,
  withdrawals: money
}).annotate({ identifier: "GgrUnconverted" })

/** The GGR report (SPEC section 2.10). */
export const GgrReport = Schema.Struct({
  from: day,
  to: day,
  currency: currencyCode,
  include_test_players: Schema.Boolean,
  casino: Schema.Struct({
    ...play,
    by_type: Schema.Struct({ rng: TypeFigures, live: TypeFigures }),
    by_provider: Schema.Array(ProviderFigures)
  }),
  bonus_conversions: money,
  net_gaming_revenue: money.annotate({ description: "`casino.ggr` less `bonus_conversions`." }),
  payments: Schema.Struct({
    deposits: money.annotate({ description: "Paid deposits less `chargebacks`." }),
    depositing_players: count,
    withdrawals: money.annotate({ description: "By the day they were paid out." }),
    withdrawing_players: count,
    net_deposits: money,
    chargebacks: money.annotate({ description: "Deposits charged back, by the day of the chargeback." })
  }),
  players: Schema.Struct({ registered: count }),
  unconverted: Schema.Array(Unconverted).annotate({
    description:
      "What no figure above holds, because there was no exchange rate when it was written: in its own currency."
  })
}).annotate({
  identifier: "GgrReport",
  description: "Amounts are minor units of the operator's currency; players are different ones over the whole range.",
  examples: [{
    from: "2026-11-01",
    to: "2026-11-30",
    currency: "EUR",
    include_test_players: false,
    casino: {
      bets: 125_000,
      wins: 118_500,
      ggr: 6500,
      rounds: 410,
      players: 57,
      by_type: {
        rng: { bets: 100_000, wins: 95_000, ggr: 5000, rounds: 380, players: 52 },
        live: { bets: 25_000, wins: 23_500, ggr: 1500, rounds: 30, players: 9 }
      },
      by_provider: [{
        provider_id: 4211,
        provider: "Studio",
        bets: 125_000,
        wins: 118_500,
        ggr: 6500,
        bonus_bets: 4000,
        rounds: 410
      }]
    },
    bonus_conversions: 1200,
    net_gaming_revenue: 5300,
    payments: {
      deposits: 90_000,
      depositing_players: 41,
      withdrawals: 30_000,
      withdrawing_players: 12,
      net_deposits: 60_000,
      chargebacks: 0
    },
    players: { registered: 23 },
    unconverted: []
  }]
})

/** An exchange rate, which holds from `created_at` until the next one of its currencies. */
export const ExchangeRate = Schema.Struct({
  id: integer(1, Number.MAX_SAFE_INTEGER),
  currency: currencyCode,
  base: currencyCode,
  rate: Schema.Finite.annotate({ description: "One unit of `currency` in units of `base`.", examples: [0.92] }),
  created_at: Schema.String.annotate({ format: "date-time" })
}).annotate({ identifier: "ExchangeRate" })
