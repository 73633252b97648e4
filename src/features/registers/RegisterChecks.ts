/** Lists the stored checks of players at exclusion registers, for operators and staff. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RegisterCheck } from "../../contract/registers/RegisterResource.ts"
import { StaffRegisterCheck } from "../../contract/registers/StaffApi.ts"
import type { keptEvents, keptVerdicts } from "../../domain/register/Register.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { makeReferences } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { listOf, newestFirst } from "../../store/Lists.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain, type Page, type PageQuery } from "../../store/Rows.ts"

type Check = typeof RegisterCheck.Type

/** Filters of the checks that staff see. */
interface CheckFilters {
  readonly playerId?: number | undefined
  readonly verdict?: (typeof keptVerdicts)[number] | undefined
  readonly event?: (typeof keptEvents)[number] | undefined
}

export class RegisterChecks extends Context.Service<RegisterChecks, {
  /** Checks about a player of an operator, newest first. */
  readonly of: (operatorId: number, playerId: number, query: PageQuery) => Effect.Effect<Page<Check>, ActorRefusal>
  /** Checks of the operators that the actor may see, newest first. */
  readonly walk: (
    actor: Pick<Actor, "operators">,
    operator: string | undefined,
    query: CheckFilters & PartQuery
  ) => Effect.Effect<Part<StaffRegisterCheck>, Refusal<"VALIDATION_FAILED" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/registers/RegisterChecks") {
  static readonly layer = Layer.effect(
    RegisterChecks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const references = yield* makeReferences
      const ofStaff = yield* recordsOf("register_checks", StaffRegisterCheck)
      const ofOperators = yield* recordsOf("register_checks", RegisterCheck)
      const byTime = newestFirst<Check>("asked_at", "id", ({ asked_at: at }) => Date.parse(at))
      const byPlayer = (playerId: number) => sql`player_id = ${playerId}::float8::bigint`
      const listed = listOf<StaffRegisterCheck, CheckFilters, "newest">(sql, {
        operator: "operator_id",
        read: (where, end) => ofStaff.all(sql`${where} ${end}`),
        filters: {
          playerId: byPlayer,
          verdict: (value) => sql`verdict = ${value}`,
          event: (value) => sql`event = ${value}`
        },
        orders: { newest: byTime }
      })
      const ofPlayer = listOf<Check, { readonly playerId: number }, "newest">(sql, {
        operator: "operator_id",
        read: (where, end) => ofOperators.all(sql`${where} ${end}`),
        filters: { playerId: byPlayer },
        orders: { newest: byTime }
      })
      return RegisterChecks.of({
        of: Effect.fn("RegisterChecks.of")(function*(operatorId, playerId, query) {
          yield* actors.read(operatorId, playerId)
          return yield* orTryAgain(ofPlayer.page([operatorId], { playerId, ...query }, "newest", ofOperators.count))
        }),
        walk: Effect.fn("RegisterChecks.walk")(function*(actor, operator, query) {
          return yield* listed.part(yield* references.scope(actor, operator), query, "newest")
        }, orTryAgain)
      })
    })
  )
}
