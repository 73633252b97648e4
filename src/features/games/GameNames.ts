/** Looks up game names by id. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import { rowsOf } from "../../store/Rows.ts"

const nameRows = rowsOf(Schema.Struct({ id: Schema.Number, name: Schema.String }))

/** Reads the names of games, each once; none are read for no ids. */
export const makeGameNames = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.fnUntraced(function*(ids: Iterable<number>) {
      const asked = [...new Set(ids)]
      const rows = asked.length === 0
        ? []
        : yield* nameRows(sql`SELECT id, name FROM games WHERE id = ANY(${numbers(asked)}::float8[]::bigint[])`)
      return new Map(rows.map(({ id, name }) => [id, name]))
    })
)
