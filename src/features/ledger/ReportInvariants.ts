/**
 * Ledger invariants of the sums kept for reports, which commits, triggers and a job maintain: they equal the ledger and the bonus grants, day by
 * day. They share no code with what maintains the sums. `$operator` is replaced by a condition on `operator_id`.
 */
import type { LedgerInvariant } from "./LedgerInvariant.ts"

/** The day of a time. The zone is an interval, since its name would be looked up for every row. */
const dayOf = (time: string): string => `(${time} AT TIME ZONE INTERVAL '0')::date`

/**
 * Games with their provider and type. `is_mixed`: some round of the game was of another type, for which its entries have to be looked up round by
 * round. A game rarely changes its type, and a join of all entries with all rounds would take longer than everything else.
 */
const gameTypes = `SELECT coalesce(g.id, m.game_id) AS id, g.provider_id, coalesce(g.type = 'live', false) AS is_live,
    m.game_id IS NOT NULL AS is_mixed
  FROM games g FULL JOIN (SELECT DISTINCT game_id FROM (
      SELECT r.game_id FROM rounds r LEFT JOIN games n ON n.id = r.game_id WHERE r.is_live <> coalesce(n.type = 'live', false)
      UNION ALL
      SELECT o.game_id FROM original_rounds o JOIN games n ON n.id = o.game_id AND n.type = 'live') others) m
    ON m.game_id = g.id`

/** Which days a statement reads: all of them, or those that are not verified wholly. */
type Days = "all" | "new"

/** Rows of a table of these days, by a column with their time. */
const rowsOn = (days: Days, table: string, column: string): string =>
  days === "all" ? table : `(SELECT * FROM ${table} WHERE ${column} >= $day)`

/** Day of `$day`. */
const firstDay = dayOf("$day")

/** Joins of entries `e` of games that were of two types, and whether the game was live: as their round says, where it says so. */
const ofMixedGame = `JOIN game_types g ON g.id = e.game_id AND g.is_mixed
    LEFT JOIN rounds r ON r.player_id = e.player_id AND r.game_id = e.game_id AND r.round_id = e.game_round_id
    LEFT JOIN original_rounds o ON o.player_id = e.player_id AND o.game_id = e.game_id AND o.id::text = e.game_round_id`
const isLiveRound = "coalesce(r.is_live, o.id IS NULL AND g.is_live)"

/** A relation of few rows joined to a whole table: found by its key, one after the other, where the rows are new ones. */
const joined = (days: Days, table: string, condition: string): string =>
  days === "all"
    ? `${table} ON ${condition}`
    : `LATERAL (SELECT * FROM ${table} WHERE ${condition} OFFSET 0) ${table.split(" ")[1] ?? table} ON true`

/**
 * Players whose entries count apart from those of most others: test players, and players of another currency. A join of all entries with all players
 * would take longer. Entries of no player are found by `entry_of_its_operator`.
 */
const unusualPlayers =
  `SELECT id, is_test, currency FROM players WHERE $operator AND (is_test OR currency IS DISTINCT FROM (SELECT currency FROM usual))`

/** The currency of most players of the operator. */
const usualCurrency = "SELECT currency FROM players WHERE $operator GROUP BY currency ORDER BY count(*) DESC LIMIT 1"

/** Entries that totals count, with their day. */
const countedTypes = "'casino_bet', 'casino_win', 'casino_rollback', 'bonus_conversion', 'deposit', 'chargeback'"
const dated = (days: Days, types: string): string =>
  `(SELECT *, ${dayOf("created_at")} AS day FROM ${
    rowsOn(days, "ledger_entries", "created_at")
  } n WHERE $operator AND type IN (${types}))`

/** Wins of no round name no game: their message names the provider, and whether it was a tournament's prize, which counts nowhere. */
const isOfNoGame = "e.game_id IS NULL AND e.type LIKE 'casino%'"

/**
 * Amounts of the entries that totals count. Those of a game with one type are added up by game, since a join of the few groups is faster than one of
 * every entry.
 */
