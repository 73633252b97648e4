/** Creates and lists licensees: licence holders that group operators. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Licensee, type LicenseeInput } from "../../contract/operators/StaffApi.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import type { Actor } from "../../office/Actor.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { orTaken } from "../../office/References.ts"
import { iso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain } from "../../store/Rows.ts"

const maxLicensees = 1000

type Licensee = typeof Licensee.Type

type Unavailable = Refusal<"TRY_AGAIN">

export class Licensees extends Context.Service<Licensees, {
  /** Adds a licensee. */
  readonly create: (
    actor: Actor,
    input: LicenseeInput
  ) => Effect.Effect<Licensee, Refusal<"VALIDATION_FAILED" | "INVALID_REQUEST"> | Unavailable>
  /** All licensees, by id. */
  readonly list: Effect.Effect<ReadonlyArray<Licensee>, Unavailable>
}>()("pitboss/operators/Licensees") {
  static readonly layer = Layer.effect(
    Licensees,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const licensees = yield* recordsOf("licensees", Licensee)

      const create = Effect.fn("Licensees.create")((actor: Actor, { name }: LicenseeInput) =>
        auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            if ((yield* licensees.count(sql`true`)) >= maxLicensees) {
              return yield* Effect.fail(refuse("INVALID_REQUEST", `There can be at most ${maxLicensees} licensees.`))
            }
            const licensee = { id: newId, name, created_at: iso(now) }
            yield* licensees.insert(licensee)
            return yield* recordChange("licensee.create", null, licensee)
          }).pipe(orTaken({ licensees_name_key: "name" })))
      )

      return Licensees.of({
        create,
        list: orTryAgain(licensees.all(sql`true ORDER BY id LIMIT ${maxLicensees}`)).pipe(
          Effect.withSpan("Licensees.list")
        )
      })
    })
  )
}
