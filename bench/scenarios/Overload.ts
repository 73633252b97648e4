import { Effect } from "effect"
import { Flag } from "effect/cli"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import type { Phase, Timeline } from "../load/Job.ts"
import { summarize } from "../load/Latency.ts"
import type { RoundResult } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { curveOf, figure, type Measurement } from "../report/Result.ts"
import { addHistograms, latencyFigures } from "../report/TrafficReport.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { audit, checkedRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Connections of the closed loop that measures the capacity. */
const capacityConnections = 128
/** Offered load before and after, as a share of the capacity. */
const calmShare = 0.5
/** It has recovered when so many slots in a row are as they were. */
const calmSlots = 3

/**
 * Recovery time after `end`, both in ms from the beginning: until the first of several consecutive slots
 * without failures whose mean latency is at most twice that of the preceding calm. Undefined without recovery.
 */
export const recoveryMs = (timeline: Timeline, calmEnd: number, end: number): number | undefined => {
  const { failed, latency_sum, processed, slot_ms } = timeline
  const before = (column: ReadonlyArray<number>) =>
    column.slice(0, Math.floor(calmEnd / slot_ms)).reduce((sum, value) => sum + value, 0)
  const calm = before(latency_sum) / Math.max(1, before(processed))
  const isCalm = (slot: number) =>
    (processed[slot] ?? 0) > 0 && (failed[slot] ?? 0) === 0 &&
    (latency_sum[slot] ?? 0) / (processed[slot] ?? 1) <= 2 * calm + 1000
  const first = Math.ceil(end / slot_ms)
  for (let slot = first; slot + calmSlots <= processed.length; slot++) {
    if (Array.from({ length: calmSlots }, (_, index) => slot + index).every(isCalm)) return slot * slot_ms - end
  }
  return undefined
}

const total = (errors: Readonly<Record<string, number>>): number =>
  Object.values(errors).reduce((sum, count) => sum + count, 0)

const refusals = (errors: Readonly<Record<string, number>>): number =>
  (errors["TRY_AGAIN"] ?? 0) + (errors["RATE_LIMITED"] ?? 0) + (errors["HTTP_503"] ?? 0)

const phaseNames = (
  factor: number
) => ["before, half of the capacity", `overload, ${factor} times`, "after, half of the capacity"]

const measurePhase = (
  name: string,
  index: number,
  rounds: ReadonlyArray<RoundResult>,
  seconds: number
): Measurement => {
  const phases = rounds.flatMap(({ phases }) => phases[index] ?? [])
  const offered = phases.map(({ errors, processed }) => processed + total(errors))
  const share = (pick: (errors: Readonly<Record<string, number>>) => number) =>
    phases.map(({ errors }, round) => 100 * pick(errors) / Math.max(1, offered[round] ?? 1))
  return {
    group: "phases",
    name,
    figures: [
      figure("accepted", "/s", "higher", phases.map(({ processed }) => processed / seconds)),
      figure("offered", "/s", "neither", offered.map((count) => count / seconds)),
      ...latencyFigures(phases.map(({ latency }) => latency)),
      figure("p99 from sending", "ms", "lower", phases.map(({ served }) => summarize(served).p99_ms)),
      figure("refused with 503 or 429", "%", "neither", share(refusals)),
      figure("given up unsent", "%", "neither", share((errors) => errors["GIVEN_UP"] ?? 0)),
      figure(
        "other errors",
        "%",
        "lower",
        share((errors) => total(errors) - refusals(errors) - (errors["GIVEN_UP"] ?? 0))
      )
    ],
    curve: curveOf(addHistograms(phases.map(({ latency }) => latency))),
    errors: {}
  }
}

/** Phases of an overload, as shares of the capacity: calm, `factor` times the capacity, calm. */
export const overloadPhases = (capacity: number, factor: number, seconds: number): ReadonlyArray<Phase> =>
  [calmShare, factor, calmShare].map((share) => ({ seconds, perSecond: Math.max(1, capacity * share) }))

/** Results of the phases of overloads, a row each. */
export const measureOverload = (
  factor: number,
  rounds: ReadonlyArray<RoundResult>,
  seconds: number
): ReadonlyArray<Measurement> => phaseNames(factor).map((name, index) => measurePhase(name, index, rounds, seconds))

/** How long each overload was felt, ms; of those that never ended, nothing. */
export const recoveries = (rounds: ReadonlyArray<RoundResult>, seconds: number): ReadonlyArray<number> =>
  rounds.flatMap(({ timeline }) => recoveryMs(timeline, seconds * 1000, 2 * seconds * 1000) ?? [])

