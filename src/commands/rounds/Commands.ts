/** Rounds of games. */
import { Argument, Command, Flag } from "effect/cli"
import { cursorFlags, noun, operatorFlag, partFlags, verb } from "../Verb.ts"
import { about, given, integer, text } from "../../platform/CliFlags.ts"
import { roundStates } from "../../contract/rounds/StaffApi.ts"

const { optional } = Flag

export const round = noun("round", "Rounds of games").pipe(Command.withSubcommands([
  verb("list", "Rounds without an end, the oldest first: to be reconciled with their providers", {
    operator: optional(operatorFlag),
    older_than_hours: optional(integer("older-than-hours", "Only those open for so long, at least 24 (48)")),
    ...partFlags
  }, (client, input) => client.round.list({ query: given(input) })),
  verb("search", "Rounds, the last opened first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Only those of this player")),
    provider: optional(text("provider", "Only those of this provider, id or slug")),
    game: optional(text("game", "Only those of this game: the provider's id of it, or ours")),
    transaction: optional(
      text("transaction", "The one of this message: the provider's id of it, or the id of an entry")
    ),
    state: optional(about(Flag.Literals("state", roundStates), "Only those that are so")),
    from: optional(text("from", "Opened at or after, like 2026-11-20T12:00:00Z")),
    to: optional(text("to", "Opened at or before")),
    ...cursorFlags
  }, (client, input) => client.round.search({ query: given(input) })),
  verb("show", "One round with every message that came and its entries", {
    provider: Argument.String("provider").pipe(Argument.withDescription("The id or slug of the provider")),
    game: Argument.String("game").pipe(Argument.withDescription("The provider's id of the game, or ours")),
    round: Argument.String("round").pipe(Argument.withDescription("The provider's id of the round")),
    player: optional(integer("player", "Only what is this player's"))
  }, (client, { player, ...params }) => client.round.show({ params, query: given({ player }) })),
  verb(
    "close",
    "Close a round that its provider did not end; a win that comes all the same is paid if the provider may send one",
    {
      provider: Argument.String("provider").pipe(Argument.withDescription("The id or slug of the provider")),
      game: Argument.String("game").pipe(Argument.withDescription("The provider's id of the game, or ours")),
      round: Argument.String("round").pipe(Argument.withDescription("The provider's id of the round")),
      player: optional(integer("player", "Only this player's part of it")),
      reason: text("reason", "Why, for the audit log")
    },
    (client, { player, reason, ...params }) => client.round.close({ params, payload: given({ player, reason }) })
  )
]))
