/** How players are found by a part of their username, e-mail or last name. */
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { rowsOf } from "../Rows.ts"

/** What the index `players_search` is over; a query that says it otherwise does not find the index. */
const indexed = `search_pieces(username || E'\\n' || email || E'\\n' || last_name)`

/** That a text is part of one of the three fields, in any case. */
export const holds = (sql: SqlClient.SqlClient, text: string): Statement.Fragment =>
  sql`(strpos(lower(username), lower(${text})) > 0 OR strpos(email, lower(${text})) > 0
    OR strpos(lower(last_name), lower(${text})) > 0)`

/** The same for a text of at least two characters, by its index, which knows the pieces of two and three characters. */
export const holdsByIndex = (sql: SqlClient.SqlClient, text: string): Statement.Fragment =>
  sql`(${sql.literal(indexed)} @> search_pieces(${text}) AND ${holds(sql, text)})`

/** How many of the newest players tell whether a text is common, and how many of them must have it. */
const sampled = 2000
const common = 50

/** At least two characters, as PostgreSQL counts them. */
const hasPieces = /^../su

const counts = rowsOf(Schema.Struct({ count: Schema.Number }))

/**
 * Whether the index is the way to a text. A text that many have, ".com" or "a", fills a page in a short walk back from the newest
 * player, while the index would gather every one of them first.
 */
export const isRare = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  operatorId: number | undefined,
  text: string
) {
  if (!hasPieces.test(text)) return false
  const [found] = yield* counts(sql`SELECT count(*)::float8 AS count FROM (
      SELECT username, email, last_name FROM players
      ${operatorId === undefined ? sql`` : sql`WHERE operator_id = ${operatorId}`} ORDER BY id DESC LIMIT ${sampled}
    ) AS newest WHERE ${holds(sql, text)}`)
  return (found?.count ?? 0) < common
})
