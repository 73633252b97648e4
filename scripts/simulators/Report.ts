/** What is printed: the progress of a run, and in the end what was played and what disagreed. */
import { Clock, Effect } from "effect"
import { standardError, standardOutput } from "../../src/platform/Output.ts"
import type { Tally } from "./Tally.ts"

const print = (text: string) => Effect.sync(() => standardOutput.offer(`${text}\n`))

/** For a person who watches; nothing of it belongs to the result. */
export const say = (text: string) => Effect.sync(() => standardError.offer(`${text}\n`))

const progressLine = (tally: Tally, elapsed_ms: number): string => {
  const [p50 = 0, p99 = 0] = tally.latencies(0.5, 0.99)
  const rate = Math.round(tally.calls / Math.max(elapsed_ms, 1) * 1000)
  return `${
    String(Math.round(elapsed_ms / 1000)).padStart(4)
  } s   ${tally.calls} calls   ${rate} a second   p50 ${p50} ms   p99 ${p99} ms   ${tally.differenceCount} differences`
}

/** Runs an effect and says every five seconds how far it is. */
export const withProgress = <A, E, R>(tally: Tally, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const begin_ms = yield* Clock.currentTimeMillis
    const line = Effect.flatMap(Clock.currentTimeMillis, (now_ms) => say(progressLine(tally, now_ms - begin_ms)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("5 seconds"), line)))
    const done = yield* effect
    const elapsed_ms = (yield* Clock.currentTimeMillis) - begin_ms
    yield* line
    return { done, elapsed_ms }
  }).pipe(Effect.scoped)

const table = (title: string, counts: ReadonlyMap<string, number>): string =>
  [
    title,
    ...[...counts].sort(([, one], [, other]) => other - one).map(([name, count]) =>
      `${String(count).padStart(8)}  ${name}`
    )
  ].join("\n")

export interface Summary {
  readonly protocol: string
  readonly players: number
  readonly elapsed_ms: number
  readonly tally: Tally
}

/** The result: JSON for machines, tables for a person. */
export const printSummary = ({ elapsed_ms, players, protocol, tally }: Summary, asJson: boolean) => {
  const [p50_ms = 0, p99_ms = 0] = tally.latencies(0.5, 0.99)
  if (asJson) {
    return print(JSON.stringify(
      {
        protocol,
        players,
        seconds: elapsed_ms / 1000,
        calls: tally.calls,
        callsPerSecond: Math.round(tally.calls / Math.max(elapsed_ms, 1) * 1000),
        p50_ms,
        p99_ms,
        stories: Object.fromEntries(tally.stories),
        answers: Object.fromEntries(tally.answers),
        differenceCount: tally.differenceCount,
        differences: tally.differences
      },
      null,
      2
    ))
  }
  const differences = tally.differences.map((difference) => `  ${difference}`).join("\n")
  return print([
    table("\nRounds", tally.stories),
    table("\nAnswers", tally.answers),
    `\n${players} players, ${progressLine(tally, elapsed_ms).trim()}`,
    ...differences === "" ? [] : [`\nDifferences\n${differences}`]
  ].join("\n"))
}
