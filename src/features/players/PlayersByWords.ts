/**
 * Finds players by word prefixes of name, username, e-mail, phone or external id, ignoring case and accents, or by a whole id. Fast enough for a
 * search at every keystroke.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeByIndex } from "../../store/ByIndex.ts"
import { isStorable, rowsOf } from "../../store/Rows.ts"
import { idIn } from "../../office/References.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"

const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** LIKE pattern of texts that begin with `text`. */
export const prefixPattern = (text: string): string => `${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** How many of the newest players tell whether a text is common, and how many of them must have it. */
const sampled = 2000
const common = 20

/** How many of the newest players are walked over for a common text. */
const maxWalked = 50_000

/** How many players with a rare text are read for the newest of them. */
const maxFound = 20_000

/**
 * Ids of at most `limit` players: exact matches first, then those whose username, e-mail or external id begins with the text, then those of whom
 * every word of the text begins one of theirs, the newest first. Each operator has its own indexes (`players_username_prefix` and its like); a common word is
 * found among the newest players, a rare one by the index of words (`players_words`).
 */
export const makePlayersByWords = Effect.map(
  Effect.all([SqlClient.SqlClient, makeByIndex]),
  ([sql, byIndex]) =>
    Effect.fnUntraced(function*(scope: Scope, text: string, limit: number) {
      if (!isStorable(text)) return []
      const end = sql`LIMIT ${sql.literal(String(limit))}`
      const lower = text.toLowerCase()
      const beginning = idRows(
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
      )
      const ofScope = sql.and([sql`true`, ...within(sql, scope)])
      const hasWords = sql`words @@ search_query(${text})`
      const newest = (count: number) =>
        sql`(SELECT id, words FROM players WHERE ${ofScope} ORDER BY id DESC LIMIT ${count}) AS newest`
      const inWords = Effect.gen(function*() {
        const sample = yield* idRows(sql`SELECT id FROM ${newest(sampled)} WHERE ${hasWords} LIMIT ${common}`)
        return yield* idRows(
          sample.length === common
            ? sql`SELECT id FROM ${newest(maxWalked)} WHERE ${hasWords} ORDER BY id DESC ${end}`
            : sql`WITH found AS MATERIALIZED (
                SELECT id FROM players WHERE ${sql.and([hasWords, ...within(sql, scope)])} LIMIT ${maxFound})
              SELECT id FROM found ORDER BY id DESC ${end}`
        )
      })
      return yield* byIndex(Effect.gen(function*() {
        const first = yield* beginning
        const others = first.length < limit ? yield* inWords : []
        return [...new Set([...first, ...others].map(({ id }) => id))].slice(0, limit)
      }))
    })
)
