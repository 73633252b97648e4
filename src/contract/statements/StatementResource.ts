/** Wire schema of a player's account statement. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { date, oneOf } from "../common/Fields.ts"
import { single } from "../common/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { Transaction, transactionExample } from "../ledger/TransactionResource.ts"

export const statementFormats = ["json", "csv", "spreadsheet", "html"] as const

/** Period and form of a statement. */
export const statementQuery = {
  from: date.annotate({ description: "First day, UTC." }),
  to: date.annotate({ description: "Last day, UTC, included; at most 366 days and 50,000 entries in all." }),
  format: Schema.optionalKey(
    oneOf(statementFormats).annotate({
      description: "A document of the API (json), lines for machines or for a spreadsheet, or a page to print."
    })
  )
}

const balances = Schema.Struct({ real: money, bonus: money })

const day = Schema.String.annotate({ format: "date", examples: ["2026-11-01"] })

export const Statement = Schema.Struct({
  player_id: id,
  currency: currencyCode,
  from: day,
  to: day,
  generated_at: timestamp,
  opening: balances.annotate({ description: "Balances at the beginning of `from`." }),
  closing: balances.annotate({
    description: "Balances at the end of `to`, or now: `opening` and the amounts of all entries of the wallet."
  }),
  totals: Schema.Struct({
    deposits: money.annotate({ description: "Less what was charged back." }),
    withdrawals: money.annotate({ description: "Requested, less what was rejected or cancelled." }),
    staked: money.annotate({ description: "Real and bonus money, less bets that were taken back." }),
    won: money.annotate({ description: "Real and bonus money, less wins that were taken back." }),
    bonuses: money.annotate({ description: "Granted less taken away." }),
    corrections: money,
    net: money.annotate({ description: "`won` less `staked`." })
  }),
  net_deposits_lifetime: money.annotate({
    description: "Deposits less withdrawals since the account was opened, until the end of `to`."
  }),
  sessions: Schema.Struct({
    count: Schema.Int,
    seconds: Schema.Int
  }).annotate({
    description: "Play for real money: from a launch or bet to the last bet before a break of 15 minutes."
  }),
  entries: Schema.Array(Transaction).annotate({ description: "Oldest first." })
}).annotate({
  identifier: "Statement",
  examples: [{
    player_id: 48213,
    currency: "EUR",
    from: "2026-11-01",
    to: "2026-11-30",
    generated_at: "2026-12-01T09:00:00.000Z",
    opening: { real: 5000, bonus: 0 },
    closing: { real: 4750, bonus: 0 },
    totals: { deposits: 0, withdrawals: 0, staked: 250, won: 0, bonuses: 0, corrections: 0, net: -250 },
    net_deposits_lifetime: 5000,
    sessions: { count: 1, seconds: 0 },
    entries: [transactionExample]
  }]
})

/** A statement in the form that was asked for. */
export const statementForms = [
  single(Statement),
  HttpApiSchema.StreamUint8Array({ contentType: ["text/csv", "text/html"] })
] as const
