import { Console, Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { type BenchError, failedAt } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure } from "../report/Result.ts"
import { median } from "../report/Statistics.ts"
import { makeForm } from "../targets/Forms.ts"
import { Checkout } from "../targets/NodeFlags.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { startPostgres, temporaryFolder } from "../targets/Postgres.ts"
import { roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const waitNames = ["first", "start", "player", "test"] as const
type WaitName = (typeof waitNames)[number]

/** Answers of the command line in a round, after one that may still compile it. */
const answers = 10

const secondsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const begun = performance.now()
    return Effect.map(effect, () => (performance.now() - begun) / 1000)
  })

/** Runs a command to its end, which must be a success. */
const command = (program: string, args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) =>
  Effect.tryPromise({
    try: (signal) =>
      promisify(execFile)(program, args, { env: { ...process.env, ...environment }, maxBuffer: 2 ** 26, signal }),
    catch: failedAt(args.join(" "))
  })

interface Wait {
  readonly name: string
  /** Promised, s. */
  readonly limit: number
  /** Approximate duration of a round, s. */
  readonly lasts: number
  /** Seconds of one round. */
  readonly once: Effect.Effect<number, BenchError, Scope.Scope>
}

/** `npm start` on an empty folder, which makes a database, or on one that has it. */
const npmStart = (name: string, isFirst: boolean): Wait => ({
  name,
  limit: 3,
  lasts: isFirst ? 5 : 8,
  once: Effect.gen(function*() {
    const { start } = yield* makeForm("npm", {
      folder: yield* temporaryFolder,
      environment: {},
      nodes: 1,
      settings: {}
    })
    if (!isFirst) yield* Effect.scoped(start)
    return yield* secondsOf(start)
  })
})

const waits: Readonly<Record<WaitName, Wait>> = {
  first: npmStart("npm start on an empty folder", true),
  start: npmStart("npm start", false),
  player: {
    name: "pitboss player show",
    limit: 0.3,
    lasts: 8,
    once: Effect.gen(function*() {
      const { environment, players: [player], service } = yield* startPitboss(
        yield* startPostgres(),
        { players: 1, currency: "EUR", openingBalance: 1000 },
        showProgress
      )
      const script = join(yield* Checkout, "scripts", "pitboss.mjs")
      const show = command(process.execPath, [script, "player", "show", String(player?.id)], {
        ...environment,
        BACKOFFICE_PORT: String(service.backofficePort)
      })
      yield* show
      return median(yield* Effect.replicateEffect(secondsOf(show), answers))
    })
  },
  test: {
    name: "npm test",
    limit: 150,
    lasts: 180,
    once: Effect.flatMap(Checkout, (checkout) => secondsOf(command("npm", ["--prefix", checkout, "test"])))
  }
}

export const waitScenario = scenario({
  name: "waits",
  title: "Waits: what people wait for at a terminal",
  about: "npm start until it is ready, an answer of the command line, npm test: packages are installed",
  flags: {
    rounds: Flags.rounds(5),
    what: Flags.choice("what", waitNames, "what is waited for")
  },
  plan: ({ rounds, what }) => [
    `waits: ${rounds} rounds`,
    3 + rounds * what.reduce((sum, name) => sum + waits[name].lasts, 0)
  ],
  measure: Effect.fnUntraced(function*({ rounds, what }) {
    const server = yield* Effect.scoped(Effect.flatMap(startPostgres(), describeServer))
    const seconds = new Map<WaitName, Array<number>>()
    for (const round of roundNumbers(rounds)) {
      for (const wait of what) {
        const { name, once } = waits[wait]
        showProgress(`round ${round}/${rounds}  ${name}`)
        const taken = yield* Effect.scoped(once)
        seconds.set(wait, [...seconds.get(wait) ?? [], taken])
        endProgress()
        yield* Console.log(`round ${round}/${rounds}  ${name}  ${taken.toFixed(2)} s`)
      }
    }
    return {
      ...server,
      method: [
        "Wall time. `npm start`, packages installed, until /health/ready answers; `pitboss player show` of a service on the same machine, " +
        `the median of ${answers}; \`npm test\` to its end.`
      ],
      headlines: [],
      measurements: what.map((wait) => ({
        group: "until it is there",
        name: waits[wait].name,
        figures: [figure("takes", "s", "lower", seconds.get(wait) ?? [], waits[wait].limit)],
        errors: {}
      }))
    }
  })
})
