/** Commands of webhook endpoints and deliveries. */
import { Command, Flag } from "effect/cli"
import { deliveryStatuses, type EventType, eventTypes } from "../../domain/state/Events.ts"
import { about, boolean, given, integer, listFrom, text } from "../../platform/CliFlags.ts"
import { idOf, noun, ofOperator, operatorFlag, partFlags, verb } from "../Verb.ts"

const { optional } = Flag

const settings = {
  events: optional(listFrom<EventType>("events", eventTypes, "Event types (all)")),
  active: optional(boolean("active", "Whether anything is sent; what comes meanwhile waits (true)"))
}

export const webhook = noun("webhook", "Webhooks of operators").pipe(Command.withSubcommands([
  verb("create", "Make a webhook; prints its secret once", {
    operator: operatorFlag,
    url: text("url", "Where events are sent"),
    ...settings
  }, (client, input) => client.webhook.create({ payload: given(input) })),
  verb(
    "rotate",
    "Give it a new secret; prints it once. The one before signs in a header of its own for a day",
    {
      id: idOf("webhook"),
      now: about(Flag.Boolean("now"), "End that day; where none runs, the one before signs no longer at once").pipe(
        Flag.withDefault(false)
      ),
      ...ofOperator
    },
    (client, { id, now, ...input }) =>
      client.webhook.rotate({ params: { webhook: id }, query: { ...given(input), ...(now ? { now: "true" } : {}) } })
  ),
  verb(
    "update",
    "Change a webhook",
    {
      id: idOf("webhook"),
      url: optional(text("url", "Where events are sent")),
      ...settings,
      ...ofOperator
    },
    (client, { id, operator, ...input }) =>
      client.webhook.update({ params: { webhook: id }, query: given({ operator }), payload: given(input) })
  ),
  verb("ping", "Send a test event now; prints what came of it", {
    id: idOf("webhook"),
    ...ofOperator
  }, (client, { id, ...input }) => client.webhook.ping({ params: { webhook: id }, query: given(input) })),
  verb(
    "redeliver",
    "Send the events since an instant again, 10,000 at most",
    {
      id: idOf("webhook"),
      since: text("since", "Events at or after, like 2026-11-20T12:00:00Z"),
      until: optional(text("until", "Events before (now)")),
      status: optional(about(Flag.Literals("status", ["delivered", "failed"]), "Only deliveries that are so")),
      ...ofOperator
    },
    (client, { id, operator, ...input }) =>
      client.webhook.redeliver({ params: { webhook: id }, query: given({ operator }), payload: given(input) })
  ),
  verb("list", "Webhooks, newest first", {
    operator: optional(operatorFlag)
  }, (client, input) => client.webhook.list({ query: given(input) }))
]))

export const delivery = noun("delivery", "Deliveries of events").pipe(Command.withSubcommands([
  verb("list", "Deliveries, newest first", {
    operator: optional(operatorFlag),
    webhook: optional(integer("webhook", "Id of the webhook")),
    status: optional(about(Flag.Literals("status", deliveryStatuses), "Only those that are so")),
    ...partFlags
  }, (client, input) => client.delivery.list({ query: given(input) })),
  verb("show", "One delivery, with what was sent and what came back", {
    id: idOf("delivery")
  }, (client, { id }) => client.delivery.show({ params: { delivery: id } })),
  verb("retry", "Send one again, now", {
    id: idOf("delivery")
  }, (client, { id }) => client.delivery.retry({ params: { delivery: id } }))
]))
