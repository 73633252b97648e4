import { Console, Effect } from "effect"
import { BenchError } from "../BenchError.ts"
import { summarize } from "../load/Latency.ts"
import {
  loadDefaults,
  type LoadOptions,
  type RoundContext,
  type RoundResult,
  type RoundSpecification,
  runRound
} from "../load/Round.ts"
import { type Books, describeMismatches, findMismatches } from "../report/Balances.ts"
import { formatErrors, formatValue } from "../report/Format.ts"
import { renderProfile, summarizeProfile } from "../report/Profile.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { writeReport } from "../report/Result.ts"
import type { Profiler } from "../targets/Profiler.ts"
import type { Target } from "../targets/Target.ts"

/** The load of a round, from the flags that most scenarios share. */
export const loadOf = (
  options: { readonly seconds: number; readonly warmUpSeconds: number; readonly maxForeignLoad: number }
) => ({
  warmUpSeconds: options.warmUpSeconds,
  measuredSeconds: options.seconds,
  maxForeignShare: options.maxForeignLoad / 100
})

/** Compares the balances of a target with everything that was acknowledged so far. */
export const checkBalances = Effect.fnUntraced(function*(target: Target, players: number, books: Books) {
  if (target.balances === undefined) return
  const mismatches = findMismatches(target.openingBalances, yield* target.balances(players), {
    moved: books.moved.slice(0, players),
    leastUnknown: books.leastUnknown,
    mostUnknown: books.mostUnknown
  })
  if (mismatches.length > 0) return yield* new BenchError({ message: describeMismatches(target.name, mismatches) })
})

/** Verifies the ledgers at the end. */
export const audit = Effect.fnUntraced(function*(targets: ReadonlyArray<Target>) {
  for (const target of targets) {
    showProgress(`proving the ledger of ${target.name}`)
    const violations = yield* target.audit
    if (violations.length > 0) return yield* new BenchError({ message: violations.join("\n") })
  }
  endProgress()
})

/** One finished round in a line. */
export const renderRound = (result: Pick<RoundResult, "perSecond" | "latency" | "errors" | "foreignShare">): string => {
  const { p50_ms, p99_ms } = summarize(result.latency)
  return [
    `${formatValue("/s", result.perSecond).padStart(7)}/s`,
    `p50 ${formatValue("ms", p50_ms)} ms`,
    `p99 ${formatValue("ms", p99_ms)} ms`,
    `errors ${formatErrors(result.errors) || "0"}`,
    `foreign load ${Math.round(result.foreignShare * 100)}%`
  ].join("  ")
}

type Load = Partial<LoadOptions> & Pick<LoadOptions, "connections" | "warmUpSeconds" | "measuredSeconds">

/** Runs a round, shows its progress, and checks every balance against the books of all rounds so far. */
export const checkedRound = Effect.fnUntraced(function*(
  context: RoundContext & { readonly books?: Books | undefined },
  label: string,
  round: RoundSpecification,
  load: Load
) {
  const { books, target } = context
  showProgress(label)
  const result = yield* runRound(
    context,
    round,
    { ...loadDefaults, ...load },
    (text) => showProgress(`${label}  ${text}`)
  )
  if (books !== undefined) {
    books.add(result)
    yield* checkBalances(target, round.players, books)
  }
  endProgress()
  yield* Console.log(`${label}  ${renderRound(result)}`)
  return result
})

/** Profiles the measured seconds of a round, prints where the service's time went, and keeps the profile under the name. */
export const profileRound = Effect.fnUntraced(function*(
  profiler: Profiler,
  name: string,
  run: (hooks: Pick<RoundContext, "measuring" | "measured">) => Effect.Effect<RoundResult, BenchError>
) {
  let profile: Effect.Success<Profiler["end"]> | undefined
  const result = yield* run({
    measuring: Effect.ignore(profiler.begin),
    measured: profiler.end.pipe(
      Effect.tap((taken) => Effect.sync(() => (profile = taken))),
      Effect.ignore
    )
  })
  if (profile === undefined) return yield* new BenchError({ message: "the profiler gave no profile" })
  const path = yield* writeReport(new Date().toISOString(), `${name}.cpuprofile`, JSON.stringify(profile))
  endProgress()
  yield* Console.log(`\n${renderProfile(summarizeProfile(profile), result.processed)}\n\nwritten to ${path}\n`)
  return result
})

/** What a round measures, in turns: of two that are compared closely, neither is always the second. */
export const inTurn = <A>(round: number, measured: ReadonlyArray<A>): ReadonlyArray<A> =>
  round % 2 === 1 ? measured : measured.toReversed()

/** Sentence about the loop of the load generator. */
export const describeLoop = (
  { connections, ratePerSecond }: { readonly connections: number; readonly ratePerSecond: number | null }
): string =>
  ratePerSecond === null
    ? `Closed loop: each of ${connections} connections sends when it is answered.`
    : `Open loop at ${ratePerSecond} per second over ${connections} connections, latency from the moment a request was due.`

/** The numbers of the rounds, from 1. */
export const roundNumbers = (rounds: number): ReadonlyArray<number> =>
  Array.from({ length: rounds }, (_, index) => index + 1)
