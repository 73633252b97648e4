/** Free rounds at vendors. */
import { Command } from "effect/cli"
import { integer } from "../../platform/CliFlags.ts"
import { idOf, noun, pageFlags, verb } from "../Verb.ts"

const player = integer("player", "Id of the player")

export const freeRounds = noun("free-rounds", "Free rounds at the vendors of games").pipe(Command.withSubcommands([
  verb("issue", "Give a player free rounds", {
    player,
    game: integer("game", "Id of the game"),
    rounds: integer("rounds", "How many"),
    stake: integer("stake", "Of each round, minor units of the player's currency"),
    valid_days: integer("valid-days", "How long they can be played")
  }, (client, payload) => client.free_rounds.issue({ payload })),
  verb("cancel", "Take back what was not played", {
    id: idOf("free rounds")
  }, (client, { id }) => client.free_rounds.cancel({ params: { free_rounds: id } })),
  verb("list", "A player's free rounds, newest first", {
    player,
    ...pageFlags
  }, (client, query) => client.free_rounds.list({ query }))
]))
