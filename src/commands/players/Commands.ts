/** Players. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { kycStatuses, playerStatuses } from "../../domain/state/Player.ts"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { bonusStates } from "../../domain/state/Bonus.ts"
import { about, boolean, given, integer, orNone, text } from "../../platform/CliFlags.ts"
import { cursorFlags, idOf, noun, ofOperator, operatorFlag, pageFlags, partFlags, verb } from "../Verb.ts"
import { playerOrders, timelineKinds } from "../../contract/players/StaffApi.ts"

const { optional } = Flag

export const player = noun("player", "Players").pipe(Command.withSubcommands([
  verb("show", "One player", {
    id: idOf("player"),
    ...ofOperator
  }, (client, { id, ...input }) => client.player.show({ params: { player: id }, query: given(input) })),
  verb("list", "Players, newest first", {
    operator: optional(operatorFlag),
    status: optional(about(Flag.Literals("status", playerStatuses), "Only accounts that are so")),
    email: optional(text("email", "Exactly this")),
    username: optional(text("username", "Exactly this")),
    external_id: optional(text("external-id", "Exactly this")),
    kyc_status: optional(about(Flag.Literals("kyc-status", kycStatuses), "Only players who are so")),
    search: optional(text("search", "Part of the username, e-mail or last name")),
    starting_with: optional(text("starting-with", "Beginning of the username, e-mail or external id, or an id")),
    sort: optional(about(Flag.Literals("sort", playerOrders), "Which first (newest); without pages")),
    cursor: optional(text("cursor", "Go on where a list without pages ended")),
    created_from: optional(text("created-from", "Registered at or after, like 2026-11-20T12:00:00Z")),
    created_to: optional(text("created-to", "Registered at or before")),
    ...pageFlags
  }, (client, input) => client.player.list({ query: given(input) })),
  verb("wallet", "The balances", {
    id: idOf("player")
  }, (client, { id }) => client.player.wallet({ params: { player: id } })),
  verb("transactions", "The ledger, newest first", {
    id: idOf("player"),
    type: optional(about(Flag.Literals("type", entryTypes), "Only these")),
    wallet: optional(about(Flag.Literals("wallet", walletKinds), "Only of this wallet")),
    created_from: optional(text("created-from", "At or after, like 2026-11-20T12:00:00Z")),
    created_to: optional(text("created-to", "At or before")),
    ...pageFlags
  }, (client, { id, ...input }) => client.player.transactions({ params: { player: id }, query: given(input) })),
  verb("sessions", "Launches of games, the last first", {
    id: idOf("player"),
    ...cursorFlags
  }, (client, { id, ...input }) => client.player.sessions({ params: { player: id }, query: given(input) })),
  verb("timeline", "Everything that happened, newest first", {
    id: idOf("player"),
    kind: optional(about(Flag.Literals("kind", timelineKinds), "Only this")),
    ...cursorFlags
  }, (client, { id, ...input }) => client.player.timeline({ params: { player: id }, query: given(input) })),
  verb("bonuses", "The bonuses that were granted, newest first", {
    id: idOf("player"),
    state: optional(about(Flag.Literals("state", bonusStates), "Only those that are so")),
    ...partFlags
  }, (client, { id, ...input }) => client.player.bonuses({ params: { player: id }, query: given(input) })),
  verb("limits", "The limits with what waits, and the self-exclusion", {
    id: idOf("player")
  }, (client, { id }) => client.player.limits({ params: { player: id } })),
  verb("status", "Lock, close or open an account; the reason stays as a note", {
    id: idOf("player"),
    status: about(Flag.Literals("status", playerStatuses), "What the account is from now on"),
    reason: optional(text("reason", "Why: a note on the player"))
  }, (client, { id, ...input }) => client.player.status({ params: { player: id }, payload: given(input) })),
  verb("kyc", "Say how far the identity is known", {
    id: idOf("player"),
    status: about(Flag.Literals("status", kycStatuses), "New status"),
    document_expires_on: optional(
      orNone(text("document-expires-on", "With verified: the last day on which the document is valid, like 2031-05-31"))
    ),
    reason: optional(text("reason", "Why, for the audit log"))
  }, (client, { id, ...input }) => client.player.kyc({ params: { player: id }, payload: given(input) })),
  verb("restrict", "Switch abilities on or off", {
    id: idOf("player"),
    can_login: optional(boolean("can-login", "Whether session tokens are issued")),
    can_deposit: optional(boolean("can-deposit", "Whether deposits are taken")),
    can_withdraw: optional(boolean("can-withdraw", "Whether withdrawals are taken")),
    can_bet: optional(boolean("can-bet", "Whether games open and bets are taken")),
    excluded_from_bonuses: optional(boolean("excluded-from-bonuses", "Whether no bonus is given"))
  }, (client, { id, ...input }) => client.player.restrict({ params: { player: id }, payload: given(input) })),
  verb("sign-out", "End all session tokens and game sessions", {
    id: idOf("player"),
    reason: optional(text("reason", "Why, for the audit log"))
  }, (client, { id, ...input }) => client.player.sign_out({ params: { player: id }, payload: given(input) })),
  verb("correct", "Set a balance right; above the operator's threshold a second person has to approve it", {
    id: idOf("player"),
    wallet: optional(about(Flag.Literals("wallet", walletKinds), "Which wallet (real)")),
    amount: integer("amount", "Signed minor units"),
    reason: text("reason", "Why, for the audit log")
  }, (client, { id, ...input }) =>
    // a ledger entry, or a correction that waits for approval
    Effect.map(client.player.correct({ params: { player: id }, payload: given(input) }), ({ data }) => ({ data }))),
  verb("note", "Write a note; it is never changed", {
    id: idOf("player"),
    text: text("text", "The note")
  }, (client, { id, ...payload }) => client.player.note({ params: { player: id }, payload })),
  verb("notes", "What was written about a player, with payments and grants, newest first", {
    id: idOf("player"),
    ...partFlags
  }, (client, { id, ...input }) => client.player.notes({ params: { player: id }, query: given(input) })),
  verb("retire-seeds", "Retire the server seeds of originals that no master key opens any more", {
    id: idOf("player"),
    reason: text("reason", "Why, for the audit log")
  }, (client, { id, ...input }) => client.player.retire_seeds({ params: { player: id }, payload: given(input) }))
]))
