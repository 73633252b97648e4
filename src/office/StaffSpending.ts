/**
 * Daily staff budgets: what one person may spend on bonuses and corrections without approval, per operator and in its currency
 * (`docs/decisions/0021-staff.md`). Reserved before execution, so that concurrent actions cannot exceed the budget.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Refusal, refuse, temporarilyUnavailable } from "../domain/Refusal.ts"
import { windowEnd, windowStart } from "../domain/state/Windows.ts"
import { Ids } from "../platform/Ids.ts"
import { inTransaction } from "../platform/InTransaction.ts"
import { iso, toDate } from "../platform/Time.ts"
import { elsewhereOf } from "../store/PlayerActors.ts"
import { oneOf, orTryAgain, rowsOf } from "../store/Rows.ts"
import type { Spender } from "./SpendingFacts.ts"

export interface Spending {
  readonly playerId: number
  /** A bonus without wagering requirement counts as an upward correction: it is real money at once. */
  readonly kind: "correction" | "bonus"
  /** Signed minor units of the player's currency. */
  readonly amount: number
}

export type SpendingRefusal = Refusal<"LIMIT_EXCEEDED" | "TRY_AGAIN">

const budgetRows = rowsOf(Schema.Struct({ budget: Schema.NullOr(Schema.Number), used: Schema.Number }))
const sums = rowsOf(Schema.Struct({ total: Schema.Number }))
const valueRows = rowsOf(Schema.Struct({ operatorId: Schema.Number, value: Schema.NullOr(Schema.Number) }))

