import { Console, Deferred, Effect, Exit, Schedule, Scope } from "effect"
import { Flag } from "effect/cli"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import type { Timeline } from "../load/Job.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { type Form, type FormName, formNames, makeForm, type Running } from "../targets/Forms.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import {
  embeddedIn,
  type Postgres,
  readSettings,
  readyPid,
  startPostgres,
  temporaryFolder
} from "../targets/Postgres.ts"
import { makeSignedClient, walletBalances } from "../targets/SignedClient.ts"
import type { Target } from "../targets/Target.ts"
import { backAtRate, longestSilence, longestStretch } from "./ColdStart.ts"
import { checkBalances, checkedRound, roundNumbers } from "./Rounds.ts"
import { scenario } from "./Scenario.ts"

/** What is killed: all processes, or PostgreSQL's alone. */
export const victims = ["everything", "postgres"] as const
type Victim = (typeof victims)[number]

interface RecoveryOptions {
  readonly players: number
  readonly connections: number
  readonly rounds: number
  /** Load before and from the kill on. */
  readonly seconds: number
  readonly secondsAfter: number
  readonly nodes: number
  readonly settings: string
}

/** Promised: ready so soon after everything was killed under full load, and bets so soon after PostgreSQL takes connections again, ms. */
const readyLimitMs = 5000
const betsLimitMs = 1000

const slotMs = 20
const database = "postgres"
const openingBalance = 100_000_000

const settingsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(";").filter((pair) => pair !== "").map((pair) => pair.split("=", 2)))

/** WAL that crash recovery would read now, bytes. */
const walToRedo = (postgres: Postgres) =>
  Effect.map(
    postgres.query(
      database,
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 AS redo FROM pg_control_checkpoint()"
    ),
    ([row]) => Number(row?.["redo"])
  )

/** Completes when another server than the one with this process id takes connections; fails after a minute. */
const untilPostgres = (folder: string, former: number) =>
  Effect.sync(() => readyPid(folder)).pipe(
    Effect.repeat({ until: (pid) => pid !== undefined && pid !== former, schedule: Schedule.spaced("5 millis") }),
    Effect.timeoutOrElse({
      duration: "1 minute",
      orElse: () => Effect.fail(new BenchError({ message: "nobody started PostgreSQL again" }))
    })
  )

/**
 * How long after `from` bets were answered again that a kill had ended; undefined when they were not. Both in ms of the timeline. Nodes die one after the
 * other, so that a first pause may end before the last of them is dead.
 */
export const betsAfter = (timeline: Timeline, killedAt: number, from: number): number | undefined => {
  const { processed, slot_ms } = timeline
  const { end, slots } = longestStretch(timeline, Math.floor(killedAt / slot_ms))
  const first = Math.max(end, Math.floor(from / slot_ms))
  const slot = processed.findIndex((count, index) => index >= first && count > 0)
  return slots === 0 || slot < 0 ? undefined : Math.max(0, slot * slot_ms - from)
}

interface Crash {
  /** From the kill until PostgreSQL takes connections, and until the service is ready; ms. */
  readonly postgresMs: number
  readonly readyMs: number | undefined
  /** From the kill, or from when PostgreSQL takes connections again, until a bet is answered; ms. */
  readonly betsMs: number | undefined
  readonly backMs: number | undefined
  readonly silentMs: number
  readonly redo: number
  readonly perSecond: number
}

