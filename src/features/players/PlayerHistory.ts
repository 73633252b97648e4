/** A player's activity: game launches, and a timeline of all kinds of events, newest first. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Instant } from "../../domain/Instant.ts"
import { foldPlay, type Play, type PlayEntry } from "../../domain/player/PlayFolds.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { iso, isoOrNull, type Period, toDate } from "../../platform/Time.ts"
import { cursorsOfShape, mapPart, moment, type Part, type PartQuery } from "../../store/Cursors.ts"
import { newestFirst, periodFilters, unscopedListOf } from "../../store/Lists.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { roundHref } from "../../domain/RoundHref.ts"
import { makeGameNames } from "../games/GameNames.ts"
import { GameSession, type TimelineItem, timelineKinds } from "../../contract/players/StaffApi.ts"

type Kind = (typeof timelineKinds)[number]
type Session = typeof GameSession.Type
type Item = typeof TimelineItem.Type

const SessionRow = Schema.Struct({
  player_id: Schema.Number,
  ...GameSession.fields,
  opened_at: Instant,
  expires_at: Instant,
  ended_at: Schema.NullOr(Instant)
})
const sessionRows = rowsOf(SessionRow)

const itemRows = rowsOf(Schema.Struct({
  at: Instant,
  rank: Schema.Number,
  /** Tie-breaker for equal timestamps: the entry number, or the id of any other event. */
  tie: Schema.Number,
  id: Schema.Number,
  title: Schema.String,
  detail: Schema.NullOr(Schema.String),
  amount: Schema.NullOr(Schema.Number),
  currency: Schema.NullOr(Schema.String),
  actor: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  game: Schema.NullOr(Schema.String),
  round: Schema.NullOr(Schema.String),
  payment: Schema.NullOr(Schema.Number),
  /** Of an entry posted by a game. */
  played: Schema.NullOr(Schema.Literals(["casino_bet", "casino_win", "casino_rollback"])),
  gameId: Schema.NullOr(Schema.Number),
  gameName: Schema.NullOr(Schema.String)
}))

type ItemRow = Effect.Success<ReturnType<typeof itemRows>>[number]

const playEntryOf = ({ amount, at, gameId, played: type, round }: ItemRow): PlayEntry | undefined =>
  type === null || gameId === null || amount === null ? undefined : { at, gameId, round, type, amount }

/** Time, kind and `tie` of the last line, and the number of the last entry so far, 0 for none. */
const Position = Schema.Tuple([moment, Schema.Int, Schema.Int, Schema.Int])
const cursors = cursorsOfShape(Position)

const rankOf = (kind: Kind): number => timelineKinds.indexOf(kind)

/** Audit actions that the timeline shows as another kind of event. */
const elsewhere = ["player.limits", "player.limit", "player.self_exclusion", "player.exclude", "player.note"]

/** Text of a detail that is shown, in characters. */
const maxDetail = 300

/** Lines that are read for a page, and so the most that fold into one. */
const maxLines = 500

const hrefOf = (
  playerId: number,
  kind: Kind,
  row: ItemRow
): string | null =>
  row.payment !== null
    ? `/payments?id=${row.payment}`
    : row.provider !== null && row.game !== null && row.round !== null
    ? roundHref(row.provider, row.game, row.round, playerId)
    : kind === "alert"
    ? `/alerts?player=${playerId}`
    : kind === "audit"
    ? `/audit?player=${playerId}`
    : null

/** A line of play: the game and what it came to. */
const playItem = (row: ItemRow, { from, gameId, rounds, staked, to, won }: Play): Item => ({
  at: iso(to),
  kind: "play",
  id: row.id,
  title: row.gameName ?? "",
  detail: rounds === 1 ? "1 round" : `${rounds} rounds`,
  play: { game_id: gameId, from: iso(from), rounds, staked, won },
  amount: won - staked,
  currency: row.currency,
  actor: null,
  href: null
})

