import { Console, Effect, Exit, Scope } from "effect"
import { Flag } from "effect/cli"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { type Postgres, readSettings, startPostgres, temporaryFolder } from "../targets/Postgres.ts"
import { startService } from "../targets/Service.ts"
import { checkedRound, roundNumbers } from "./Rounds.ts"
import { scenario } from "./Scenario.ts"

interface RecoveryOptions {
  readonly players: number
  readonly connections: number
  /** Load before the kill. */
  readonly seconds: number
  readonly settings: string
}

/** Promised: ready so soon after service and PostgreSQL were killed together under full load. */
const readyLimitMs = 5000
const askEveryMs = 5

const settingsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(";").filter((pair) => pair !== "").map((pair) => pair.split("=", 2)))

const database = "pitboss"

/** WAL written so far, and how much of it crash recovery would read now, bytes. */
const walBytes = (postgres: Postgres) =>
  Effect.map(
    postgres.query(
      "postgres",
      `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS written,
        pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 AS redo FROM pg_control_checkpoint()`
    ),
    ([row]) => ({ written: Number(row?.["written"]), redo: Number(row?.["redo"]) })
  )

/** Load on fresh data, then `kill -9` of service and PostgreSQL together, then both started again. */
const crash = Effect.fnUntraced(function*(options: RecoveryOptions, round: number) {
  const { connections, players, seconds } = options
  const label = `round ${round}`
  const settings = settingsOf(options.settings)
  const folder = yield* temporaryFolder
  const before = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(before, Exit.void))
  const postgres = yield* startPostgres({ folder, settings }).pipe(Scope.provide(before))
  const target = yield* startPitboss(
    postgres,
    { players, currency: "EUR", openingBalance: 100_000_000 },
    (text) => showProgress(`${label}  ${text}`)
  ).pipe(Scope.provide(before))
  const generator = yield* startGenerator(1)
  yield* postgres.query("postgres", "CHECKPOINT")
  const { written: writtenBefore } = yield* walBytes(postgres)
  const result = yield* checkedRound(
    { target, postgres, generator },
    label,
    { players, idPrefix: `r${round}`, seed: round },
    { connections, warmUpSeconds: 3, measuredSeconds: seconds }
  )
  const { redo, written } = yield* walBytes(postgres)
  const reported = yield* readSettings(postgres)
  yield* Effect.sync(() => process.kill(postgres.pid, "SIGKILL"))
  yield* target.service.child.kill
  yield* Scope.close(before, Exit.void)
  const begun = performance.now()
  const again = yield* startPostgres({ folder, settings })
  const postgresMs = performance.now() - begun
  yield* startService({ ...target.environment, DATABASE_URL: again.url(database) }, { askEveryMs })
  const readyMs = performance.now() - begun
  endProgress()
  yield* Console.log(
    `${label}  ${(redo / 2 ** 20).toFixed(0)} MiB to redo, PostgreSQL up after ${
      postgresMs.toFixed(0)
    } ms, ready after ${readyMs.toFixed(0)} ms`
  )
  const perSecond = result.processed / seconds
  return { perSecond, wal: (written - writtenBefore) / result.processed, redo, postgresMs, readyMs, reported }
}, Effect.scoped)

/** Time to readiness after killing service and database under full load, and the share of database recovery in it. */
export const recoveryScenario = scenario({
  name: "recovery",
  title: "Recovery: from the death of service and database to serving",
  about: "Until ready after service and PostgreSQL were killed together under full load",
  flags: {
    players: Flags.players(10_000, 100_000, "players who bet"),
    connections: Flags.connections(128, 4096, "connections that bet when both are killed"),
    rounds: Flags.rounds(1),
    seconds: Flags.seconds("seconds", "seconds of load before the kill", 1).pipe(Flag.withDefault(120)),
    settings: Flag.String("settings").pipe(
      Flag.withDescription("settings of PostgreSQL that win over the service's own: name=value;name=value"),
      Flag.withDefault("")
    )
  },
  plan: ({ players, rounds, seconds }) => [
    "recovery: load, kill -9 of service and PostgreSQL, start",
    rounds * (players / 150 + seconds + 20)
  ],
  measure: Effect.fnUntraced(function*(options) {
    const machine = describeMachine("/tmp")
    const rounds = yield* Effect.forEach(roundNumbers(options.rounds), (round) => crash(options, round))
    const measurements: ReadonlyArray<Measurement> = [{
      group: `${options.seconds} s of bets of ${options.players} players`,
      name: "service and PostgreSQL killed together",
      figures: [
        figure("ready after", "ms", "lower", rounds.map(({ readyMs }) => readyMs), readyLimitMs),
        figure("of it PostgreSQL", "ms", "lower", rounds.map(({ postgresMs }) => postgresMs)),
        figure("bets before", "/s", "higher", rounds.map(({ perSecond }) => perSecond)),
        figure("WAL per bet", "bytes", "lower", rounds.map(({ wal }) => wal)),
        figure("WAL to redo", "MiB", "lower", rounds.map(({ redo }) => redo / 2 ** 20))
      ],
      errors: {}
    }]
    return {
      machine,
      postgres: rounds[0]?.reported ?? {},
      method: [
        `${options.connections} connections bet as fast as they can for ${options.seconds} s; then both processes get kill -9, and are started ` +
        "again at once. PostgreSQL reads its WAL from the last checkpoint on."
      ],
      headlines: measurements.flatMap(({ figures: [first], name }) => headlineOf(first, `until ready, ${name}`)),
      measurements
    }
  })
})
