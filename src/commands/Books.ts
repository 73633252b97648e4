/** The ledger and the audit log. */
import { Command, Flag } from "effect/cli"
import { given, integer } from "../platform/CliFlags.ts"
import { noun, operatorFlag, pageFlags, verb } from "./Verb.ts"

const { optional } = Flag

export const ledger = noun("ledger", "The ledger").pipe(Command.withSubcommands([
  verb(
    "verify",
    "Prove the ledger; exit 1 when a law does not hold",
    { operator: optional(operatorFlag) },
    (client, input) => client.ledger.verify({ query: given(input) }),
    ({ violations }) => violations.length === 0
  )
]))

export const audit = noun("audit", "Who did what").pipe(Command.withSubcommands([
  verb("list", "Newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Id of a player")),
    ...pageFlags
  }, (client, input) => client.audit.list({ query: given(input) }))
]))