export class StaffSpending extends Context.Service<StaffSpending, {
  /**
   * Runs an effect that spends, reserved beforehand in the spender's budget of the day; refuses when the budget is exceeded.
   * A refused effect releases its reservation; one with an unknown outcome keeps it. `checkApproval` is checked before the reservation, with the
   * operator's row locked.
   */
  readonly spend: <A, E extends Refusal, E2 extends Refusal>(
    spender: Spender,
    spending: Spending,
    effect: Effect.Effect<A, E>,
    checkApproval: (now: number) => Effect.Effect<void, E2 | Refusal<"TRY_AGAIN"> | SqlError.SqlError>
  ) => Effect.Effect<A, E | E2 | SpendingRefusal>
  /** Absolute sum of a player's corrections in one direction on the day of `now`. */
  readonly correctedToday: (
    spending: Pick<Spending, "playerId" | "amount">,
    now: number
  ) => Effect.Effect<number, SqlError.SqlError>
  /** Reserves in the open transaction; returns the id for `release`. Requires a lock on the operator's row. */
  readonly reserve: (
    spender: Spender,
    spending: Spending,
    now: number
  ) => Effect.Effect<number, SpendingRefusal | SqlError.SqlError>
  /** Records, in the open transaction, spending approved by a second person; counts against no budget. */
  readonly note: (
    staff: { readonly requestedBy: string; readonly approvedBy: string },
    spending: Spending,
    now: number
  ) => Effect.Effect<void, SpendingRefusal | SqlError.SqlError>
  /** Runs an effect reserved under an id, and releases the reservation when the effect is refused. */
  readonly releasing: <A, E extends Refusal>(id: number, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}>()("pitboss/payments/StaffSpending") {
  static readonly layer = Layer.effect(
    StaffSpending,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids

      const newId = Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)

      /** An amount in the operator's currency, rounded up. */
      const valueOf = Effect.fnUntraced(function*({ amount, playerId }: Spending) {
        const row = yield* oneOf(valueRows(
          sql`SELECT p.operator_id AS "operatorId", CASE WHEN p.currency = o.currency THEN ${Math.abs(amount)}::float8
              ELSE (SELECT ceil(${Math.abs(amount)}::float8::numeric * factor)::float8 FROM exchange_rates r
                WHERE r.currency = p.currency AND r.base = o.currency ORDER BY r.id DESC LIMIT 1) END AS value
            FROM players p JOIN operators o ON o.id = p.operator_id WHERE p.id = ${playerId}::float8::bigint`
        ))
        return row ?? { operatorId: 0, value: null }
      })

      const insert = Effect.fnUntraced(function*(
        staff: { readonly label: string; readonly approvedBy: string | null },
        { amount, kind, playerId }: Spending,
        valued: { readonly operatorId: number; readonly value: number | null },
        now: number
      ) {
        const id = yield* newId
        yield* sql`INSERT INTO staff_spending (id, at, staff, approved_by, operator_id, player_id, kind, amount, value)
          VALUES (${id}, ${
          toDate(now)
        }, ${staff.label}, ${staff.approvedBy}, ${valued.operatorId}, ${playerId}, ${kind},
            ${amount}, ${valued.value})`
        return id
      })

      const refuseOverBudget = Effect.fnUntraced(function*(
        spender: Spender,
        { operatorId, value }: { readonly operatorId: number; readonly value: number | null },
        now: number
      ) {
        if (spender.id === null) return
        const { budget = null, used = 0 } = (yield* oneOf(budgetRows(
          sql`SELECT s.daily_budget AS budget,
              (SELECT coalesce(sum(value), 0)::float8 FROM staff_spending
                WHERE staff = ${spender.label} AND operator_id = ${operatorId} AND at >= ${
            toDate(windowStart("day", now))
          }
                  AND NOT is_released AND approved_by IS NULL) AS used
            FROM staff s WHERE s.id = ${spender.id}`
        ))) ?? {}
        if (budget === null || (value !== null && used + value <= budget)) return
        return yield* Effect.fail(refuse(
          "LIMIT_EXCEEDED",
          value === null
            ? "There is no exchange rate to count this amount against your daily budget."
            : "This amount exceeds the rest of your daily budget.",
          { limit: "daily_budget", value: budget, used, resets_at: iso(windowEnd("day", now)) }
        ))
      })

      const reserve: StaffSpending["Service"]["reserve"] = Effect.fnUntraced(function*(spender, spending, now) {
        const valued = yield* valueOf(spending)
        yield* refuseOverBudget(spender, valued, now)
        return yield* insert({ label: spender.label, approvedBy: null }, spending, valued, now)
      })

      const note: StaffSpending["Service"]["note"] = Effect.fnUntraced(function*(staff, spending, now) {
        const { approvedBy, requestedBy } = staff
        yield* insert({ label: requestedBy, approvedBy }, spending, yield* valueOf(spending), now)
      })

      const release = (id: number) => Effect.ignore(sql`UPDATE staff_spending SET is_released = true WHERE id = ${id}`)

      const releasing: StaffSpending["Service"]["releasing"] = (id, effect) =>
        Effect.tapError(effect, (refusal) =>
          // unknown outcome: stays reserved; a refusal for a player of another node is released, as that node reserves itself
          refusal.code === "TRY_AGAIN" && elsewhereOf(refusal) === undefined ? Effect.void : release(id))

      const correctedToday: StaffSpending["Service"]["correctedToday"] = ({ amount, playerId }, now) =>
        Effect.map(
          oneOf(sums(
            sql`SELECT coalesce(sum(abs(amount)), 0)::float8 AS total FROM staff_spending
              WHERE player_id = ${playerId}::float8::bigint AND kind = 'correction' AND NOT is_released
                AND at >= ${toDate(windowStart("day", now))} AND sign(amount) = ${Math.sign(amount)}`
          )),
          (row) => row?.total ?? 0
        )

      const spend: StaffSpending["Service"]["spend"] = Effect.fnUntraced(function*(
        spender,
        spending,
        effect,
        checkApproval
      ) {
        const now = yield* Clock.currentTimeMillis
        const id = yield* orTryAgain(
          inTransaction(sql)(Effect.andThen(
            // serialised per operator: concurrent actions must not see the same remaining budget
            sql`SELECT 1 FROM operators o JOIN players p ON p.operator_id = o.id
            WHERE p.id = ${spending.playerId}::float8::bigint FOR NO KEY UPDATE OF o`,
            Effect.andThen(checkApproval(now), reserve(spender, spending, now))
          ))
        )
        return yield* releasing(id, effect)
      })

      return StaffSpending.of({ spend, correctedToday, reserve, note, releasing })
    })
  )
}
