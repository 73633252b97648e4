/** Resets a sandbox (an operator for tests): a new, empty operator takes over its configuration, and the old one is archived with its history. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../auth/Credentials.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { type IdempotencyClaim, operatorScope, type RenderedReply } from "../../domain/state/Idempotency.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { Idempotency } from "../../store/Idempotency.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { ActiveOperators } from "../operators/ActiveOperators.ts"
import { PaymentMethods } from "../payments/Methods.ts"

type Unavailable = Refusal<"TRY_AGAIN">

const clockRows = rowsOf(Schema.Struct({ isAdvancing: Schema.Boolean, offsetMs: Schema.Number }))
const resetRows = rowsOf(Schema.Struct({ isDone: Schema.Boolean }))

const isAdvancing = refuse(
  "INVALID_REQUEST",
  "The sandbox clock is being advanced. Reset the sandbox when it has reached its target."
)
const isGone = refuse("NOT_FOUND", "This sandbox no longer exists.")

export class SandboxReset extends Context.Service<SandboxReset, {
  /** Resets a sandbox; gives the answer, which is kept under the claim for the successor, by whose id the key is looked for. */
  readonly reset: (
    operatorId: number,
    actor: { readonly label: string },
    answering: {
      readonly claim: IdempotencyClaim | undefined
      readonly render: (successor: number) => RenderedReply
    }
  ) => Effect.Effect<RenderedReply, Refusal<"NOT_FOUND" | "INVALID_REQUEST" | "IDEMPOTENCY_IN_PROGRESS"> | Unavailable>
}>()("pitboss/sandbox/SandboxReset") {
  static readonly layer = Layer.effect(
    SandboxReset,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const switches = yield* ActiveOperators
      const methods = yield* PaymentMethods
      const book = yield* ProfileBook
      const clocks = yield* OperatorClocks
      const idempotency = yield* Idempotency
      // the real one: that of a request is its operator's
      const clock = yield* Clock.Clock

      const reset: SandboxReset["Service"]["reset"] = Effect.fn("SandboxReset.reset")(function*(
        operatorId,
        actor,
        { claim, render }
      ) {
        const reply = yield* auditLog.change(actor, ({ newId, record }) =>
          Effect.gen(function*() {
            // an advance that begins now waits for it
            yield* sql`SELECT FROM operators WHERE id = ${operatorId} FOR UPDATE`
            const was = yield* oneOf(clockRows(
              sql`SELECT target IS NOT NULL AS "isAdvancing", offset_ms::float8 AS "offsetMs" FROM operator_clocks
                WHERE operator_id = ${operatorId} FOR UPDATE`
            ))
            if (was?.isAdvancing === true) return yield* Effect.fail(isAdvancing)
            const now = clock.currentTimeMillisUnsafe()
            const at = now + (was?.offsetMs ?? 0)
            const done = yield* oneOf(resetRows(
              sql`SELECT reset_sandbox(${operatorId}, ${newId}, ${toDate(at)}::timestamptz) AS "isDone"`
            ))
            if (done?.isDone !== true) return yield* Effect.fail(isGone)
            yield* record({
              action: "operator.create",
              operatorId: newId,
              subject: `operator:${newId}`,
              before: null,
              after: { id: newId, created_at: iso(at), reset_of: operatorId }
            })
            const answer = render(newId)
            if (claim !== undefined) {
              yield* idempotency.insert({ ...claim, scope: operatorScope(newId), ...answer, createdAt: now })
            }
            return answer
          }))
        yield* credentials.invalidate()
        yield* switches.refresh
        yield* methods.invalidate(operatorId)
        yield* book.refresh
        yield* clocks.announce
        return reply
      })

      return SandboxReset.of({ reset })
    })
  )
}
