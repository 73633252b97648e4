import { Console, Effect, type Scope } from "effect"
import { BenchError } from "../BenchError.ts"
import { type Generator, startGenerator } from "../load/Generator.ts"
import { type LoadOptions, type RoundResult, runRound } from "../load/Round.ts"
import { type BalanceMismatch, findMismatches } from "../report/Balances.ts"
import { renderBets, renderRound, summarizeBets } from "../report/BetsReport.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { writeResult } from "../report/ResultFile.ts"
import { type BaselineOptions, startBaseline } from "../targets/Baseline.ts"
import { startCeiling } from "../targets/Ceiling.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { type Postgres, readSettings, startPostgres } from "../targets/Postgres.ts"
import type { Provisioning, Target, TargetName } from "../targets/Target.ts"

export const mixNames = ["many", "ten", "one"] as const
export type MixName = (typeof mixNames)[number]

export interface BetsOptions {
  readonly targets: ReadonlyArray<TargetName>
  readonly mixes: ReadonlyArray<MixName>
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
  /** Bets per second of the open loop; null for the closed loop. */
  readonly ratePerSecond: number | null
  readonly players: number
  readonly generators: number
  /** Percent of the processors; see {@link LoadOptions}. */
  readonly maxForeignLoad: number
  readonly baseline: BaselineOptions
}

const currency = "EUR"
const stake = 10
/** Enough for a hundred million bets of one player. */
const openingBalance = 1_000_000_000

/** How many of the players bet in a mix. */
const mixSize = (mix: MixName, players: number): number =>
  mix === "many" ? players : Math.min(players, mix === "ten" ? 10 : 1)

/** One round as it is reported. */
export interface BetsRound {
  readonly round: number
  readonly mix: MixName
  readonly target: TargetName
  readonly result: RoundResult
}

const startTarget = (
  name: TargetName,
  postgres: Postgres,
  options: BetsOptions
): Effect.Effect<Target, BenchError, Scope.Scope> => {
  const provisioning: Provisioning = { players: options.players, currency, openingBalance }
  if (name === "pitboss") return startPitboss(postgres, provisioning, showProgress)
  if (name === "baseline") return startBaseline(postgres, provisioning, options.baseline)
  return startCeiling(provisioning)
}

/** What each player of a target has staked so far, for the comparison with the balances. */
class Stakes {
  readonly acknowledged: Array<number>
  readonly unknown: Array<number>

  constructor(players: number) {
    this.acknowledged = Array.from({ length: players }, () => 0)
    this.unknown = Array.from({ length: players }, () => 0)
  }

  add(result: RoundResult): void {
    for (const [player, amount] of result.acknowledged.entries()) {
      this.acknowledged[player] = (this.acknowledged[player] ?? 0) + amount
      this.unknown[player] = (this.unknown[player] ?? 0) + (result.unknown[player] ?? 0)
    }
  }
}

const checkBalances = Effect.fnUntraced(function*(target: Target, players: number, stakes: Stakes) {
  if (target.balances === undefined) return
  const mismatches = findMismatches({
    openingBalance,
    balances: yield* target.balances(players),
    acknowledged: stakes.acknowledged.slice(0, players),
    unknown: stakes.unknown.slice(0, players)
  })
  if (mismatches.length > 0) return yield* new BenchError({ message: describe(target.name, mismatches) })
})

const describe = (target: TargetName, mismatches: ReadonlyArray<BalanceMismatch>): string =>
  [
    `${target}: ${mismatches.length} balances are not what was deposited less what was acknowledged`,
    ...mismatches.slice(0, 5).map((found) =>
      `  player ${found.player}: ${found.balance}, expected ${found.lowest} to ${found.highest}`
    )
  ].join("\n")

const runRounds = Effect.fnUntraced(function*(
  targets: ReadonlyArray<Target>,
  postgres: Postgres,
  generator: Generator,
  options: BetsOptions
) {
  const load: LoadOptions = {
    connections: options.connections,
    ratePerSecond: options.ratePerSecond,
    warmUpSeconds: options.warmUpSeconds,
    measuredSeconds: options.seconds,
    stake,
    currency,
    maxForeignShare: options.maxForeignLoad / 100
  }
  const stakes = new Map(targets.map((target) => [target.name, new Stakes(options.players)]))
  const rounds: Array<BetsRound> = []
  // The targets alternate, so that whatever changes on the machine meanwhile meets all of them.
  for (let round = 1; round <= options.rounds; round++) {
    for (const mix of options.mixes) {
      for (const target of targets) {
        const label = `round ${round}/${options.rounds}  ${mix.padEnd(4)}  ${target.name.padEnd(8)}`
        const players = mixSize(mix, options.players)
        showProgress(label)
        const result = yield* runRound(
          { target, postgres, generator },
          { players, idPrefix: `${round}${mix}`, seed: round },
          load,
          (text) => showProgress(`${label}  ${text}`)
        )
        const staked = stakes.get(target.name)
        if (staked !== undefined) {
          staked.add(result)
          yield* checkBalances(target, players, staked)
        }
        rounds.push({ round, mix, target: target.name, result })
        endProgress()
        yield* Console.log(`${label}  ${renderRound(result)}`)
      }
    }
  }
  return rounds
})

const audit = Effect.fnUntraced(function*(targets: ReadonlyArray<Target>) {
  for (const target of targets) {
    const violations = yield* target.audit
    if (violations.length > 0) return yield* new BenchError({ message: violations.join("\n") })
  }
})

/**
 * Signed bets against the service, the baseline and the ceiling in alternating rounds. Prints the comparison and
 * writes it to a file. Fails when a balance or a ledger is not what the acknowledged bets make it.
 */
export const runBets = Effect.fn("runBets")(
  function*(options: BetsOptions) {
    const startedAt = new Date()
    const postgres = yield* startPostgres
    const machine = describeMachine(postgres.folder)
    const settings = yield* readSettings(postgres)
    const targets = yield* Effect.forEach(options.targets, (name) => {
      showProgress(`starting ${name} with ${options.players} players`)
      return startTarget(name, postgres, options)
    })
    const generator = yield* startGenerator(options.generators)
    const rounds = yield* runRounds(targets, postgres, generator, options)
    yield* audit(targets)
    const summary = summarizeBets(rounds)
    yield* Console.log(`\n${renderBets(summary, machine, settings, options)}`)
    const path = yield* writeResult("bets", startedAt, {
      scenario: "bets",
      started_at: startedAt.toISOString(),
      options,
      machine,
      postgres: settings,
      summary,
      rounds: rounds.map(({ result: { acknowledged: _acknowledged, unknown: _unknown, ...result }, ...round }) => ({
        ...round,
        ...result
      }))
    })
    yield* Console.log(`\nwritten to ${path}`)
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
