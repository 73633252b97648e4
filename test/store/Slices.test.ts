import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { maxSlices, readSlices } from "../../src/store/Slices.ts"
import { runs } from "../kit/Runs.ts"

// Goal: for any distribution in time, reading in slices returns each wanted row once, newest first, with a bounded number of rows read per page.
// Method: generated times, read from a list; pages are followed to the end as callers do.

const bounds = { rowsPerSlice: 40, rowsPerPage: 100 }

/** Bursts of rows, each within a period of its own width, years and milliseconds apart. */
const bursts = fc.array(
  fc.record({
    at: fc.integer({ min: 1, max: 4_000_000_000_000 }),
    width: fc.constantFrom(0, 5, 60_000, 86_400_000, 31_536_000_000),
    rows: fc.integer({ min: 1, max: 150 })
  }),
  { maxLength: 6 }
)

it.effect("time slices return every wanted row once, and read a bounded number of rows per page", () =>
  Effect.gen(function*() {
    let cut = 0
    for (
      const [pattern, every] of fc.sample(fc.tuple(bursts, fc.constantFrom(1, 3, 50)), {
        numRuns: runs(100, 300),
        seed: 7
      })
    ) {
      const times = pattern.flatMap(({ at, rows, width }) =>
        Array.from({ length: rows }, (_, index) => at + Math.floor((width * index) / rows))
      ).toSorted((one, other) => other - one)
      const wanted = times.filter((time) => time % every === 0)
      const walked: Array<number> = []
      let until = 4_100_000_000_000
      for (let pages = 0; pages < 2000; pages++) {
        let read = 0
        const { rest, rows } = yield* readSlices(
          { until, floor: 0, wanted: 10 },
          ({ from, max, until: end }) =>
            Effect.sync(() => {
              assert.isBelow(from, end)
              const all = times.filter((time) => time >= from && time < end)
              const seen = all.slice(0, max === undefined ? all.length : max + 1)
              if (max !== undefined) assert.isAtMost(seen.length, bounds.rowsPerSlice + 1)
              read += max === undefined ? 0 : seen.length
              return { seen: seen.length, rows: seen.filter((time) => time % every === 0) }
            }),
          bounds
        )
        assert.isAtMost(read, maxSlices * (bounds.rowsPerSlice + 1))
        // rows of one millisecond come together: who walks by time alone goes on below it
        const shown = rows.length > 10 ? rows.filter((time) => time >= (rows[9] ?? 0)) : rows
        walked.push(...shown)
        if (rows.length > shown.length) until = shown.at(-1) ?? 0
        else if (rest === undefined) break
        else until = rest
        if (shown.length < 10) cut++
      }
      assert.deepStrictEqual(walked, wanted)
    }
    assert.isAbove(cut, runs(30, 100))
  }))

it.effect("time slices reach a dense range of rows years in the past within the first page", () =>
  Effect.gen(function*() {
    const [first, every, count] = [Date.UTC(2020, 0, 1), 10_000, 120_000]
    const last = first + every * (count - 1)
    for (
      const until of fc.sample(fc.integer({ min: last + 1, max: Date.UTC(2060, 0, 1) }), {
        numRuns: runs(100, 500),
        seed: 3
      })
    ) {
      const { rows } = yield* readSlices(
        { until, floor: 0, wanted: 25 },
        ({ from, max = Infinity, until: end }) =>
          Effect.sync(() => {
            const newest = Math.min(count - 1, Math.ceil((end - first) / every) - 1)
            const oldest = Math.max(0, Math.ceil((from - first) / every))
            const seen = Math.max(0, Math.min(newest - oldest + 1, max + 1))
            return { seen, rows: Array.from({ length: seen }, (_, index) => first + (newest - index) * every) }
          })
      )
      assert.strictEqual(rows[0], last, new Date(until).toISOString())
    }
  }))
