/** Live figures. */
import { Effect, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandOutput, connect, noun, operatorFlag, root, verb } from "../Verb.ts"
import { given, integer } from "../../platform/CliFlags.ts"

const { optional } = Flag

const live = Command.make("live", {
  operator: optional(operatorFlag),
  seconds: integer("seconds", "How long (10)").pipe(Flag.withDefault(10))
}, ({ seconds, ...input }) =>
  Effect.gen(function*() {
    const { token } = yield* root
    const { out } = yield* CommandOutput
    const client = yield* connect(token)
    const events = yield* client.figures.live({ query: given(input) })
    yield* Stream.decodeText(events).pipe(
      Stream.interruptWhen(Effect.sleep(seconds * 1000)),
      Stream.runForEach((text) => Effect.sync(() => out(text)))
    )
  })).pipe(
    Command.withDescription("Print server-sent events as they come: how the casino stands, and what has changed")
  )

export const figures = noun("figures", "How the casino stands now").pipe(Command.withSubcommands([
  verb("overview", "Today against the same weekday of last week, and what waits or fails", {
    operator: optional(operatorFlag)
  }, (client, input) => client.figures.overview({ query: given(input) })),
  live
]))
