/** Output of a run: progress, and finally played rounds, balances, and verification of the ledger. */
import { Clock, Effect, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { join } from "node:path"
import { DemoError } from "./DemoError.ts"
import { expectData, type Service } from "./Setup.ts"
import type { Table } from "./Table.ts"
import type { Tally } from "./Tally.ts"
import { standardOutput } from "../../src/platform/Output.ts"

export const print = (text: string) => Effect.sync(() => standardOutput.offer(`${text}\n`))

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

const section = (title: string, header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>) =>
  print(`\n${title}\n${columns(header, rows)}`)

// ---------------------------------------------------------------------------------------------------------------------
// Progress

const progressLine = (tally: Tally, elapsed_ms: number): string => {
  const seconds = elapsed_ms / 1000
  const [median = 0, p99 = 0] = tally.latencies(0.5, 0.99)
  return [
    `${seconds.toFixed(0).padStart(4)} s`,
    `${tally.requests} requests`,
    `${(tally.requests / Math.max(seconds, 0.001)).toFixed(0)} a second`,
    `p50 ${median.toFixed(1)} ms`,
    `p99 ${p99.toFixed(1)} ms`,
    `${tally.violations.length} violations`
  ].join("   ")
}

/** Tells how far the work is: one line that is redrawn on a terminal, a line every few seconds elsewhere. */
export const withProgress = <A, E, R>(tally: Tally, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const isTerminal = standardOutput.isTerminal
    const startedAt_ms = yield* Clock.currentTimeMillis
    const show = (end: string) =>
      Effect.map(Clock.currentTimeMillis, (now_ms) => {
        standardOutput.offer(`${isTerminal ? "\r\u001b[2K" : ""}${progressLine(tally, now_ms - startedAt_ms)}${end}`)
      })
    const interval = isTerminal ? "200 millis" : "5 seconds"
    const showing = Effect.forever(Effect.delay(show(isTerminal ? "" : "\n"), interval))
    const done = yield* Effect.raceFirst(work, showing)
    yield* show("\n")
    return done
  })

// ---------------------------------------------------------------------------------------------------------------------
// The end

const byCount = (counts: ReadonlyMap<string, number>) => [...counts].toSorted(([, a], [, b]) => b - a)

export const printPlayed = (tally: Tally, { nodes }: Service) =>
  Effect.gen(function*() {
    if (nodes.served.size > 0) {
      yield* section(
        "Served by the node that owns the player",
        ["calls", "node"],
        byCount(nodes.served).map(([node, calls]) => [calls, node])
      )
    }
    yield* section("Rounds", ["times", ""], byCount(tally.stories).map(([name, times]) => [times, name]))
    yield* section("Answers", ["times", ""], byCount(tally.answers).map(([name, times]) => [times, name]))
  })

const Wallet = Schema.Struct({ balance: Schema.Int, bonus_balance: Schema.Int })
const Entry = Schema.Struct({
  id: Schema.Int,
  player_id: Schema.Int,
  type: Schema.String,
  amount: Schema.Int,
  balance_after: Schema.Int,
  game_round_id: Schema.NullOr(Schema.String),
  created_at: Schema.String
})
const Ledger = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Array(Entry), meta: Schema.Struct({ total: Schema.Int }) })
)

const lastEntries = 10

/** Compares each player's balance and number of ledger entries with the service's, and prints both. */
export const printBalances = Effect.fnUntraced(
  function*({ operator }: Service, tables: ReadonlyArray<Table>, tally: Tally) {
    const found = yield* Effect.forEach(tables, ({ books, player }) =>
      Effect.gen(function*() {
        const uri = `/api/v1/operator/players/${player.id}`
        const wallet = yield* expectData("the wallet", 200, Wallet, operator.get(`${uri}/wallet`))
        const reply = yield* operator.get(`${uri}/transactions?per_page=${lastEntries}`)
        const { data, meta } = yield* Schema.decodeUnknownEffect(Ledger)(reply.text)
        const { balance, entries } = books.book
        const agrees = wallet.balance === balance && wallet.bonus_balance === 0 && meta.total === entries
        if (!agrees) {
          tally.violate(
            `${player.username}: balance ${wallet.balance} and ${wallet.bonus_balance} bonus in ${meta.total} entries ` +
              `instead of ${balance} and 0 in ${entries}`
          )
        }
        return {
          row: [player.id, player.username, balance, wallet.balance, entries, meta.total, agrees ? "" : "DIFFERS"],
          newest: data
        }
      }), { concurrency: 8 }).pipe(
        Effect.catchTag(
          ["NoAnswer", "SchemaError"],
          (error) => Effect.fail(new DemoError({ message: `the ledger cannot be read: ${error.message}` }))
        )
      )
    yield* section(
      `Balances in cents, and ledger entries`,
      ["player", "username", "expected", "balance", "expected", "entries", ""],
      found.map(({ row }) => row)
    )
    const newest = found.flatMap((player) => player.newest)
      .toSorted((a, b) => b.created_at.localeCompare(a.created_at) || b.id - a.id)
      .slice(0, lastEntries)
    yield* section(
      "The last entries of the ledger",
      ["entry", "player", "type", "amount", "balance", "round", "at"],
      newest.map((entry) => [
        entry.id,
        entry.player_id,
        entry.type,
        entry.amount,
        entry.balance_after,
        entry.game_round_id ?? "",
        entry.created_at
      ])
    )
  }
)

const Verification = Schema.fromJsonString(Schema.Struct({
  players: Schema.Int,
  entries: Schema.Int,
  violations: Schema.Array(Schema.Struct({ message: Schema.String, subject: Schema.String }))
}))

const commandLine = join(import.meta.dirname, "..", "..", "src", "cli.ts")

/** Verifies the ledger through the back office's command line, and prints the result. */
export const printVerification = Effect.fnUntraced(function*(tally: Tally) {
  const { output, problems } = yield* Effect.gen(function*() {
    const child = yield* ChildProcess.make(process.execPath, [commandLine, "ledger", "verify", "--json"])
    const text = (stream: typeof child.stdout) => Stream.mkString(Stream.decodeText(stream))
    const [output, problems] = yield* Effect.all([text(child.stdout), text(child.stderr)], { concurrency: 2 })
    return { output, problems }
  }).pipe(
    Effect.scoped,
    Effect.mapError(({ message }) => new DemoError({ message: `ledger verify cannot be run: ${message}` }))
  )
  const { entries, players, violations } = yield* Schema.decodeUnknownEffect(Verification)(output).pipe(
    Effect.mapError(() =>
      new DemoError({ message: `ledger verify says: ${(problems || output).replaceAll(/\s+/g, " ").trim()}` })
    )
  )
  for (const { message, subject } of violations) tally.violate(`ledger verify: ${subject}: ${message}`)
  yield* print("\nnpm run -s backoffice -- ledger verify")
  yield* print(`  players ${players}, entries ${entries}, violations ${violations.length}`)
})

const shown = 20

/** The last word. */
export const printVerdict = Effect.fnUntraced(function*({ violations }: Tally) {
  if (violations.length === 0) {
    return yield* print("\n0 violations: every answer, every balance and the ledger agree.")
  }
  yield* print(`\nviolations: ${violations.length}`)
  for (const violation of violations.slice(0, shown)) yield* print(`  ${violation}`)
  if (violations.length > shown) yield* print(`  and ${violations.length - shown} more`)
})
