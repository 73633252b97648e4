/** Finds players, payments, rounds, messages, operators and games by an id or a name prefix. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { makeByIndex } from "../../store/ByIndex.ts"
import { isStorable, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { idIn } from "../../office/References.ts"
import { makePlayersByWords, prefixPattern } from "../players/PlayersByWords.ts"
import { messageHref } from "../../domain/MessageHref.ts"
import { roundHref } from "../../domain/RoundHref.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"
import type { Found, foundKinds } from "../../contract/search/StaffApi.ts"

type Found = typeof Found.Type
export type FoundKind = (typeof foundKinds)[number]

/** How many of each kind. */
const maxResults = 5

/** Messages of one round that are read for its different games: a live game's round has some of each of its players. */
const maxMessages = 200

const playerRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  username: Schema.String,
  email: Schema.String,
  operator: Schema.String
}))
const paymentRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  type: Schema.String,
  status: Schema.String,
  amount: Schema.Number,
  currency: Schema.String,
  username: Schema.String,
  reference: Schema.NullOr(Schema.String)
}))
const roundRows = rowsOf(Schema.Struct({
  provider: Schema.String,
  game: Schema.String,
  name: Schema.String,
  round: Schema.String
}))
const messageRows = rowsOf(Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  amount: Schema.Number,
  currency: Schema.String,
  username: Schema.String,
  provider: Schema.NullOr(Schema.String),
  game: Schema.NullOr(Schema.String),
  round: Schema.NullOr(Schema.String)
}))
const refusedRows = rowsOf(Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  code: Schema.NullOr(Schema.String),
  provider: Schema.String,
  username: Schema.NullOr(Schema.String)
}))
const operatorRows = rowsOf(Schema.Struct({ id: Schema.Number, slug: Schema.String, name: Schema.String }))
const gameRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  name: Schema.String,
  externalId: Schema.String,
  provider: Schema.String
}))

