/** Commands of staff accounts, operators and API keys. */
import { Command, Flag } from "effect/cli"
import { roles } from "../../domain/staff/Staff.ts"
import { type Feature, features, type Scope, scopes } from "../../domain/state/Operator.ts"
import {
  about,
  amountOrNone,
  amountsOf,
  boolean,
  given,
  integer,
  listFrom,
  listOf,
  orNone,
  secretText,
  text
} from "../../platform/CliFlags.ts"
import { idOf, noun, ofOperator, operatorFlag, referenceTo, verb } from "../Verb.ts"

const { optional } = Flag

/** Ids or slugs of operators; `all` is the whole house. */
const boundTo = listOf("operators", "Operators it is bound to, ids or slugs, or all (all)").pipe(
  Flag.map((given): ReadonlyArray<string> | null => given.length === 1 && given[0] === "all" ? null : given)
)

const signInPassword = secretText("password", "Password of its sign-in with a browser, 12 to 128 characters")

export const staff = noun("staff", "Staff accounts").pipe(Command.withSubcommands([
  verb("create", "Open an account; prints its token once", {
    name: text("name", "Whose it is"),
    role: optional(about(Flag.Literals("role", roles), "What it may do (admin)")),
    operators: optional(boundTo),
    password: optional(signInPassword),
    daily_budget: optional(amountOrNone("daily-budget", "What it may give away alone in a day (1000000)"))
  }, (client, input) => client.staff.create({ payload: given(input) })),
  verb("update", "Change an account", {
    id: idOf("account"),
    name: optional(text("name", "Whose it is")),
    role: optional(about(Flag.Literals("role", roles), "What it may do")),
    operators: optional(boundTo),
    password: optional(signInPassword),
    reset_second_factor: about(Flag.Boolean("reset-second-factor"), "Takes its second factor away").pipe(
      Flag.withDefault(false)
    ),
    active: optional(boolean("active", "Whether its token and its sessions open anything")),
    daily_budget: optional(amountOrNone("daily-budget", "What it may give away alone in a day; not one's own"))
  }, (client, { id, reset_second_factor: resets, ...input }) =>
    client.staff.update({
      params: { staff: id },
      payload: { ...given(input), ...(resets ? { reset_second_factor: true as const } : {}) }
    })),
  verb("rotate", "Give an account a new token; prints it once", {
    id: idOf("account")
  }, (client, { id }) => client.staff.rotate({ params: { staff: id } })),
  verb("ticket", "Print a link that signs in once, within 15 minutes", {
    staff: optional(
      about(Flag.Int("staff"), "Id of the account (one's own; the first admin's for the bootstrap token)")
    )
  }, (client, { staff: account }) => client.staff.ticket({ payload: given({ staff: account }) })),
  verb(
    "retire-bootstrap",
    "End the bootstrap token for good; takes an admin account",
    {},
    (client) => client.staff.retire_bootstrap()
  ),
  verb("list", "All accounts", {}, (client) => client.staff.list())
]))

const operatorSettings = {
  cooperation_model: optional(
    about(Flag.Literals("cooperation-model", ["api", "turnkey"]), "Who keeps the front end (api)")
  ),
  active: optional(boolean("active", "Whether its keys and players are served (true)")),
  cooling_off_hours: optional(integer("cooling-off-hours", "How long a raised limit waits (24)")),
  withdrawal_second_approval_above: optional(
    amountOrNone("withdrawal-second-approval-above", "Larger withdrawals need two approvals")
  ),
  kyc_withdrawal_threshold: optional(
    amountOrNone("kyc-withdrawal-threshold", "What an unverified player may withdraw in total")
  ),
  forfeit_bonus_on_withdrawal: optional(
    boolean("forfeit-bonus-on-withdrawal", "Whether a withdrawal ends a running bonus (true)")
  ),
  disabled_features: optional(
    listFrom<Feature>("disable-features", features, "Features that are off for a turnkey operator")
  ),
  original_max_stake: optional(integer("original-max-stake", "The most that a round of an original takes (100000)")),
  original_max_payout: optional(integer("original-max-payout", "The most that a round of an original pays (10000000)")),
  daily_deposit_cap: optional(amountOrNone("daily-deposit-cap", "What a player's deposits of a day may come to")),
  daily_withdrawal_cap: optional(
    amountOrNone("daily-withdrawal-cap", "What a player's withdrawals of a day may come to")
  ),
  default_limits: optional(
    amountsOf("default-limits", "Limits that new players begin with, in place of those set (none)")
  )
}

export const operator = noun("operator", "Operators").pipe(Command.withSubcommands([
  verb("create", "Add an operator", {
    slug: text("slug", "Short name, unique"),
    name: text("name", "Full name"),
    currency: text("currency", "ISO 4217 code of reports and new players"),
    ...operatorSettings
  }, (client, input) => client.operator.create({ payload: given(input) })),
  verb("update", "Change an operator", {
    id: referenceTo("operator", "slug"),
    slug: optional(text("slug", "Short name, unique")),
    name: optional(text("name", "Full name")),
    currency: optional(text("currency", "ISO 4217 code")),
    ...operatorSettings
  }, (client, { id, ...input }) => client.operator.update({ params: { operator: id }, payload: given(input) })),
  verb("list", "All operators", {}, (client) => client.operator.list())
]))

export const key = noun("key", "API keys of operators").pipe(Command.withSubcommands([
  verb("create", "Make a key; prints its secret once", {
    operator: operatorFlag,
    name: optional(text("name", "What it is for")),
    scopes: optional(listFrom<Scope>("scopes", scopes, "What it may do (all)")),
    ip_allowlist: optional(listOf("ip", "Addresses and ranges it works from (any)")),
    rate_limit_per_minute: optional(integer("rate-limit", "Requests per minute (600)")),
    expires_at: optional(orNone(text("expires-at", "When it ends, like 2026-11-20T12:00:00Z (never)")))
  }, (client, input) => client.key.create({ payload: given(input) })),
  verb("rotate", "Give a key a new secret; prints it once", {
    id: referenceTo("key", "public key id"),
    ...ofOperator
  }, (client, { id, ...input }) => client.key.rotate({ params: { key: id }, query: given(input) })),
  verb("revoke", "End a key for good", {
    id: referenceTo("key", "public key id"),
    ...ofOperator
  }, (client, { id, ...input }) => client.key.revoke({ params: { key: id }, query: given(input) })),
  verb("list", "Keys, newest first", {
    operator: optional(operatorFlag)
  }, (client, input) => client.key.list({ query: given(input) }))
]))
