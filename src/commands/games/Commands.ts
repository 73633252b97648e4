/** Game providers and the catalogue. */
import { Command, Flag } from "effect/cli"
import { about, boolean, given, integer, jsonFile, listOf, orNone, text } from "../../platform/CliFlags.ts"
import { idOf, noun, pageFlags, referenceTo, verb } from "../Verb.ts"

const { optional } = Flag

const providerSettings = {
  launch_url: optional(orNone(text("launch-url", "Where games open, with {token}, {game} and {mode}"))),
  demo_url: optional(orNone(text("demo-url", "Where free play opens"))),
  ip_allowlist: optional(listOf("ip", "Addresses and ranges it calls from (any)")),
  active: optional(
    boolean("active", "Whether its games are offered and take bets; what was begun is settled all the same (true)")
  ),
  settings: optional(jsonFile("settings", "What its protocol needs to know; an update replaces what it names")),
  sync_hours: optional(integer("sync-hours", "How often its vendor's catalogue is read (24; 0: never)"))
}

export const provider = noun("provider", "Game providers").pipe(Command.withSubcommands([
  verb("create", "Add a provider; prints its secret once", {
    slug: text("slug", "Short name, unique"),
    name: text("name", "Full name"),
    protocol: optional(text("protocol", "What its vendor speaks (pitboss)")),
    ...providerSettings
  }, (client, input) => client.provider.create({ payload: given(input) })),
  verb("update", "Change a provider", {
    id: referenceTo("provider", "slug"),
    slug: optional(text("slug", "Short name, unique")),
    name: optional(text("name", "Full name")),
    ...providerSettings
  }, (client, { id, ...input }) => client.provider.update({ params: { provider: id }, payload: given(input) })),
  verb("rotate", "Give a provider a new secret; prints it once", {
    id: referenceTo("provider", "slug")
  }, (client, { id }) => client.provider.rotate({ params: { provider: id } })),
  verb(
    "sync",
    "Read the catalogue of a provider's vendor: new games are added, others changed, gone ones switched off",
    {
      id: referenceTo("provider", "slug"),
      activate: about(Flag.Boolean("activate"), "Offer new games at once").pipe(Flag.withDefault(false))
    },
    (client, { activate, id }) => client.provider.sync({ params: { provider: id }, payload: { activate } }),
    () => true,
    "Reading the catalogue"
  ),
  verb(
    "reconcile",
    "Compare a day with what a provider's vendor has of it; exit 1 when it differs",
    {
      id: referenceTo("provider", "slug"),
      date: text("date", "A day in UTC, like 2026-11-20")
    },
    (client, { date, id }) => client.provider.reconcile({ params: { provider: id }, query: { date } }),
    ({ different, only_here, only_vendor }) => different.length + only_here.length + only_vendor.length === 0,
    "Comparing the day"
  ),
  verb("show", "A provider: settings, what to tell its vendor, when that called last, what it was refused", {
    id: referenceTo("provider", "slug")
  }, (client, { id }) => client.provider.show({ params: { provider: id } })),
  verb("calls", "The last calls of a provider's vendor, newest first", {
    id: referenceTo("provider", "slug")
  }, (client, { id }) => client.provider.calls({ params: { provider: id } })),
  verb("list", "All providers", {}, (client) => client.provider.list())
]))

const gameSettings = {
  type: optional(about(Flag.Literals("type", ["rng", "live"]), "How outcomes come about (rng)")),
  category: optional(text("category", "Where it is listed (slots, live, instant)")),
  rtp: optional(about(Flag.Finite("rtp"), "Return to player in percent (an original's own)")),
  thumbnail_url: optional(orNone(text("thumbnail-url", "Its picture"))),
  original: optional(orNone(text("original", "The built-in game behind it: dice, limbo, coin_flip, plinko, mines"))),
  active: optional(boolean("active", "Whether it is offered (true)"))
}

export const game = noun("game", "The catalogue").pipe(Command.withSubcommands([
  verb("create", "Add a game", {
    provider: text("provider", "Id or slug of its provider"),
    external_id: text("external-id", "The provider's own id of it"),
    name: text("name", "Its name"),
    ...gameSettings
  }, (client, input) => client.game.create({ payload: given(input) })),
  verb("update", "Change a game", {
    id: idOf("game"),
    external_id: optional(text("external-id", "The provider's own id of it")),
    name: optional(text("name", "Its name")),
    ...gameSettings
  }, (client, { id, ...input }) => client.game.update({ params: { game: id }, payload: given(input) })),
  verb("list", "Games by name, offered or not", {
    provider: optional(text("provider", "Id or slug of a provider")),
    active: optional(about(Flag.Literals("active", ["true", "false"]), "Only offered ones, or only others")),
    type: optional(about(Flag.Literals("type", ["rng", "live"]), "How outcomes come about")),
    name: optional(text("name", "A part of the name")),
    ids: optional(text("ids", "Ids, comma-separated")),
    ...pageFlags
  }, (client, input) => client.game.list({ query: given(input) }))
]))
