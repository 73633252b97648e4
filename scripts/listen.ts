// Posts an operator's events to a local address: pitboss listen --forward-to URL
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Services from "../src/client/Services.ts"
import { eventTypes } from "../src/domain/state/Events.ts"
import { listFrom } from "../src/platform/CliFlags.ts"
import { standardOutput } from "../src/platform/Output.ts"
import { StartupError } from "../src/platform/StartupError.ts"
import { runTyped } from "../src/platform/Usage.ts"
import { explained, teardown } from "./Explained.ts"
import { credentialFlags, openCredentials } from "./listen/Credentials.ts"
import { listen } from "./listen/Listen.ts"
import { dataFolder } from "./ServiceSettings.ts"

const program = Command.make(
  "listen",
  {
    ...credentialFlags,
    forwardTo: Flag.String("forward-to").pipe(Flag.withDescription("Where the events are posted")),
    events: listFrom("events", eventTypes, "Types of events (all)").pipe(Flag.optional)
  },
  ({ events, forwardTo, ...given }) =>
    Effect.gen(function*() {
      if (!URL.canParse(forwardTo)) {
        return yield* new StartupError({ message: `--forward-to: ${forwardTo} is no address` })
      }
      return yield* listen({
        credentials: yield* openCredentials(given, ["events:read"]),
        dataDir: yield* dataFolder,
        forwardTo,
        types: Option.getOrElse(events, () => []),
        say: (line) => standardOutput.print(`${line}\n`, () => process.exit(1))
      })
    }).pipe(Effect.scoped, explained)
).pipe(Command.withDescription("Follow an operator's events and post them to a local address, signed like webhooks"))

NodeRuntime.runMain(
  Effect.provide(runTyped(program), [NodeServices.layer, Services.layer]),
  // Ctrl-C is how it ends
  { teardown }
)
