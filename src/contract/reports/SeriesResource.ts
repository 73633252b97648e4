import { Schema } from "effect"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { seriesMetrics, seriesSteps } from "../../domain/Figures.ts"
import { walletKinds } from "../../domain/state/Change.ts"

const count = Schema.Int.annotate({ examples: [120] })

/** Key figures over time (`GET /reports/series`). */
export const Series = Schema.Struct({
  operator_id: id,
  metric: Schema.Literals(seriesMetrics),
  step: Schema.Literals(seriesSteps),
  currency: Schema.NullOr(currencyCode).annotate({ description: "Of the values: the operator's; null for counts." }),
  points: Schema.Array(Schema.Struct({
    at: timestamp.annotate({ description: "Beginning of the day or hour, UTC." }),
    value: Schema.NullOr(Schema.Int).annotate({
      description: "Minor units, or a count; null for an hour without a reading, and for one that has not begun."
    })
  })),
  unconverted: Schema.Array(currencyCode).annotate({
    description: "Currencies of entries that no value holds, because there was no exchange rate."
  })
}).annotate({ identifier: "FigureSeries" })

/** What the rows of a breakdown are: `all` has the others one after the other, for one file of everything. */
export const breakdownGroups = ["day", "month", "provider", "type", "all"] as const

/** Play of a range of days in groups (`GET /reports/breakdown`). */
export const Breakdown = Schema.Struct({
  operator_id: id,
  currency: currencyCode,
  rows: Schema.Array(Schema.Struct({
    by: Schema.Literals(["total", "month", "day", "type", "provider"]),
    key: Schema.String.annotate({ description: "The day, the month, the type, or the id of the provider." }),
    name: Schema.String,
    bets: money,
    wins: money,
    ggr: money,
    bonus_bets: money,
    bonus_conversions: money,
    deposits: money.annotate({ description: "Less chargebacks." }),
    withdrawals: money,
    rounds: count
  })),
  unconverted: Schema.Array(currencyCode)
}).annotate({ identifier: "ReportBreakdown" })

/** Play of a range of days of several operators in one currency (`GET /reports/operators`). */
export const OperatorsReport = Schema.Struct({
  total_currency: currencyCode.annotate({ description: "The one asked for, else that of most of the operators." }),
  rows: Schema.Array(Schema.Struct({
    operator_id: id,
    name: Schema.String,
    currency: currencyCode.annotate({ description: "Of the amounts: the total's, else the operator's own." }),
    rate: Schema.NullOr(Schema.Finite).annotate({
      description:
        "One unit of the operator's currency in units of the total's, as it was at the end of the range, or the first one after it. Null where nothing was converted."
    }),
    in_total: Schema.Boolean.annotate({ description: "False: there was no rate, and the amounts are in no total." }),
    bets: money,
    wins: money,
    ggr: money,
    bonus_conversions: money,
    net_gaming_revenue: money,
    deposits: money.annotate({ description: "Less chargebacks." }),
    withdrawals: money,
    rounds: count
  })),
  total: Schema.Struct({
    bets: money,
    wins: money,
    ggr: money,
    bonus_conversions: money,
    net_gaming_revenue: money,
    deposits: money,
    withdrawals: money,
    rounds: count
  }),
  unconverted: Schema.Array(currencyCode).annotate({
    description:
      "Currencies of entries that no amount holds, because there was no exchange rate when they were written."
  })
}).annotate({ identifier: "ReportOfOperators" })

/** Player balances (`GET /reports/funds`). */
export const Funds = Schema.Struct({
  operator_id: id,
  currency: currencyCode.annotate({ description: "The players'." }),
  wallet: Schema.Literals(walletKinds),
  amount: money,
  players: count.annotate({ description: "Those who hold something." }),
  at: timestamp.annotate({ description: "When it was read: every fifteen minutes." })
}).annotate({ identifier: "PlayerFunds" })

/** Cost and liability of a bonus (`GET /reports/bonuses`). */
export const BonusCost = Schema.Struct({
  bonus_id: id,
  name: Schema.String,
  type: Schema.String,
  currency: currencyCode.annotate({ description: "The players': one row for each." }),
  granted: count.annotate({ description: "Grants made in the range." }),
  granted_amount: money,
  converted: money.annotate({ description: "Became real money, of the grants that ended in the range." }),
  forfeited: money.annotate({ description: "Was lost or taken, of the same." }),
  running: Schema.NullOr(count).annotate({
    description: "Grants that run or wait, whenever they were made. Null where there are some that were not read yet."
  }),
  liability: Schema.NullOr(money).annotate({
    description: "Bonus funds of those: balances of what runs, amounts of what waits. Null as running."
  }),
  liability_at: Schema.NullOr(timestamp).annotate({
    description:
      "When those two were read: now, or every five minutes where more than 1,000 grants of the operator run or wait. Null where none does, or they were not read yet."
  })
}).annotate({ identifier: "BonusCost" })
