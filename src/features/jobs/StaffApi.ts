/** Background jobs and stale rounds in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { integer, text } from "../../contract/Fields.ts"
import { list, page, pageQuery } from "../../contract/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../../contract/Resource.ts"

const Job = Schema.Struct({
  name: Schema.String,
  next_run_at: timestamp,
  is_running: Schema.Boolean,
  last_started_at: Schema.NullOr(timestamp),
  last_ended_at: Schema.NullOr(timestamp),
  last_done: Schema.NullOr(Schema.Int),
  failures: Schema.Int,
  last_error: Schema.NullOr(Schema.String)
})

export const JobGroup = HttpApiGroup.make("job").add(
  HttpApiEndpoint.get("list", "/jobs", { success: list(Job) })
)

const OpenRound = Schema.Struct({
  operator_id: id,
  player_id: id,
  provider: Schema.String,
  game_id: id,
  game: Schema.String,
  round_id: Schema.String,
  real_stake: money,
  bonus_stake: money,
  currency: currencyCode,
  opened_at: timestamp
})

export const RoundGroup = HttpApiGroup.make("round").add(
  HttpApiEndpoint.get("list", "/rounds/open", {
    query: {
      ...pageQuery,
      operator: Schema.optionalKey(text(128)),
      older_than_hours: Schema.optionalKey(integer(24, 87_600))
    },
    success: page(OpenRound)
  })
)
