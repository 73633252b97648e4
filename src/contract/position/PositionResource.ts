/** Wire schemas of a player's position (stakes, wins, deposits, withdrawals) and of the running session's reality check. */
import { Schema } from "effect"
import { Duration } from "../../domain/jurisdiction/Duration.ts"
import { currencyCode, money, timestamp } from "../common/Resource.ts"

const isoDuration = Schema.String.annotate({ description: "ISO 8601.", examples: ["PT30M"] })

const play = { staked: money, won: money, net: money.annotate({ description: "Won less staked." }) }

const payments = {
  deposits: money.annotate({ description: "Without those that were charged back." }),
  withdrawals: money.annotate({ description: "Requested, and neither rejected nor cancelled." }),
  net_deposits: money.annotate({ description: "Deposits less withdrawals." })
}

const PlaySession = Schema.Struct({
  since: Schema.NullOr(timestamp).annotate({
    description: "The first bet or launch after 15 minutes without a bet; null: no session runs."
  }),
  elapsed_seconds: Schema.Int,
  ...play
}).annotate({ identifier: "PlaySession" })

const Turnover = Schema.Struct({ ...payments, ...play }).annotate({ identifier: "Turnover" })

const session = {
  since: "2026-11-20T12:00:00.000Z",
  elapsed_seconds: 1260,
  staked: 4000,
  won: 2500,
  net: -1500
}

const turnover = { deposits: 10_000, withdrawals: 0, net_deposits: 10_000, staked: 4000, won: 2500, net: -1500 }

/** Real and bonus money; what was rolled back is taken out where it is rolled back. */
export const Position = Schema.Struct({
  currency: currencyCode,
  session: PlaySession,
  day: Turnover.annotate({ description: "Since midnight UTC." }),
  rolling_30_days: Turnover.annotate({ description: "The last 30 times 24 hours." }),
  lifetime: Schema.Struct(payments)
}).annotate({
  identifier: "Position",
  examples: [{
    currency: "EUR",
    session,
    day: turnover,
    rolling_30_days: turnover,
    lifetime: { deposits: 25_000, withdrawals: 5000, net_deposits: 20_000 }
  }]
})

/** The reality check of a player. */
export const RealityCheck = Schema.Struct({
  interval: Schema.NullOr(isoDuration).annotate({
    description: "The player's own, or that of the jurisdiction; null: none."
  }),
  elapsed_seconds: Schema.Int.annotate({
    description: "Since the session began or the last one was acknowledged; 0 without a session."
  }),
  due_at: Schema.NullOr(timestamp).annotate({
    description: "When the next one falls due, or the one that is open did; null without a session or an interval."
  }),
  session: PlaySession
}).annotate({
  identifier: "RealityCheck",
  examples: [{ interval: "PT30M", elapsed_seconds: 1260, due_at: "2026-11-20T12:30:00.000Z", session }]
})

export const RealityCheckRequest = Schema.Struct({
  interval: Schema.NullOr(Duration).annotate({
    description: "ISO 8601, within the bounds of the jurisdiction; null removes the player's own."
  })
}).annotate({ identifier: "RealityCheckRequest", examples: [{ interval: "PT30M" }] })
