/**
 * The secrets behind originals: made from the system's randomness, sealed under the master key, opened when a round needs one.
 *
 * A sealed seed is bound to its player and to the hash that promised it, so that no row can be put in place of another. Those that
 * were opened lately stay in memory, as the secrets of keys do; nothing here writes one down.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import { hashServerSeed, type HmacSha256 } from "../domain/originals/Fairness.ts"
import type { SealedSeed } from "../domain/originals/PlayerSeeds.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Entropy } from "../platform/Entropy.ts"
import { Secrets, sha256 } from "../platform/Secrets.ts"
import { oneOf, orTryAgain, rowsOf } from "../players/Rows.ts"
import { RecentMap } from "./RecentMap.ts"

const seedBytes = 32

/** How many open seeds are remembered: twice this at most. */
const remembered = 20_000

const purposeOf = (playerId: number, hash: string): string => `server-seed:${playerId}:${hash}`

const sealedRows = rowsOf(Schema.Struct({ hash: Schema.String, sealed: Schema.Uint8Array }))

const gone = refuse("TRY_AGAIN", "The seed of this round is not at hand. Send the same request again.", {
  retry: "same_request"
})

export const hmacSha256: HmacSha256 = (key, message) => Crypto.createHmac("sha256", key).update(message).digest()

export class ServerSeeds extends Context.Service<ServerSeeds, {
  /** Makes a new seed for a player. */
  readonly make: (playerId: number) => SealedSeed
  /** The text of a seed that was opened lately. */
  readonly peek: (seedId: number) => string | undefined
  /** Opens a seed of a player, so that {@link peek} gives it. */
  readonly open: (playerId: number, seedId: number) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
}>()("pitboss/games/ServerSeeds") {
  static readonly layer = Layer.effect(
    ServerSeeds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const secrets = yield* Secrets
      const opened = new RecentMap<number, string>(remembered)

      const open = Effect.fnUntraced(function*(playerId: number, seedId: number) {
        const row = yield* orTryAgain(oneOf(sealedRows(
          sql`SELECT server_seed_hash AS hash, server_seed_sealed AS sealed FROM server_seeds
            WHERE id = ${seedId}::float8::bigint AND player_id = ${playerId}::float8::bigint`
        )))
        if (row === undefined) return yield* Effect.fail(gone)
        // the same key opened the secrets of keys and providers: one that cannot be opened was tampered with
        opened.set(seedId, yield* Effect.orDie(secrets.openText(purposeOf(playerId, row.hash), row.sealed)))
      })

      return ServerSeeds.of({
        make: (playerId) => {
          const serverSeed = Buffer.from(entropy.bytes(seedBytes)).toString("hex")
          const hash = hashServerSeed(sha256, serverSeed)
          return { hash, sealed: secrets.seal(purposeOf(playerId, hash), serverSeed) }
        },
        peek: (seedId) => opened.get(seedId),
        open
      })
    })
  )
}
