/** Checks import lines of open withdrawals, before anything is written. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Operator } from "../../../domain/state/Operator.ts"
import type { Actor } from "../../../office/Actor.ts"
import { texts } from "../../../platform/ArrayParameters.ts"
import { rowsOf } from "../../../store/Rows.ts"
import { PaymentMethods } from "../../payments/Methods.ts"
import { makeChunks } from "./Chunks.ts"
import {
  type Examined,
  externalIdOf,
  type KnownWithdrawal,
  noRun,
  noSuchPlayer,
  type Rejection,
  type Run
} from "./Examined.ts"
import { readWithdrawal, reasonsOf } from "./Lines.ts"

const currencyRows = rowsOf(
  Schema.Struct({ id: Schema.Number, externalId: Schema.String, currency: Schema.String })
)

export const makeExamineWithdrawals = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const methods = yield* PaymentMethods
  const chunks = yield* makeChunks

  /**
   * Reads lines of withdrawals, of players of the import and of one before. Where lines are checked without an import, a player of a line elsewhere in
   * the file is not known: such a withdrawal counts as one of the operator's currency.
   */
  return Effect.fnUntraced(function*(
    actor: Actor,
    operator: Operator,
    run: Run,
    { newcomers, withdrawals }: Examined,
    now: number
  ) {
    const rejected: Array<Rejection> = []
    const found: Array<KnownWithdrawal> = []
    if (withdrawals.length === 0) return { rejected, found }
    const rows = yield* currencyRows(
      sql`SELECT p.id, p.external_id AS "externalId", p.currency FROM players p
          JOIN imported_players i ON i.player_id = p.id WHERE p.operator_id = ${operator.id}
        AND p.external_id = ANY (${texts(withdrawals.flatMap(({ raw }) => externalIdOf(raw) ?? []))}::text[])`
    )
    const elsewhere = yield* chunks.currencies(run.id, withdrawals.flatMap(({ raw }) => externalIdOf(raw) ?? []))
    const owners = new Map<string, { readonly id?: number; readonly currency: string }>([
      ...[...elsewhere].map(([externalId, currency]) => [externalId, { currency }] as const),
      ...newcomers.map(({ arrival }) => [arrival.texts.external_id ?? "", { currency: arrival.currency }] as const),
      ...rows.map((row) => [row.externalId, row] as const)
    ])
    const references = new Set<string>()
    for (const { line, raw } of withdrawals) {
      const one = readWithdrawal(raw, now)
      if (one._tag === "Wrong") {
        rejected.push({ line, reasons: reasonsOf(one.messages) })
        continue
      }
      const { amount, external_id: externalId, external_reference: reference, payment_method: code } = one.withdrawal
      const method = yield* methods.find(operator.id, code)
      const owner = owners.get(externalId) ?? (run === noRun ? { currency: operator.currency } : undefined)
      const reasons = [
        ...(owner === undefined ? [noSuchPlayer] : []),
        ...(method?.supportsWithdrawal === true ? [] : ["payment_method must be one that pays out"]),
        ...(references.has(reference) ? ["external_reference is that of an earlier line"] : [])
      ]
      references.add(reference)
      if (owner === undefined || reasons.length > 0) rejected.push({ line, reasons })
      else {
        found.push({
          line,
          playerId: owner.id,
          currency: owner.currency,
          withdrawal: {
            amount,
            paymentMethod: code,
            externalReference: reference,
            createdAt: one.createdAt,
            runId: run.id,
            batch: run.name,
            actor: actor.label,
            sendsEvents: run.sends_events
          }
        })
      }
    }
    return { rejected, found }
  })
})
