import { Effect } from "effect"
import type { Histogram } from "hdr-histogram-js"
import pg from "pg"
import { type BenchError, failedAt } from "../BenchError.ts"
import type { Postgres } from "../targets/Postgres.ts"
import { makeHistogram, micros } from "./Latency.ts"

const warmUp = 50

/** WAL bytes and commits of a server so far. */
export interface WalReading {
  /** `performance.now()`. */
  readonly at: number
  readonly bytes: number
  /** Images of whole pages among it: the first change of a page after a checkpoint. */
  readonly fullPages: number
  /** Of one database. Sessions tell it up to a second late. */
  readonly commits: number
  /** Checkpoints that are done. */
  readonly checkpoints: number
}

export const readWal = (postgres: Postgres, database: string): Effect.Effect<WalReading, BenchError> =>
  postgres.query(
    "postgres",
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes, wal_fpi::float8 AS pages,
      (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = $1) AS commits,
      (SELECT num_done::float8 FROM pg_stat_checkpointer) AS checkpoints
    FROM pg_stat_wal`,
    [database]
  ).pipe(Effect.map(([row]) => ({
    at: performance.now(),
    bytes: Number(row?.["bytes"]),
    fullPages: Number(row?.["pages"]),
    commits: Number(row?.["commits"]),
    checkpoints: Number(row?.["checkpoints"])
  })))

/**
 * Round-trip time of one durable transaction: a single row updated by its key over one connection, prepared, sequentially.
 * Lower bound of every durable answer.
 */
export const measureCommits = (postgres: Postgres, repetitions: number): Effect.Effect<Histogram, BenchError> =>
  Effect.tryPromise({
    try: async () => {
      const client = new pg.Client({ connectionString: postgres.url("postgres") })
      await client.connect()
      try {
        await client.query("CREATE TABLE IF NOT EXISTS one_commit (id integer PRIMARY KEY, counter bigint NOT NULL)")
        await client.query("INSERT INTO one_commit VALUES (1, 0) ON CONFLICT DO NOTHING")
        const histogram = makeHistogram()
        for (let number = -warmUp; number < repetitions; number++) {
          const start = performance.now()
          await client.query({
            name: "commit",
            text: "UPDATE one_commit SET counter = counter + 1 WHERE id = $1",
            values: [1]
          })
          if (number >= 0) histogram.recordValue(micros(performance.now() - start))
        }
        return histogram
      } finally {
        await client.end()
      }
    },
    catch: failedAt("one commit")
  })
