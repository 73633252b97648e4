/**
 * Queue of player changes that a case decision orders, such as a withdrawal hold or a deposit cap: written with the decision, executed at once or by
 * a job, and retried until the player's actor has committed them (`docs/decisions/0063-cases.md`).
 */
import { Cause, Context, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CaseOrder, caseOrderStep } from "../../domain/case/CaseOrders.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Players looked after in one run, at most, and orders of one player in one go. */
const maxPlayers = 100
const maxOrders = 50

/** Players looked after at the same time: each keeps a connection while the actor commits. */
const concurrency = 2

const Kept = Schema.Struct({ actor: Schema.String, order: CaseOrder })
const rows = rowsOf(Schema.Struct({ caseId: Schema.Number, kept: Kept }))
const playerRows = rowsOf(Schema.Struct({ playerId: Schema.Number }))

export class CaseOrders extends Context.Service<CaseOrders, {
  /** Keeps orders of a case in the transaction that is open, after those that the player has already. */
  readonly keep: (
    about: { readonly id: number; readonly operator_id: number; readonly player_id: number },
    actor: string,
    orders: ReadonlyArray<CaseOrder>
  ) => Effect.Effect<void, SqlError.SqlError>
  /** Has the orders of a player done, one after the other. What cannot be done now is left to the job. */
  readonly done: (playerId: number) => Effect.Effect<void>
  /** Job: the orders that are left. Idempotent, also with several processes. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/cases/CaseOrders") {
  static readonly layer = Layer.effect(
    CaseOrders,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      // outside the transaction that holds the orders: the actor commits in its own
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const command = (yield* RemoteCommands).define({
        name: "case.order",
        payload: Schema.Struct({ caseId: Schema.Number, ...Kept.fields }),
        run: (playerId, ordered) => Effect.asVoid(actors.ask(null, playerId, caseOrderStep(ordered)))
      })

      const keep: CaseOrders["Service"]["keep"] = Effect.fnUntraced(function*(about, actor, orders) {
        for (const order of orders) {
          yield* sql`INSERT INTO case_orders (case_id, operator_id, player_id, "order")
            VALUES (${about.id}::float8::bigint, ${about.operator_id}, ${about.player_id}::float8::bigint,
              ${JSON.stringify({ actor, order })}::text::jsonb)`
        }
      })

      /** Does the oldest order of a player; gives whether there was one. Deleted first: another process waits for the end of it. */
      const doNext = (playerId: number) =>
        inTransaction(sql)(Effect.gen(function*() {
          const next = yield* oneOf(rows(
            sql`DELETE FROM case_orders WHERE player_id = ${playerId}::float8::bigint
                AND number = (SELECT min(number) FROM case_orders WHERE player_id = ${playerId}::float8::bigint)
              RETURNING case_id AS "caseId", "order" AS kept`
          ))
          if (next === undefined) return false
          yield* Fiber.join(fork(command(playerId, { caseId: next.caseId, ...next.kept })))
          return true
        }))

      const work = Effect.fnUntraced(function*(playerId: number) {
        for (let done = 0; done < maxOrders && (yield* doNext(playerId)); done++);
      }, orTryAgain)

      return CaseOrders.of({
        keep,
        done: Effect.fn("CaseOrders.done")((playerId) =>
          Effect.catchCause(work(playerId), (cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.interrupt
              : Effect.annotateLogs(Effect.logWarning("player change ordered by a case postponed", cause), {
                player_id: playerId
              }))
        ),
        run: Effect.gen(function*() {
          const found = yield* playerRows(
            sql`SELECT DISTINCT player_id AS "playerId" FROM case_orders ORDER BY player_id LIMIT ${maxPlayers}`
          )
          const done = yield* countDone(found, ({ playerId }) => work(playerId), { concurrency })
          return { done, hasMore: done > 0 && found.length === maxPlayers }
        }).pipe(orTryAgain, Effect.withSpan("CaseOrders.run"))
      })
    })
  )
}
