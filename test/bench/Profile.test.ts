import { describe, expect, it } from "@effect/vitest"
import { renderProfile, summarizeProfile } from "../../bench/report/Profile.ts"

const frame = (functionName: string, url: string, lineNumber = 9) => ({ functionName, url, lineNumber })

describe("a CPU profile summary", () => {
  // Goal: self time is attributed correctly, and idle time is excluded. Method: a profile written by hand; a delta belongs to the sample
  // before it.
  it("adds up self time by function, file and module", () => {
    const summary = summarizeProfile({
      nodes: [
        { id: 1, callFrame: frame("(root)", "") },
        { id: 2, callFrame: frame("settle", "file:///somewhere/src/domain/settlement/Settlement.ts") },
        { id: 3, callFrame: frame("decide", "file:///somewhere/src/domain/Decision.ts") },
        { id: 4, callFrame: frame("", "file:///somewhere/node_modules/@effect/sql-pg/dist/PgClient.js") },
        { id: 5, callFrame: frame("writev", "") },
        { id: 6, callFrame: frame("(idle)", "") },
        { id: 7, callFrame: frame("(garbage collector)", "") },
        { id: 8, callFrame: frame("onread", "node:internal/stream_base_commons") }
      ],
      startTime: 0,
      endTime: 1000,
      samples: [2, 3, 4, 5, 6, 7, 8, 2, 2],
      timeDeltas: [0, 100, 200, 300, 50, 1000, 40, 10, 300]
    })
    expect(summary.busyMicros).toBe(1000)
    const shares = (times: ReadonlyArray<{ readonly name: string; readonly micros: number }>) =>
      times.map(({ micros, name }) => [name, micros])
    expect(shares(summary.rooms)).toEqual([
      ["src/domain", 600],
      ["@effect/sql-pg", 300],
      ["(native)", 50],
      ["(garbage collector)", 40],
      ["node", 10]
    ])
    expect(shares(summary.files)[0]).toEqual(["src/domain/settlement/Settlement.ts", 400])
    expect(shares(summary.functions)).toContainEqual(["(anonymous)  @effect/sql-pg/dist/PgClient.js:10", 300])
    expect(renderProfile(summary, 10)).toContain("100.0 µs of the main thread per request")
  })
})
