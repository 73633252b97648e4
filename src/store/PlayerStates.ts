/** Reads the states of many players from the database, without their actors: for exports, which change nothing. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { loadPlayers } from "./internal/PlayerLoad.ts"

/** Reads the states of players under these ids, in their order; those that are not there are left out. */
export const makePlayerStates = (sql: SqlClient.SqlClient) => {
  const load = loadPlayers(sql)
  return (ids: ReadonlyArray<number>) =>
    Effect.map(load(ids), (found) => found.flatMap(({ loaded }) => loaded === undefined ? [] : [loaded.state]))
}
