/** Commands of deposits and withdrawals. */
import { Command, Flag } from "effect/cli"
import { paymentStatuses, paymentTypes } from "../../domain/state/Change.ts"
import type { PaymentTransitionName } from "../../domain/payment/PaymentTransitions.ts"
import { about, given, integer, text } from "../../platform/CliFlags.ts"
import { paymentOrders } from "../../contract/payments/StaffApi.ts"
import { idOf, noun, operatorFlag, pageFlags, verb } from "../Verb.ts"

const { optional } = Flag

const transition = (name: PaymentTransitionName, description: string) =>
  verb(name, description, {
    id: idOf("payment"),
    reason: optional(text("reason", "Why, for the audit log and, for a rejection, the operator"))
  }, (client, { id, ...input }) => client.payment[name]({ params: { payment: id }, payload: given(input) }))

export const payment = noun("payment", "Deposits and withdrawals").pipe(Command.withSubcommands([
  verb(
    "show",
    "One payment",
    { id: idOf("payment") },
    (client, { id }) => client.payment.show({ params: { payment: id } })
  ),
  verb("list", "Payments, newest first", {
    operator: optional(operatorFlag),
    player: optional(integer("player", "Id of the player")),
    type: optional(about(Flag.Literals("type", paymentTypes), "Only these")),
    status: optional(about(Flag.Literals("status", paymentStatuses), "Only those that are so")),
    external_reference: optional(text("external-reference", "Exactly this")),
    id: optional(integer("id", "Only this payment")),
    method: optional(text("method", "Only those by this payment method")),
    currency: optional(
      text("currency", "Filter by currency; required with --min-amount and --sort amount, unless --player is given")
    ),
    min_amount: optional(integer("min-amount", "Only those of at least so much, minor units")),
    sort: optional(about(Flag.Literals("sort", paymentOrders), "Which first (newest); without pages")),
    cursor: optional(text("cursor", "Go on where a list without pages ended")),
    ...pageFlags
  }, (client, input) => client.payment.list({ query: given(input) })),
  transition("approve", "Allow a withdrawal; above the operator's threshold two people must"),
  transition("pay", "Tell that an allowed withdrawal was paid out"),
  transition("reject", "Refuse a withdrawal and return the money"),
  transition("cancel", "Drop a new withdrawal and return the money"),
  transition("chargeback", "Take back a deposit that was reversed")
]))
