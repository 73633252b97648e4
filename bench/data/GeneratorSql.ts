/**
 * Statements that fill a database with a casino's year: players, their ledgers, and the rows related to entries. All of it is
 * arithmetic on the number of a player and of an entry, so that every statement can run alone, in any order, and again.
 */
import { Schema } from "effect"
import { cycleLength, cycleRounds, cycleRows, steps } from "./Cycle.ts"
import { noDay } from "../../src/domain/state/Activity.ts"
import { firstNames, lastNames, mailDomains, usernamePrefixes } from "./Names.ts"

export const Shape = Schema.Struct({
  players: Schema.Int,
  entries: Schema.Int,
  /** Everything happened before, epoch milliseconds. */
  endsAt: Schema.Int,
  /** The operator with nearly all players, then the small ones. */
  operatorIds: Schema.Array(Schema.Int),
  /** Free ids from here on: see {@link idsNeeded}. */
  firstId: Schema.Int
})
export type Shape = typeof Shape.Type

export const days = 366
const daySeconds = 86_400

/** Of a hundred players so many belong to the first operator. */
const bigShare = 96
const gamesPerProvider = 4
const providers = 4

/** The player with the longest ledger, by number, and how long it is. */
export const heavyPlayer = (shape: Pick<Shape, "players" | "entries">) => ({
  number: Math.max(1, Math.floor(shape.players / 3)),
  entries: Math.min(100_000, Math.floor(shape.entries / 10))
})

