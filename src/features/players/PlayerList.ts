/** Filters and sort orders of player lists: newest first for operators; newest or oldest first for staff. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { playerOrders } from "../../contract/players/StaffApi.ts"
import type { KycStatus, PlayerStatus } from "../../domain/state/Player.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { toDate } from "../../platform/Time.ts"
import { listOf } from "../../store/Lists.ts"
import { playerColumns, type PlayerRow, playerRows } from "./PlayerProfile.ts"

/** The filters of SPEC section 4.2; absent means any. Instants are epoch milliseconds, both included. */
export interface PlayerListFilters {
  readonly status?: PlayerStatus | undefined
  readonly email?: string | undefined
  readonly username?: string | undefined
  readonly externalId?: string | undefined
  readonly kycStatus?: KycStatus | undefined
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

// qualified: just `id` would be the column of the answer, a float, which no index is ordered by
const keys = [{ column: "players.id", kind: "integer" as const, of: ({ id }: PlayerRow) => id }]

export const makePlayerList = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const players = playerRows(yield* PersonalData)
  const columns = sql.literal(playerColumns)
  return listOf<PlayerRow, PlayerListFilters, (typeof playerOrders)[number]>(sql, {
    read: (ofList, end) => players(sql`SELECT ${columns} FROM players WHERE ${ofList} ${end}`),
    operator: "operator_id",
    filters: {
      status: (value) => sql`status = ${value}`,
      email: (value) => sql`email = ${value.trim().toLowerCase()}`,
      username: (value) => sql`lower(username) = lower(${value}) AND username = ${value}`,
      externalId: (value) => sql`external_id = ${value}`,
      kycStatus: (value) => sql`kyc_status = ${value}`,
      createdFrom: (value) => sql`created_at >= ${toDate(value)}`,
      createdTo: (value) => sql`created_at <= ${toDate(value)}`
    },
    orders: { newest: { keys, descending: true }, oldest: { keys } }
  })
})
