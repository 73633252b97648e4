import { Console, Effect, Fiber } from "effect"
import { openDataset, playersToBet } from "../data/Dataset.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { summarize } from "../load/Latency.ts"
import type { RoundResult } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { addHistograms } from "../report/TrafficReport.ts"
import { BenchError } from "../BenchError.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { checkedRound } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Maximum ratio of the p99 of bets beside a verification to the calm p99. */
const bar = 2

/** Maximum duration of a verification of ten million entries, seconds; the group of the figures says how many there are. */
const wholeBarSeconds = 120

/** Verification of a casino's year, whole and of what was written since, beside bets. */
export const verificationScenario = scenario({
  name: "verification",
  title: "Verification: the ledger proved beside bets",
  about: "How long a verification of millions of linked entries takes, whole and incremental, and what bets feel of it",
  flags: {
    ...Flags.dataset(10_000_000),
    bettors: Flags.bettors(2000, "players who bet"),
    connections: Flags.connections(64),
    rate: Flags.count("rate", "bets per second", 1_000_000),
    seconds: Flags.seconds("seconds", "seconds of calm bets, and of a round beside", 1),
    bets: Flags.count("bets", "bets between the whole verification and the incremental one, about", 10_000_000)
  },
  plan: ({ bets, entries, folder, rate, seconds }) => [
    "verification: bets calm, beside a whole verification and beside an incremental one, the data first where there are none",
    30 + (folder === undefined ? entries / 15_000 : 0) + entries / 60_000 + bets / rate + 6 * seconds
  ],
  measure: Effect.fnUntraced(function*(options, startedAt) {
    const dataset = yield* openDataset(options)
    const { made, postgres } = dataset
    const server = yield* describeServer(postgres)
    const target = yield* startPitboss(
      postgres,
      { players: options.bettors, currency: "EUR", openingBalance: 100_000_000 },
      showProgress,
      { dataset: { ...dataset, playerIds: yield* playersToBet(dataset, options.bettors) } }
    )
    endProgress()
    const context = { target, postgres, generator: yield* startGenerator(1), books: new Books(options.bettors) }
    let rounds = 0
    const bet = (label: string, seconds: number) => {
      const number = ++rounds
      return checkedRound(context, label, {
        players: options.bettors,
        // ids of a run are its own: the ledger may hold those of an earlier one
        idPrefix: `${startedAt.getTime().toString(36)}-${number}`,
        seed: number
      }, {
        connections: options.connections,
        warmUpSeconds: 1,
        measuredSeconds: seconds,
        phases: [{ seconds: seconds + 1, perSecond: options.rate }]
      })
    }

    const beside = Effect.fnUntraced(function*(name: string, scope: "all" | "new") {
      const calm = yield* bet(`${name}: calm  `, options.seconds)
      const begun = performance.now()
      const verification = yield* Effect.forkChild(
        Effect.map(
          target.service.verify({ scope }),
          (report) => ({ report, seconds: (performance.now() - begun) / 1000 })
        )
      )
      const results: Array<RoundResult> = []
      while (verification.pollUnsafe() === undefined) results.push(yield* bet(`${name}: beside`, options.seconds))
      const { report, seconds } = yield* Fiber.join(verification)
      for (const found of report.violations.slice(0, 10)) yield* Console.log(`violation: ${JSON.stringify(found)}`)
      yield* Console.log(`${name}: ${report.entries} entries in ${seconds.toFixed(1)} s`)
      if (report.violations.length > 0) return yield* new BenchError({ message: "the ledger has violations" })
      const calmP99 = summarize(calm.latency).p99_ms
      const measurement: Measurement = {
        group: `${made.entries.toLocaleString("en-US")} entries`,
        name,
        figures: [
          figure("duration", "s", "lower", [seconds], name === "whole" ? wholeBarSeconds : undefined),
          figure("× p99 calm", "×", "lower", results.map(({ latency }) => summarize(latency).p99_ms / calmP99), bar),
          figure("p99", "ms", "lower", [summarize(addHistograms(results.map(({ latency }) => latency))).p99_ms]),
          figure("p99 calm", "ms", "lower", [calmP99]),
          figure("bets", "/s", "higher", results.map(({ perSecond }) => perSecond)),
          figure("foreign load", "%", "neither", results.map(({ foreignShare }) => foreignShare * 100))
        ],
        errors: {}
      }
      return measurement
    })

    const whole = yield* beside("whole", "all")
    yield* bet("bets of a day", options.bets / options.rate)
    const incremental = yield* beside("incremental", "new")
    return {
      ...server,
      method: [
        `${made.entries.toLocaleString("en-US")} linked entries of ${made.players.toLocaleString("en-US")} players, ` +
        `${Math.round(made.bytes / 2 ** 20).toLocaleString("en-US")} MiB before they were linked.`,
        `Bets of ${options.bettors} players at ${options.rate} a second, in rounds of ${options.seconds} s; about ` +
        `${options.bets.toLocaleString("en-US")} between the verifications.`
      ],
      headlines: [whole, incremental].flatMap(({ figures: [duration], name }) =>
        headlineOf(duration, `${name} verification`)
      ),
      measurements: [whole, incremental]
    }
  })
})
