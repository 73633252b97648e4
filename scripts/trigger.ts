// Makes an event really happen in a sandbox: pitboss trigger EVENT
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Services from "../src/client/Services.ts"
import { eventTypes } from "../src/domain/state/Events.ts"
import { Entropy } from "../src/platform/Entropy.ts"
import { standardOutput } from "../src/platform/Output.ts"
import { runTyped } from "../src/platform/Usage.ts"
import { explained } from "./Explained.ts"
import { credentialFlags } from "./listen/Credentials.ts"
import { recipes } from "./trigger/Recipes.ts"
import { trigger } from "./trigger/Trigger.ts"

const width = Math.max(...eventTypes.map(({ length }) => length))
const listed = eventTypes.map((type) => `  ${type.padEnd(width)}  ${recipes[type].does}`)

const program = Command.make(
  "trigger",
  {
    event: Argument.Literals("event", eventTypes).pipe(Argument.withDescription("Type of the event")),
    ...credentialFlags,
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON on a terminal, too"), Flag.withDefault(false))
  },
  ({ event, json, ...given }) =>
    Effect.gen(function*() {
      const report = yield* trigger(event, given)
      const text = standardOutput.isTerminal && !json
        ? [...report.steps, `${report.event.type} ${report.event.id} at ${report.event.created_at}`].join("\n")
        : JSON.stringify(report, null, 2)
      standardOutput.print(`${text}\n`, () => (process.exitCode = 1))
    }).pipe(Effect.scoped, explained)
).pipe(
  Command.withDescription(
    `Make an event really happen in a sandbox, with new players of its own, and say what was done:\n\n${
      listed.join("\n")
    }`
  ),
  Command.withShortDescription("Make an event really happen in a sandbox")
)

NodeRuntime.runMain(
  Effect.provide(runTyped(program), [NodeServices.layer, Services.layer, Entropy.layer])
)
