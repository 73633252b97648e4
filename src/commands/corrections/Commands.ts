/** Corrections that take a second person. */
import { Command, Flag } from "effect/cli"
import { correctionStatuses } from "../../contract/corrections/StaffApi.ts"
import { about, given, integer, text } from "../../platform/CliFlags.ts"
import { idOf, noun, operatorFlag, partFlags, verb } from "../Verb.ts"

const { optional } = Flag

export const correction = noun("correction", "Corrections above the threshold for a second approval").pipe(
  Command.withSubcommands([
    verb("list", "Corrections that took or take a second person, newest first", {
      operator: optional(operatorFlag),
      player: optional(integer("player", "Id of the player")),
      status: optional(about(Flag.Literals("status", correctionStatuses), "Only those that are so")),
      ...partFlags
    }, (client, input) => client.correction.list({ query: given(input) })),
    verb("approve", "Approve a pending correction of another person", {
      id: idOf("correction")
    }, (client, { id }) => client.correction.approve({ params: { correction: id } })),
    verb("reject", "Drop what was asked for", {
      id: idOf("correction"),
      reason: optional(text("reason", "Why, for the audit log"))
    }, (client, { id, ...input }) => client.correction.reject({ params: { correction: id }, payload: given(input) }))
  ])
)
