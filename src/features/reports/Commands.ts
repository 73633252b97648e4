/** Commands of reports and exchange rates. */
import { Command, Flag } from "effect/cli"
import { about, given, text } from "../../platform/CliFlags.ts"
import { noun, operatorFlag, pageFlags, verb } from "../../commands/Verb.ts"

const { optional } = Flag

export const report = noun("report", "Reports").pipe(Command.withSubcommands([
  verb("ggr", "Gross gaming revenue and payments of a range of days", {
    operator: operatorFlag,
    from: text("from", "First day, like 2026-11-01, UTC"),
    to: text("to", "Last day, included"),
    include_test_players: optional(
      about(Flag.Literals("include-test-players", ["true", "false"]), "Whether test players count (false)")
    )
  }, (client, input) => client.report.ggr({ query: given(input) }))
]))

export const rate = noun("rate", "Exchange rates").pipe(Command.withSubcommands([
  verb("set", "Set a rate for what is written from now on", {
    currency: text("currency", "ISO 4217 code of the players' currency"),
    base: text("base", "ISO 4217 code of the operator's currency"),
    rate: about(Flag.Finite("rate"), "One unit of the currency in units of the base")
  }, (client, payload) => client.rate.set({ payload })),
  verb("list", "Rates, newest first", {
    currency: optional(text("currency", "ISO 4217 code of the players' currency")),
    base: optional(text("base", "ISO 4217 code of the operator's currency")),
    ...pageFlags
  }, (client, input) => client.rate.list({ query: given(input) }))
]))
