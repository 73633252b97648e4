/** Wire schemas of back-office reports: key figures over time and by group, player balances, cost of bonuses. */
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
export const breakdownGroups = ["day", "month", "provider", "type", "game", "all"] as const

const untilWhen =
  "Until when play is in the rows by game: a job adds it up every five minutes. Null without such rows, or before its first run."

/** Play of a range of days in groups (`GET /reports/breakdown`). */
export const Breakdown = Schema.Struct({
  operator_id: id,
  currency: currencyCode,
  as_of: Schema.NullOr(timestamp).annotate({ description: untilWhen }),
  rows: Schema.Array(Schema.Struct({
    by: Schema.Literals(["total", "month", "day", "type", "provider", "game"]),
    key: Schema.String.annotate({ description: "The day, the month, the type, or the id of the provider or game." }),
    name: Schema.String,
    provider: Schema.NullOr(Schema.String).annotate({
      description: "Name of the provider of a game; null for other rows."
    }),
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

/** Play and payments by day of an operator's own zone (`GET /reports/local-days`). */
export const LocalDays = Schema.Struct({
  operator_id: id,
  currency: currencyCode,
  offset_hours: Schema.Int.annotate({
    description: "Hours by which the days are ahead of UTC: `report_offset_hours` of the operator.",
    examples: [2]
  }),
  rows: Schema.Array(Schema.Struct({
    day: Schema.String.annotate({ format: "date", examples: ["2026-11-20"] }),
    from: timestamp.annotate({
      description: "Where the day begins: at its midnight, or at a full hour before it when that hour was not read."
    }),
    until: timestamp.annotate({ description: "Where it ends, and the next one begins." }),
    bets: money,
    wins: money,
    ggr: money,
    bonus_conversions: money,
    net_gaming_revenue: money,
    deposits: money.annotate({ description: "Less chargebacks." }),
    withdrawals: money,
    rounds: count
  }))
}).annotate({ identifier: "ReportOfLocalDays" })

/** Sections of {@link ReportSections}, in their order. */
const reportSections = [
  "total",
  "month",
  "day",
  "local_day",
  "type",
  "provider",
  "game",
  "funds",
  "bonus"
] as const

const amountOrNull = Schema.NullOr(money)
const countOrNull = Schema.NullOr(count)

/** All of a report in one list (`GET /reports/sections`): a field that a section does not have is null. */
export const ReportSections = Schema.Struct({
  operator_id: id,
  unconverted: Schema.Array(currencyCode).annotate({
    description: "Currencies of entries that no amount of play and payments holds, because there was no exchange rate."
  }),
  rows: Schema.Array(Schema.Struct({
    section: Schema.Literals(reportSections).annotate({
      description: "local_day: a day of the operator's own zone, of the last forty, where it has one."
    }),
    key: Schema.String.annotate({ description: "The day, the month, the type, the wallet, or an id." }),
    name: Schema.String,
    provider: Schema.NullOr(Schema.String).annotate({ description: "Name of the provider of a game." }),
    type: Schema.NullOr(Schema.String).annotate({ description: "Type of a bonus." }),
    currency: currencyCode.annotate({ description: "The operator's; of funds and bonuses the players'." }),
    at: Schema.NullOr(timestamp).annotate({
      description: "When funds and liabilities were read, and until when play is in rows by game."
    }),
    bets: amountOrNull,
    wins: amountOrNull,
    ggr: amountOrNull,
    bonus_bets: amountOrNull,
    bonus_conversions: amountOrNull,
    net_gaming_revenue: amountOrNull,
    deposits: Schema.NullOr(money.annotate({ description: "Less chargebacks." })),
    withdrawals: amountOrNull,
    rounds: countOrNull,
    players: Schema.NullOr(count.annotate({ description: "Those who played, or who hold something." })),
    registered: countOrNull,
    held: Schema.NullOr(money.annotate({ description: "What players hold now, by wallet." })),
    granted: countOrNull,
    granted_amount: amountOrNull,
    converted: amountOrNull,
    forfeited: amountOrNull,
    running: countOrNull,
    liability: amountOrNull
  }))
}).annotate({ identifier: "ReportSections" })

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
  at: timestamp.annotate({
    description: "When it was read, every fifteen minutes; or the midnight that was asked for."
  })
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
