/**
 * Seals of the hash chains: every minute the hashes of their last links (heads) are hashed with the previous seal, and the result is logged. A log
 * stored apart from the database proves that the past was not changed.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inTransaction } from "../platform/InTransaction.ts"
import type { JobResult } from "../platform/Scheduler.ts"
import { hashOf, noHash, sealLine } from "./Lines.ts"

/** Maximum of chains per seal. */
const headsPerSeal = 1000

/** Advisory lock of sealing; an arbitrary number. */
const lockKey = 7_204_551_039

const HeadRow = Schema.Struct({
  chainId: Schema.String,
  link: Schema.String,
  hash: Schema.String,
  isShorter: Schema.Boolean
})
const decodeHeads = Schema.decodeUnknownEffect(Schema.Array(HeadRow))
const decodeSeals = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ seal: Schema.Number, hash: Schema.String }))
)

export class Seals extends Context.Service<Seals, {
  /** Writes one seal over the chains that have grown, if any has. */
  readonly run: Effect.Effect<JobResult, SqlError.SqlError>
}>()("pitboss/chain/Seals") {
  static readonly layer = Layer.effect(
    Seals,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /** Chains whose head differs from their last seal. One step of the recursion is one look-up in the index. */
      const moved = sql`WITH RECURSIVE heads AS (
          (SELECT chain_id, link, hash FROM chain_links ORDER BY chain_id DESC, link DESC LIMIT 1)
          UNION ALL
          SELECT n.chain_id, n.link, n.hash FROM heads h CROSS JOIN LATERAL (SELECT chain_id, link, hash FROM chain_links c
            WHERE c.chain_id < h.chain_id ORDER BY c.chain_id DESC, c.link DESC LIMIT 1) n
        )
        SELECT h.chain_id::text AS "chainId", h.link::text AS link, encode(h.hash, 'hex') AS hash,
          h.link < coalesce(s.link, 0) AS "isShorter"
        FROM heads h LEFT JOIN LATERAL (SELECT s.link FROM chain_seal_heads s WHERE s.chain_id = h.chain_id
          ORDER BY s.link DESC LIMIT 1) s ON true
        WHERE h.link <> coalesce(s.link, 0) ORDER BY h.chain_id LIMIT ${headsPerSeal}`.pipe(
        Effect.flatMap((rows) => Effect.orDie(decodeHeads(rows)))
      )

      const run = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const found = yield* inTransaction(sql)(Effect.gen(function*() {
          yield* sql`SELECT pg_advisory_xact_lock(${lockKey}::bigint)`
          const changed = yield* moved
          const heads = changed.filter(({ isShorter }) => !isShorter)
          const shorter = changed.filter(({ isShorter }) => isShorter)
          if (heads.length === 0) return { seal: undefined, heads, shorter }
          const [last] = yield* Effect.orDie(decodeSeals(
            yield* sql`SELECT seal, encode(hash, 'hex') AS hash FROM chain_seals
              ORDER BY chain_seals.seal DESC LIMIT 1`
          ))
          const seal = (last?.seal ?? 0) + 1
          const hash = hashOf(sealLine(seal, String(now * 1000), last?.hash ?? noHash, heads))
          yield* sql`INSERT INTO chain_seals (seal, hash, sealed_at) VALUES (${seal}, decode(${hash}, 'hex'), ${new Date(
            now
          )})`
          yield* sql`INSERT INTO chain_seal_heads (chain_id, link, seal, hash)
            SELECT u.chain_id, u.link, ${seal}::float8::bigint, decode(u.hash, 'hex')
            FROM jsonb_to_recordset(${
            JSON.stringify(heads.map(({ chainId, hash, link }) => ({ chain_id: chainId, link, hash })))
          }
              ::text::jsonb) AS u(chain_id bigint, link bigint, hash text)`
          return { seal: { seal, hash }, heads, shorter }
        }))
        if (found.shorter.length > 0) {
          yield* Effect.logError("ledger hash chain lost links already sealed").pipe(
            Effect.annotateLogs({ chains: found.shorter.slice(0, 20).map(({ chainId }) => chainId).join(", ") })
          )
        }
        if (found.seal === undefined) return { done: 0, hasMore: false }
        yield* Effect.logInfo("ledger seal written").pipe(
          Effect.annotateLogs({ seal: found.seal.seal, hash: found.seal.hash, chains: found.heads.length })
        )
        return { done: found.heads.length, hasMore: found.heads.length === headsPerSeal }
      })

      return Seals.of({ run })
    })
  )
}
