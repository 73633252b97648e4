/** Commands of the nodes of the cluster. */
import { Argument, Command } from "effect/cli"
import { noun, verb } from "../Verb.ts"

export const node = noun("node", "Nodes that serve the casino together").pipe(Command.withSubcommands([
  verb("list", "Every live node, the oldest first; none without a cluster", {}, (client) => client.node.list()),
  verb(
    "drain",
    "Have a node hand its players over and take no more; it goes on sending requests to their owners",
    { id: Argument.String("id").pipe(Argument.withDescription("The id of the node")) },
    (client, { id }) => client.node.drain({ params: { node: id } }),
    () => true,
    "Handing players over"
  )
]))