const moved = (days: Days): string => {
  const counted = dated(days, countedTypes)
  const apart =
    "e.operator_id, e.day, p.id IS NULL AS is_usual, p.is_test, p.currency, e.exchange_rate_id, e.type, e.wallet"
  const oneByOne = (joins: string, provider: string, isLive: string, isPrize: string, condition: string): string =>
    `SELECT ${apart}, ${provider}, ${isLive}, e.amount > 0, ${isPrize}, 1, e.amount
    FROM ${counted} e ${joins} LEFT JOIN unusual p ON p.id = e.player_id WHERE ${condition}`
  return `SELECT e.operator_id, e.day, e.is_usual, e.is_test, e.currency, e.exchange_rate_id, e.type, e.wallet, g.provider_id,
    coalesce(g.is_live, false) AS is_live, e.is_gain, false AS is_prize, e.entries, e.amount
  FROM (SELECT ${apart}, e.game_id, e.amount > 0 AS is_gain, count(*) AS entries, sum(e.amount) AS amount
    FROM ${counted} e LEFT JOIN unusual p ON p.id = e.player_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) e
  LEFT JOIN game_types g ON g.id = e.game_id WHERE g.is_mixed IS NOT TRUE AND NOT (${isOfNoGame})
  UNION ALL
  ${oneByOne(ofMixedGame, "g.provider_id", isLiveRound, "false", "true")}
  UNION ALL
  ${
    oneByOne(
      `LEFT JOIN (SELECT claimed.entry_id, t.player_id, t.provider_id,
        CASE t.kind WHEN 'rollback' THEN target.detail ELSE t.detail END LIKE 'tournament:%' AS is_prize
      FROM ${
        rowsOn(days, "provider_transactions", "created_at")
      } t CROSS JOIN LATERAL unnest(t.entry_ids) AS claimed (entry_id)
      LEFT JOIN ${
        joined(
          days,
          "provider_transactions target",
          "target.provider_id = t.provider_id AND target.transaction_id = t.target_transaction_id"
        )
      }
      WHERE t.game_id IS NULL) free ON free.entry_id = e.id AND free.player_id = e.player_id`,
      "free.provider_id",
      "false",
      "free.is_prize",
      isOfNoGame
    )
  }`
}

/** The figures of each day. */
const countedEntries = (days: Days): string =>
  `SELECT operator_id, day, coalesce(is_test, false) AS is_test, CASE WHEN is_usual THEN coalesce((SELECT currency FROM usual), '') ELSE currency END AS currency,
    coalesce(exchange_rate_id, 0) AS exchange_rate_id,
    CASE WHEN type LIKE 'casino%' THEN coalesce(provider_id, 0) ELSE 0 END AS provider_id,
    type LIKE 'casino%' AND is_live AS is_live, entries,
    CASE WHEN type = 'casino_bet' OR (type = 'casino_rollback' AND is_gain) THEN -amount ELSE 0 END AS bets,
    CASE WHEN wallet = 'bonus' AND (type = 'casino_bet' OR (type = 'casino_rollback' AND is_gain)) THEN -amount ELSE 0 END AS bonus_bets,
    CASE WHEN type = 'casino_win' OR (type = 'casino_rollback' AND NOT is_gain) THEN amount ELSE 0 END AS wins,
    CASE WHEN type = 'bonus_conversion' THEN amount ELSE 0 END AS bonus_conversions,
    CASE WHEN type = 'deposit' THEN amount ELSE 0 END AS deposits,
    CASE WHEN type = 'chargeback' THEN -amount ELSE 0 END AS chargebacks,
    0 AS withdrawals
  FROM (${moved(days)}) moved
  WHERE CASE type WHEN 'bonus_conversion' THEN wallet = 'real' WHEN 'casino_rollback' THEN is_prize IS NOT TRUE ELSE true END
  UNION ALL
  SELECT w.operator_id, ${dayOf("w.paid_at")}, p.is_test, p.currency, coalesce(w.exchange_rate_id, 0), 0, false,
    1, 0, 0, 0, 0, 0, 0, w.amount
  FROM (SELECT * FROM payment_requests WHERE $operator AND type = 'withdrawal' AND status = 'paid' AND (paid_at >= $day) IS NOT FALSE) w
  JOIN players p ON p.id = w.player_id`

const key = "operator_id, day, is_test, currency, exchange_rate_id, provider_id, is_live"
const figures = ["entries", "bets", "bonus_bets", "wins", "bonus_conversions", "deposits", "chargebacks", "withdrawals"]

const costKey = "operator_id, day, bonus_id, currency, is_test"
const costs = ["granted", "granted_amount", "finished", "converted", "forfeited"]

