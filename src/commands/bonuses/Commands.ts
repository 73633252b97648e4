/** Bonuses and promo codes. */
import { Option } from "effect"
import { Command, Flag } from "effect/cli"
import { bonusStates, bonusTypes } from "../../domain/state/Bonus.ts"
import { about, amountOrNone, boolean, given, integer, orNone, text } from "../../platform/CliFlags.ts"
import { idOf, noun, operatorFlag, partFlags, verb } from "../Verb.ts"

const { optional } = Flag

/** `GAME=PERCENT,GAME=PERCENT` */
const contributions = text("contributions", "Percent of a stake that counts, like 17=50,18=0").pipe(Flag.filterMap(
  (given) =>
    /^[1-9]\d{0,14}=\d{1,3}(,[1-9]\d{0,14}=\d{1,3})*$/.test(given)
      ? Option.some(Object.fromEntries(given.split(",").map((pair) => pair.split("=")).map(([k, v]) => [k, Number(v)])))
      : Option.none(),
  (given) => `Expected game ids with percents like 17=50,18=0, got ${given}`
))

const bonusTerms = {
  description: optional(text("description", "What players read")),
  wagering_multiplier: optional(integer("wagering-multiplier", "How often it has to be wagered (30; cash 0)")),
  valid_days: optional(integer("valid-days", "How long it runs once activated (30)")),
  max_bet: optional(integer("max-bet", "Largest stake while it runs, minor units (0: no cap)")),
  max_conversion_multiplier: optional(
    integer("max-conversion-multiplier", "How many times its amount can be converted (0: no cap)")
  ),
  max_grants_per_player: optional(integer("max-grants-per-player", "How often a player can have it (1; 0: no cap)")),
  contributions: optional(contributions),
  active: optional(boolean("active", "Whether it is offered (true)"))
}

export const bonus = noun("bonus", "Bonuses").pipe(Command.withSubcommands([
  verb("create", "Add a bonus", {
    operator: operatorFlag,
    name: text("name", "Its name"),
    type: about(Flag.Literals("type", bonusTypes), "What kind"),
    default_amount: integer("default-amount", "Minor units of the operator's currency"),
    ...bonusTerms
  }, (client, input) => client.bonus.create({ payload: given(input) })),
  verb("update", "Change a bonus for grants from now on", {
    id: idOf("bonus"),
    name: optional(text("name", "Its name")),
    type: optional(about(Flag.Literals("type", bonusTypes), "What kind")),
    default_amount: optional(integer("default-amount", "Minor units of the operator's currency")),
    ...bonusTerms
  }, (client, { id, ...input }) => client.bonus.update({ params: { bonus: id }, payload: given(input) })),
  verb("list", "Bonuses, offered or not", {
    operator: optional(operatorFlag)
  }, (client, input) => client.bonus.list({ query: given(input) })),
  verb("show", "One bonus, with what its terms mean and what it may still cost", {
    id: idOf("bonus")
  }, (client, { id }) => client.bonus.show({ params: { bonus: id } })),
  verb("grants", "Grants of a bonus, newest first", {
    id: idOf("bonus"),
    state: optional(about(Flag.Literals("state", bonusStates), "Only those that are so")),
    ...partFlags
  }, (client, { id, ...input }) => client.bonus.grants({ params: { bonus: id }, query: given(input) })),
  verb("grant", "Grant a player a bonus of the operator", {
    id: idOf("player"),
    bonus: integer("bonus", "Id of the bonus"),
    amount: optional(integer("amount", "Minor units of the player's currency (the bonus's own amount)")),
    note: optional(text("note", "A note on the player"))
  }, (client, { id, ...input }) => client.bonus.grant({ params: { player: id }, payload: given(input) })),
  verb("cancel", "End a player's bonus; what is left of it is forfeited", {
    id: idOf("player bonus"),
    reason: optional(text("reason", "Why, for the audit log"))
  }, (client, { id, ...input }) => client.bonus.cancel({ params: { bonus: id }, payload: given(input) }))
]))

export const promo = noun("promo", "Promo codes").pipe(Command.withSubcommands([
  verb("create", "Add a code", {
    operator: operatorFlag,
    code: text("code", "What players enter, in any case of its letters"),
    bonus: integer("bonus", "Id of the bonus it grants"),
    expires_at: optional(orNone(text("expires-at", "When it ends, like 2026-11-20T12:00:00Z (never)"))),
    max_redemptions: optional(amountOrNone("max-redemptions", "How often it can be redeemed, by all players"))
  }, (client, input) => client.promo.create({ payload: given(input) })),
  verb("update", "Switch a code off or on", {
    id: idOf("promo code"),
    active: boolean("active", "Whether it can be redeemed")
  }, (client, { id, active }) => client.promo.update({ params: { promo: id }, payload: { active } })),
  verb("list", "Promo codes", {
    operator: optional(operatorFlag)
  }, (client, input) => client.promo.list({ query: given(input) }))
]))