const literal = (value: string | number | null): string =>
  value === null ? "NULL" : typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`

const textArray = (values: ReadonlyArray<string>): string => `ARRAY[${values.map(literal).join(",")}]`

/** A number from 0 to `below` − 1 that looks random and belongs to the player's number. */
const pick = (seed: number, below: number): string => `((hashint8extended(i, ${seed}) & 1073741823) % ${below})`

const element = (values: ReadonlyArray<string>, index: string): string => `(${textArray(values)})[1 + ${index}]`

/** `bench_cycle`, `bench_games` and the corresponding catalogue. */
export const catalogueStatements = (shape: Shape): ReadonlyArray<string> => [
  `CREATE UNLOGGED TABLE bench_cycle (pos integer, kind text, wallet text, type text, amount integer, real_sum integer,
    bonus_sum integer, round integer, bet_pos integer, win_pos integer, rollback_pos integer, bonus_pos integer)`,
  `INSERT INTO bench_cycle VALUES ${cycleRows().map((row) => `(${row.map(literal).join(", ")})`).join(", ")}`,
  `INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
    SELECT ${shape.firstId} + k, 'generated-' || k, 'Generated ' || k, 'generated-' || k, '\\x00', now(), now()
    FROM generate_series(0, ${providers - 1}) k`,
  `INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
    SELECT ${shape.firstId} + 100 + k, ${shape.firstId} + k / ${gamesPerProvider}, 'g' || k, 'Game ' || k,
      CASE WHEN k % 5 = 4 THEN 'live' ELSE 'rng' END, CASE WHEN k % 5 = 4 THEN 'live' ELSE 'slots' END, now(), now()
    FROM generate_series(0, ${providers * gamesPerProvider - 1}) k`,
  `CREATE UNLOGGED TABLE bench_games AS SELECT (id - ${shape.firstId} - 100)::integer AS number, id, provider_id, type = 'live' AS is_live
    FROM games WHERE id >= ${shape.firstId} + 100 AND id < ${shape.firstId} + 200`,
  `INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at, updated_at)
    SELECT ${shape.firstId} + 200 + k, (ARRAY[${
    shape.operatorIds.join(",")
  }]::bigint[])[1 + k], 'Reload', 'no_deposit', 2000, 20,
      7, now(), now() FROM generate_series(0, ${shape.operatorIds.length - 1}) k`
]

/** Slug of a round's provider and its name of the game; player and round by number, as in {@link entriesOf}. */
export const gameOfRound = (player: number, round: number): { readonly provider: string; readonly game: string } => {
  const number = (player * 7 + round * 5) % (providers * gamesPerProvider)
  return { provider: `generated-${Math.floor(number / gamesPerProvider)}`, game: `g${number}` }
}

/** Id of the first operator's bonus. */
export const offeredBonus = ({ firstId }: Shape): number => firstId + 200

/** Ids below this offset are the catalogue's. */
const catalogueIds = 1000

const firstPlayerId = (shape: Shape): number => shape.firstId + catalogueIds

/** The id of the player with a number from 1. */
export const playerId = (shape: Shape, number: number): number => firstPlayerId(shape) + number - 1

/** An upper bound of the entries that are made of `entries` that were asked for. */
const entriesAtMost = (shape: Pick<Shape, "entries">): number => shape.entries * 2 + 1_000_000

/** How many ids a shape uses from `firstId` on: players, entries, and as many again for payments and for bonuses. */
export const idsNeeded = (shape: Pick<Shape, "players" | "entries">): number =>
  catalogueIds + shape.players + 3 * entriesAtMost(shape)

/** The first id of the entries; a payment or a bonus has the id of its entry and once or twice `entriesAtMost` more. */
const firstEntryId = (shape: Shape): number => firstPlayerId(shape) + shape.players

/**
 * `bench_players`: the numbers that everything about a player follows from. One player has a very long ledger, one in 10,000 a
 * long one, one in 200 one of some hundred entries; a third of the others has none and the rest a few.
 */
export const playerNumbersStatement = (shape: Shape): string => {
  const heavy = heavyPlayer(shape)
  const long = Math.floor(shape.entries / 1000)
  const medium = Math.floor(shape.entries / 20_000)
  const spent = heavy.entries + Math.ceil(shape.players / 10_000) * long + Math.ceil(shape.players / 200) * medium
  const mean = Math.max(0, shape.entries - spent) / shape.players
  const small = shape.operatorIds.length - 1
  return `CREATE UNLOGGED TABLE bench_players AS
    SELECT i, id, operator_id, is_test, n, unit, began, ended - began AS span,
      (sum(n) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) - n)::bigint AS entries_before
    FROM (
      SELECT i, ${firstPlayerId(shape)} + i - 1 AS id,
        (ARRAY[${shape.operatorIds.join(",")}]::bigint[])[CASE WHEN ${small} = 0 OR i = ${heavy.number}
          OR ${pick(1, 100)} < ${bigShare} THEN 1 ELSE 2 + ${pick(2, Math.max(1, small))} END] AS operator_id,
        CASE WHEN i = ${heavy.number} THEN ${heavy.entries}
          WHEN i % 10000 = 17 THEN ${long}
          WHEN i % 200 = 3 THEN ${medium}
          WHEN ${pick(3, 3)} = 0 THEN 0
          ELSE ceil(${mean} * 3 * (${pick(4, 1000)} + 0.5) / 1000)::bigint END AS n,
        ${pick(23, 500)} = 0 AS is_test, (1 + ${pick(5, 20)}) * 50 AS unit,
        ${shape.endsAt / 1000}::float8 - ${days * daySeconds} + ${
    days * daySeconds - daySeconds
  }::float8 * i / ${shape.players} AS began,
        ${shape.endsAt / 1000}::float8 - ${pick(6, daySeconds)}::float8 / 2 AS ended
      FROM generate_series(1::bigint, ${shape.players}) i
    ) numbers`
}

const at = (seconds: string): string => `date_trunc('milliseconds', to_timestamp(${seconds}))`

/** The players with numbers from `from` to `to`. */
export const playerStatements = (from: number, to: number): ReadonlyArray<string> => {
  const range = `i BETWEEN ${from} AND ${to}`
  const lastName = element(
    lastNames,
    `CASE WHEN ${pick(12, 2)} = 0 THEN ${pick(13, 20)} WHEN ${pick(12, 4)} < 3 THEN ${pick(13, lastNames.length - 2)}
      WHEN ${pick(14, 1000)} = 0 THEN ${lastNames.length - 1} ELSE ${pick(15, lastNames.length - 1)} END`
  )
  return [
    `INSERT INTO players (id, operator_id, external_id, username, email, first_name, last_name, birth_date, country, city, phone,
        language, currency, category, is_test, created_at, updated_at, status, kyc_status)
      SELECT id, operator_id, 'x' || i,
        CASE WHEN ${pick(16, 10)} = 0 THEN ${element(usernamePrefixes, pick(17, usernamePrefixes.length))} || '_' || i
          ELSE lower(first_name) || i END,
        CASE WHEN ${pick(18, 50)} = 0 THEN lower(first_name) || '@' || lower(last_name) || '-' || i || '.example'
          ELSE lower(first_name) || '.' || lower(last_name) || i || '@' || ${
      element(mailDomains, pick(19, mailDomains.length))
    } END,
        first_name, last_name, date '1950-01-01' + ${pick(20, 20_000)}::integer,
        ${element(["MT", "DE", "SE", "FI", "NO", "PL", "CZ", "IT", "ES", "PT"], pick(21, 10))}, 'Town ' || ${
      pick(22, 500)
    },
        '+35699' || lpad(i::text, 8, '0'), 'en', 'EUR', 'regular', is_test, ${at("began")},
        ${at("began")}, CASE WHEN ${pick(24, 100)} < 97 THEN 'active' WHEN ${
      pick(25, 3)
    } < 2 THEN 'locked' ELSE 'closed' END,
        CASE WHEN ${pick(26, 100)} < 45 THEN 'not_started' WHEN ${pick(26, 100)} < 95 THEN 'verified'
          WHEN ${pick(26, 100)} < 97 THEN 'pending_review' WHEN ${pick(26, 100)} < 99 THEN 'rejected' ELSE 'expired' END
      FROM (SELECT *, ${element(firstNames, pick(11, firstNames.length))} AS first_name, ${lastName} AS last_name
        FROM bench_players WHERE ${range}) named ORDER BY i`
  ]
}

/**
 * The accounts of players with numbers from `from` to `to`, from `bench_visits`: on which days they were last active is written with
 * them, as the commits of a service would have.
 */
export const accountsStatement = (from: number, to: number, shape: Shape): string => {
  const full = `(b.n / ${cycleLength})`
  const dayNumber = (column: string, kind: string) =>
    `coalesce(max(${column} - date '1970-01-01') FILTER (WHERE kind = '${kind}'), ${noDay})`
  const activity = ["rng", "live", "deposit", "withdrawal"].flatMap((kind) => [
    dayNumber("day", kind),
    dayNumber("previous_day", kind)
  ])
  return `INSERT INTO accounts (player_id, operator_id, version, entry_seq, wallet_seq, real_balance, bonus_balance, withdrawn,
        provider_ids, activity, real_updated_at, bonus_updated_at)
      SELECT b.id, b.operator_id, b.n, b.n, b.n, b.unit * (${full} * ${cycleNet} + coalesce(c.real_sum, 0)),
        b.unit * coalesce(c.bonus_sum, 0),
        b.unit * (${full} * ${cycleWithdrawn} + CASE WHEN b.n % ${cycleLength} >= ${withdrawalPosition} THEN ${cycleWithdrawn} ELSE 0 END),
        ARRAY[${Array.from({ length: providers }, (_, k) => shape.firstId + k).join(",")}]::bigint[],
        coalesce(v.activity, ''), ${at("began")}, ${at("began")}
      FROM bench_players b LEFT JOIN bench_cycle c ON c.pos = b.n % ${cycleLength}
      LEFT JOIN (
        SELECT player_id, concat_ws(',', ${
    activity.join(", ")
  }) AS activity FROM bench_visits WHERE is_last GROUP BY player_id
      ) v ON v.player_id = b.id
      WHERE i BETWEEN ${from} AND ${to} ORDER BY i`
}

const cycleNet = steps.reduce((sum, { amount, wallet }) => sum + (wallet === "real" ? amount : 0), 0)
const withdrawalPosition = steps.findIndex(({ type }) => type === "withdrawal") + 1
const cycleWithdrawn = -(steps[withdrawalPosition - 1]?.amount ?? 0)

/** A part of the year, in seconds since the epoch: `from` included, `to` not. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The year in so many parts, which hold about as many entries each: there are more players in its later months. */
export const spans = (count: number, shape: Shape): ReadonlyArray<Span> => {
  const seconds = days * daySeconds
  const begin = shape.endsAt / 1000 - seconds
  const edge = (index: number) => begin + seconds * Math.sqrt(index / count)
  return Array.from({ length: count }, (_, index) => ({ from: edge(index), to: edge(index + 1) }))
}

/** The entries of a span, one row each, with all that any table says of them. A player's are spread evenly over the player's time. */
const entriesOf = ({ from, to }: Span, shape: Shape): string => {
  const number = (time: number) => `ceil((${time}::float8 - b.began) / b.span * b.n + 0.5)::bigint`
  return `(SELECT b.id AS player_id, b.operator_id, b.is_test, b.unit, b.n, s.seq, ${
    firstEntryId(shape)
  } + b.entries_before + s.seq AS id,
      c.pos, c.kind, c.wallet, c.type, c.amount * b.unit AS amount,
      b.unit * CASE c.wallet WHEN 'real' THEN (s.seq - 1) / ${cycleLength} * ${cycleNet} + c.real_sum ELSE c.bonus_sum END
        AS balance_after,
      'r' || b.id || '-' || ((s.seq - 1) / ${cycleLength} * ${cycleRounds} + c.round) AS round_id,
      g.id AS game_id, g.provider_id, g.is_live, s.seq - c.pos AS cycle_start, c.bet_pos, c.win_pos, c.rollback_pos, c.bonus_pos,
      ${at("b.began + b.span * (s.seq - 0.5) / b.n")} AS created_at
    FROM bench_players b
    CROSS JOIN LATERAL generate_series(greatest(1, ${number(from)}), least(b.n, ${number(to)} - 1)) AS s (seq)
    JOIN bench_cycle c ON c.pos = (s.seq - 1) % ${cycleLength} + 1
    LEFT JOIN bench_games g ON c.round IS NOT NULL
      AND g.number = (b.i * 7 + ((s.seq - 1) / ${cycleLength} * ${cycleRounds} + c.round) * 5) % ${
    providers * gamesPerProvider
  }
    WHERE b.n > 0 AND b.began < ${to}) e`
}

/** A payment of an entry, the bonus of a grant: their ids follow from the entry's. */
const paymentId = (shape: Shape): string => `e.id + ${entriesAtMost(shape)}`
const bonusId = (shape: Shape, entryId: string): string => `${entryId} + ${2 * entriesAtMost(shape)}`

/** Withdrawals of the last days wait for staff. */
const isWaiting = (shape: Shape): string =>
  `e.type = 'withdrawal' AND e.created_at > to_timestamp(${shape.endsAt / 1000 - 3 * daySeconds})`

/**
 * Everything that happened in a span, to be run in one session: first its entries with all that any table says of them, in the order
 * of time, then a statement per table, which writes its rows in that order, as a service would.
 */
export const historyStatements = (span: Span, shape: Shape): ReadonlyArray<string> => {
  const entries = "bench_entries"
  // of the entry of the grant that the money came from
  const ownBonus = `CASE WHEN e.bonus_pos IS NOT NULL THEN ${bonusId(shape, "(e.id - e.pos + e.bonus_pos)")} END`
  const waiting = isWaiting(shape)
  return [
    `CREATE TEMP TABLE bench_entries AS SELECT e.*, ${waiting} AS is_waiting FROM ${
      entriesOf(span, shape)
    } ORDER BY created_at`,
    `INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, payment_request_id, game_id,
        game_round_id, player_bonus_id, created_at)
      SELECT player_id, seq, id, operator_id, wallet, type, amount, balance_after,
        CASE WHEN kind = 'payment' THEN ${paymentId(shape)} END, game_id, round_id, ${ownBonus}, created_at
      FROM ${entries} e`,
    `INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, game_id, round_id,
        target_transaction_id, real_amount, bonus_amount, entry_ids, player_bonus_id, created_at, operator_id)
      SELECT provider_id, 't' || player_id || '-' || seq, player_id, kind, 'processed', abs(amount), game_id, round_id,
        CASE WHEN kind <> 'bet' THEN 't' || player_id || '-' || (cycle_start + bet_pos) END,
        CASE wallet WHEN 'real' THEN amount ELSE 0 END, CASE wallet WHEN 'real' THEN 0 ELSE amount END, ARRAY[id], ${ownBonus},
        created_at, operator_id
      FROM ${entries} e WHERE e.game_id IS NOT NULL`,
    `INSERT INTO rounds (player_id, game_id, round_id, real_stake, bonus_stake, paid_wins, player_bonus_id, closed, opened_at, is_live,
        operator_id, open_bets, won)
      SELECT player_id, game_id, round_id, CASE WHEN wallet = 'real' AND NOT taken_back THEN -amount ELSE 0 END,
        CASE WHEN wallet = 'bonus' AND NOT taken_back THEN -amount ELSE 0 END, is_won::integer,
        ${ownBonus}, true, created_at, is_live, operator_id, (NOT taken_back AND NOT is_won)::integer,
        CASE WHEN is_won THEN unit * (SELECT c.amount FROM bench_cycle c WHERE c.pos = e.win_pos) ELSE 0 END
      FROM (SELECT *, coalesce(cycle_start + rollback_pos <= n, false) AS taken_back, coalesce(cycle_start + win_pos <= n, false) AS is_won
        FROM ${entries} WHERE kind = 'bet') e`,
    `INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, payment_method, external_reference,
        created_at, paid_at, updated_at)
      SELECT ${
      paymentId(shape)
    }, operator_id, player_id, type, CASE WHEN is_waiting THEN 'new' ELSE 'paid' END, abs(amount), 'EUR',
        'card', 'p' || e.id, created_at, CASE WHEN NOT is_waiting THEN created_at END, created_at
      FROM ${entries} e WHERE kind = 'payment'`,
    `INSERT INTO player_bonuses (id, operator_id, player_id, bonus_id, name, type, state, result, amount, wager_requirement, wagered,
        max_bet, max_conversion, valid_days, contributions, open_rounds, converted, forfeited, started_at, expires_at, finished_at,
        created_at)
      SELECT ${bonusId(shape, "e.id")}, operator_id, player_id,
        (SELECT o.id FROM bonuses o WHERE o.operator_id = e.operator_id AND o.id >= ${shape.firstId} ORDER BY o.id LIMIT 1), 'Reload',
        'no_deposit', CASE WHEN played THEN 'finished' ELSE 'activated' END, CASE WHEN played THEN 'lost' END, amount, amount * 20,
        CASE WHEN played THEN amount ELSE 0 END, 0, 0, 7, '{}', 0, 0, 0, created_at, created_at + interval '1 year',
        CASE WHEN played THEN created_at + interval '1 hour' END, created_at
      FROM (SELECT *, n >= seq + ${bonusSteps - 1} AS played FROM ${entries} WHERE kind = 'bonus') e`
  ]
}

/** From the grant to the bet that loses the last of it. */
const bonusSteps = steps.findLastIndex(({ wallet }) => wallet === "bonus") -
  steps.findIndex(({ kind }) => kind === "bonus") + 1

/** Where everything goes: each statement's table, for indexes to be made afterwards and for statistics. */
export const filledTables = [
  "players",
  "accounts",
  "ledger_entries",
  "provider_transactions",
  "rounds",
  "payment_requests",
  "player_bonuses",
  "daily_sums",
  "daily_players"
] as const

/** The numbers that triggers keep, which are silent while this is generated. */
export const countStatements = (shape: Shape): ReadonlyArray<string> => [
  `INSERT INTO player_counts (operator_id, created_on, status, kyc_status, rows, folded)
    SELECT operator_id, created_at::date, status, kyc_status, count(*), true FROM players WHERE id >= ${shape.firstId}
    GROUP BY 1, 2, 3, 4`,
  `INSERT INTO payment_counts (operator_id, created_on, type, status, rows, folded)
    SELECT operator_id, created_at::date, type, status, count(*), true FROM payment_requests WHERE id >= ${shape.firstId}
    GROUP BY 1, 2, 3, 4`,
  `INSERT INTO bonus_costs (operator_id, day, bonus_id, currency, is_test, granted, granted_amount, finished, converted, forfeited)
    SELECT b.operator_id, c.at::date, b.bonus_id, p.currency, p.is_test, sum(c.granted), sum(c.amount), sum(c.finished), 0, 0
    FROM player_bonuses b JOIN players p ON p.id = b.player_id
      CROSS JOIN LATERAL (VALUES (b.created_at, 1, b.amount, 0), (b.finished_at, 0, 0, 1)) c (at, granted, amount, finished)
    WHERE b.id >= ${shape.firstId} AND c.at IS NOT NULL GROUP BY 1, 2, 3, 4, 5`
]

export const scaffolding = ["bench_cycle", "bench_games", "bench_players", "bench_days"] as const
