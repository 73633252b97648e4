/** What is printed: the progress of a run, and in the end what was played and what differed. */
import { Clock, Effect } from "effect"
import { type Output, standardError, standardOutput } from "../../src/platform/Output.ts"
import type { RunStats } from "./RunStats.ts"

export const print = (text: string) => Effect.sync(() => standardOutput.offer(`${text}\n`))

/** For a person who watches; nothing of it belongs to the result. */
export const say = (text: string) => Effect.sync(() => standardError.offer(`${text}\n`))

const progressLine = (stats: RunStats, elapsed_ms: number): string => {
  const seconds = elapsed_ms / 1000
  const [median = 0, p99 = 0] = stats.latencies(0.5, 0.99)
  return [
    `${seconds.toFixed(0).padStart(4)} s`,
    `${stats.calls} requests`,
    `${(stats.calls / Math.max(seconds, 0.001)).toFixed(0)} a second`,
    `p50 ${median.toFixed(1)} ms`,
    `p99 ${p99.toFixed(1)} ms`,
    `${stats.differenceCount} violations`
  ].join("   ")
}

/** Tells how far the work is: one line that is redrawn on a terminal, a line every few seconds elsewhere. Gives how long it took. */
export const withProgress = <E, R>(stats: RunStats, output: Output, work: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const { isTerminal } = output
    const startedAt_ms = yield* Clock.currentTimeMillis
    const show = (end: string) =>
      Effect.map(Clock.currentTimeMillis, (now_ms) => {
        output.offer(`${isTerminal ? "\r\u001b[2K" : ""}${progressLine(stats, now_ms - startedAt_ms)}${end}`)
      })
    const interval = isTerminal ? "200 millis" : "5 seconds"
    const showing = Effect.forever(Effect.delay(show(isTerminal ? "" : "\n"), interval))
    yield* Effect.raceFirst(work, showing)
    yield* show("\n")
    return (yield* Clock.currentTimeMillis) - startedAt_ms
  })

type Cell = string | number

/** Columns: numbers to the right, text to the left. */
const columns = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>): string => {
  const lines = [header, ...rows.map((row) => row.map(String))]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const isNumber = header.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"))
  return lines.map((line) =>
    "  " + line.map((cell, column) => {
      const width = widths[column] ?? 0
      return isNumber[column] === true ? cell.padStart(width) : cell.padEnd(width)
    }).join("  ").trimEnd()
  ).join("\n")
}

export const printTable = (title: string, header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>) =>
  print(`\n${title}\n${columns(header, rows)}`)

/** A table of counts, the highest first. */
export const printCounts = (title: string, what: readonly [string, string], counts: ReadonlyMap<string, number>) =>
  printTable(title, what, [...counts].toSorted(([, a], [, b]) => b - a).map(([name, times]) => [times, name]))

export const printPlayed = (stats: RunStats) =>
  Effect.andThen(
    printCounts("Rounds", ["times", ""], stats.scenarios),
    printCounts("Answers", ["times", ""], stats.answers)
  )

const shown = 20

/** The last word. `agreement`: what was compared. */
export const printVerdict = Effect.fnUntraced(function*({ differenceCount, differences }: RunStats, agreement: string) {
  if (differenceCount === 0) return yield* print(`\n0 violations: ${agreement}.`)
  yield* print(`\nviolations: ${differenceCount}`)
  for (const difference of differences.slice(0, shown)) yield* print(`  ${difference}`)
  if (differenceCount > shown) yield* print(`  and ${differenceCount - shown} more`)
})

export interface Summary {
  readonly protocol: string
  readonly players: number
  readonly elapsed_ms: number
  readonly stats: RunStats
}

/** The result for machines. */
export const printJson = ({ elapsed_ms, players, protocol, stats }: Summary) => {
  const [p50_ms = 0, p99_ms = 0] = stats.latencies(0.5, 0.99)
  return print(JSON.stringify(
    {
      protocol,
      players,
      seconds: elapsed_ms / 1000,
      calls: stats.calls,
      callsPerSecond: Math.round(stats.calls / Math.max(elapsed_ms, 1) * 1000),
      p50_ms,
      p99_ms,
      scenarios: Object.fromEntries(stats.scenarios),
      answers: Object.fromEntries(stats.answers),
      differenceCount: stats.differenceCount,
      differences: stats.differences
    },
    null,
    2
  ))
}
