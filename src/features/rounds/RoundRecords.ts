/** Game rounds for staff: the search, and one round with all of its messages. */
import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Instant } from "../../domain/Instant.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { cursorsOfShape, moment, type Part, type PartQuery } from "../../store/Cursors.ts"
import { makeByIndex } from "../../store/ByIndex.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { readSlices, untilOf } from "../../store/Slices.ts"
import { KeptCalls } from "../integrations/KeptCalls.ts"
import { idIn } from "../../office/References.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"
import { shownCall } from "./MessageRecords.ts"
import { makeProviderMessages, needsProvider } from "./ProviderMessages.ts"
import { RoundClosing } from "./RoundClosing.ts"
import { makeRoundParts } from "./internal/RoundParts.ts"
import { type RoundDetails, RoundLine, type roundStates } from "../../contract/rounds/StaffApi.ts"

/** Absent means any. */
export interface RoundQuery extends PartQuery {
  readonly scope: Scope
  readonly playerId?: number | undefined
  /** Id or slug. */
  readonly provider?: string | undefined
  /** Its name, the provider's id of it, or ours. */
  readonly game?: string | undefined
  /** The provider's id, with a provider where two have it, or the id of an entry. */
  readonly transaction?: string | undefined
  readonly state?: (typeof roundStates)[number] | undefined
  /** Epoch milliseconds of the opening, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Round as staff name it: provider and game by id, slug or the provider's id. */
interface NamedRound {
  readonly provider: string
  readonly game: string
  readonly roundId: string
  readonly playerId?: number | undefined
}

type Failure = Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">

const Position = Schema.Tuple([moment, Schema.Int, Schema.Int, Schema.String])
const cursors = cursorsOfShape(Position)

const keyRows = rowsOf(Schema.Struct({
  seen: Schema.Number,
  players: Schema.Array(Schema.Number),
  games: Schema.Array(Schema.Number),
  rounds: Schema.Array(Schema.String),
  times: Schema.Array(Schema.Number)
}))

const lineRows = rowsOf(Schema.Struct({ ...Struct.omit(RoundLine.fields, ["result"]), opened_at: Instant }))

/** By how much the clock of a node may be ahead. */
const skewMs = 60_000

type Key = typeof Position.Type

const noProvider = refuse("NOT_FOUND", "There is no such provider.")
const noGame = refuse("NOT_FOUND", "There is no such game.")
const noRound = refuse("NOT_FOUND", "There is no such round.")
const isOriginal = refuse(
  "NOT_FOUND",
  "This is a round of the platform's own games, which is closed as soon as it is played."
)
const hasMany = refuseFields({ player: ["must be given: the round has very many messages"] })

export class RoundRecords extends Context.Service<RoundRecords, {
  /**
   * Rounds that providers' messages made, the last opened first. A player's are found by the player's key, a transaction's by its own; the others
   * are looked for back in time, a bounded number of them for a page, which may be short therefore. Rounds of originals are not among them.
   */
  readonly search: (query: RoundQuery) => Effect.Effect<Part<typeof RoundLine.Type>, Failure>
  /** A round with its messages and entries, oldest first, of one player or of all its players. */
  readonly show: (
    scope: Scope,
    round: NamedRound
  ) => Effect.Effect<typeof RoundDetails.Type, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
  /** Closes what is open of a round, of one player or of all its players, and shows it. */
  readonly close: (
    scope: Scope,
    round: NamedRound,
    by: { readonly reason: string; readonly actor: string }
  ) => Effect.Effect<typeof RoundDetails.Type, Failure>
}>()("pitboss/rounds/RoundRecords") {
  static readonly layer = Layer.effect(
    RoundRecords,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const clocks = yield* OperatorClocks
      const byIndex = yield* makeByIndex
      const messages = yield* makeProviderMessages
      const parts = yield* makeRoundParts
      const kept = yield* KeptCalls
      const closing = yield* RoundClosing

      const isPlayerWithin = (scope: Scope, playerId: number) =>
        Effect.map(
          sql`SELECT 1 FROM players WHERE ${sql.and([sql`id = ${playerId}::float8::bigint`, ...within(sql, scope)])}`,
          (found) => found.length > 0
        )

      /** The conditions that a search comes down to; null: nothing can meet them. */
      const conditionsOf = Effect.fnUntraced(function*(query: RoundQuery) {
        const { from, game, playerId, provider: named, scope, state, to, transaction } = query
        const provider = named === undefined ? undefined : yield* messages.provider(named)
        if (named !== undefined && provider === undefined) return yield* Effect.fail(noProvider)
        if (playerId !== undefined && scope !== null && !(yield* isPlayerWithin(scope, playerId))) return null
        const conditions: Array<Statement.Fragment> = [
          // a player's rounds are read from the key alone, which does not name the operator
          ...(playerId === undefined
            ? within(sql, scope, "r.operator_id")
            : [sql`r.player_id = ${playerId}::float8::bigint`]),
          ...(state === undefined ? [] : [state === "closed" ? sql`r.closed` : sql`NOT r.closed`]),
          ...(from === undefined ? [] : [sql`r.opened_at >= ${toDate(from)}`]),
          ...(to === undefined ? [] : [sql`r.opened_at <= ${toDate(to)}`])
        ]
        if (game !== undefined) {
          const games = yield* messages.games(provider?.id, game)
          if (games.length === 0) return yield* Effect.fail(noGame)
          conditions.push(sql`r.game_id = ANY(${numbers(games)}::float8[]::bigint[])`)
        } else if (provider !== undefined) {
          conditions.push(
            sql`r.game_id IN (SELECT g.id FROM games g WHERE g.provider_id = ${provider.id}::float8::bigint)`
          )
        }
        if (transaction === undefined) return { conditions, isKeyed: playerId !== undefined }
        const entryId = provider === undefined ? idIn(transaction) : undefined
        const sent = yield* messages.messages(scope, transaction, provider?.id)
        if (sent.length > 1) return yield* Effect.fail(needsProvider)
        const entry = entryId === undefined ? undefined : yield* messages.entry(scope, entryId)
        const ofFound = [...sent, ...entry === undefined ? [] : [entry]].flatMap(({ gameId, playerId: of, roundId }) =>
          gameId === null || roundId === null ? [] : [
            sql`(r.player_id = ${of}::float8::bigint AND r.game_id = ${gameId}::float8::bigint AND r.round_id = ${roundId})`
          ]
        )
        if (ofFound.length === 0) return null
        return { conditions: [...conditions, sql.or(ofFound)], isKeyed: true }
      })

      /** The rounds of keys, in their order. */
      const linesOf = (keys: ReadonlyArray<Key>) =>
        keys.length === 0
          ? Effect.succeed([])
          : Effect.map(
            lineRows(
              sql`SELECT p.operator_id, r.player_id, p.username, p.currency,
                CASE WHEN r.closed THEN 'closed' ELSE 'open' END AS state, r.real_stake, r.bonus_stake, r.paid_wins,
                r.taken_back, r.won::float8 AS wins, r.opened_at, pr.slug AS provider, r.game_id, g.external_id AS game_external_id, g.name AS game, r.round_id
              FROM jsonb_to_recordset(${
                JSON.stringify(keys.map(([, player, game, round], place) => ({ place, player, game, round })))
              }::text::jsonb) AS k (place int, player bigint, game bigint, round text)
              JOIN rounds r ON r.player_id = k.player AND r.game_id = k.game AND r.round_id = k.round
              JOIN players p ON p.id = r.player_id JOIN games g ON g.id = r.game_id JOIN providers pr ON pr.id = g.provider_id
              ORDER BY k.place`
            ),
            (rows) =>
              rows.map((row) => ({
                ...row,
                opened_at: iso(row.opened_at),
                result: row.wins - row.real_stake - row.bonus_stake
              }))
          )

      const keysOf = (
        { games, players, rounds, times }: Omit<Effect.Success<ReturnType<typeof keyRows>>[number], "seen">
      ) =>
        players.map((player, index): Key => [
          Math.floor(times[index] ?? 0),
          player,
          games[index] ?? 0,
          rounds[index] ?? ""
        ])

      const gathered = sql.literal(`coalesce(array_agg(player_id::float8), '{}') AS players,
        coalesce(array_agg(game_id::float8), '{}') AS games, coalesce(array_agg(round_id), '{}') AS rounds,
        coalesce(array_agg(extract(epoch FROM opened_at)::float8 * 1000), '{}') AS times`)
      const order = sql.literal("opened_at DESC, player_id DESC, game_id DESC, round_id DESC")

      const search = Effect.fn("RoundRecords.search")(function*(query: RoundQuery) {
        const { limit, to = Number.MAX_SAFE_INTEGER } = query
        const position = yield* cursors.read(query.cursor)
        const found = yield* conditionsOf(query)
        if (found === null) return { items: [], next: null }
        const below = position === undefined
          ? []
          : [sql`(r.opened_at, r.player_id, r.game_id, r.round_id) < (${toDate(position[0])}::timestamptz,
              ${position[1]}::float8::bigint, ${position[2]}::float8::bigint, ${position[3]}::text)`]
        const where = sql.and([sql`true`, ...found.conditions, ...below])
        if (found.isKeyed) {
          const [row] = yield* keyRows(
            sql`SELECT 0 AS seen, ${gathered} FROM (SELECT r.player_id, r.game_id, r.round_id, r.opened_at FROM rounds r
              WHERE ${where} ORDER BY ${order} LIMIT ${limit + 1}) found`
          )
          return yield* pageOf(row === undefined ? [] : keysOf(row), limit, undefined)
        }
        const newest = clocks.latest(query.scope, yield* Clock.currentTimeMillis) + skewMs
        const { rest, rows } = yield* byIndex(readSlices(
          {
            // player 0: where a page ended that had scanned its maximum
            until: untilOf(Math.min(to, newest), position && { at: position[0], isDone: position[1] === 0 }),
            floor: query.from ?? 0,
            wanted: limit + 1
          },
          ({ from, max, until }) =>
            Effect.map(
              keyRows(
                sql`WITH slice AS MATERIALIZED (SELECT * FROM rounds r
                  WHERE r.opened_at >= ${toDate(from)} AND r.opened_at < ${toDate(until)}
                  ${max === undefined ? sql`` : sql`LIMIT ${max + 1}`})
                SELECT (SELECT count(*) FROM slice)::float8 AS seen, ${gathered} FROM (
                  SELECT r.player_id, r.game_id, r.round_id, r.opened_at FROM slice r WHERE ${where}
                  ORDER BY ${order} LIMIT ${limit + 1}) found`
              ),
              ([row]) => row === undefined ? { seen: 0, rows: [] } : { seen: row.seen, rows: keysOf(row) }
            )
        ))
        return yield* pageOf(rows, limit, rest)
      }, orTryAgain)

      /** A page of the keys that were found; `rest`: from when on there may be more. */
      const pageOf = Effect.fnUntraced(function*(keys: ReadonlyArray<Key>, limit: number, rest: number | undefined) {
        const { items, next } = cursors.part(
          keys,
          limit,
          (key) => key,
          rest === undefined ? undefined : [rest, 0, 0, ""]
        )
        return { items: yield* linesOf(items), next }
      })

      const show: RoundRecords["Service"]["show"] = Effect.fn("RoundRecords.show")(
        function*(scope, { game: gameNamed, playerId, provider: providerNamed, roundId }) {
          const provider = yield* messages.provider(providerNamed)
          if (provider === undefined) return yield* Effect.fail(noRound)
          const game = yield* messages.game(provider.id, gameNamed)
          if (game === undefined) return yield* Effect.fail(noRound)
          const of = { scope, providerId: provider.id, gameId: game.id, roundId, playerId }
          const original = yield* parts.original(of)
          const found = original === undefined ? yield* parts.messages(of) : { isCut: false, messages: [] }
          const players = yield* original === undefined ? parts.players(of, found.messages) : Effect.succeed([original])
          const calls = original !== undefined ? [] : yield* kept.about(scope, {
            providerId: provider.id,
            ids: found.messages.map(({ transaction_id: id }) => id),
            round: { id: roundId, gameExternalId: game.external_id },
            playerId
          })
          if (players.length === 0 && found.messages.length === 0 && calls.length === 0) {
            return yield* Effect.fail(noRound)
          }
          const entries = yield* parts.entries(of, players, found.messages)
          return {
            provider,
            game,
            round_id: roundId,
            original_round_id: original === undefined ? null : Number(roundId),
            players,
            messages: found.messages,
            entries,
            calls: calls.map((call) => shownCall(call, provider.slug)),
            is_cut: found.isCut
          }
        },
        orTryAgain
      )

      const close: RoundRecords["Service"]["close"] = Effect.fn("RoundRecords.close")(function*(scope, round, by) {
        const { game, is_cut: isCut, original_round_id: original, players, provider } = yield* show(scope, round)
        if (original !== null) return yield* Effect.fail(isOriginal)
        if (isCut && round.playerId === undefined) return yield* Effect.fail(hasMany)
        yield* closing.close(players.map(({ player_id: id }) => id), {
          ...by,
          providerId: provider.id,
          gameId: game.id,
          roundId: round.roundId
        })
        return yield* show(scope, round)
      })

      return RoundRecords.of({ search, show, close })
    })
  )
}
