/** Lists and changes a player's marketing consents (`docs/decisions/0062-statements-and-consents.md`). */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import type { Consent } from "../../contract/consents/ConsentResource.ts"
import { saidOf } from "../../domain/player/Consents.ts"
import type { ConsentStatement } from "../../domain/state/ConsentStatement.ts"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { iso } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import {
  type ConsentAuthor,
  type ConsentChange,
  consentColumns,
  ConsentRow,
  idsOfConsents,
  makeConsentRules,
  makeWriteConsents,
  refuseChanges,
  statementsOf
} from "./ConsentRecords.ts"

type Resource = ReadonlyArray<typeof Consent.Type>

const notFound = refuse("NOT_FOUND", "There is no such player.")

export class Consents extends Context.Service<Consents, {
  /** The consents of the player's jurisdiction, channel by channel. `operatorId` null: of a player of any operator. */
  readonly list: (
    operatorId: number | null,
    playerId: number
  ) => Effect.Effect<Resource, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
  /** Changes consents, all or none of them; those that are as they should be stay as they are. Each change is an acknowledgement. */
  readonly change: (
    operatorId: number | null,
    playerId: number,
    changes: ReadonlyArray<ConsentChange>,
    author: ConsentAuthor
  ) => Effect.Effect<Resource, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/consents/Consents") {
  static readonly layer = Layer.effect(
    Consents,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const chain = yield* Chain
      const ids = yield* Ids
      const rulesOf = yield* makeConsentRules
      const write = yield* makeWriteConsents
      const rows = rowsOf(ConsentRow)

      const find = (operatorId: number | null, playerId: number, isLocked: boolean) =>
        Effect.flatMap(
          oneOf(rows(sql`SELECT ${sql.literal(consentColumns)} FROM players WHERE id = ${playerId}::float8::bigint
            ${operatorId === null ? sql`` : sql`AND operator_id = ${operatorId}`} ${
            isLocked ? sql`FOR NO KEY UPDATE` : sql``
          }`)),
          (row): Effect.Effect<ConsentRow, Refusal<"NOT_FOUND">> =>
            row === undefined ? Effect.fail(notFound) : Effect.succeed(row)
        )

      const shown = (
        { jurisdiction }: ConsentRow,
        statements: ReadonlyArray<ConsentStatement>,
        now: number
      ): Resource => {
        const { channels, products } = rulesOf(jurisdiction, now)
        return channels.flatMap((channel) =>
          products.map((product) => {
            const said = saidOf(statements, channel, product)
            return {
              channel,
              product,
              granted: said?.granted ?? false,
              at: said === undefined ? null : iso(said.at),
              source: said?.source ?? null,
              text_version: said?.text_version ?? null
            }
          })
        )
      }

      return Consents.of({
        list: Effect.fn("Consents.list")(function*(operatorId, playerId) {
          const row = yield* find(operatorId, playerId, false)
          return shown(row, statementsOf(row), yield* Clock.currentTimeMillis)
        }, orTryAgain),
        change: Effect.fn("Consents.change")(function*(operatorId, playerId, given, author) {
          const firstId = yield* Effect.mapError(
            ids.reserve(idsOfConsents(given.length)),
            () => temporarilyUnavailable
          )
          return yield* inTransaction(sql)(Effect.gen(function*() {
            const row = yield* find(operatorId, playerId, true)
            const now = yield* Clock.currentTimeMillis
            const refusal = refuseChanges(given, author.by === "staff", rulesOf(row.jurisdiction, now))
            if (refusal !== undefined) return yield* Effect.fail(refusal)
            const { lines, statements } = yield* write(row, given, author, firstId, now)
            yield* chain.writeAuditLines(lines)
            return shown(row, statements, now)
          }))
        }, orTryAgain)
      })
    })
  )
}
