/** Wire schemas of the key figures on the home page of the back office, which are updated live. */
import { Schema } from "effect"
import { connectionKinds } from "../../domain/register/Register.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

const count = Schema.Int.annotate({ examples: [12] })

/** Current figures (`GET /overview`) of an operator, or of all operators in the actor's scope. */
export const Overview = Schema.Struct({
  at: timestamp.annotate({ description: "When it was read; it is read again after two seconds at the earliest." }),
  money: Schema.Array(Schema.Struct({
    currency: currencyCode.annotate({ description: "The operators'." }),
    bets: money,
    wins: money,
    ggr: money.annotate({ description: "Bets less wins, today (UTC) until now." }),
    ggr_last_week: Schema.NullOr(money).annotate({
      description:
        "The same weekday of last week until the same time; between two hourly readings as if it grew evenly. " +
        "Of the operators that have a reading; null where none has."
    }),
    ggr_compared: Schema.NullOr(money).annotate({
      description: "Bets less wins today of the operators in ggr_last_week, which it compares with."
    }),
    operators: count.annotate({ description: "Operators of this currency." }),
    operators_compared: count.annotate({ description: "Those of them that are in ggr_last_week." }),
    deposits: money.annotate({ description: "Paid today, less chargebacks." }),
    withdrawals: money.annotate({ description: "Paid out today." })
  })),
  active_players: count.annotate({ description: "Different players who played today." }),
  registrations: count.annotate({ description: "Today." }),
  deposits: count.annotate({ description: "Deposits paid today." }),
  withdrawals: count.annotate({ description: "Withdrawals asked for today." }),
  pending_withdrawals: Schema.Struct({
    count,
    is_lower_bound: Schema.Boolean.annotate({ description: "True beyond 10,000: no more are counted." }),
    amounts: Schema.Array(Schema.Struct({ currency: currencyCode, amount: money }))
  }),
  open_rounds: Schema.Struct({
    for_a_day: count.annotate({ description: "Rounds open for more than 24 hours." }),
    for_two_days: count.annotate({ description: "Of those, for more than 48 hours." }),
    is_lower_bound: Schema.Boolean.annotate({ description: "True beyond 1,000: no more are counted, of either." })
  }),
  open_alerts: Schema.Struct({
    count,
    unassigned: count,
    is_lower_bound: Schema.Boolean.annotate({ description: "True beyond 1,000: no more are counted." })
  }),
  open_cases: Schema.NullOr(Schema.Struct({
    count,
    unassigned: count,
    is_lower_bound: Schema.Boolean.annotate({ description: "True beyond 1,000: no more are counted." })
  })).annotate({ description: "Null for who does not work on cases." }),
  silent_registers: Schema.Array(Schema.Struct({
    id,
    operator_id: id,
    kind: Schema.Literals(connectionKinds),
    since: timestamp.annotate({ description: "When the newest question had no answer." })
  })).annotate({ description: "Registers and screenings that did not answer the newest question, twenty at most." }),
  failing_webhooks: Schema.Array(Schema.Struct({
    id,
    operator_id: id,
    url: Schema.String,
    failed: count.annotate({ description: "Of the last 50 deliveries." }),
    undelivered: count.annotate({
      description: "Deliveries given up or between two attempts; 1,000 of either are counted."
    }),
    since: Schema.NullOr(timestamp).annotate({ description: "When the first of those was made; null: there is none." }),
    late: Schema.Boolean.annotate({ description: "Whether a delivery is a minute behind its time." })
  })).annotate({ description: "Endpoints whose deliveries fail or are late, twenty at most." }),
  failing_jobs: Schema.Array(Schema.Struct({
    name: Schema.String,
    failures: count,
    late: Schema.Boolean,
    last_error: Schema.NullOr(Schema.String)
  })),
  failing_providers: Schema.Array(Schema.Struct({
    id,
    slug: Schema.String,
    name: Schema.String,
    errors: count.annotate({
      description: "Calls of the last ten minutes, among the last 500, with a signature, form or failure of ours."
    }),
    calls: count
  }))
}).annotate({ identifier: "Overview" })

export type Overview = typeof Overview.Type

/** Lists that an open page should reload. */
export const changedKinds = ["payments", "alerts", "deliveries", "jobs"] as const

export type ChangedKind = (typeof changedKinds)[number]
