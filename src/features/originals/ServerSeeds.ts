/**
 * Server seeds of originals, the platform's own games: generated from the system's randomness, encrypted under the master key, decrypted when a round
 * needs one.
 *
 * An encrypted seed is bound to its player and to its published hash, so that no row can be put in place of another. Recently decrypted seeds stay in
 * memory, as key secrets do; none is stored in clear.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import { hashServerSeed, type HmacSha256 } from "../../domain/original/Fairness.ts"
import type { SealedSeed } from "../../domain/state/PlayerSeeds.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets, sha256 } from "../../platform/Secrets.ts"
import { makeLogThrottle } from "../../platform/LogThrottle.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { RecentMap } from "../../platform/RecentMap.ts"

const seedBytes = 32

/** How many open seeds are remembered: twice this at most. */
const remembered = 20_000

const purposeOf = (playerId: number, hash: string): string => `server-seed:${playerId}:${hash}`

const sealedRows = rowsOf(Schema.Struct({ id: Schema.Number, hash: Schema.String, sealed: Schema.Uint8Array }))

const gone = refuse("TRY_AGAIN", "The server seed of this round is not loaded yet. Send the same request again.", {
  retry: "same_request"
})

const unreadable = refuse(
  "TRY_AGAIN",
  "The server seed of this player cannot be decrypted right now. No round was played. Staff have to retire or restore the seed.",
  { reason: "seed_unreadable", retry: "same_request" }
)

export const hmacSha256: HmacSha256 = (key, message) => Crypto.createHmac("sha256", key).update(message).digest()

export class ServerSeeds extends Context.Service<ServerSeeds, {
  /** Makes a new seed for a player. */
  readonly make: (playerId: number) => SealedSeed
  /** The text of a seed that was opened lately. */
  readonly peek: (seedId: number) => string | undefined
  /** Opens a seed of a player, so that {@link peek} gives it. */
  readonly open: (playerId: number, seedId: number) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
  /** Ids of the player's seeds, in use or promised, that cannot be opened. */
  readonly lost: (playerId: number) => Effect.Effect<ReadonlyArray<number>, Refusal<"TRY_AGAIN">>
}>()("pitboss/originals/ServerSeeds") {
  static readonly layer = Layer.effect(
    ServerSeeds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const secrets = yield* Secrets
      const throttle = yield* makeLogThrottle(5000)
      // Kept: opened. Server seeds that were opened. Several nodes: a seed never changes: the same everywhere.
      const opened = new RecentMap<number, string>(remembered)

      const open = Effect.fnUntraced(function*(playerId: number, seedId: number) {
        const row = yield* orTryAgain(oneOf(sealedRows(
          sql`SELECT id, server_seed_hash AS hash, server_seed_sealed AS sealed FROM server_seeds
            WHERE id = ${seedId}::float8::bigint AND player_id = ${playerId}::float8::bigint`
        )))
        if (row === undefined) return yield* Effect.fail(gone)
        const text = yield* Effect.option(secrets.openText(purposeOf(playerId, row.hash), row.sealed))
        if (text._tag === "None") {
          yield* throttle((others) =>
            Effect.annotateLogs(Effect.logError("server seed cannot be decrypted with this MASTER_KEY"), {
              player_id: playerId,
              seed_id: seedId,
              others
            })
          )
          return yield* Effect.fail(unreadable)
        }
        opened.set(seedId, text.value)
      })

      const lost = Effect.fnUntraced(function*(playerId: number) {
        const rows = yield* orTryAgain(sealedRows(
          sql`SELECT id, server_seed_hash AS hash, server_seed_sealed AS sealed FROM server_seeds
            WHERE player_id = ${playerId}::float8::bigint AND retired_at IS NULL`
        ))
        const unopened = yield* Effect.filter(
          rows,
          (row) =>
            Effect.match(secrets.open(purposeOf(playerId, row.hash), row.sealed), {
              onSuccess: () => false,
              onFailure: () => true
            })
        )
        return unopened.map(({ id }) => id)
      })

      return ServerSeeds.of({
        make: (playerId) => {
          const serverSeed = Buffer.from(entropy.bytes(seedBytes)).toString("hex")
          const hash = hashServerSeed(sha256, serverSeed)
          return { hash, sealed: secrets.seal(purposeOf(playerId, hash), serverSeed) }
        },
        peek: (seedId) => opened.get(seedId),
        open,
        lost
      })
    })
  )
}
