/** Table rows compared with a history. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { entryTypes } from "../../src/domain/state/Change.ts"

const Account = Schema.Struct({
  player: Schema.Number,
  real: Schema.Number,
  bonus: Schema.Number,
  entrySeq: Schema.Number,
  walletSeq: Schema.Number
})

const Entry = Schema.Struct({
  player: Schema.Number,
  seq: Schema.Number,
  id: Schema.Number,
  wallet: Schema.Literals(["real", "bonus"]),
  type: Schema.Literals(entryTypes),
  amount: Schema.Number,
  balanceAfter: Schema.Number,
  payment: Schema.NullOr(Schema.Number)
})

const Transaction = Schema.Struct({
  id: Schema.String,
  player: Schema.Number,
  kind: Schema.String,
  status: Schema.String,
  amount: Schema.Number,
  target: Schema.NullOr(Schema.String),
  real: Schema.Number,
  bonus: Schema.Number,
  entries: Schema.Array(Schema.Number)
})

const Payment = Schema.Struct({
  id: Schema.Number,
  player: Schema.Number,
  type: Schema.Literals(["deposit", "withdrawal"]),
  status: Schema.String,
  amount: Schema.Number,
  reference: Schema.String
})

const Player = Schema.Struct({
  id: Schema.Number,
  username: Schema.String,
  limits: Schema.Record(Schema.String, Schema.NullOr(Schema.Number)),
  until: Schema.NullOr(Schema.Date)
})

const Trail = Schema.Struct({
  player: Schema.Number,
  action: Schema.String,
  subject: Schema.String,
  after: Schema.Unknown
})

const Count = Schema.Struct({ name: Schema.String, count: Schema.Number })

const rows = <S extends Schema.ConstraintDecoder<unknown>>(Row: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(Row))
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) => Effect.flatMap(statement, decode)
}

/** Which players' books: all, only some, or all but some. */
export type Whose =
  | { readonly _tag: "All" }
  | { readonly _tag: "Only" | "AllBut"; readonly players: Iterable<number> }

export const readBooks = Effect.fnUntraced(function*(whose: Whose) {
  const sql = yield* SqlClient.SqlClient
  const of = (column: string) => {
    if (whose._tag === "All") return sql.literal("true")
    const list = [0, ...whose.players].map(Math.trunc).join(", ")
    return sql.literal(`${column} ${whose._tag === "Only" ? "IN" : "NOT IN"} (${list})`)
  }
  return {
    accounts: yield* rows(Account)(
      sql`SELECT player_id::float8 AS player, real_balance::float8 AS real, bonus_balance::float8 AS bonus,
        entry_seq::float8 AS "entrySeq", wallet_seq::float8 AS "walletSeq" FROM accounts WHERE ${of("player_id")}`
    ),
    entries: yield* rows(Entry)(
      sql`SELECT player_id::float8 AS player, seq::float8 AS seq, id::float8 AS id, wallet, type, amount::float8 AS amount,
        balance_after::float8 AS "balanceAfter", payment_request_id::float8 AS payment
        FROM ledger_entries WHERE ${of("player_id")} ORDER BY player_id, seq`
    ),
    transactions: yield* rows(Transaction)(
      sql`SELECT transaction_id AS id, player_id::float8 AS player, kind, status, amount::float8 AS amount,
        target_transaction_id AS target, real_amount::float8 AS real, bonus_amount::float8 AS bonus,
        entry_ids::float8[] AS entries FROM provider_transactions WHERE ${of("player_id")}`
    ),
    payments: yield* rows(Payment)(
      sql`SELECT id::float8 AS id, player_id::float8 AS player, type, status, amount::float8 AS amount,
        external_reference AS reference FROM payment_requests WHERE ${of("player_id")}`
    ),
    players: yield* rows(Player)(
      sql`SELECT id::float8 AS id, username, limits, exclusion_until AS until FROM players WHERE ${of("id")}`
    ),
    trails: yield* rows(Trail)(
      sql`SELECT player_id::float8 AS player, action, subject, after FROM audit_log WHERE ${of("player_id")}`
    ),
    /** By type and subject. */
    events: yield* rows(Count)(
      sql`SELECT type || ' ' || coalesce(data->'payment'->>'id', player_id::text) AS name, count(*)::float8 AS count
        FROM events WHERE ${of("player_id")} GROUP BY 1`
    ),
    /** Stored answers, which belong to no player. */
    replies: yield* rows(Count)(sql`SELECT key AS name, count(*)::float8 AS count FROM idempotency_keys GROUP BY 1`)
  }
})

export type Books = Effect.Success<ReturnType<typeof readBooks>>

/** Amounts moved by a payment, in order: an unpaid withdrawal returns the held amount. */
export const amountsOf = ({ amount, status, type }: Books["payments"][number]): ReadonlyArray<number> =>
  type === "deposit" ? [amount] : status === "rejected" || status === "cancelled" ? [-amount, amount] : [-amount]
