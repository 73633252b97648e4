import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { BenchError } from "../../bench/BenchError.ts"
import { mixedOperations } from "../../bench/load/MixedTraffic.ts"
import { readResult, type Result } from "../../bench/report/Result.ts"
import { apiScenario } from "../../bench/scenarios/Api.ts"
import { runBars } from "../../bench/scenarios/Bars.ts"
import { coldStartScenario } from "../../bench/scenarios/ColdStart.ts"
import { engineScenario } from "../../bench/scenarios/Engine.ts"
import { growthScenario } from "../../bench/scenarios/Growth.ts"
import { mixedScenario } from "../../bench/scenarios/Mixed.ts"
import { caseNames } from "../../bench/scenarios/NeighbourCases.ts"
import { neighbourScenario } from "../../bench/scenarios/Neighbours.ts"
import { overloadScenario } from "../../bench/scenarios/Overload.ts"
import { protocolScenario } from "../../bench/scenarios/Protocols.ts"
import { reportScenario } from "../../bench/scenarios/Reads.ts"
import { recoveryScenario } from "../../bench/scenarios/Recovery.ts"
import { trafficScenarios } from "../../bench/scenarios/Traffic.ts"
import { promised } from "../../bench/scenarios/Suite.ts"
import { verificationScenario } from "../../bench/scenarios/Verification.ts"
import { waitScenario } from "../../bench/scenarios/Waits.ts"
import { webhookScenario } from "../../bench/scenarios/Webhooks.ts"
import { project } from "../../bench/targets/NodeFlags.ts"
import { folderOfServers, serverFolderPrefix } from "../kit/ServerFolders.ts"

// Goal: every scenario runs from its start to the files it writes, with the current service. Method:
// each with the smallest numbers that still exercise all of it; performance is not asserted here.