/**
 * Offers several times the service's capacity, in an open loop, between two calm phases: latency of accepted requests,
 * refusals, and recovery time.
 */
export const overloadScenario = scenario({
  name: "overload",
  title: "Overload",
  about: "Several times what the service can do: latency, refusals, recovery",
  flags: {
    players: Flags.players(1000, 100_000, "players who bet"),
    connections: Flags.connections(2000, 8192, "connections of the open loop"),
    rounds: Flags.rounds(3),
    seconds: Flags.seconds("seconds", "seconds of each phase", 0.5).pipe(Flag.withDefault(5)),
    factor: Flags.count("factor", "how many times the capacity is offered", 20).pipe(Flag.withDefault(3)),
    patienceMs: Flags.count("patience-ms", "callers give up what could not be sent for so long", 60_000).pipe(
      Flag.withDefault(1000)
    ),
    maxForeignLoad: Flags.maxForeignLoad
  },
  plan: ({ players, rounds, seconds }) => [
    `overload: ${rounds} rounds`,
    10 + players / 200 + rounds * (5 * seconds + 3)
  ],
  measure: Effect.fnUntraced(function*({ connections, factor, maxForeignLoad, patienceMs, players, ...options }) {
    const { seconds } = options
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const target = yield* startPitboss(
      postgres,
      { players, currency: "EUR", openingBalance: 1_000_000_000 },
      showProgress
    )
    const context = { target, postgres, generator: yield* startGenerator(1), books: new Books(players) }
    const capacities: Array<number> = []
    const rounds: Array<RoundResult> = []
    for (const round of roundNumbers(options.rounds)) {
      const label = `round ${round}/${options.rounds}`
      const { perSecond: capacity } = yield* checkedRound(
        context,
        `${label}  capacity`,
        { players, idPrefix: `c${round}`, seed: round },
        {
          connections: capacityConnections,
          warmUpSeconds: Math.min(2, seconds),
          measuredSeconds: seconds,
          maxForeignShare: maxForeignLoad / 100
        }
      )
      capacities.push(capacity)
      rounds.push(
        yield* checkedRound(context, `${label}  overload`, { players, idPrefix: `o${round}`, seed: round }, {
          connections,
          warmUpSeconds: 0,
          measuredSeconds: 3 * seconds,
          phases: overloadPhases(capacity, factor, seconds),
          patienceMs
        })
      )
    }
    yield* audit([target])
    const recovered = recoveries(rounds, seconds)
    const middle = rounds[Math.floor(rounds.length / 2)]
    const phases = measureOverload(factor, rounds, seconds)
    const recovery = figure("recovery", "ms", "lower", recovered)
    const measurements: ReadonlyArray<Measurement> = [
      ...phases,
      {
        group: "whole run",
        name: "pitboss",
        figures: [
          figure("capacity", "/s", "higher", capacities),
          ...(recovered.length === 0 ? [] : [recovery]),
          figure(
            "sent late by the generator, p99",
            "ms",
            "neither",
            rounds.map(({ sendDelayP99_ms }) => sendDelayP99_ms)
          )
        ],
        ...(middle === undefined ? {} : { timeline: middle.timeline }),
        errors: recovered.length < rounds.length ? { NOT_RECOVERED: rounds.length - recovered.length } : {}
      }
    ]
    const overloaded = (name: string) => phases[1]?.figures.find((found) => found.name === name)
    return {
      ...server,
      title: `Overload: ${factor} times what the service can do`,
      method: [
        `The capacity is measured in a closed loop of ${capacityConnections} connections; then an open loop over ${connections} ` +
        `connections offers half of it, ${factor} times it and half of it again, ${seconds} s each.`,
        "Latency of what is accepted counts from the moment it was due; from sending is what the service itself took. Callers give up " +
        `what could not be sent for ${patienceMs} ms. Recovery: from the end of the overload until ${calmSlots} tenths of a second in a ` +
        "row have no failure and a mean latency of at most twice that of the calm before, plus 1 ms.",
        "Every balance is checked after every round."
      ],
      headlines: [
        ...headlineOf(overloaded("accepted"), "accepted while overloaded"),
        ...headlineOf(overloaded("p99"), "p99 of what was accepted meanwhile"),
        ...headlineOf(recovery, "until all is as before")
      ],
      measurements
    }
  })
})
