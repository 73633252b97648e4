/** Server seeds of the platform's own games as rows: the query for a player's seeds that are not retired yet, and its decoding. */
import { Schema } from "effect"
import type { PlayerSeeds } from "../domain/state/PlayerSeeds.ts"

/** Seeds of the player `$1` that are not retired. The next nonce and the client seed in effect are derived from the last round under the seed. */
export const openSeedsText = `SELECT s.id, s.server_seed_hash AS hash,
    s.started_at IS NOT NULL AS "isCurrent", coalesce(r.client_seed, s.client_seed, '') AS "clientSeed",
    coalesce(r.nonce + 1, 0)::float8 AS nonce
  FROM server_seeds s LEFT JOIN LATERAL (SELECT nonce, client_seed FROM original_rounds WHERE seed_id = s.id
    ORDER BY nonce DESC LIMIT 1) r ON true
  WHERE s.player_id = $1::float8::bigint AND s.retired_at IS NULL`

export const SeedRow = Schema.Struct({
  id: Schema.Number,
  hash: Schema.String,
  isCurrent: Schema.Boolean,
  clientSeed: Schema.String,
  nonce: Schema.Number
})

/** Decodes rows of {@link openSeedsText}; null when there are none. */
export const toSeeds = (rows: ReadonlyArray<typeof SeedRow.Type>): PlayerSeeds | null => {
  const current = rows.find(({ isCurrent }) => isCurrent)
  const next = rows.find(({ isCurrent }) => !isCurrent)
  return current === undefined || next === undefined ? null : {
    current: {
      serverSeed: current.id,
      serverSeedHash: current.hash,
      clientSeed: current.clientSeed,
      nonce: current.nonce
    },
    next: { serverSeed: next.id, serverSeedHash: next.hash }
  }
}
