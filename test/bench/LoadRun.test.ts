import { describe, expect, it } from "@effect/vitest"
import { createServer, type ServerResponse } from "node:http"
import { mergeHistograms, summarize } from "../../bench/load/Latency.ts"
import { LoadRun } from "../../bench/load/LoadRun.ts"
import { job } from "./support.ts"

const hooks = { measuring: () => {}, measured: () => {}, progress: () => {} }

interface Bet {
  readonly transaction_id: string
  readonly session_token: string
}

type Answer = (bet: Bet, response: ServerResponse, processed: () => void) => void

const respond = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
}

const processedBody = (bet: Bet) =>
  JSON.stringify({ data: { transaction_id: bet.transaction_id, status: "processed" } })
const errorBody = (code: string) => JSON.stringify({ error: { code, message: "", details: {} } })

/** Runs against a provider API with scripted answers, on a free port. */
const withServer = async <A>(answer: Answer, run: (port: number) => Promise<A>): Promise<A> => {
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk) => (text += chunk))
    request.on("end", () => {
      const bet: Bet = JSON.parse(text)
      answer(bet, response, () => respond(response, 200, processedBody(bet)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    const address = server.address()
    return await run(typeof address === "object" && address !== null ? address.port : 0)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const playerOf = (bet: Bet): number => bet.session_token === "token-a" ? 0 : 1

describe("LoadRun", () => {
  // Goal: the sums for the correctness check are true. Method: a server that refuses some bets,
  // fails others, answers some with another status, hangs up on some, and keeps its own account of each.
  it("counts every bet as processed, as failed or as of unknown outcome", async () => {
    const moved = [0, 0]
    const unknown = [0, 0]
    const errors: Record<string, number> = {}
    const note = (sums: Array<number>, bet: Bet) => {
      sums[playerOf(bet)] = (sums[playerOf(bet)] ?? 0) - 10
    }
    const count = (code: string) => {
      errors[code] = (errors[code] ?? 0) + 1
    }
    let bets = 0
    const result = await withServer((bet, response, processed) => {
      bets += 1
      if (bets % 7 === 1) {
        count("INSUFFICIENT_FUNDS")
        respond(response, 402, errorBody("INSUFFICIENT_FUNDS"))
      } else if (bets % 7 === 2) {
        count("TRY_AGAIN")
        note(unknown, bet)
        respond(response, 503, errorBody("TRY_AGAIN"))
      } else if (bets % 7 === 3) {
        count("STATUS_REPLAYED")
        note(unknown, bet)
        respond(response, 200, processedBody(bet).replace("processed", "replayed"))
      } else if (bets % 97 === 4) {
        count("DISCONNECTED")
        note(unknown, bet)
        response.destroy()
      } else {
        note(moved, bet)
        processed()
      }
    }, (port) => new LoadRun(job({ port, connections: 2 }), hooks).result)
    expect(result.errors).toEqual(errors)
    expect(result.moved).toEqual(moved)
    expect(result.leastUnknown).toEqual(unknown)
    expect(result.mostUnknown).toEqual([0, 0])
    expect(bets).toBeGreaterThan(7)
    expect(result.processed).toBeGreaterThan(0)
    expect(result.processed * 10).toBeLessThanOrEqual(-((moved[0] ?? 0) + (moved[1] ?? 0)))
  })

  // Goal: an answer to another request does not count as success. Method: a server that confirms a wrong transaction id.
  it("counts an answer for another transaction as an error", async () => {
    const result = await withServer(
      (_bet, response) => respond(response, 200, processedBody({ transaction_id: "other", session_token: "" })),
      (port) => new LoadRun(job({ port, connections: 1 }), hooks).result
    )
    expect(Object.keys(result.errors)).toEqual(["HTTP_200"])
    expect(result.moved).toEqual([0, 0])
  })

  // Goal: no coordinated omission: while the target stands still, bets stay due and their waiting counts. Method: a
  // server that holds back all answers for the first half; half of the bets were due in that time and waited for its
  // end, so the median is a wait, though the server answers each request it gets afterwards at once. A closed loop
  // would see one slow answer per connection and nothing else.
  it("measures latency in an open loop (bets at a fixed rate) from the moment each bet was due", async () => {
    const held: Array<() => void> = []
    let holding = true
    const release = setTimeout(() => {
      holding = false
      for (const processed of held) processed()
    }, 800)
    const result = await withServer(
      (_bet, _response, processed) => {
        if (holding) held.push(processed)
        else processed()
      },
      (port) =>
        new LoadRun(
          job({ port, connections: 2, phases: [{ seconds: 1, perSecond: 500 }], warmUpSeconds: 0, measuredSeconds: 1 }),
          hooks
        ).result
    )
    clearTimeout(release)
    const latency = mergeHistograms([result.latency])
    expect(result.errors).toEqual({})
    expect(latency.totalCount).toBe(500)
    expect(summarize(latency).p50_ms).toBeGreaterThan(100)
    expect(summarize(latency).max_ms).toBeGreaterThan(500)
    expect(summarize(mergeHistograms([result.sendDelay])).p99_ms).toBeGreaterThan(500)
  })

  // Goal: an answer that never comes ends neither the run nor up as a fast one. Method: a server that answers nothing.
  it("gives up requests that are never answered, and counts requests that were never sent", async () => {
    const result = await withServer(
      () => {},
      (port) =>
        new LoadRun(job({ port, connections: 1, phases: [{ seconds: 0.5, perSecond: 100 }], timeoutMs: 300 }), hooks)
          .result
    )
    expect(result.processed).toBe(0)
    expect(result.errors["TIMED_OUT"]).toBeGreaterThan(0)
    expect(result.errors["UNSENT"]).toBeGreaterThan(0)
    const sent = Object.values(result.errors).reduce((sum, count) => sum + count, 0) - (result.errors["UNSENT"] ?? 0)
    expect((result.leastUnknown[0] ?? 0) + (result.leastUnknown[1] ?? 0)).toBe(-sent * 10)
    expect(summarize(mergeHistograms([result.latency])).max_ms).toBeGreaterThanOrEqual(300)
  })

  // Goal: all breakdowns add up to the totals. Method: a server that answers at once, an open loop of two phases with
  // different rates; requests by phase, over time and by operation against one another and against what was due.
  it("counts the same total of bets when it adds up phases, time slices or operations", async () => {
    const phases = [{ seconds: 0.4, perSecond: 100 }, { seconds: 0.4, perSecond: 300 }]
    const result = await withServer(
      (_bet, _response, processed) => processed(),
      (port) => new LoadRun(job({ port, phases, warmUpSeconds: 0, measuredSeconds: 0.8 }), hooks).result
    )
    const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
    expect(result.phases.map(({ processed }) => processed)).toEqual([40, 120])
    expect(mergeHistograms([result.operations["bet"] ?? ""]).totalCount).toBe(160)
    expect(mergeHistograms(result.phases.map(({ latency }) => latency)).totalCount).toBe(160)
    expect(result.timeline.processed).toHaveLength(8)
    // answers that come after the end are in no part of the measured time
    expect(sum(result.timeline.processed)).toBe(result.processed)
    expect(result.processed).toBeLessThanOrEqual(160)
    expect(-sum(result.moved)).toBe(1600)
  })

  // Goal: bets past the callers' patience are counted as given up and not sent. Method: one connection to a server that answers nothing in time.
  it("gives up bets that have been due for longer than callers wait", async () => {
    let bets = 0
    const result = await withServer(
      (_bet, _response, processed) => {
        bets += 1
        setTimeout(processed, 300)
      },
      (port) =>
        new LoadRun(
          job({
            port,
            connections: 1,
            phases: [{ seconds: 0.5, perSecond: 100 }],
            patienceMs: 100,
            warmUpSeconds: 0,
            measuredSeconds: 0.5
          }),
          hooks
        ).result
    )
    expect(bets + (result.errors["GIVEN_UP"] ?? 0) + (result.errors["UNSENT"] ?? 0)).toBe(50)
    expect(result.errors["GIVEN_UP"]).toBeGreaterThan(20)
    expect(mergeHistograms(result.phases.map(({ latency }) => latency)).totalCount).toBe(bets)
  })

  // Goal: a missing target is an error, not a result of zero. Method: a port that was just closed.
  it("fails when nothing listens at the address", async () => {
    const port = await withServer(() => {}, (port) => Promise.resolve(port))
    await expect(new LoadRun(job({ port, connections: 1, timeoutMs: 400 }), hooks).result).rejects.toThrow()
  })
})
