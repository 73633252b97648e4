/** Reading a player's ledger, newest entry first. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Entry, EntryType, WalletKind } from "../domain/Change.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { type ActorRefusal, PlayerActors } from "../players/PlayerActors.ts"

export interface LedgerQuery {
  /** From 1. */
  readonly page: number
  /** 1 to 100. */
  readonly perPage: number
  readonly type?: EntryType | undefined
  readonly wallet?: WalletKind | undefined
  /** Epoch milliseconds, both included. */
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

/** A page, and how many there are in all. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly total: number
}

const EntryRow = Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  operatorId: Schema.Number,
  seq: Schema.Number,
  wallet: Schema.Literals(["real", "bonus"]),
  type: Schema.String,
  amount: Schema.Number,
  balanceAfter: Schema.Number,
  paymentRequestId: Schema.NullOr(Schema.Number),
  gameId: Schema.NullOr(Schema.Number),
  gameRoundId: Schema.NullOr(Schema.String),
  playerBonusId: Schema.NullOr(Schema.Number),
  createdAt: Schema.Date
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(EntryRow))
const decodeCount = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ total: Schema.Number })]))

/** A ledger entry as it is read: its type is not narrowed, since what was once written stays readable. */
export interface LedgerEntry extends Omit<Entry, "type"> {
  readonly type: string
}

export class Ledger extends Context.Service<Ledger, {
  /** A page of a player's entries. An unfiltered page costs the same wherever it lies and however long the ledger is. */
  readonly list: (
    operatorId: number,
    playerId: number,
    query: LedgerQuery
  ) => Effect.Effect<Page<LedgerEntry>, ActorRefusal | Refusal<"TRY_AGAIN">>
}>()("pitboss/wallet/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors

      const columns = sql.literal(`id::float8 AS id, player_id::float8 AS "playerId", operator_id::float8 AS "operatorId",
        seq::float8 AS seq, wallet, type, amount::float8 AS amount, balance_after::float8 AS "balanceAfter",
        payment_request_id::float8 AS "paymentRequestId", game_id::float8 AS "gameId", game_round_id AS "gameRoundId",
        player_bonus_id::float8 AS "playerBonusId", created_at AS "createdAt"`)

      const list = Effect.fn("Ledger.list")(
        function*(operatorId: number, playerId: number, query: LedgerQuery) {
          const player = yield* actors.read(operatorId, playerId)
          const offset = (query.page - 1) * query.perPage
          const filters = [
            query.type === undefined ? undefined : sql`type = ${query.type}`,
            query.wallet === undefined ? undefined : sql`wallet = ${query.wallet}`,
            query.createdFrom === undefined ? undefined : sql`created_at >= ${new Date(query.createdFrom)}`,
            query.createdTo === undefined ? undefined : sql`created_at <= ${new Date(query.createdTo)}`
          ].filter((filter) => filter !== undefined)
          const mine = sql`player_id = ${BigInt(playerId)} AND operator_id = ${BigInt(operatorId)}`
          const [total, rows] = filters.length === 0
            // entries are numbered without a gap, so a page is a range of numbers and the last number is the count
            ? [
              player.entrySeq,
              yield* sql`SELECT ${columns} FROM ledger_entries WHERE ${mine}
                AND seq <= ${BigInt(player.entrySeq - offset)} AND seq > ${BigInt(player.entrySeq - offset - query.perPage)}
                ORDER BY seq DESC`
            ]
            : [
              (yield* Effect.flatMap(
                sql`SELECT count(*)::float8 AS total FROM ledger_entries WHERE ${sql.and([mine, ...filters])}`,
                decodeCount
              ))[0].total,
              yield* sql`SELECT ${columns} FROM ledger_entries WHERE ${sql.and([mine, ...filters])}
                ORDER BY seq DESC LIMIT ${BigInt(query.perPage)} OFFSET ${BigInt(offset)}`
            ]
          const entries = yield* decodeRows(rows)
          return {
            total,
            items: entries.map((entry) => ({
              ...entry,
              currency: player.currency,
              createdAt: entry.createdAt.getTime()
            }))
          }
        },
        Effect.catchTags({
          SqlError: () => Effect.fail(refuse("TRY_AGAIN", "The ledger cannot be read right now. Send the same request again.")),
          SchemaError: (error) => Effect.die(error)
        })
      )

      return Ledger.of({ list })
    })
  )
}
