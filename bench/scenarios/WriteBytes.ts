import { Effect, Fiber, Ref } from "effect"
import { Flag } from "effect/cli"
import { randomUUID } from "node:crypto"
import { failedAt } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { PlayerPicker } from "../load/PlayerPicker.ts"
import { readProcessors, usageBetween } from "../load/Quiet.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { type Postgres, startPostgres } from "../targets/Postgres.ts"
import { insertPlayers, layerPostgres, placeBet, playerId } from "../targets/servers/PlayerEngine.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const database = "write_bytes"

/** Rows below this many bytes per bet are summed up. */
const tellFromBytes = 2

const position = (postgres: Postgres) =>
  Effect.map(
    postgres.query(database, "SELECT pg_current_wal_insert_lsn()::text AS lsn"),
    ([row]) => String(row?.["lsn"])
  )

/** WAL bytes between two positions, by relation; `''` for records without one, mainly commits. */
const walByRelation = (postgres: Postgres, from: string, to: string) =>
  postgres.query(
    database,
    `WITH blocks AS MATERIALIZED (
        SELECT b.start_lsn, b.relfilenode, b.relforknumber, b.relblocknumber, b.xid::text, b.record_length,
          coalesce(b.block_fpi_length, 0) AS fpi
        FROM pg_get_wal_block_info($1::pg_lsn, $2::pg_lsn, false) b),
      -- a record of several pages is told with the page it names first
      records AS (
        SELECT DISTINCT ON (start_lsn) start_lsn, relfilenode, record_length FROM blocks ORDER BY start_lsn, fpi DESC),
      pages AS (SELECT relfilenode, sum(fpi) AS fpi, count(*) FILTER (WHERE fpi > 0) AS images,
          count(*) FILTER (WHERE relforknumber = 0) AS visits,
          count(DISTINCT (xid, relblocknumber)) FILTER (WHERE relforknumber = 0) AS pages
        FROM blocks GROUP BY relfilenode),
      bytes AS (SELECT relfilenode, count(*) AS records, sum(record_length) AS bytes FROM records GROUP BY relfilenode)
    SELECT coalesce(c.relname, 'other relations') AS name, sum(b.records)::float8 AS records, sum(b.bytes)::float8 AS bytes,
      sum(p.fpi)::float8 AS fpi, sum(p.images)::float8 AS images, sum(p.pages)::float8 AS pages, sum(p.visits)::float8 AS visits
    FROM pages p JOIN bytes b USING (relfilenode)
    LEFT JOIN pg_class c ON pg_relation_filenode(c.oid) = p.relfilenode
    GROUP BY 1 ORDER BY bytes DESC`,
    [from, to]
  )

/** Updates of a table, and how many of them touched no index. */
const updates = (postgres: Postgres) =>
  Effect.map(
    postgres.query(
      database,
      `SELECT coalesce(sum(n_tup_upd), 0)::float8 AS updated, coalesce(sum(n_tup_hot_upd), 0)::float8 AS hot
        FROM pg_stat_user_tables WHERE relname IN ('accounts', 'rounds', 'daily_sums', 'daily_players')`
    ),
    ([row]) => ({ updated: Number(row?.["updated"] ?? 0), hot: Number(row?.["hot"] ?? 0) })
  )

