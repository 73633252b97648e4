/** Alerts on suspicious behaviour, and the rules that raise them. */
import { Command, Flag } from "effect/cli"
import { alertRules, alertStatuses, severities } from "../../domain/compliance/AlertRules.ts"
import { about, boolean, given, integer, text } from "../../platform/CliFlags.ts"
import { cursorFlags, idOf, noun, operatorFlag, verb } from "../Verb.ts"

const { optional } = Flag

export const alert = noun("alert", "Alerts on suspicious behaviour").pipe(Command.withSubcommands([
  verb("list", "Alerts, newest first", {
    operator: optional(operatorFlag),
    status: optional(about(Flag.Literals("status", alertStatuses), "Only those that are so")),
    rule: optional(about(Flag.Literals("rule", alertRules), "Only those of this rule")),
    player: optional(integer("player", "Only those about this player")),
    assigned_to: optional(text("assigned-to", "Only those that this account has: me, none or an id")),
    ...cursorFlags
  }, (client, input) => client.alert.list({ query: given(input) })),
  verb("show", "One alert", { id: idOf("alert") }, (client, { id }) => client.alert.show({ params: { alert: id } })),
  verb("update", "Move an alert, or note something about it", {
    id: idOf("alert"),
    status: optional(about(Flag.Literals("status", alertStatuses), "New status; closed is final")),
    note: optional(text("note", "What is to be remembered"))
  }, (client, { id, ...input }) => client.alert.update({ params: { alert: id }, payload: given(input) })),
  verb("assign", "Give an alert to an account", {
    id: idOf("alert"),
    staff: text("staff", "me, none, or the id of an account")
  }, (client, { id, ...payload }) => client.alert.assign({ params: { alert: id }, payload })),
  verb("hold", "Stop the player's withdrawals for an open alert", {
    id: idOf("alert"),
    reason: text("reason", "Why, for the audit log")
  }, (client, { id, ...payload }) => client.alert.hold({ params: { alert: id }, payload })),
  verb("release", "Take away an alert's hold on withdrawals", {
    id: idOf("alert"),
    reason: text("reason", "Why, for the audit log")
  }, (client, { id, ...payload }) => client.alert.release({ params: { alert: id }, payload })),
  verb("rules", "The rules of an operator, as they are set", {
    operator: operatorFlag
  }, (client, input) => client.alert.rules({ query: input })),
  verb("configure", "Set a rule of an operator", {
    operator: operatorFlag,
    rule: about(Flag.Literals("rule", alertRules), "Which"),
    enabled: optional(boolean("enabled", "Whether it raises anything (true)")),
    severity: optional(about(Flag.Literals("severity", severities), "Of what just meets it")),
    stop_withdrawals: optional(
      boolean("stop-withdrawals", "Whether its alerts stop withdrawals until they are closed (false)")
    ),
    threshold: optional(integer("threshold", "Minor units of the operator's currency")),
    percent: optional(integer("percent", "What it means depends on the rule")),
    count: optional(integer("count", "How many it takes")),
    window_hours: optional(integer("window-hours", "How far back it looks"))
  }, (client, { rule, ...input }) => client.alert.configure({ params: { rule }, payload: given(input) }))
]))
