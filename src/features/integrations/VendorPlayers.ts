/** Player profile fields that a vendor may receive. */
import { Context, Effect, Layer, Schema } from "effect"
import { ServingClient } from "../../platform/Database.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Instant } from "../../domain/Instant.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const Row = Schema.Struct({
  username: Schema.String,
  birthDate: Schema.NullOr(Schema.String),
  registeredAt: Instant,
  category: Schema.String
})

const rows = rowsOf(Row)

export interface VendorPlayer {
  readonly username: string
  /** ISO date. */
  readonly birthDate: string | null
  /** Epoch milliseconds. */
  readonly registeredAt: number
  readonly tags: ReadonlyArray<string>
}

export class VendorPlayers extends Context.Service<VendorPlayers, {
  readonly find: (playerId: number) => Effect.Effect<VendorPlayer, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/integrations/VendorPlayers") {
  static readonly layer = Layer.effect(
    VendorPlayers,
    Effect.map(ServingClient, (sql) =>
      VendorPlayers.of({
        find: Effect.fn("VendorPlayers.find")(function*(playerId: number) {
          const row = yield* oneOf(rows(
            sql`SELECT username, to_char(birth_date, 'YYYY-MM-DD') AS "birthDate", created_at AS "registeredAt", category
              FROM players WHERE id = ${playerId}`
          ))
          if (row === undefined) return yield* Effect.fail(refuse("NOT_FOUND", "There is no such player."))
          const { category, ...player } = row
          return { ...player, tags: [category] }
        }, orTryAgain)
      }))
  )
}