const gameKey = "operator_id, day, is_test, currency, provider_id"
const gameFigures = ["entries", "rounds", "bets", "bonus_bets", "wins"]

const textOf = (table: string, names = figures): string =>
  `concat_ws(' ', ${names.map((name) => `nullif(coalesce(${table}.${name}, 0), 0) || ' ${name}'`).join(", ")})`

/** Bits of how a player was active on a day: with a bet, a free one included, with a paid deposit, with a payout. */
const bits = { rng: 1, live: 2, deposit: 4, withdrawal: 8 }
const kinds = { ...bits, casino: bits.rng | bits.live }

const kindOf = (isLive: string): string => `CASE WHEN ${isLive} THEN ${bits.live} ELSE ${bits.rng} END`

/** The days on which a player was active. The order in the aggregate has the rows sorted, as they have to be for `activity`. */
const activeDays = (days: Days): string =>
  `SELECT player_id, day, operator_id, bit_or(kind ORDER BY kind) AS kinds
  FROM (SELECT e.operator_id, e.player_id, e.day, CASE WHEN e.type = 'deposit' THEN ${bits.deposit} ELSE ${
    kindOf("g.is_live")
  } END AS kind
    FROM ${
    dated(days, "'casino_bet', 'deposit'")
  } e LEFT JOIN game_types g ON g.id = e.game_id WHERE g.is_mixed IS NOT TRUE
    UNION ALL
    SELECT e.operator_id, e.player_id, e.day, ${kindOf(isLiveRound)} FROM ${
    dated(days, "'casino_bet'")
  } e ${ofMixedGame}
    UNION ALL
    SELECT a.operator_id, t.player_id, ${dayOf("t.created_at")}, ${kindOf("r.is_live")}
    FROM ${rowsOn(days, "provider_transactions", "created_at")} t
    JOIN (SELECT player_id, operator_id FROM accounts WHERE $operator) a ON a.player_id = t.player_id
    LEFT JOIN ${
    joined(days, "rounds r", "r.player_id = t.player_id AND r.game_id = t.game_id AND r.round_id = t.round_id")
  }
    WHERE t.kind = 'bet' AND t.amount = 0
    UNION ALL
    SELECT operator_id, player_id, ${dayOf("paid_at")}, ${bits.withdrawal}
    FROM payment_requests WHERE $operator AND type = 'withdrawal' AND status = 'paid' AND (paid_at >= $day) IS NOT FALSE) active
  GROUP BY player_id, day, operator_id`

/** Each active day with the one before of the same kind. */
const activity = `SELECT days.operator_id, days.day, days.kinds, p.is_test, ${
  Object.keys(kinds).map((kind) => `days.${kind}_before`).join(", ")
} FROM (SELECT *, ${
  Object.entries(kinds).map(([kind, bit]) =>
    `max(day) FILTER (WHERE kinds & ${bit} <> 0) OVER earlier AS ${kind}_before`
  )
    .join(", ")
} FROM (${activeDays("all")}) active
    WINDOW earlier AS (PARTITION BY player_id ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) days
  JOIN players p ON p.id = days.player_id`

const visits = `SELECT operator_id, day, kind, is_test, greatest(previous_day, day - 366) AS previous_day
  FROM (${
  Object.entries(kinds).map(([kind, bit]) =>
    `SELECT operator_id, day, is_test, '${kind}' AS kind, ${kind}_before AS previous_day FROM activity WHERE kinds & ${bit} <> 0`
  ).join(" UNION ALL ")
}) v`

/** The sums of each day beside what the ledger says of it. */
const dailySumsStatement = (days: Days): string =>
  `WITH game_types AS MATERIALIZED (${gameTypes}), usual AS MATERIALIZED (${usualCurrency}),
        unusual AS MATERIALIZED (${unusualPlayers})
      SELECT NULL::bigint AS player_id,
        'sums of operator ' || operator_id || ' on ' || day || ' in ' || currency AS subject,
        'provider ' || provider_id || CASE WHEN is_live THEN ', live' ELSE '' END || CASE WHEN is_test THEN ', test' ELSE '' END
          || ', rate ' || exchange_rate_id || ': the sums say ' || ${textOf("s")} || '; the ledger ' || ${
    textOf("l")
  } AS message
      FROM (SELECT ${key}, ${figures.map((name) => `sum(${name}) AS ${name}`).join(", ")}
        FROM daily_sums WHERE $operator AND day >= ${firstDay} GROUP BY ${key}) s
      FULL JOIN (SELECT ${key}, ${figures.map((name) => `sum(${name}) AS ${name}`).join(", ")} FROM (${
    countedEntries(days)
  }) counted GROUP BY ${key}) l USING (${key})
      WHERE ${figures.map((name) => `coalesce(s.${name}, 0) <> coalesce(l.${name}, 0)`).join(" OR ")}`