/** One form of the service on a folder of its own, killed under load once in each round. */
const crashes = Effect.fnUntraced(function*(name: FormName, victim: Victim, options: RecoveryOptions) {
  const { connections, players, seconds, secondsAfter } = options
  const folder = yield* temporaryFolder
  const settings = settingsOf(options.settings)
  const prepared = yield* Effect.scoped(Effect.gen(function*() {
    const postgres = yield* startPostgres({ folder })
    return yield* startPitboss(postgres, { players, currency: "EUR", openingBalance }, showProgress, { database })
  }))
  const form: Form = yield* makeForm(name, { ...options, folder, settings, environment: prepared.environment })
  const postgres = embeddedIn(folder)
  const generator = yield* startGenerator(1)
  let scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(scope, Exit.void)))
  let running: Running = yield* Scope.provide(form.start, scope)
  const reported = yield* readSettings(postgres)
  const target: Target = {
    ...prepared,
    host: form.host,
    port: form.port,
    pid: () => running.pid,
    balances: (count) =>
      Effect.scoped(Effect.flatMap(
        makeSignedClient(`http://${form.host}:${form.port}`, "x-api-key", prepared.operator),
        (client) => walletBalances(client, prepared.players.slice(0, count))
      )),
    work: Effect.undefined
  }
  const books = new Books(players)

  const crash = Effect.fnUntraced(function*(round: number) {
    const label = `${name}, ${victim} killed, ${round}/${options.rounds}`
    const measuring = yield* Deferred.make<void>()
    const killed = Effect.gen(function*() {
      yield* Deferred.await(measuring)
      const startedAt = performance.now()
      yield* Effect.sleep(seconds * 1000)
      const redo = yield* walToRedo(postgres)
      const former = postgres.pid
      const dying = scope
      const killedAt = performance.now()
      const sinceKill = () => performance.now() - killedAt
      const noted = Effect.map(untilPostgres(folder, former), sinceKill)
      const restarted = Effect.gen(function*() {
        if (victim === "postgres") {
          process.kill(former, "SIGKILL")
          yield* form.startPostgres ?? Effect.void
          return undefined
        }
        yield* running.killAll
        scope = yield* Scope.make()
        running = yield* Scope.provide(form.start, scope)
        const readyMs = sinceKill()
        yield* Scope.close(dying, Exit.void)
        return readyMs
      })
      const [readyMs, postgresMs] = yield* Effect.all([restarted, noted], { concurrency: "unbounded" })
      return { redo, postgresMs, readyMs, killedAt: killedAt - startedAt }
    })
    const [result, { killedAt, ...times }] = yield* Effect.all([
      checkedRound(
        { target, postgres, generator, measuring: Effect.asVoid(Deferred.succeed(measuring, undefined)) },
        label,
        { players, idPrefix: `r${round}`, seed: round },
        {
          connections,
          warmUpSeconds: 1,
          measuredSeconds: seconds + secondsAfter,
          slotMs,
          reconnects: 10_000
        }
      ),
      killed
    ], { concurrency: "unbounded" })
    books.add(result)
    yield* checkBalances(target, players, books)
    endProgress()
    const { timeline } = result
    const outcome: Crash = {
      ...times,
      betsMs: betsAfter(timeline, killedAt, victim === "postgres" ? killedAt + times.postgresMs : killedAt),
      backMs: backAtRate(timeline, killedAt),
      silentMs: longestSilence(timeline),
      perSecond: timeline.processed.slice(0, Math.floor(killedAt / slotMs)).reduce((sum, count) => sum + count, 0) /
        (killedAt / 1000)
    }
    yield* Console.log(
      `${label}  ${(times.redo / 2 ** 20).toFixed(0)} MiB to redo, PostgreSQL up after ${
        times.postgresMs.toFixed(0)
      } ms${times.readyMs === undefined ? "" : `, ready after ${times.readyMs.toFixed(0)} ms`}, bets ${
        victim === "postgres" ? "from then on " : ""
      }after ${outcome.betsMs?.toFixed(0) ?? "?"} ms, at their rate after ${
        outcome.backMs?.toFixed(0) ?? "?"
      } ms, balances right`
    )
    return { ...outcome, timeline }
  })

  const rounds = yield* Effect.forEach(roundNumbers(options.rounds), crash)
  const known = (values: ReadonlyArray<number | undefined>) => values.flatMap((value) => value ?? [])
  const some = (title: string, values: ReadonlyArray<number | undefined>, bar?: number) =>
    known(values).length === 0 ? [] : [figure(title, "ms", "lower", known(values), bar)]
  const [first] = rounds
  const lost = rounds.length - known(rounds.map(({ backMs }) => backMs)).length
  const measurement: Measurement = {
    group: `${seconds} s of bets of ${players} players`,
    name: `${name === "nodes" ? `${options.nodes} nodes` : name}: ${victim} killed`,
    figures: [
      ...some("ready after", rounds.map(({ readyMs }) => readyMs), readyLimitMs),
      ...(victim === "postgres"
        ? some("bets after PostgreSQL's return", rounds.map(({ betsMs }) => betsMs), betsLimitMs)
        : some("bets after", rounds.map(({ betsMs }) => betsMs))),
      figure("PostgreSQL up after", "ms", "lower", rounds.map(({ postgresMs }) => postgresMs)),
      figure("nothing answered for", "ms", "lower", rounds.map(({ silentMs }) => silentMs)),
      ...some("at its rate again after", rounds.map(({ backMs }) => backMs)),
      figure("bets before", "/s", "higher", rounds.map(({ perSecond }) => perSecond)),
      figure("WAL to redo", "MiB", "lower", rounds.map(({ redo }) => redo / 2 ** 20))
    ],
    ...(first === undefined ? {} : { timeline: first.timeline }),
    errors: lost === 0 ? {} : { NOT_BACK_AT_ITS_RATE: lost }
  }
  return { measurement, reported }
}, Effect.scoped)

