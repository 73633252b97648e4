/** Schemas of bulk staff actions: one request, in which each item is judged as if it came alone and has its own outcome. */
import { Schema } from "effect"
import { integer } from "./Fields.ts"
import { single } from "./Pagination.ts"
import { id } from "./Resource.ts"

/** Items of one bulk action at most. */
const maxItems = 200

/** The ids that a bulk action names, 1 to 200, each once. */
export const idsOf = (what: string) =>
  Schema.Array(integer(1, Number.MAX_SAFE_INTEGER)).annotate({
    description: `Ids of the ${what}, ${maxItems} at most.`
  }).check(
    Schema.isBetweenLength(1, maxItems, { message: `must be 1 to ${maxItems} ids` })
  )

const Outcome = Schema.Struct({
  id,
  is_done: Schema.Boolean,
  code: Schema.NullOr(Schema.String).annotate({ description: "Code of the refusal; null where it was done." }),
  message: Schema.NullOr(Schema.String).annotate({ description: "The refusal in words." })
})

/** Outcome of every item, in the order of the request. */
export const bulkOutcome = single(
  Schema.Struct({ done: Schema.Int, refused: Schema.Int, items: Schema.Array(Outcome) }).annotate({
    identifier: "BulkOutcome"
  })
)