/** The rounds of each day beside their sums. */
const roundsStatement = (days: Days): string =>
  `SELECT NULL::bigint AS player_id, 'rounds of operator ' || operator_id || ' on ' || day AS subject,
        'provider ' || provider_id || CASE WHEN is_live THEN ', live' ELSE '' END || ': the sums say '
          || coalesce(s.rounds, 0) || ', there are ' || coalesce(l.rounds, 0) AS message
      FROM (SELECT operator_id, day, is_test, provider_id, is_live, sum(rounds) AS rounds
        FROM daily_sums WHERE $operator AND day >= ${firstDay} GROUP BY operator_id, day, is_test, provider_id, is_live) s
      FULL JOIN (SELECT p.operator_id, (r.opened_at AT TIME ZONE 'UTC')::date AS day, p.is_test, g.provider_id, r.is_live,
          count(*) AS rounds
        FROM (SELECT player_id, game_id, opened_at, is_live FROM ${rowsOn(days, "rounds", "opened_at")} n
          UNION ALL SELECT player_id, game_id, created_at, false FROM ${
    rowsOn(days, "original_rounds", "created_at")
  } n) r
        JOIN (SELECT * FROM players WHERE $operator) p ON p.id = r.player_id JOIN games g ON g.id = r.game_id
        WHERE r.is_live IS NOT NULL
        GROUP BY p.operator_id, 2, p.is_test, g.provider_id, r.is_live) l
        USING (operator_id, day, is_test, provider_id, is_live)
      WHERE coalesce(s.rounds, 0) <> coalesce(l.rounds, 0)`

