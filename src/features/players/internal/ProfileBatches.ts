/** Reads profiles by id, concurrent requests batched into one statement. */
import { Clock, Effect, Exit } from "effect"
import { type Refusal, refuse } from "../../../domain/Refusal.ts"
import { numbers } from "../../../platform/ArrayParameters.ts"
import { ServingClient } from "../../../platform/Database.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { OperatorClocks } from "../../../store/OperatorClocks.ts"
import { makeReadBatches } from "../../../store/ReadBatches.ts"
import { playerColumns, type PlayerProfile, playerRows, toProfile } from "../PlayerProfile.ts"

interface Wanted {
  readonly operatorId: number
  readonly playerId: number
}

/** Profiles read by one statement at most, and those that may wait for it. */
const maxProfiles = 100
const maxWaiting = 2000

const text = `SELECT ${playerColumns}
  FROM unnest($1::float8[]::bigint[], $2::float8[]::bigint[]) AS asked (asked_id, asked_operator_id)
  JOIN players ON players.id = asked_id AND players.operator_id = asked_operator_id`

export const notFound = refuse("NOT_FOUND", "There is no such player.")

export const makeProfileBatches = Effect.gen(function*() {
  const sql = yield* ServingClient
  const players = playerRows(yield* PersonalData)
  const clocks = yield* OperatorClocks
  const clock = yield* Clock.Clock
  return yield* makeReadBatches<Wanted, PlayerProfile, Refusal<"NOT_FOUND">>({
    maxBatch: maxProfiles,
    maxWaiting,
    read: (batch) =>
      players(sql.unsafe(text, [
        numbers(batch.map(({ playerId }) => playerId)),
        numbers(batch.map(({ operatorId }) => operatorId))
      ])).pipe(
        Effect.map((rows) => {
          const now = clock.currentTimeMillisUnsafe()
          const byId = new Map(rows.map((row) => [row.id, row]))
          return batch.map(({ operatorId, playerId }) => {
            const row = byId.get(playerId)
            return row?.operator_id === operatorId
              ? Exit.succeed(toProfile(row, clocks.at(operatorId, now)))
              : Exit.fail(notFound)
          })
        })
      )
  })
})
