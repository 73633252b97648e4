/** Players by the beginning of their username, e-mail or external id, or by a whole id: quick enough for every key that is struck. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeByIndex } from "../../store/ByIndex.ts"
import { isStorable, rowsOf } from "../../store/Rows.ts"
import { idIn } from "../../office/References.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"

const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** LIKE pattern of texts that begin with `text`. */
export const prefixPattern = (text: string): string => `${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/**
 * Ids of at most `limit` players: exact matches first, then by username. Each operator has its own indexes (migration 0036), so that a query costs
 * three short index scans per operator in scope.
 */
export const makePlayerPrefixes = Effect.map(
  Effect.all([SqlClient.SqlClient, makeByIndex]),
  ([sql, byIndex]) => (scope: Scope, text: string, limit: number) => {
    if (!isStorable(text)) return Effect.succeed([])
    const lower = text.toLowerCase()
    const end = sql`LIMIT ${sql.literal(String(limit))}`
    return Effect.map(
      byIndex(idRows(
        sql`SELECT p.id FROM (
          SELECT id FROM players WHERE ${sql.and([sql`id = ${idIn(text) ?? 0}::float8::bigint`, ...within(sql, scope)])}
          UNION SELECT f.id FROM operators o CROSS JOIN LATERAL (
            (SELECT id FROM players WHERE operator_id = o.id AND lower(username) LIKE ${prefixPattern(lower)}
              ORDER BY lower(username) USING ~<~ ${end})
            UNION ALL (SELECT id FROM players WHERE operator_id = o.id AND email LIKE ${prefixPattern(lower)}
              ORDER BY email USING ~<~ ${end})
            UNION ALL (SELECT id FROM players WHERE operator_id = o.id AND external_id LIKE ${prefixPattern(text)}
              ORDER BY external_id USING ~<~ ${end})) f
          WHERE ${sql.and([sql`true`, ...within(sql, scope, "o.id")])}) AS found
        JOIN players p ON p.id = found.id
        ORDER BY (lower(p.username) = ${lower} OR p.email = ${lower} OR p.external_id IS NOT DISTINCT FROM ${text}
          OR p.id = ${idIn(text) ?? 0}::float8::bigint) DESC, lower(p.username), p.id ${end}`
      )),
      (rows) => rows.map(({ id }) => id)
    )
  }
)