export class Search extends Context.Service<Search, {
  /**
   * At most five of each of the kinds asked for, within a scope of operators: players by id or by words as {@link makePlayersByWords};
   * payments by id or reference; rounds and messages by the provider's id of them, messages also by the id of an entry; operators and games
   * by the beginning of their names. Every statement reads by an index, or a catalogue.
   */
  readonly find: (
    scope: Scope,
    text: string,
    kinds: ReadonlyArray<FoundKind>
  ) => Effect.Effect<ReadonlyArray<Found>, Refusal<"TRY_AGAIN">>
}>()("pitboss/search/Search") {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const byIndex = yield* makeByIndex
      const prefixes = yield* makePlayersByWords
      const end = sql`LIMIT ${sql.literal(String(maxResults))}`

      const players = Effect.fnUntraced(function*(scope: Scope, text: string) {
        const ids = yield* prefixes(scope, text, maxResults)
        const list = numbers(ids)
        const rows = yield* playerRows(
          sql`SELECT p.id, p.username, p.email, o.slug AS operator FROM players p JOIN operators o ON o.id = p.operator_id
            WHERE p.id = ANY(${list}::float8[]::bigint[]) ORDER BY array_position(${list}::float8[], p.id::float8)`
        )
        return rows.map(({ email, id, operator, username }): Found => ({
          kind: "player",
          id: String(id),
          label: username,
          detail: `${email}, ${operator}`,
          href: `/players/${id}`
        }))
      })

      const payments = Effect.fnUntraced(function*(scope: Scope, text: string) {
        const rows = yield* paymentRows(
          sql`SELECT p.id, p.type, p.status, p.amount, p.currency, pl.username, p.external_reference AS reference
            FROM (SELECT id FROM payment_requests WHERE id = ${idIn(text) ?? 0}::float8::bigint
              UNION SELECT f.id FROM operators o JOIN payment_requests f
                ON f.operator_id = o.id AND f.external_reference = ${text}) AS found
            JOIN payment_requests p ON p.id = found.id JOIN players pl ON pl.id = p.player_id
            WHERE ${sql.and([sql`true`, ...within(sql, scope, "p.operator_id")])} ORDER BY p.id DESC ${end}`
        )
        return rows.map(({ amount, currency, id, reference, status, type, username }): Found => ({
          kind: "payment",
          id: String(id),
          label: `${type} ${id}`,
          detail: [`${amount} ${currency}`, status, username, ...(reference ?? "") === "" ? [] : [reference]].join(
            ", "
          ),
          href: `/payments?id=${id}`
        }))
      })

      const rounds = Effect.fnUntraced(function*(scope: Scope, text: string) {
        const rows = yield* byIndex(roundRows(
          sql`SELECT DISTINCT p.slug AS provider, g.external_id AS game, g.name, t.round_id AS round
            FROM (SELECT t.provider_id, t.game_id, t.round_id FROM provider_transactions t JOIN players pl ON pl.id = t.player_id
              WHERE ${sql.and([sql`t.round_id = ${text}`, ...within(sql, scope, "pl.operator_id")])}
              LIMIT ${maxMessages}) t
            JOIN providers p ON p.id = t.provider_id JOIN games g ON g.id = t.game_id ${end}`
        ))
        const originals = yield* roundRows(
          sql`SELECT p.slug AS provider, g.external_id AS game, g.name, o.id::text AS round
            FROM original_rounds o JOIN games g ON g.id = o.game_id JOIN providers p ON p.id = g.provider_id
            WHERE ${sql.and([sql`o.id = ${idIn(text) ?? 0}::float8::bigint`, ...within(sql, scope, "o.operator_id")])}`
        )
        return [...originals, ...rows].slice(0, maxResults).map(({ game, name, provider, round }): Found => ({
          kind: "round",
          id: round,
          label: round,
          detail: `${name}, ${provider}`,
          href: roundHref(provider, game, round)
        }))
      })

      const messages = Effect.fnUntraced(function*(scope: Scope, text: string) {
        const columns = sql.literal("pl.currency, pl.username, p.slug AS provider, g.external_id AS game")
        const ofProviders = yield* messageRows(
          sql`SELECT t.transaction_id AS id, replace(t.kind, '_', ' ') AS kind, t.amount, t.round_id AS round, ${columns}
            FROM providers p JOIN provider_transactions t ON t.provider_id = p.id AND t.transaction_id = ${text}
            JOIN players pl ON pl.id = t.player_id LEFT JOIN games g ON g.id = t.game_id
            WHERE ${sql.and([sql`true`, ...within(sql, scope, "pl.operator_id")])} ${end}`
        )
        const entryId = idIn(text)
        const entries = entryId === undefined ? [] : yield* messageRows(
          sql`SELECT e.id::text AS id, replace(e.type, '_', ' ') AS kind, e.amount, e.game_round_id AS round, ${columns}
            FROM ledger_entries e JOIN players pl ON pl.id = e.player_id LEFT JOIN games g ON g.id = e.game_id
            LEFT JOIN providers p ON p.id = g.provider_id
            WHERE ${sql.and([sql`e.id = ${entryId}::float8::bigint`, ...within(sql, scope, "e.operator_id")])} ${end}`
        )
        // never accepted: known by its calls alone
        const refused = yield* refusedRows(
          sql`SELECT DISTINCT ON (p.slug) k.transaction_id AS id, replace(k.kind, '_', ' ') AS kind, k.code, p.slug AS provider,
              pl.username
            FROM providers p JOIN kept_calls k ON k.provider_id = p.id AND k.transaction_id = ${text}
            LEFT JOIN players pl ON pl.id = k.player_id
            WHERE ${
            sql.and([
              sql`NOT EXISTS (SELECT FROM provider_transactions t
                WHERE t.provider_id = k.provider_id AND t.transaction_id = k.transaction_id)`,
              ...within(sql, scope, "k.operator_id")
            ])
          } ORDER BY p.slug, k.at DESC ${end}`
        )
        const details = ({ amount, currency, provider, username }: (typeof entries)[number]) =>
          [`${amount} ${currency}`, username, ...provider === null ? [] : [provider]].join(", ")
        return [
          ...entries.map((entry): Found => ({
            kind: "transaction",
            id: entry.id,
            label: `${entry.kind} ${entry.id}`,
            detail: details(entry),
            href: entry.provider !== null && entry.game !== null && entry.round !== null
              ? roundHref(entry.provider, entry.game, entry.round)
              : `/ledger?transaction=${entry.id}`
          })),
          ...ofProviders.map((message): Found => ({
            kind: "transaction",
            id: message.id,
            label: `${message.kind} ${message.id}`,
            detail: details(message),
            href: messageHref(message.provider ?? "", message.id)
          })),
          ...refused.map(({ code, id, kind, provider, username }): Found => ({
            kind: "transaction",
            id,
            label: `${kind} ${id}`,
            detail: [`refused${code === null ? "" : ` with ${code}`}`, ...username === null ? [] : [username], provider]
              .join(", "),
            href: messageHref(provider, id)
          }))
        ].slice(0, maxResults)
      })

      const operators = Effect.fnUntraced(function*(scope: Scope, text: string) {
        const start = prefixPattern(text.toLowerCase())
        const rows = yield* operatorRows(
          sql`SELECT id, slug, name FROM operators WHERE archived_at IS NULL AND ${
            sql.and([
              sql`(slug LIKE ${start} OR lower(name) LIKE ${start} OR id = ${idIn(text) ?? 0}::float8::bigint)`,
              ...within(sql, scope, "id")
            ])
          } ORDER BY slug ${end}`
        )
        return rows.map(({ id, name, slug }): Found => ({
          kind: "operator",
          id: String(id),
          label: name,
          detail: slug,
          href: `/operators?operator=${slug}`
        }))
      })

      const games = Effect.fnUntraced(function*(_: Scope, text: string) {
        const start = prefixPattern(text.toLowerCase())
        const rows = yield* gameRows(
          sql`SELECT g.id, g.name, g.external_id AS "externalId", p.slug AS provider FROM games g
            JOIN providers p ON p.id = g.provider_id
            WHERE lower(g.name) LIKE ${start} OR lower(g.external_id) LIKE ${start} OR g.id = ${
            idIn(text) ?? 0
          }::float8::bigint
            ORDER BY g.name, g.id ${end}`
        )
        return rows.map(({ externalId, id, name, provider }): Found => ({
          kind: "game",
          id: String(id),
          label: name,
          detail: `${externalId}, ${provider}`,
          href: `/games?provider=${provider}&game=${id}`
        }))
      })

      const finders: {
        readonly [kind in FoundKind]: (scope: Scope, text: string) => ReturnType<typeof players>
      } = { player: players, payment: payments, round: rounds, transaction: messages, operator: operators, game: games }

      const find: Search["Service"]["find"] = Effect.fn("Search.find")(function*(scope, text, kinds) {
        const trimmed = text.trim()
        if (trimmed === "" || !isStorable(trimmed)) return []
        const found = yield* Effect.forEach(kinds, (kind) => finders[kind](scope, trimmed), { concurrency: 2 })
        return found.flat()
      }, orTryAgain)

      return Search.of({ find })
    })
  )
}
