/** The ledger and the audit log. */
import { Command, Flag } from "effect/cli"
import { given, integer, text } from "../platform/CliFlags.ts"
import { noun, operatorFlag, pageFlags, verb } from "./Verb.ts"

const { optional } = Flag

export const ledger = noun("ledger", "The ledger").pipe(Command.withSubcommands([
  verb(
    "verify",
    "Prove the ledger; exit 1 when a law does not hold",
    { operator: optional(operatorFlag) },
    (client, input) => client.ledger.verify({ query: given(input) }),
    ({ violations }) => violations.length === 0,
    "Proving the ledger"
  )
]))

export const audit = noun("audit", "Who did what").pipe(Command.withSubcommands([
  verb("list", "Newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Id of a player")),
    staff: optional(text("staff", "Id of the account that acted, or bootstrap")),
    action: optional(text("action", "What was done, like key.rotate")),
    from: optional(text("from", "At or after, like 2026-11-20T12:00:00Z")),
    to: optional(text("to", "At or before")),
    cursor: optional(text("cursor", "Go on below the line with this id, without pages")),
    ...pageFlags
  }, (client, input) => client.audit.list({ query: given(input) }))
]))

export const round = noun("round", "Rounds of games").pipe(Command.withSubcommands([
  verb("list", "Rounds without an end, the oldest first: to be reconciled with their providers", {
    operator: optional(operatorFlag),
    older_than_hours: optional(integer("older-than-hours", "Only those open for so long, at least 24 (48)")),
    ...pageFlags
  }, (client, input) => client.round.list({ query: given(input) }))
]))

export const job = noun("job", "Work that the service does by itself").pipe(Command.withSubcommands([
  verb("list", "What runs when, and how the last run went", {}, (client) => client.job.list())
]))
