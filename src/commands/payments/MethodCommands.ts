/** Commands of payment methods. */
import { Command, Flag } from "effect/cli"
import { boolean, given, integer, listOf, text } from "../../platform/CliFlags.ts"
import { idOf, noun, operatorFlag, verb } from "../Verb.ts"

const { optional } = Flag

const methodSettings = {
  name: optional(text("name", "What players read (the code)")),
  currencies: optional(listOf("currencies", "ISO 4217 codes (the operator's own)")),
  supports_deposit: optional(boolean("deposit", "Whether it takes deposits (true)")),
  supports_withdrawal: optional(boolean("withdrawal", "Whether it pays out (true)")),
  min_deposit: optional(integer("min-deposit", "Minor units (1)")),
  max_deposit: optional(integer("max-deposit", "Minor units")),
  min_withdrawal: optional(integer("min-withdrawal", "Minor units (1)")),
  max_withdrawal: optional(integer("max-withdrawal", "Minor units")),
  active: optional(boolean("active", "Whether it is offered (true)"))
}

export const paymentMethod = noun("payment-method", "Ways to pay").pipe(Command.withSubcommands([
  verb("create", "Add a way to pay", {
    operator: operatorFlag,
    code: text("code", "What requests call it"),
    ...methodSettings
  }, (client, input) => client.payment_method.create({ payload: given(input) })),
  verb("update", "Change a way to pay", {
    id: idOf("payment method"),
    ...methodSettings
  }, (client, { id, ...input }) => client.payment_method.update({ params: { method: id }, payload: given(input) })),
  verb("list", "Ways to pay", {
    operator: optional(operatorFlag)
  }, (client, input) => client.payment_method.list({ query: given(input) }))
]))