let folder = ""
let results = ""
let temporary: string | undefined
beforeAll(() => {
  folder = mkdtempSync(join(folderOfServers(), serverFolderPrefix))
  // PostgreSQL enters the folders in it
  chmodSync(folder, 0o711)
  // the next run removes it when this one is killed
  writeFileSync(join(folder, "service.lock"), `${process.pid}\n`)
  results = join(folder, "results")
  process.env["BENCH_RESULTS"] = results
  temporary = process.env["TMPDIR"]
  process.env["TMPDIR"] = folder
})
afterAll(() => {
  delete process.env["BENCH_RESULTS"]
  if (temporary === undefined) delete process.env["TMPDIR"]
  else process.env["TMPDIR"] = temporary
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a scenario and returns its result file, with the values of one figure of a row. */
const run = async (
  scenario: Effect.Effect<Result, BenchError>,
  /** Codes that may be among the errors. */
  allowed: ReadonlyArray<string> = []
) => {
  const result = await Effect.runPromise(scenario)
  const files = readdirSync(results).filter((file) => file.includes(`-${result.scenario}.`))
  const json = files.find((file) => file.endsWith(".json")) ?? ""
  expect(await Effect.runPromise(readResult(join(results, json)))).toEqual(result)
  expect(readFileSync(join(results, json.replace(".json", ".md")), "utf8")).toContain(`## ${result.title}`)
  for (const { errors, figures } of result.measurements) {
    for (const { values } of figures) expect(values.length).toBeGreaterThan(0)
    expect(Object.keys(errors).filter((code) => !code.startsWith("NOT_") && !allowed.includes(code))).toEqual(
      []
    )
  }
  return {
    result,
    values: (row: number, name: string) =>
      result.measurements[row]?.figures.find((figure) => figure.name === name)?.values ?? []
  }
}

const maxForeignLoad = 100
const time = { rounds: 1, seconds: 0.3, warmUpSeconds: 0, maxForeignLoad }

describe("benchmark scenarios", () => {
  it("cold start, growth, reports and verification run on one stored casino", async () => {
    const dataset = { players: 200, entries: 2000, folder: join(folder, "data") }
    const cold = await run(
      coldStartScenario.run({ ...dataset, bettors: 5, rounds: 1, connections: 2, seconds: 0.5, secondsAfter: 3 })
    )
    expect(cold.values(0, "ready after")).toHaveLength(1)
    const [silence = 0] = cold.values(1, "nothing answered for")
    expect(silence).toBeGreaterThan(0)

    const growth = await run(growthScenario.run({ ...dataset, ...time, seconds: 1, bettors: 5, connections: 2 }))
    expect(growth.values(1, "× empty ledger")).toHaveLength(1)

    const reports = await run(
      reportScenario.run({ ...dataset, connections: [1], rounds: 1, repetitions: 3, maxForeignLoad, verify: true })
    )
    expect(reports.result.method.join(" ")).toContain("0 violations")
    expect(reports.result.measurements).toHaveLength(3)

    const verification = await run(
      verificationScenario.run({ ...dataset, bettors: 5, connections: 2, rate: 20, seconds: 1, bets: 20 })
    )
    expect(verification.result.measurements.map(({ name }) => name)).toEqual(["whole", "incremental"])
  }, 240_000)

  it("overload doubles the offered rate", async () => {
    const { values } = await run(
      overloadScenario.run({
        players: 3,
        connections: 8,
        rounds: 1,
        seconds: 0.5,
        factor: 2,
        patienceMs: 200,
        maxForeignLoad
      })
    )
    const [offered = 0] = values(1, "offered")
    const [before = 0] = values(0, "offered")
    expect(offered).toBeGreaterThan(2 * before)
  }, 120_000)

  it("recovery measures kills of the service with its PostgreSQL, and of PostgreSQL alone", async () => {
    const victims = ["everything", "postgres"] as const
    const { result, values } = await run(
      recoveryScenario.run({
        players: 5,
        connections: 2,
        rounds: 1,
        seconds: 1,
        secondsAfter: 6,
        forms: ["service", "npm"],
        victims,
        nodes: 1,
        settings: ""
      })
    )
    expect(result.measurements.map(({ name }) => name)).toEqual(
      ["service", "npm"].flatMap((form) => victims.map((victim) => `${form}: ${victim} killed`))
    )
    for (const row of [0, 2]) expect(values(row, "ready after")[0]).toBeGreaterThan(0)
    for (const row of [1, 3]) expect(values(row, "bets after PostgreSQL's return")).toHaveLength(1)
  }, 180_000)

  it("bets are compared with the baseline's at shares of the peaks and at one rate", async () => {
    const few = { ...time, players: 4, registered: 20, connections: 2, generators: 1, cpuProfile: false }
    const { result } = await run(trafficScenarios.bet.run({
      ...few,
      targets: ["pitboss", "baseline"],
      mixes: ["many", "ten"],
      ratePerSecond: null,
      shares: [50],
      pools: { baseline: 2, "one-statement": 2 },
      before: undefined
    }))
    const limits = result.measurements.flatMap(({ figures }) =>
      figures.flatMap(({ limit, name }) => limit === undefined ? [] : [[name, limit]])
    )
    expect(limits).toEqual([
      ["× baseline", 5],
      ["p99 ÷ baseline", 1.2],
      ["p50 ÷ baseline", 1],
      ["p99 ÷ baseline", 0.6],
      ["× 4 players", 0.9]
    ])
  }, 120_000)

  it("mixed traffic is compared with pure bets, and the cost of each endpoint is measured", async () => {
    const few = { ...time, players: 4, registered: 20, connections: 2 }
    const mixed = await run(
      mixedScenario.run({ ...few, generators: 1, operations: mixedOperations, cpuProfile: false })
    )
    const [ratio] = mixed.result.measurements[1]?.figures.filter(({ name }) => name === "× pure bets") ?? []
    expect([ratio?.values.length, ratio?.limit]).toEqual([1, 0.75])
    const api = await run(apiScenario.run({ ...few, endpoints: ["wallet", "deposit", "report"], cpuProfile: false }))
    expect(api.result.measurements.map(({ name }) => name)).toEqual(["wallet", "deposit", "report", "ceiling"])
    expect(api.values(0, "at a ceiling of 40")).toHaveLength(1)
  }, 120_000)

  it("bets in several protocols are compared between two checkouts, here of the same revision", async () => {
    const few = { ...time, players: 4, registered: 20, connections: 2, generators: 1, ratePerSecond: 40 }
    const { result } = await run(
      protocolScenario.run({ ...few, before: project, protocols: ["hub88", "spribe"] })
    )
    const compared = result.measurements.filter(({ figures }) => figures.some(({ name }) => name === "after ÷ before"))
    expect(compared.map(({ name }) => name)).toEqual(
      ["pitboss", "hub88", "spribe"].flatMap((name) => [name, `${name}, service alone`])
    )
    expect(result.options["before"]).toBe(result.revision)
  }, 120_000)

  it("the bar of mixed traffic is held by two checkouts in turn, here of the same revision", async () => {
    const few = { ...promised, ...time, only: ["mixed"], players: 4, registered: 20, connections: 2 }
    const bars = await Effect.runPromise(runBars(few, { before: project, rounds: 1 }))
    expect(bars.map(({ before, name, today }) => [name, today.values.length, before.values.length])).toEqual([
      ["mixed: mixed traffic, pitboss, × pure bets", 1, 1]
    ])
    const page = readdirSync(results).find((file) => file.endsWith("-bars.md")) ?? ""
    expect(readFileSync(join(results, page), "utf8")).toContain("mixed: mixed traffic, pitboss, × pure bets")
  }, 120_000)

  it("npm start and the command line are waited for", async () => {
    const { result } = await run(waitScenario.run({ rounds: 1, what: ["first", "start", "player"] }))
    expect(result.measurements.map(({ name }) => name)).toEqual([
      "npm start on an empty folder",
      "npm start",
      "pitboss player show"
    ])
  }, 120_000)

  it("bets are measured beside every slow operation", async () => {
    const scenario = neighbourScenario.run({
      players: 3,
      others: 4,
      registered: 30,
      connections: 2,
      ratePerSecond: 20,
      rounds: 1,
      seconds: 1,
      cases: caseNames,
      readers: 2,
      retries: 4,
      resting: 20,
      restSeconds: 1,
      cpuProfile: false
    })
    // requests that share a commit with a locked row may be refused with TRY_AGAIN; the last two count what a case did
    const { result, values } = await run(scenario, ["TRY_AGAIN", "TIMED_OUT", "DOCUMENTS_READ", "EVENTS_FOLLOWED"])
    expect(result.measurements.map(({ name }) => name)).toEqual(caseNames)
    for (const row of caseNames.keys()) expect(values(row, "× p99 calm")[0]).toBeGreaterThan(0)
  }, 180_000)

  it("engine commits and webhook deliveries are measured", async () => {
    const { result } = await run(
      engineScenario.run({ ...time, stores: ["postgres", "memory"], callers: 4, players: 1 })
    )
    expect(result.measurements).toHaveLength(2)
    const webhooks = await run(webhookScenario.run({ endpoints: 2, hanging: 1, events: 3, rounds: 1, maxForeignLoad }))
    expect(webhooks.values(0, "deliveries")).toHaveLength(1)
  }, 120_000)
})
