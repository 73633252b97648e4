/** Staff API endpoints for the game catalogue. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { flagInQuery, oneOf, pathId, percent, reference, text, webAddress } from "../common/Fields.ts"
import { created, part, partQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { gameTypes } from "../../domain/state/Bonus.ts"

const optional = Schema.optionalKey

/** A game of the catalogue; `active` is its own switch, independent of its provider's. */
export const StaffGame = Schema.Struct({
  id,
  external_id: Schema.String,
  name: Schema.String,
  type: Schema.Literals(gameTypes),
  category: Schema.String,
  vendor_category: Schema.NullOr(Schema.String).annotate({
    description: "The vendor's own word, where its catalogue was read."
  }),
  rtp: Schema.NullOr(Schema.Number),
  thumbnail_url: Schema.NullOr(Schema.String),
  is_original: Schema.Boolean,
  original: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  provider: Schema.Struct({ id, slug: Schema.String, name: Schema.String }),
  created_at: timestamp,
  updated_at: timestamp
})

const names = {
  external_id: text(128, { description: "The provider's id of it." }),
  name: text(200, { description: "Name." })
}

const GameUpdate = Schema.Struct({
  ...names,
  type: oneOf(gameTypes).annotate({ description: "Type (rng)." }),
  category: text(50, { description: "Category in which it is listed (slots, live, instant)." }),
  rtp: Schema.NullOr(percent).annotate({ description: "Return to player in percent (an original's own)." }),
  thumbnail_url: Schema.NullOr(webAddress).annotate({ description: "Address of its picture." }),
  original: Schema.NullOr(text(50)).annotate({
    description: "The built-in game behind it: dice, limbo, coin_flip, plinko, mines."
  }),
  active: Schema.Boolean.annotate({ description: "Whether it is offered (true)." })
}).mapFields(Struct.map(optional))

const GameInput = Schema.Struct({
  ...GameUpdate.fields,
  ...names,
  provider: reference.annotate({ description: "Id or slug of its provider." })
})

export type GameInput = typeof GameInput.Type
export type GameUpdate = typeof GameUpdate.Type

export const GameGroup = HttpApiGroup.make("game").annotate(OpenApi.Description, "The catalogue").add(
  HttpApiEndpoint.post("create", "/games", { payload: GameInput, success: created(StaffGame) }).annotateMerge(
    action("Add a game", { roles: [], concern: "installation" })
  ),
  HttpApiEndpoint.patch("update", "/games/:game", {
    params: { game: pathId },
    payload: GameUpdate,
    success: single(StaffGame)
  }).annotateMerge(action("Change a game", { roles: [], concern: "installation" })),
  HttpApiEndpoint.get("list", "/games", {
    query: {
      ...partQuery,
      provider: optional(reference.annotate({ description: "Filter by provider, id or slug." })),
      active: optional(flagInQuery.annotate({ description: "Filter by whether it is offered." })),
      type: optional(oneOf(gameTypes).annotate({ description: "Filter by type." })),
      name: optional(text(200, { description: "A part of the name, in any case." })),
      ids: optional(
        Schema.String.annotate({ description: "At most 100 ids, between commas." }).check(
          Schema.isPattern(/^[1-9]\d{0,14}(,[1-9]\d{0,14}){0,99}$/u, { message: "must be 1 to 100 ids between commas" })
        )
      )
    },
    success: part(StaffGame)
  }).annotateMerge(action("Games by name, offered or not", { roles: anyRole, concern: "catalogue" }))
)
