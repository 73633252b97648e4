/**
 * Sends generated requests to every endpoint: npm run fuzz -- --help
 *
 * Prints findings as JSON on standard output; exits with 1 when there are any.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, References, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { isSteady, runFuzz } from "../test/fuzz/support/FuzzRun.ts"
import { layerOwnDatabase } from "../test/kit/E2eDatabase.ts"
import { standardError, standardOutput } from "../src/platform/Output.ts"

const count = (name: string, description: string, byDefault: number) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000_000 }))),
    Flag.withDescription(description),
    Flag.withDefault(byDefault)
  )

const showProgress = (done: number, requests: number) =>
  Effect.sync(() => {
    if (!standardError.isTerminal) return
    const width = 40
    const full = Math.round(width * done / requests)
    standardError.offer(`\r[${"#".repeat(full)}${"-".repeat(width - full)}] ${done} of ${requests} requests`)
    if (done === requests) standardError.offer("\n")
  })

Command.make(
  "fuzz",
  {
    requests: count("requests", "how many requests are sent", 100_000),
    seed: count("seed", "where the draw begins; the same seed draws the same requests", 1),
    connections: count("connections", "requests under way at a time; with 1 a run repeats exactly", 16)
  },
  ({ connections, requests, seed }) =>
    runFuzz({
      requests,
      seed,
      connections,
      measuresStrangers: true,
      onProgress: (done) => showProgress(done, requests)
    }).pipe(
      Effect.scoped,
      Effect.provide(layerOwnDatabase),
      // Standard output is machine-readable.
      Effect.provideService(References.MinimumLogLevel, "Warn"),
      Effect.map((report) => {
        const memoryIsSteady = isSteady(report.memoryMebibytes)
        const isClean = memoryIsSteady && report.findings.length + report.complaints.length === 0 &&
          report.ledger.violations.length + report.strangers.aboveBar.length === 0
        standardOutput.offer(`${JSON.stringify({ ...report, memoryIsSteady, isClean }, null, 2)}\n`)
        process.exitCode = isClean ? 0 : 1
      })
    )
).pipe(
  Command.withDescription("Made-up requests to every endpoint of a service of its own, and what became of them"),
  Command.run({ version: "1.0.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
