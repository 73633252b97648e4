// Says what would stop or slow a production start: pitboss doctor
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, References } from "effect"
import { Command, Flag } from "effect/cli"
import { Entropy } from "../src/platform/Entropy.ts"
import { standardOutput } from "../src/platform/Output.ts"
import { givenSettings } from "../src/platform/Settings.ts"
import { runTyped } from "../src/platform/Usage.ts"
import { readReport } from "./doctor/Reading.ts"
import { type Finding, judge, wrongSettings } from "./doctor/Rules.ts"

const marks = { ok: "✓", warn: "!", fail: "✗" } as const

const lineOf = ({ found, next, state, subject }: Finding): string =>
  `${marks[state]} ${subject.padEnd(12)}  ${found}${next === null ? "" : `\n                → ${next}`}`

const program = Command.make(
  "doctor",
  {
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON on a terminal, too"), Flag.withDefault(false))
  },
  ({ json }) =>
    Effect.gen(function*() {
      const findings = yield* givenSettings.pipe(
        Effect.flatMap(readReport),
        Effect.map(judge),
        // the findings say it
        Effect.provideService(References.MinimumLogLevel, "None"),
        Effect.catch(({ message }) => Effect.succeed(wrongSettings(message, process.versions.node)))
      )
      const text = standardOutput.isTerminal && !json
        ? findings.map(lineOf).join("\n")
        : JSON.stringify(findings, null, 2)
      standardOutput.print(`${text}\n`, () => (process.exitCode = 1))
      if (findings.some(({ state }) => state === "fail")) process.exitCode = 1
    })
).pipe(
  Command.withDescription(
    "Say what would stop or slow a production start, by the environment that the service would have. Exit 1 when something would"
  )
)

NodeRuntime.runMain(Effect.provide(runTyped(program), [NodeServices.layer, Entropy.layer]))
