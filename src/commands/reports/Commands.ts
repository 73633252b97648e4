/** Commands of reports and exchange rates. */
import { Command, Flag } from "effect/cli"
import { seriesMetrics, seriesSteps } from "../../domain/Figures.ts"
import { about, given, text } from "../../platform/CliFlags.ts"
import { noun, operatorFlag, partFlags, verb } from "../Verb.ts"

const { optional } = Flag

const days = {
  from: text("from", "First day, like 2026-11-01, UTC"),
  to: text("to", "Last day, included"),
  include_test_players: optional(
    about(Flag.Literals("include-test-players", ["true", "false"]), "Whether test players count (false)")
  )
}

export const report = noun("report", "Reports").pipe(Command.withSubcommands([
  verb("ggr", "Gross gaming revenue and payments of a range of days", {
    operator: operatorFlag,
    ...days
  }, (client, input) => client.report.ggr({ query: given(input) })),
  verb("series", "A key figure over time, at most 400 points", {
    operator: operatorFlag,
    metric: about(Flag.Literals("metric", seriesMetrics), "Which"),
    ...days,
    step: about(Flag.Literals("step", seriesSteps), "By hour or day (day)").pipe(Flag.withDefault("day" as const)),
    provider: optional(text("provider", "Only this provider's games, id or slug"))
  }, (client, input) => client.report.series({ query: given(input) })),
  verb("breakdown", "Play and payments of a range of days, by day or provider", {
    operator: operatorFlag,
    by: about(Flag.Literals("by", ["day", "provider"]), "One row for each"),
    ...days
  }, (client, input) => client.report.breakdown({ query: given(input) })),
  verb("funds", "What players hold, by currency and wallet, as it was read last", {
    operator: optional(operatorFlag)
  }, (client, input) => client.report.funds({ query: given(input) })),
  verb("bonuses", "What bonuses have cost in a range of days, and what running ones may still cost", {
    operator: operatorFlag,
    ...days
  }, (client, input) => client.report.bonuses({ query: given(input) }))
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
    ...partFlags
  }, (client, input) => client.rate.list({ query: given(input) }))
]))
