/** Sets and lists the exchange rates of reports, for staff (`docs/decisions/0018-reports.md`). */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuseFields } from "../../domain/Refusal.ts"
import { toDate } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { lastFirst, unscopedListOf } from "../../store/Lists.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { isCurrency, minorDigits } from "../../domain/Standards.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { ExchangeRate } from "../../contract/reports/ReportResource.ts"
import type { Actor } from "../../office/Actor.ts"

type Rate = typeof ExchangeRate.Type
type RateInput = Pick<Rate, "currency" | "base" | "rate">

/** Absent means any. */
export interface RateQuery extends PartQuery {
  readonly currency?: string | undefined
  readonly base?: string | undefined
}

const noCurrency: ReadonlyArray<string> = ["must be an active ISO 4217 currency code"]

const refuseInput = ({ base, currency }: RateInput): Refusal<"VALIDATION_FAILED"> | undefined => {
  const fields = {
    ...(isCurrency(currency) ? {} : { currency: noCurrency }),
    ...(isCurrency(base) ? currency === base ? { base: ["must be another currency"] } : {} : { base: noCurrency })
  }
  return Object.keys(fields).length === 0 ? undefined : refuseFields(fields)
}

/** Advisory lock that serialises setting rates; the number has no other meaning. */
const ratesLock = 7_204_551_039

export class ExchangeRates extends Context.Service<ExchangeRates, {
  /** Sets the rate for all later entries, in every process. */
  readonly set: (
    actor: Actor,
    input: RateInput
  ) => Effect.Effect<Rate, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Newest first: the first of a currency and a base holds. */
  readonly list: (query: RateQuery) => Effect.Effect<Part<Rate>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/exchangeRates/ExchangeRates") {
  static readonly layer = Layer.effect(
    ExchangeRates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const rates = yield* recordsOf("exchange_rates", ExchangeRate, { reads: { rate: "rate::float8" } })

      const set = Effect.fn("ExchangeRates.set")(function*(actor: Actor, input: RateInput) {
        const refusal = refuseInput(input)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        const { base, currency } = input
        return yield* auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            // one at a time: the highest id is the rate that holds, so ids have to become visible in their order
            yield* sql`SELECT pg_advisory_xact_lock(${BigInt(ratesLock)})`
            const holding = sql`currency = ${currency} AND base = ${base} ORDER BY id DESC LIMIT 1`
            const before = yield* rates.find(holding)
            const rate = String(input.rate)
            yield* sql`INSERT INTO exchange_rates (currency, base, rate, factor, created_at)
              VALUES (${currency}, ${base}, ${rate}::numeric,
                ${rate}::numeric * 10::numeric ^ ${String(minorDigits(base) - minorDigits(currency))}::integer,
                ${toDate(now)})`
            const after = yield* rates.find(holding)
            if (after === undefined) return yield* Effect.die(new Error("a rate was not written"))
            return yield* recordChange("rate.set", before ?? null, after)
          }))
      })

      const listed = unscopedListOf<typeof ExchangeRate.Type, Omit<RateQuery, keyof PartQuery>, "last">(sql, {
        shared: true,
        read: (where, end) => rates.all(sql`${where} ${end}`),
        filters: { currency: (value) => sql`currency = ${value}`, base: (value) => sql`base = ${value}` },
        orders: { last: lastFirst("id") }
      })

      const list = Effect.fn("ExchangeRates.list")((query: RateQuery) => listed.part(null, query, "last"), orTryAgain)

      return ExchangeRates.of({ set, list })
    })
  )
}
