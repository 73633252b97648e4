/** The rates that amounts of other currencies convert at in reports (`docs/decisions/0018-reports.md`). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type Refusal, refuseFields } from "../../domain/Refusal.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { isCurrency, minorDigits } from "../../platform/Standards.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../staff/Staff.ts"

export interface RateInput {
  /** ISO 4217. */
  readonly currency: string
  readonly base: string
  /** One unit of `currency` in units of `base`. */
  readonly rate: number
}

export interface RateQuery extends PageQuery {
  readonly currency?: string | undefined
  readonly base?: string | undefined
}

const RateRow = Schema.Struct({
  id: Schema.Number,
  currency: Schema.String,
  base: Schema.String,
  rate: Schema.Number,
  created_at: Schema.Date
})

const toFields = (row: typeof RateRow.Type) => ({ ...row, created_at: iso(row.created_at.getTime()) })

/** A rate as it is shown. */
export type RateFields = ReturnType<typeof toFields>

const rateRows = rowsOf(RateRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

const noCurrency: ReadonlyArray<string> = ["must be an active ISO 4217 currency code"]

const refuseInput = ({ base, currency }: RateInput): Refusal<"VALIDATION_FAILED"> | undefined => {
  const fields = {
    ...(isCurrency(currency) ? {} : { currency: noCurrency }),
    ...(isCurrency(base) ? currency === base ? { base: ["must be another currency"] } : {} : { base: noCurrency })
  }
  return Object.keys(fields).length === 0 ? undefined : refuseFields(fields)
}

/** Serialises whoever sets rates; the number means nothing else. */
const ratesLock = 7_204_551_039

export class ExchangeRates extends Context.Service<ExchangeRates, {
  /** Sets the rate of what is written from now on, by every service. */
  readonly set: (
    actor: Actor,
    input: RateInput
  ) => Effect.Effect<RateFields, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Newest first: the first of a currency and a base holds. */
  readonly list: (query: RateQuery) => Effect.Effect<Page<RateFields>, Refusal<"TRY_AGAIN">>
}>()("pitboss/backoffice/ExchangeRates") {
  static readonly layer = Layer.effect(
    ExchangeRates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const columns = sql.literal("id, currency, base, rate::float8 AS rate, created_at")

      const set = Effect.fn("ExchangeRates.set")(function*(actor: Actor, input: RateInput) {
        const refusal = refuseInput(input)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        const { base, currency } = input
        return yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            // one at a time: the highest id is the rate that holds, so ids have to become visible in their order
            yield* sql`SELECT pg_advisory_xact_lock(${BigInt(ratesLock)})`
            const before = yield* oneOf(rateRows(
              sql`SELECT ${columns} FROM exchange_rates WHERE currency = ${currency} AND base = ${base}
                ORDER BY id DESC LIMIT 1`
            ))
            const rate = String(input.rate)
            const row = yield* oneOf(rateRows(
              sql`INSERT INTO exchange_rates (currency, base, rate, factor, created_at)
                VALUES (${currency}, ${base}, ${rate}::numeric,
                  ${rate}::numeric * 10::numeric ^ ${String(minorDigits(base) - minorDigits(currency))}::integer,
                  ${toDate(now)})
                RETURNING ${columns}`
            ))
            if (row === undefined) return yield* Effect.die(new Error("a rate was not written"))
            const after = toFields(row)
            yield* record({
              action: "rate.set",
              subject: `rate:${after.id}`,
              before: before === undefined ? null : toFields(before),
              after
            })
            return after
          }))
      })

      const list = Effect.fn("ExchangeRates.list")(function*(query: RateQuery) {
        const conditions: ReadonlyArray<Statement.Fragment> = [
          ...(query.currency === undefined ? [] : [sql`currency = ${query.currency}`]),
          ...(query.base === undefined ? [] : [sql`base = ${query.base}`])
        ]
        const from = sql`FROM exchange_rates WHERE ${conditions.length === 0 ? sql`true` : sql.and(conditions)}`
        const [found, counted] = yield* Effect.all([
          rateRows(sql`SELECT ${columns} ${from} ORDER BY id DESC LIMIT ${query.perPage} OFFSET ${offsetOf(query)}`),
          counts(sql`SELECT count(*) AS total ${from}`)
        ], { concurrency: 2 })
        return { items: found.map(toFields), total: counted[0]?.total ?? 0 }
      }, orTryAgain)

      return ExchangeRates.of({ set, list })
    })
  )
}