interface WriteRound {
  readonly callers: number
  readonly bets: number
  readonly walBytes: number
  readonly commits: number
  readonly postgresMicros: number
  readonly hotShare: number
  readonly relations: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const measureRound = (callers: number, rounds: ReadonlyArray<WriteRound>): ReadonlyArray<Measurement> => {
  const group = `${callers} callers`
  const names = [...new Set(rounds.flatMap(({ relations }) => relations.map(({ name }) => String(name))))]
  const each = (name: string, column: string) =>
    rounds.map(({ bets, relations }) =>
      Number(relations.find((relation) => relation["name"] === name)?.[column] ?? 0) / bets
    )
  return [
    {
      group,
      name: "whole log",
      figures: [
        figure("WAL per bet", "bytes", "lower", rounds.map(({ bets, walBytes }) => walBytes / bets)),
        figure(
          "page images per bet",
          "bytes",
          "lower",
          rounds.map(({ bets, relations }) => relations.reduce((sum, row) => sum + Number(row["fpi"]), 0) / bets)
        ),
        figure(
          "pages per bet",
          "",
          "lower",
          rounds.map(({ bets, relations }) => relations.reduce((sum, row) => sum + Number(row["pages"]), 0) / bets)
        ),
        figure("CPU PostgreSQL", "µs", "lower", rounds.map(({ postgresMicros }) => postgresMicros)),
        figure("bets per commit", "", "neither", rounds.map(({ bets, commits }) => bets / Math.max(1, commits))),
        figure("updates without an index", "%", "higher", rounds.map(({ hotShare }) => hotShare * 100))
      ],
      errors: {}
    },
    ...names.filter((name) => each(name, "bytes").some((bytes) => bytes >= tellFromBytes)).map((name) => ({
      group,
      name,
      figures: [
        figure("WAL per bet", "bytes", "lower", each(name, "bytes")),
        figure("page images per bet", "bytes", "lower", each(name, "fpi")),
        figure("pages per bet", "", "lower", each(name, "pages"))
      ],
      errors: {}
    }))
  ]
}

/**
 * Bytes of the write-ahead log that a bet costs, by table and index, with the images of whole pages that a checkpoint brings, the pages
 * that a commit writes to, and PostgreSQL's processor time. Bets are asked of the engine without HTTP.
 */
export const writeBytesScenario = scenario({
  name: "write-bytes",
  title: "Write bytes: what a bet adds to the log of PostgreSQL",
  about: "WAL bytes, page images and pages written per bet, by table and index",
  flags: {
    rounds: Flags.rounds(3),
    seconds: Flags.seconds("seconds", "measured seconds of a round", 1).pipe(Flag.withDefault(10)),
    warmUpSeconds: Flags.seconds("warm-up", "seconds of load before a round is measured", 0).pipe(Flag.withDefault(2)),
    players: Flags.players(10_000, 1_000_000, "players who bet"),
    registered: Flags.count("registered", "players who are registered", 1_000_000).pipe(Flag.withDefault(100_000)),
    callers: Flags.counts("callers", "callers at a time, one measurement each", [60, 250], 4096),
    isRising: Flags.switchOf("rising-ids", "ids of transactions and rounds rise; else they are UUIDs of no order")
  },
  plan: ({ callers, rounds, seconds, warmUpSeconds }) => [
    `write-bytes: ${rounds * callers.length} rounds of ${warmUpSeconds} + ${seconds} s`,
    12 + rounds * callers.length * (seconds * 1.5 + warmUpSeconds)
  ],
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    yield* postgres.query(database, "CREATE EXTENSION pg_walinspect")

    const all = yield* Effect.gen(function*() {
      showProgress(`registering ${options.registered} players`)
      yield* insertPlayers(options.registered)
      const actors = yield* PlayerActors
      const spread = Math.max(1, Math.floor(options.registered / options.players))
      const prefix = Date.now().toString(36)
      let sent = 0
      const rounds: Array<WriteRound> = []
      for (const round of roundNumbers(options.rounds)) {
        for (const callers of options.callers) {
          showProgress(`round ${round}/${options.rounds}  ${callers} callers`)
          const picker = new PlayerPicker(options.players, round)
          const running = yield* Ref.make(true)
          let bets = 0
          const caller = Effect.gen(function*() {
            while (yield* Ref.get(running)) {
              const id = options.isRising ? `${prefix}-${(++sent).toString(36).padStart(7, "0")}` : randomUUID()
              yield* placeBet(actors, playerId(picker.next() * spread), id)
              bets++
            }
          })
          const loads = yield* Effect.forkChild(
            Effect.replicateEffect(caller, callers, { concurrency: "unbounded", discard: true })
          )
          yield* Effect.sleep(options.warmUpSeconds * 1000)
          yield* postgres.query(database, "CHECKPOINT")
          const parties = { service: [process.pid], postgres: postgres.pid, generators: [] }
          const [from, before, updatedBefore, betsBefore] = [
            yield* position(postgres),
            readProcessors(parties),
            yield* updates(postgres),
            bets
          ]
          yield* Effect.sleep(options.seconds * 1000)
          const [to, after, updatedAfter, betsAfter] = [
            yield* position(postgres),
            readProcessors(parties),
            yield* updates(postgres),
            bets
          ]
          yield* Ref.set(running, false)
          yield* Fiber.join(loads)
          const measured = betsAfter - betsBefore
          const [log] = yield* postgres.query(
            database,
            `SELECT pg_wal_lsn_diff($2, $1)::float8 AS bytes, (SELECT count(*) FROM pg_get_wal_records_info($1, $2)
              WHERE resource_manager = 'Transaction' AND record_type = 'COMMIT')::float8 AS commits`,
            [from, to]
          )
          const updated = updatedAfter.updated - updatedBefore.updated
          rounds.push({
            callers,
            bets: measured,
            walBytes: Number(log?.["bytes"]),
            commits: Number(log?.["commits"]),
            postgresMicros: usageBetween(before, after).postgres / measured,
            hotShare: updated === 0 ? 1 : (updatedAfter.hot - updatedBefore.hot) / updated,
            relations: yield* walByRelation(postgres, from, to)
          })
        }
      }
      return rounds
    }).pipe(Effect.provide(layerPostgres(postgres.url(database))), Effect.mapError(failedAt("write-bytes")))
    endProgress()
    const measurements = options.callers.flatMap((callers) =>
      measureRound(callers, all.filter((round) => round.callers === callers))
    )
    return {
      ...server,
      method: [
        `${options.players.toLocaleString("en-US")} of ${
          options.registered.toLocaleString("en-US")
        } players bet through the ` +
        `engine; ${options.rounds} rounds of ${options.seconds} s, each right after a checkpoint. Ids ` +
        `${options.isRising ? "rise" : "are UUIDs"}. Pages are counted once per commit.`
      ],
      headlines: measurements.filter(({ name }) => name === "whole log").flatMap(({ figures: [bytes], group }) =>
        bytes === undefined ? [] : [{
          value: `${Math.round(bytes.values.toSorted((a, b) => a - b)[bytes.values.length >> 1] ?? 0)} bytes`,
          label: `of WAL per bet, ${group}`
        }]
      ),
      measurements
    }
  })
})
