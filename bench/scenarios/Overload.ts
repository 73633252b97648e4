import { Console, Effect } from "effect"
import { startGenerator } from "../load/Generator.ts"
import type { Timeline } from "../load/Job.ts"
import { summarize } from "../load/Latency.ts"
import { loadDefaults, type LoadOptions, type RoundResult, runRound } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { curveOf, figure, type Measurement } from "../report/Result.ts"
import { addHistograms, latencyFigures } from "../report/TrafficReport.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import { announce, publish } from "./Findings.ts"
import { audit, checkBalances, renderRound } from "./Traffic.ts"

export interface OverloadOptions {
  readonly players: number
  readonly connections: number
  readonly rounds: number
  /** Of the measurement of the capacity, of the time of calm before, of the overload and of the time after. */
  readonly seconds: number
  /** How many times the capacity is offered. */
  readonly factor: number
  /** Callers give up what could not be sent for so long. */
  readonly patienceMs: number
  /** Percent of the processors; of the measurement of the capacity. */
  readonly maxForeignLoad: number
}

/** Connections of the closed loop that measures the capacity. */
const capacityConnections = 128
/** What is offered before and after, of the capacity. */
const calmShare = 0.5
/** It has recovered when so many slots in a row are as they were. */
const calmSlots = 3

/**
 * How long after `end`, both in ms from the beginning, answers were late or refusals came: until the first of some slots in a row
 * without failures whose mean latency is at most twice what it was in the calm before. Undefined when that never comes.
 */
export const recoveryMs = (timeline: Timeline, calmEnd: number, end: number): number | undefined => {
  const { failed, latency_sum, processed, slot_ms } = timeline
  const total = (column: ReadonlyArray<number>, from: number, to: number) =>
    column.slice(from, to).reduce((sum, value) => sum + value, 0)
  const calm = total(latency_sum, 0, Math.floor(calmEnd / slot_ms)) /
    Math.max(1, total(processed, 0, Math.floor(calmEnd / slot_ms)))
  const isCalm = (slot: number) =>
    (processed[slot] ?? 0) > 0 && (failed[slot] ?? 0) === 0 &&
    (latency_sum[slot] ?? 0) / (processed[slot] ?? 1) <= 2 * calm + 1000
  const first = Math.ceil(end / slot_ms)
  for (let slot = first; slot + calmSlots <= processed.length; slot++) {
    if (Array.from({ length: calmSlots }, (_, index) => slot + index).every(isCalm)) return slot * slot_ms - end
  }
  return undefined
}

const refusals = (errors: Readonly<Record<string, number>>): number =>
  Object.entries(errors).filter(([code]) => code === "TRY_AGAIN" || code === "RATE_LIMITED" || code === "HTTP_503")
    .reduce(
      (sum, [, count]) => sum + count,
      0
    )

const phaseNames = (
  factor: number
) => ["before, half of the capacity", `overload, ${factor} times`, "after, half of the capacity"]

const measurePhase = (
  name: string,
  index: number,
  rounds: ReadonlyArray<RoundResult>,
  options: OverloadOptions
): Measurement => {
  const phases = rounds.flatMap(({ phases }) => phases[index] ?? [])
  const offered = phases.map(({ errors, processed }) =>
    processed + Object.values(errors).reduce((sum, count) => sum + count, 0)
  )
  const share = (pick: (errors: Readonly<Record<string, number>>) => number) =>
    phases.map(({ errors }, round) => 100 * pick(errors) / Math.max(1, offered[round] ?? 1))
  return {
    group: "phases",
    name,
    figures: [
      figure("accepted", "/s", "higher", phases.map(({ processed }) => processed / options.seconds)),
      figure("offered", "/s", "neither", offered.map((count) => count / options.seconds)),
      ...latencyFigures(phases.map(({ latency }) => latency)),
      figure("p99 from sending", "ms", "lower", phases.map(({ served }) => summarize(served).p99_ms)),
      figure("refused with 503 or 429", "%", "neither", share(refusals)),
      figure("given up unsent", "%", "neither", share((errors) => errors["GIVEN_UP"] ?? 0)),
      figure(
        "other errors",
        "%",
        "lower",
        share((errors) =>
          Object.values(errors).reduce((sum, count) => sum + count, 0) - refusals(errors) - (errors["GIVEN_UP"] ?? 0)
        )
      )
    ],
    curve: curveOf(addHistograms(phases.map(({ latency }) => latency))),
    errors: {}
  }
}

