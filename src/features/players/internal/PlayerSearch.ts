/**
 * Substring search of players by username, e-mail or last name.
 *
 * For a frequent text, a short scan from the newest player fills a page. A rare text is found by an index of two- and three-character pieces
 * (`players_search`), which would have to gather all matches of a frequent one. Counting hundreds of thousands of matches is slow either way, so
 * counts are capped: {@link SearchBounds}.
 */
import { Context, Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Scope, within } from "../../../store/OperatorScope.ts"
import { rowsOf } from "../../../store/Rows.ts"

/** Expression of the index `players_search`; a query has to repeat it exactly. */
const indexed = `search_pieces(username || E'\\n' || email || E'\\n' || last_name)`

/** How far a search goes. A reference, so that tests need no hundreds of thousands of players. */
export const SearchBounds = Context.Reference<{
  /** Of an operator with at most so many players every search counts all that it finds. */
  readonly countAllUpTo: number
  /** How many a search of a larger operator counts. */
  readonly maxCounted: number
  /** So many of the newest players are walked over for a text that seems common; where they are not enough, the index is asked. */
  readonly maxScanned: number
}>("pitboss/players/SearchBounds", {
  defaultValue: () => ({ countAllUpTo: 50_000, maxCounted: 1000, maxScanned: 50_000 })
})

/** How many of the newest players tell whether a text is common, and how many of them must have it. */
const sampled = 2000
const common = 20

/** At least two characters, as PostgreSQL counts them. */
const hasPieces = /^../su

/** That a text is part of one of the three fields, in any case. */
export const holds = (sql: SqlClient.SqlClient, text: string): Statement.Fragment =>
  // in `search_text` a line break separates the fields, so that no match spans two of them
  text.includes("\n")
    ? sql`(strpos(lower(username), lower(${text})) > 0 OR strpos(email, lower(${text})) > 0
      OR strpos(lower(last_name), lower(${text})) > 0)`
    : sql`strpos(search_text, lower(${text})) > 0`

/** The same for a text of at least two characters, by its index, which knows the pieces of two and three characters. */
export const holdsByIndex = (sql: SqlClient.SqlClient, text: string): Statement.Fragment =>
  sql`(${sql.literal(indexed)} @> search_pieces(${text}) AND ${holds(sql, text)})`

const counts = rowsOf(Schema.Struct({ count: Schema.Number }))

/** How many of the `newest` players of a scope have the text, at most `limit`. */
const countInNewest = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  scope: Scope,
  text: string,
  newest: number,
  limit: number
) {
  const [found] = yield* counts(
    sql`SELECT count(*) AS count FROM (
      SELECT 1 FROM (
        SELECT ${sql.literal(text.includes("\n") ? "username, email, last_name" : "search_text")} FROM players
        WHERE ${sql.and([sql`true`, ...within(sql, scope)])} ORDER BY id DESC LIMIT ${newest}
      ) AS newest WHERE ${holds(sql, text)} LIMIT ${limit}
    ) AS found`
  )
  return found?.count ?? 0
})

/** Whether the index is cheaper for a text than a scan from the newest of `players` in all to at most `wanted` matches. */
export const isRare = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  scope: Scope,
  text: string,
  players: number,
  wanted: number
) {
  const { countAllUpTo, maxScanned } = yield* SearchBounds
  if (!hasPieces.test(text) || players <= countAllUpTo) return false
  if ((yield* countInNewest(sql, scope, text, sampled, common)) < common) return true
  return (yield* countInNewest(sql, scope, text, maxScanned, wanted)) < wanted
})
