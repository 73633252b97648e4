/** Bodies of events, as delivered by webhook and read from the event feed. Adds the personal data that is stored encrypted elsewhere. */
import { Effect, Schema } from "effect"
import { PersonalData } from "../platform/PersonalData.ts"
import { iso } from "../platform/Time.ts"
import { withPersonal } from "./EventData.ts"
import { detailsPurpose, numbersPurpose } from "./SealedFields.ts"

/** An event with what its body is made of. */
export const EventRow = Schema.Struct({
  eventId: Schema.Number,
  type: Schema.String,
  createdAt: Schema.Date,
  data: Schema.String,
  playerId: Schema.NullOr(Schema.Number),
  playerSequence: Schema.NullOr(Schema.Number),
  paymentId: Schema.NullOr(Schema.Number),
  numbers: Schema.NullOr(Schema.Uint8Array),
  details: Schema.NullOr(Schema.Uint8Array)
})

/** Columns of {@link EventRow} from {@link eventTables}. */
export const eventColumns = `v.id AS "eventId", v.type, v.created_at AS "createdAt", v.data::text AS data,
  v.player_id AS "playerId", v.player_sequence AS "playerSequence", r.id AS "paymentId",
  CASE WHEN v.type = 'player.registered' THEN p.numbers_sealed END AS numbers, r.details_sealed AS details`

/** Tables beside `events v`. */
export const eventTables = `LEFT JOIN players p ON p.id = v.player_id
  LEFT JOIN payment_requests r ON r.id = (v.data -> 'payment' ->> 'id')::bigint AND r.player_id = v.player_id`

const decodeData = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** Opens what is sealed of an event. The outcome is what `envelope` takes. */
export const makeReadEvent = Effect.map(PersonalData, (personal) => {
  const dataOf = Effect.fnUntraced(function*(row: typeof EventRow.Type) {
    if (row.numbers === null && row.details === null) return row.data
    const player = yield* personal.open(numbersPurpose(row.playerId ?? 0), row.numbers)
    const payment = yield* personal.open(detailsPurpose(row.paymentId ?? 0), row.details)
    return JSON.stringify(withPersonal(yield* Effect.orDie(decodeData(row.data)), { player, payment }))
  })
  return (row: typeof EventRow.Type) =>
    Effect.map(dataOf(row), (data) => ({
      id: row.eventId,
      type: row.type,
      createdAt: iso(row.createdAt.getTime()),
      playerSequence: row.playerSequence,
      data
    }))
})