export const reportInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    rule: "daily_sums_are_the_ledger",
    seconds: 15,
    statement: dailySumsStatement("all"),
    incremental: dailySumsStatement("new")
  },
  {
    rule: "daily_players_are_the_ledger",
    seconds: 35,
    statement: `WITH game_types AS MATERIALIZED (${gameTypes}), activity AS MATERIALIZED (${activity})
      SELECT NULL::bigint AS player_id, 'players of operator ' || operator_id || ' on ' || day AS subject,
        kind || ', before on ' || previous_day || ': the table says ' || coalesce(s.players, 0) || ', there are '
          || coalesce(l.players, 0) AS message
      FROM (SELECT operator_id, day, previous_day, kind, is_test, sum(players) AS players
        FROM daily_players WHERE $operator GROUP BY operator_id, day, previous_day, kind, is_test) s
      FULL JOIN (SELECT operator_id, day, previous_day, kind, is_test, count(*) AS players
        FROM (${visits}) v GROUP BY operator_id, day, previous_day, kind, is_test) l
        USING (operator_id, day, previous_day, kind, is_test)
      WHERE coalesce(s.players, 0) <> coalesce(l.players, 0)`,
    // how many players a day had: from which day they came back takes all of their days
    incremental: `WITH game_types AS MATERIALIZED (${gameTypes}), active AS MATERIALIZED (${activeDays("new")})
      SELECT NULL::bigint AS player_id, 'players of operator ' || operator_id || ' on ' || day AS subject,
        kind || ': the table says ' || coalesce(s.players, 0) || ', there are ' || coalesce(l.players, 0) AS message
      FROM (SELECT operator_id, day, kind, is_test, sum(players) AS players
        FROM daily_players WHERE $operator AND day >= ${firstDay} GROUP BY operator_id, day, kind, is_test) s
      FULL JOIN (SELECT v.operator_id, v.day, v.kind, p.is_test, count(*) AS players
        FROM (${
      Object.entries(kinds).map(([kind, bit]) =>
        `SELECT operator_id, player_id, day, '${kind}' AS kind FROM active WHERE kinds & ${bit} <> 0`
      ).join(" UNION ALL ")
    }) v JOIN players p ON p.id = v.player_id GROUP BY v.operator_id, v.day, v.kind, p.is_test) l
        USING (operator_id, day, kind, is_test)
      WHERE coalesce(s.players, 0) <> coalesce(l.players, 0)`
  },
  {
    rule: "rounds_are_counted",
    seconds: 9,
    statement: roundsStatement("all"),
    incremental: roundsStatement("new")
  },
  {
    rule: "round_with_a_bet_has_its_type",
    statement: `SELECT r.player_id, 'round ' || r.round_id || ' of game ' || r.game_id AS subject,
        'it has stakes or wins, and does not say whether it is live' AS message
      FROM $openRounds r
      WHERE r.is_live IS NULL AND (r.real_stake <> 0 OR r.bonus_stake <> 0 OR r.paid_wins <> 0)`
  },
  {
    rule: "rate_is_of_its_currency",
    seconds: 2,
    statement: `SELECT e.player_id, 'entry ' || e.id AS subject,
        'its player has ' || p.currency || ', its rate is of ' || coalesce(r.currency, 'nothing') AS message
      FROM (SELECT * FROM $entries n WHERE $operator AND exchange_rate_id IS NOT NULL) e
      JOIN players p ON p.id = e.player_id LEFT JOIN exchange_rates r ON r.id = e.exchange_rate_id
      WHERE r.currency IS DISTINCT FROM p.currency`
  },
  {
    rule: "game_sums_are_the_daily_sums",
    seconds: 1,
    statement: `SELECT NULL::bigint AS player_id,
        'games of operator ' || operator_id || ' on ' || day || ' in ' || currency AS subject,
        'provider ' || provider_id || CASE WHEN is_test THEN ', test' ELSE '' END
          || ': the sums by game say ' || ${textOf("g", gameFigures)} || '; those of the day ' || ${
      textOf("s", gameFigures)
    } AS message
      FROM (SELECT ${gameKey}, ${gameFigures.map((name) => `sum(${name}) AS ${name}`).join(", ")}
        FROM game_sums WHERE $operator GROUP BY ${gameKey}) g
      FULL JOIN (SELECT ${gameKey}, ${gameFigures.map((name) => `sum(${name}) AS ${name}`).join(", ")}
        FROM daily_sums WHERE $operator AND provider_id <> 0 GROUP BY ${gameKey}) s USING (${gameKey})
      CROSS JOIN game_sums_walk w
      WHERE day >= w.since AND day < (w.until AT TIME ZONE 'UTC')::date
        AND (${gameFigures.map((name) => `coalesce(g.${name}, 0) <> coalesce(s.${name}, 0)`).join(" OR ")})`
  },
  {
    rule: "bonus_costs_are_the_grants",
    statement:
      `SELECT NULL::bigint AS player_id, 'bonus ' || bonus_id || ' on ' || day || ' in ' || currency AS subject,
        CASE WHEN is_test THEN 'test: ' ELSE '' END || 'the sums say ' || ${textOf("s", costs)} || '; the grants '
          || ${textOf("g", costs)} AS message
      FROM (SELECT ${costKey}, ${costs.map((name) => `sum(${name}) AS ${name}`).join(", ")}
        FROM (SELECT * FROM bonus_costs WHERE $operator UNION ALL SELECT * FROM bonus_cost_changes WHERE $operator) kept
        GROUP BY ${costKey}) s
      FULL JOIN (SELECT ${costKey}, count(amount) AS granted, sum(amount) AS granted_amount, count(converted) AS finished,
          sum(converted) AS converted, sum(forfeited) AS forfeited
        FROM (SELECT b.operator_id, (b.created_at AT TIME ZONE 'UTC')::date AS day, b.bonus_id, p.currency, p.is_test, b.amount,
            NULL::bigint AS converted, NULL::bigint AS forfeited
          FROM (SELECT * FROM player_bonuses WHERE $operator) b JOIN players p ON p.id = b.player_id
          UNION ALL
          SELECT b.operator_id, (b.finished_at AT TIME ZONE 'UTC')::date, b.bonus_id, p.currency, p.is_test, NULL, b.converted,
            b.forfeited
          FROM (SELECT * FROM player_bonuses WHERE $operator AND finished_at IS NOT NULL) b
          JOIN players p ON p.id = b.player_id) of
        GROUP BY ${costKey}) g USING (${costKey})
      WHERE ${costs.map((name) => `coalesce(s.${name}, 0) <> coalesce(g.${name}, 0)`).join(" OR ")}`
  }
]