/**
 * Offers several times what the service can do, in an open loop, after a calm and before one: how late is what is accepted, what is
 * refused, and how long it takes to be as before.
 */
export const runOverload = Effect.fn("runOverload")(
  function*(options: OverloadOptions) {
    const startedAt = new Date()
    yield* announce(
      `overload: ${options.rounds} rounds`,
      10 + options.players / 200 + options.rounds * (5 * options.seconds + 3)
    )
    const postgres = yield* startPostgres()
    const machine = describeMachine(postgres.folder)
    const target = yield* startPitboss(
      postgres,
      { players: options.players, currency: "EUR", openingBalance: 1_000_000_000 },
      showProgress
    )
    const generator = yield* startGenerator(1)
    const books = new Books(options.players)
    const measure = Effect.fnUntraced(
      function*(label: string, idPrefix: string, round: number, load: Partial<LoadOptions>) {
        const result = yield* runRound({ target, postgres, generator }, {
          players: options.players,
          idPrefix,
          seed: round
        }, {
          ...loadDefaults,
          connections: capacityConnections,
          warmUpSeconds: Math.min(2, options.seconds),
          measuredSeconds: options.seconds,
          ...load
        }, (text) => showProgress(`${label}  ${text}`))
        books.add(result)
        yield* checkBalances(target, options.players, books)
        endProgress()
        yield* Console.log(`${label}  ${renderRound(result)}`)
        return result
      }
    )
    const capacities: Array<number> = []
    const rounds: Array<RoundResult> = []
    for (let round = 1; round <= options.rounds; round++) {
      const { perSecond: capacity } = yield* measure(`round ${round}/${options.rounds}  capacity`, `c${round}`, round, {
        maxForeignShare: options.maxForeignLoad / 100
      })
      capacities.push(capacity)
      const phase = (share: number) => ({ seconds: options.seconds, perSecond: Math.max(1, capacity * share) })
      rounds.push(
        yield* measure(`round ${round}/${options.rounds}  overload`, `o${round}`, round, {
          connections: options.connections,
          warmUpSeconds: 0,
          measuredSeconds: 3 * options.seconds,
          phases: [phase(calmShare), phase(options.factor), phase(calmShare)],
          patienceMs: options.patienceMs
        })
      )
    }
    yield* audit([target])
    const recoveries = rounds.map(({ timeline }) =>
      recoveryMs(timeline, options.seconds * 1000, 2 * options.seconds * 1000)
    )
    const recovered = recoveries.filter((value) => value !== undefined)
    const middle = rounds[Math.floor(rounds.length / 2)]
    const phases = phaseNames(options.factor).map((name, index) => measurePhase(name, index, rounds, options))
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
    const [, overloaded] = phases
    const of = (name: string) => overloaded?.figures.find((found) => found.name === name)
    return yield* publish({
      scenario: "overload",
      title: `Overload: ${options.factor} times what the service can do`,
      method: [
        `The capacity is measured in a closed loop of ${capacityConnections} connections; then an open loop over ${options.connections} ` +
        `connections offers half of it, ${options.factor} times it and half of it again, ${options.seconds} s each.`,
        `Latency of what is accepted counts from the moment it was due; from sending is what the service itself took. Callers give up what could not be sent for ` +
        `${options.patienceMs} ms. Recovery: from the end of the overload until ${calmSlots} tenths of a second in a row have no failure ` +
        "and a mean latency of at most twice that of the calm before, plus 1 ms.",
        "Every balance is checked after every round."
      ],
      startedAt,
      machine,
      postgres: yield* readSettings(postgres),
      options: { ...options },
      headlines: [
        ...headlineOf(of("accepted"), "accepted while overloaded"),
        ...headlineOf(of("p99"), "p99 of what was accepted meanwhile"),
        ...headlineOf(recovery, "until all is as before")
      ],
      measurements
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