export class PlayerHistory extends Context.Service<PlayerHistory, {
  /** Launches of games, the last first. */
  readonly sessions: (
    playerId: number,
    query: PartQuery & Period
  ) => Effect.Effect<Part<Session>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Names of games by id, for entries. */
  readonly gameNames: (ids: Iterable<number>) => Effect.Effect<ReadonlyMap<number, string>, Refusal<"TRY_AGAIN">>
  /**
   * Events of a player of the given kinds within a period, newest first; of the audit log without these actions. Entries of play are folded, unless
   * entries alone are asked for. `numbers`: of a period, those between which its entries lie.
   */
  readonly timeline: (
    playerId: number,
    shown: Period & {
      readonly kinds: ReadonlyArray<Kind>
      readonly withoutActions: ReadonlyArray<string>
      readonly numbers: { readonly first: number; readonly last: number } | undefined
    },
    query: PartQuery
  ) => Effect.Effect<Part<Item>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/players/PlayerHistory") {
  static readonly layer = Layer.effect(
    PlayerHistory,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const gameNames = yield* makeGameNames

      const listed = unscopedListOf<typeof SessionRow.Type, { readonly playerId: number } & Period, "last">(sql, {
        record: "playerId",
        read: (where, end) =>
          sessionRows(
            sql`SELECT s.id, s.player_id, s.game_id, g.name AS game, p.slug AS provider, s.mode, s.platform, s.ip, s.opened_at, s.expires_at,
                s.ended_at
              FROM game_sessions s JOIN games g ON g.id = s.game_id JOIN providers p ON p.id = g.provider_id
              WHERE ${where} ${end}`
          ),
        filters: {
          ...periodFilters(sql, "s.opened_at"),
          playerId: (value) => sql`s.player_id = ${value}::float8::bigint`
        },
        orders: { last: newestFirst("s.opened_at", "s.id", ({ opened_at: at }) => at) }
      })

      const sessions: PlayerHistory["Service"]["sessions"] = Effect.fn("PlayerHistory.sessions")(
        function*(playerId, query) {
          return mapPart(
            yield* listed.part(null, { playerId, ...query }, "last"),
            ({ player_id: _, ...row }): Session => ({
              ...row,
              opened_at: iso(row.opened_at),
              expires_at: iso(row.expires_at),
              ended_at: isoOrNull(row.ended_at)
            })
          )
        },
        orTryAgain
      )

      /** The lines of each kind. All have the columns of the first, which names them. */
      const selectOf = (
        playerId: number,
        withoutActions: ReadonlyArray<string>,
        after: (kind: Kind, at: Statement.Fragment, tie: Statement.Fragment) => Statement.Fragment,
        endOf: (kind: Kind) => Statement.Fragment
      ): { readonly [kind in Kind]: Statement.Fragment } => {
        const player = sql`${playerId}::float8::bigint`
        const rank = (kind: Kind) => sql`${sql.literal(String(rankOf(kind)))} AS rank`
        const noPlay = "NULL::text AS played, NULL::float8 AS \"gameId\", NULL::text AS \"gameName\""
        const none = sql.literal(
          `NULL::text AS provider, NULL::text AS game, NULL::text AS round, NULL::bigint AS payment, ${noPlay}`
        )
        const audit = (kind: Kind, actions: Statement.Fragment) =>
          sql`SELECT a.at, ${rank(kind)}, a.id AS tie, a.id, a.action AS title,
              coalesce(a.reason, left(a.after::text, ${maxDetail})) AS detail, NULL::bigint AS amount, NULL::text AS currency,
              a.actor, ${none}
            FROM audit_log a WHERE a.player_id = ${player} AND ${actions} AND ${after(kind, sql`a.at`, sql`a.id`)}
            ORDER BY a.at DESC, a.id DESC ${endOf(kind)}`
        const entries = (which: Statement.Fragment) =>
          sql`SELECT e.created_at AS at, ${rank("entry")}, e.seq AS tie, e.id, replace(e.type, '_', ' ') AS title,
              e.wallet AS detail, e.amount, pl.currency, NULL::text AS actor, p.slug AS provider, g.external_id AS game,
              e.game_round_id AS round, e.payment_request_id AS payment,
              CASE WHEN e.type LIKE 'casino%' THEN e.type END AS played, e.game_id::float8 AS "gameId", g.name AS "gameName"
            FROM (SELECT * FROM ledger_entries e WHERE e.player_id = ${player} AND ${which}
              AND ${after("entry", sql`e.created_at`, sql`e.seq`)} ORDER BY e.seq DESC ${endOf("entry")}) e
            JOIN players pl ON pl.id = e.player_id LEFT JOIN games g ON g.id = e.game_id
            LEFT JOIN providers p ON p.id = g.provider_id`
        return {
          entry: entries(sql`true`),
          play: entries(sql`e.game_id IS NOT NULL AND e.type IN ('casino_bet', 'casino_win', 'casino_rollback')`),
          payment: sql`SELECT s.at, ${rank("payment")}, p.id AS tie, p.id, p.type || ' ' || s.state AS title,
              coalesce(p.external_reference, p.payment_method) AS detail, p.amount, p.currency, NULL::text AS actor,
              NULL::text AS provider, NULL::text AS game, NULL::text AS round, p.id AS payment, ${sql.literal(noPlay)}
            FROM (SELECT p.id, s.at, s.state FROM payment_requests p CROSS JOIN LATERAL (VALUES
                (p.created_at, CASE WHEN p.paid_at <= p.created_at THEN 'paid' ELSE 'requested' END, true),
                (p.paid_at, 'paid', false), (p.rejected_at, 'rejected', false),
                (p.cancelled_at, 'cancelled', false)) AS s (at, state, is_first)
              WHERE p.player_id = ${player} AND (s.is_first OR s.at > p.created_at)
                AND ${after("payment", sql`s.at`, sql`p.id`)}
              ORDER BY s.at DESC, p.id DESC ${endOf("payment")}) s
            JOIN payment_requests p ON p.id = s.id`,
          bonus: sql`SELECT s.at, ${rank("bonus")}, b.id AS tie, b.id,
              'bonus ' || CASE WHEN s.is_first THEN 'granted' ELSE b.result END AS title, b.name AS detail, b.amount, pl.currency,
              NULL::text AS actor, ${none}
            FROM (SELECT b.id, s.at, s.is_first FROM player_bonuses b CROSS JOIN LATERAL (VALUES
                (b.created_at, true), (b.finished_at, false)) AS s (at, is_first)
              WHERE b.player_id = ${player} AND (s.is_first OR s.at > b.created_at)
                AND ${after("bonus", sql`s.at`, sql`b.id`)}
              ORDER BY s.at DESC, b.id DESC ${endOf("bonus")}) s
            JOIN player_bonuses b ON b.id = s.id JOIN players pl ON pl.id = b.player_id`,
          session: sql`SELECT s.opened_at AS at, ${rank("session")}, s.id AS tie, s.id, 'game opened' AS title,
              g.name || CASE WHEN s.mode = 'demo' THEN ', free play' ELSE '' END || coalesce(', ' || s.ip, '') AS detail,
              NULL::bigint AS amount, NULL::text AS currency, NULL::text AS actor, ${none}
            FROM game_sessions s JOIN games g ON g.id = s.game_id
            WHERE s.player_id = ${player} AND ${after("session", sql`s.opened_at`, sql`s.id`)}
            ORDER BY s.opened_at DESC, s.id DESC ${endOf("session")}`,
          note: sql`SELECT n.created_at AS at, ${rank("note")}, n.id AS tie, n.id, 'note' AS title,
              left(n.text, ${maxDetail}) AS detail, NULL::bigint AS amount, NULL::text AS currency, n.author AS actor, ${none}
            FROM player_notes n WHERE n.player_id = ${player} AND ${after("note", sql`n.created_at`, sql`n.id`)}
            ORDER BY n.created_at DESC, n.id DESC ${endOf("note")}`,
          alert: sql`SELECT a.created_at AS at, ${rank("alert")}, a.id AS tie, a.id, replace(a.rule, '_', ' ') AS title,
              a.severity || ', ' || replace(a.status, '_', ' ') AS detail, NULL::bigint AS amount, NULL::text AS currency,
              NULL::text AS actor, ${none}
            FROM compliance_alerts a WHERE a.player_id = ${player} AND ${after("alert", sql`a.created_at`, sql`a.id`)}
            ORDER BY a.created_at DESC, a.id DESC ${endOf("alert")}`,
          limit: audit("limit", sql`a.action IN ('player.limits', 'player.limit')`),
          exclusion: audit("exclusion", sql`a.action IN ('player.self_exclusion', 'player.exclude')`),
          audit: audit("audit", sql`NOT ${sql.in("a.action", [...elsewhere, ...withoutActions])}`)
        }
      }

      const timeline: PlayerHistory["Service"]["timeline"] = Effect.fn("PlayerHistory.timeline")(
        function*(playerId, { from, kinds, numbers, to, withoutActions }, { cursor, limit }) {
          const position = yield* cursors.read(cursor)
          const lastEntry = position?.[3] ?? 0
          const within = (
            kind: Kind,
            at: Statement.Fragment,
            tie: Statement.Fragment
          ): ReadonlyArray<Statement.Fragment> => [
            ...(from === undefined ? [] : [sql`${at} >= ${toDate(from)}`]),
            ...(to === undefined ? [] : [sql`${at} <= ${toDate(to)}`]),
            ...(kind === "entry" && numbers !== undefined
              ? [sql`${tie} BETWEEN ${numbers.first}::float8::bigint AND ${numbers.last}::float8::bigint`]
              : [])
          ]
          const behind = (kind: Kind, at: Statement.Fragment, tie: Statement.Fragment): Statement.Fragment => {
            if (position === undefined) return sql`true`
            const [time, rank, number] = position
            // entries are walked by their numbers, however long ago the position is
            if (kind === "entry" && lastEntry > 0) return sql`${tie} < ${lastEntry}::float8::bigint`
            return rankOf(kind) === rank
              ? sql`(${at}, ${tie}) < (${toDate(time)}::timestamptz, ${number}::float8::bigint)`
              : rankOf(kind) > rank
              ? sql`${at} <= ${toDate(time)}`
              : sql`${at} < ${toDate(time)}`
          }
          const after = (kind: Kind, at: Statement.Fragment, tie: Statement.Fragment): Statement.Fragment =>
            sql.and([behind(kind, at, tie), ...within(kind, at, tie)])
          const isFolded = kinds.length !== 1 || kinds[0] !== "entry"
          const most = isFolded ? maxLines : limit
          // only play folds: of any other kind a page has no more lines than it shows
          const endOf = (kind: Kind) => sql`LIMIT ${sql.literal(String((kind === "entry" ? most : limit) + 1))}`
          const selects = selectOf(playerId, withoutActions, after, endOf)
          // entries hold those of play
          const parts = timelineKinds.filter((kind) =>
            kinds.includes(kind) && !(kind === "play" && kinds.includes("entry"))
          )
            .map((kind) => sql`(${selects[kind]})`)
          if (parts.length === 0) return { items: [], next: null }
          const rows = yield* itemRows(
            sql`SELECT * FROM (${sql.join(" UNION ALL ", false)(parts)}) AS t
              ORDER BY t.at DESC, t.rank, t.tie DESC LIMIT ${most + 1}`
          )
          const folds = foldPlay(rows.slice(0, most), (row) => isFolded ? playEntryOf(row) : undefined)
          // the last line of play may go on beyond what was read: it begins the next page
          const isCut = rows.length > most && folds.length > 1 && folds.at(-1)?.play !== undefined
          const shown = folds.slice(0, isCut ? Math.min(limit, folds.length - 1) : limit)
          const lines = shown.flatMap((fold) => fold.lines)
          const last = lines.at(-1)
          const lastShown = lines.findLast(({ rank }) => rank === rankOf("entry"))?.tie ?? lastEntry
          return {
            items: shown.map(({ lines: [row], play }): Item => {
              if (play !== undefined) return playItem(row, play)
              const kind = timelineKinds[row.rank] ?? "audit"
              const { amount, at, actor, currency, detail, id, title } = row
              const href = hrefOf(playerId, kind, row)
              return { at: iso(at), kind, id, title, detail, play: null, amount, currency, actor, href }
            }),
            next: last === undefined || lines.length === rows.length
              ? null
              : cursors.write([last.at, last.rank, last.tie, lastShown])
          }
        },
        orTryAgain
      )

      return PlayerHistory.of({ gameNames: (ids) => orTryAgain(gameNames(ids)), sessions, timeline })
    })
  )
}
