import { Console, Effect, Exit, Scope } from "effect"
import { startGenerator } from "../load/Generator.ts"
import { loadDefaults, runRound } from "../load/Round.ts"
import { headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { type Postgres, readSettings, startPostgres, temporaryFolder } from "../targets/Postgres.ts"
import { startService } from "../targets/Service.ts"
import { announce, publish } from "./Findings.ts"

export interface RecoveryOptions {
  readonly players: number
  readonly connections: number
  readonly rounds: number
  /** Load before the kill. */
  readonly seconds: number
  /** Settings of PostgreSQL that win over the service's own: `name=value`, several separated by semicolons. */
  readonly settings: string
}

/** Promised: ready so soon after service and PostgreSQL were killed together under full load. */
const readyLimitMs = 5000
const askEveryMs = 5

const settingsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(";").filter((pair) => pair !== "").map((pair) => pair.split("=", 2)))

const database = "pitboss"

const walBytes = (postgres: Postgres) =>
  Effect.map(
    postgres.query("postgres", "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes"),
    ([row]) => Number(row?.["bytes"])
  )

/** What crash recovery will read if it happens now. */
const redoBytes = (postgres: Postgres) =>
  Effect.map(
    postgres.query(
      "postgres",
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()"
    ),
    ([row]) => Number(row?.["bytes"])
  )

/** Load on fresh data, then `kill -9` of service and PostgreSQL together, then both started again. */
const crash = Effect.fnUntraced(function*(options: RecoveryOptions, round: number) {
  const settings = settingsOf(options.settings)
  const folder = yield* temporaryFolder
  const before = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(before, Exit.void))
  const postgres = yield* startPostgres({ folder, settings }).pipe(Scope.provide(before))
  const target = yield* startPitboss(
    postgres,
    { players: options.players, currency: "EUR", openingBalance: 100_000_000 },
    (text) => showProgress(`round ${round}  ${text}`)
  ).pipe(Scope.provide(before))
  const generator = yield* startGenerator(1)
  yield* postgres.query("postgres", "CHECKPOINT")
  const walBefore = yield* walBytes(postgres)
  const result = yield* runRound(
    { target, postgres, generator },
    { players: options.players, idPrefix: `r${round}`, seed: round },
    { ...loadDefaults, connections: options.connections, warmUpSeconds: 3, measuredSeconds: options.seconds },
    (text) => showProgress(`round ${round}  ${text}`)
  )
  const wal = (yield* walBytes(postgres)) - walBefore
  const redo = yield* redoBytes(postgres)
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
    `round ${round}/${options.rounds}  ${(result.processed / options.seconds).toFixed(0)} bets/s, ${
      (wal / 2 ** 20).toFixed(0)
    } MiB of WAL, ${(redo / 2 ** 20).toFixed(0)} MiB to redo, PostgreSQL up after ${
      postgresMs.toFixed(0)
    } ms, ready after ${readyMs.toFixed(0)} ms`
  )
  return {
    perSecond: result.processed / options.seconds,
    wal: wal / result.processed,
    redo,
    postgresMs,
    readyMs,
    reported
  }
}, Effect.scoped)

/** How soon the service is ready after it was killed together with its database under full load, and what of that is recovery. */
export const runRecovery = Effect.fn("runRecovery")(
  function*(options: RecoveryOptions) {
    const startedAt = new Date()
    yield* announce(
      "recovery: load, kill -9 of service and PostgreSQL, start",
      options.rounds * (options.players / 150 + options.seconds + 20)
    )
    const machine = describeMachine("/tmp")
    const rounds = yield* Effect.forEach(
      Array.from({ length: options.rounds }, (_, index) => index + 1),
      (round) => crash(options, round)
    )
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
    return yield* publish({
      scenario: "recovery",
      title: "Recovery: from the death of service and database to serving",
      method: [
        `${options.connections} connections bet as fast as they can for ${options.seconds} s; then both processes get kill -9, and are started ` +
        "again at once. PostgreSQL reads its WAL from the last checkpoint on."
      ],
      startedAt,
      machine,
      postgres: rounds[0]?.reported ?? {},
      options: { ...options },
      headlines: measurements.flatMap(({ figures: [first], name }) => headlineOf(first, `until ready, ${name}`)),
      measurements
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
