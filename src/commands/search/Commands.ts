/** The search over everything. */
import { Argument, Command } from "effect/cli"
import { noun, verb } from "../Verb.ts"

export const search = noun("search", "Everything that has an id or a name").pipe(Command.withSubcommands([
  verb("find", "Players, payments, rounds, messages, operators and games by an id or the beginning of a name", {
    q: Argument.String("text").pipe(Argument.withDescription("An id, a reference, or the beginning of a name"))
  }, (client, query) => client.search.find({ query }))
]))
