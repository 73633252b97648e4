/** Stored chunks of an import: a digest of the checked lines, their totals and rejections, and whether they were posted. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ImportTotals } from "../../../contract/moving/LineResource.ts"
import type { ImportChunk } from "../../../contract/moving/StaffApi.ts"
import { byteStrings, texts } from "../../../platform/ArrayParameters.ts"
import { inTransaction } from "../../../platform/InTransaction.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { toDate } from "../../../platform/Time.ts"
import { oneOf, rowsOf } from "../../../store/Rows.ts"

type ImportChunk = typeof ImportChunk.Type

const Rejected = Schema.Array(Schema.Struct({ line: Schema.Number, reasons: Schema.Array(Schema.String) }))

const Chunk = Schema.Struct({
  number: Schema.Number,
  posted: Schema.Boolean,
  totals: ImportTotals,
  rejected: Rejected,
  linesSha256: Schema.Uint8Array
})

const chunkRows = rowsOf(Chunk)
const totalRows = rowsOf(Chunk.mapFields(({ number, totals }) => ({ number, totals })))

const writtenRows = rowsOf(Schema.Struct({ id: Schema.Number }))
const checkedRows = rowsOf(Schema.Struct({ digest: Schema.Uint8Array, currency: Schema.String }))

/** Chunks of one answer. */
const perAnswer = 100

interface Of {
  readonly id: number
  readonly operator_id: number
}

/** A player of a line, by which open withdrawals name their currency. */
export interface CheckedPlayer {
  readonly externalId: string
  readonly currency: string
}

export const makeChunks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  const digestOf = (externalId: string) => personal.digest("external_id", externalId)
  const columns = sql.literal(`number, posted, totals, rejected, lines_sha256 AS "linesSha256"`)
  const find = (runId: number, number: number) =>
    oneOf(chunkRows(
      sql`SELECT ${columns} FROM import_chunks WHERE run_id = ${runId}::float8::bigint AND number = ${number}`
    ))
  return {
    find,
    /** Totals of all chunks of an import, by number. */
    totalsOf: (runId: number) =>
      totalRows(
        sql`SELECT number, totals FROM import_chunks WHERE run_id = ${runId}::float8::bigint ORDER BY number`
      ),
    /** A hundred chunks after one, by number. */
    after: (runId: number, number: number) =>
      Effect.map(
        chunkRows(
          sql`SELECT ${columns} FROM import_chunks WHERE run_id = ${runId}::float8::bigint AND number > ${number}
            ORDER BY number LIMIT ${perAnswer}`
        ),
        (rows) => rows.map(({ linesSha256: _, ...chunk }): ImportChunk => chunk)
      ),
    /** Keeps the outcome of a check, and its players; false where the import is not being checked any more. */
    check: (run: Of, chunk: ImportChunk, sha256: Uint8Array, players: ReadonlyArray<CheckedPlayer>) =>
      inTransaction(sql)(Effect.gen(function*() {
        // a proposal waits for it, or it finds the import proposed
        const written = yield* writtenRows(
          sql`INSERT INTO import_chunks (run_id, number, operator_id, lines_sha256, totals, rejected)
            SELECT id, ${chunk.number}::integer, operator_id, ${sha256}::bytea, ${JSON.stringify(chunk.totals)}::jsonb,
              ${JSON.stringify(chunk.rejected)}::jsonb
            FROM import_runs WHERE id = ${run.id} AND operator_id = ${run.operator_id} AND status = 'checking' FOR SHARE
            ON CONFLICT (run_id, number) DO UPDATE SET lines_sha256 = EXCLUDED.lines_sha256, totals = EXCLUDED.totals,
              rejected = EXCLUDED.rejected
            RETURNING run_id AS id`
        )
        if (written.length === 0) return false
        if (players.length > 0) {
          yield* sql`INSERT INTO import_checked_players (run_id, chunk, player_digest, currency)
            SELECT ${run.id}, ${chunk.number}, * FROM unnest(${
            byteStrings(players.map(({ externalId }) => digestOf(externalId)))
          }::bytea[], ${texts(players.map(({ currency }) => currency))}::text[])
            ON CONFLICT DO NOTHING`
        }
        return true
      })),
    /** Currencies of players whom other chunks of an import bring, by external id. */
    currencies: (runId: number, externalIds: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        if (externalIds.length === 0) return new Map<string, string>()
        const digests = new Map(
          externalIds.map((externalId) => [Buffer.from(digestOf(externalId)).toString("hex"), externalId])
        )
        const found = yield* checkedRows(
          sql`SELECT player_digest AS digest, currency FROM import_checked_players
            WHERE run_id = ${runId} AND player_digest = ANY (${byteStrings(externalIds.map(digestOf))}::bytea[])`
        )
        return new Map(
          found.map(({ currency, digest }) => [digests.get(Buffer.from(digest).toString("hex")) ?? "", currency])
        )
      }),
    /** Forgets the players of an import whose check has ended. */
    endCheck: (runId: number) => sql`DELETE FROM import_checked_players WHERE run_id = ${runId}`,
    /** Begins to post an import, or goes on with it; false where it is not approved. From then on it is not rejected any more. */
    begin: (run: Of, now: number) =>
      Effect.map(
        writtenRows(
          sql`UPDATE import_runs SET posting_at = coalesce(posting_at, ${toDate(now)})
            WHERE id = ${run.id} AND operator_id = ${run.operator_id} AND status = 'approved' RETURNING id`
        ),
        (rows) => rows.length > 0
      ),
    /** Keeps the outcome of a post. */
    post: (run: Of, chunk: ImportChunk) =>
      sql`UPDATE import_chunks SET posted = true, totals = ${JSON.stringify(chunk.totals)},
          rejected = ${JSON.stringify(chunk.rejected)}
        WHERE run_id = ${run.id} AND operator_id = ${run.operator_id} AND number = ${chunk.number}`,
    /** Ends an import whose chunks are posted: after the commit of the last one, since of two at once neither sees the other before. */
    end: (run: Of) =>
      sql`UPDATE import_runs SET status = 'posted' WHERE id = ${run.id} AND operator_id = ${run.operator_id}
        AND status = 'approved' AND NOT EXISTS (SELECT FROM import_chunks c WHERE c.run_id = ${run.id} AND NOT c.posted)`
  }
})
