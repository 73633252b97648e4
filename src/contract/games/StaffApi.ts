/** Games of the catalogue in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { flagInQuery, oneOf, pathId, percent, reference, text, webAddress } from "../common/Fields.ts"
import { created, page, pageQuery, single } from "../common/Pagination.ts"
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
  rtp: Schema.NullOr(Schema.Number),
  thumbnail_url: Schema.NullOr(Schema.String),
  is_original: Schema.Boolean,
  original: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  provider: Schema.Struct({ id, slug: Schema.String, name: Schema.String }),
  created_at: timestamp,
  updated_at: timestamp
})

const GameUpdate = Schema.Struct({
  external_id: text(128),
  name: text(200),
  type: oneOf(gameTypes),
  category: text(50),
  rtp: Schema.NullOr(percent),
  thumbnail_url: Schema.NullOr(webAddress),
  original: Schema.NullOr(text(50)),
  active: Schema.Boolean
}).mapFields(Struct.map(optional))

const GameInput = Schema.Struct({
  ...GameUpdate.fields,
  provider: reference,
  external_id: text(128),
  name: text(200)
})

export type GameInput = typeof GameInput.Type
export type GameUpdate = typeof GameUpdate.Type

export const GameGroup = HttpApiGroup.make("game").add(
  HttpApiEndpoint.post("create", "/games", { payload: GameInput, success: created(StaffGame) }),
  HttpApiEndpoint.patch("update", "/games/:game", {
    params: { game: pathId },
    payload: GameUpdate,
    success: single(StaffGame)
  }),
  HttpApiEndpoint.get("list", "/games", {
    query: {
      ...pageQuery,
      provider: optional(reference),
      active: optional(flagInQuery),
      type: optional(oneOf(gameTypes)),
      name: optional(text(200).annotate({ description: "A part of the name, in any case." })),
      ids: optional(
        Schema.String.annotate({ description: "At most 100 ids, between commas." }).check(
          Schema.isPattern(/^[1-9]\d{0,14}(,[1-9]\d{0,14}){0,99}$/u, { message: "must be 1 to 100 ids between commas" })
        )
      )
    },
    success: page(StaffGame)
  })
)