/** Time to readiness and to bets after everything, or PostgreSQL alone, was killed under full load; balances are checked after each kill. */
export const recoveryScenario = scenario({
  name: "recovery",
  title: "Recovery: from the death of service and database to serving",
  about: "Until ready, and until bets, after everything or PostgreSQL alone was killed under full load",
  flags: {
    players: Flags.players(10_000, 100_000, "players who bet"),
    connections: Flags.connections(128, 4096, "connections that bet when they are killed"),
    rounds: Flags.rounds(1),
    seconds: Flags.seconds("seconds", "seconds of load before the kill", 1).pipe(Flag.withDefault(60)),
    secondsAfter: Flags.seconds("seconds-after", "seconds of load from the kill on", 1).pipe(Flag.withDefault(15)),
    forms: Flags.choice("form", formNames, "how the service runs"),
    victims: Flags.choice("killed", victims, "what is killed"),
    nodes: Flags.count("nodes", "nodes of the form `nodes`", 16).pipe(Flag.withDefault(3)),
    settings: Flag.String("settings").pipe(
      Flag.withDescription(
        "settings of PostgreSQL that win over the service's own, of the form `service`: name=value;name=value"
      ),
      Flag.withDefault("")
    )
  },
  plan: ({ forms, players, rounds, seconds, secondsAfter, victims }) => [
    "recovery: load, kill -9, start",
    forms.length * victims.length * (players / 150 + 10 + rounds * (seconds + secondsAfter + 3))
  ],
  measure: Effect.fnUntraced(function*(options) {
    const machine = describeMachine("/tmp")
    const cases = options.forms.flatMap((form) => options.victims.map((victim) => ({ form, victim })))
    const measured = yield* Effect.forEach(cases, ({ form, victim }) => crashes(form, victim, options))
    return {
      machine,
      postgres: measured[0]?.reported ?? {},
      method: [
        `${options.connections} connections bet as fast as they can; after ${options.seconds} s every process, or PostgreSQL alone, gets kill -9. ` +
        "All are started again at once as a customer starts them; PostgreSQL killed alone by who runs it. Callers go on all the time.",
        "`service` is node src/main.ts on a PostgreSQL of the bench, `npm` is npm start, `nodes` is npm run cluster; both run the embedded one. " +
        "Afterwards every acknowledged bet is in the balances and no refused one."
      ],
      headlines: measured.flatMap(({ measurement: { figures: [first], name } }) => headlineOf(first, name)),
      measurements: measured.map(({ measurement }) => measurement)
    }
  })
})
