/** Ledger invariants of provider transactions: each agrees with the ledger entries, the message and the round that it names. */
import { inBlockWithRepetition, standingRollbacks, typesThat, withRollbacksOf } from "./InvariantSql.ts"
import type { LedgerInvariant } from "./LedgerInvariant.ts"

const withRollbacks = withRollbacksOf("$transactions")

const claimed = "t.provider_id, t.transaction_id, t.player_id, t.kind, t.real_amount, t.bonus_amount"

/** Each transaction beside each entry that it names. Nearly all name one, which is read faster than it is unnested. */
const claims = `(SELECT ${claimed}, 1 AS parts, t.entry_ids[1] AS entry_id
  FROM $transactions t WHERE cardinality(t.entry_ids) = 1 AND t.entry_ids[1] IS NOT NULL
  UNION ALL
  SELECT ${claimed}, cardinality(t.entry_ids), unnest(t.entry_ids)
  FROM $transactions t WHERE cardinality(t.entry_ids) <> 1 OR t.entry_ids[1] IS NULL)`

const named = (alias: string): string =>
  `'transaction ' || ${alias}.transaction_id || ' of provider ' || ${alias}.provider_id`

/** Rows found by their keys, one after the other: few are asked for. OFFSET is an optimisation fence. */
const lookedUp = (rows: string): string => `SELECT * FROM ${rows} OFFSET 0`

const isTargetOf = (alias: string): string =>
  `t.provider_id = ${alias}.provider_id AND t.transaction_id = ${alias}.target_transaction_id`

/** Each win and rollback beside the message that it names. */
const targetsStatement = (target: string, isTarget: string): string =>
  `SELECT CASE r.kind WHEN 'win' THEN 'win_has_its_bet' ELSE 'rollback_has_its_target' END AS rule, r.player_id,
        ${
    named("r")
  } AS subject, CASE r.kind WHEN 'win' THEN 'a win of ' ELSE 'takes back ' END || r.target_transaction_id || ', which '
          || coalesce('is a ' || t.status || ' ' || t.kind
            || CASE WHEN t.player_id <> r.player_id THEN ' of another player' ELSE '' END, 'was never seen') AS message
      FROM $transactions r LEFT JOIN ${target} ON ${isTarget}
      WHERE (r.kind = 'win' AND r.target_transaction_id IS NOT NULL AND r.detail IS DISTINCT FROM 'without_bet'
          OR r.kind = 'rollback' AND r.status = 'processed')
        AND (t.transaction_id IS NULL OR t.player_id <> r.player_id
          OR CASE r.kind WHEN 'win' THEN t.kind <> 'bet'
            ELSE t.status <> 'processed' OR t.kind NOT IN ('bet', 'win', 'promo_win', 'adjustment', 'rollback') END)`

const isRoundOf = (alias: string): string =>
  `r.player_id = ${alias}.player_id AND r.game_id = ${alias}.game_id AND r.round_id = ${alias}.round_id`

/** A win without a bet, or paid before its bet arrived, still has a round. */
const winRoundsStatement = (round: string, isRound: string): string =>
  `SELECT t.player_id, ${named("t")} AS subject,
        'a win of the round ' || coalesce(t.round_id, 'without a name') || ', which ' || CASE WHEN r.player_id IS NULL THEN 'is not there'
          ELSE 'has seen neither bet nor win' END AS message
      FROM (SELECT * FROM $transactions w WHERE kind = 'win' AND (target_transaction_id IS NULL OR detail = 'without_bet')) t
      LEFT JOIN ${round} r ON ${isRound}
      WHERE r.is_live IS NULL`

export const transactionInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    rule: "rolled_back_once",
    seconds: 3,
    statement: `${withRollbacks}
      SELECT min(player_id) AS player_id,
        'transaction ' || target_transaction_id || ' of provider ' || provider_id AS subject,
        'rolled back ' || count(*) || ' times' AS message
      FROM ${standingRollbacks} t GROUP BY provider_id, target_transaction_id HAVING count(*) > 1`
  },
  {
    // every entry beside the message that names it
    rule: ["game_entry_has_its_transaction", "transaction_is_its_entries"],
    seconds: 27,
    statement: `SELECT found.rule, found.player_id, found.subject, found.message
      FROM (SELECT e.id, e.player_id AS entry_player, e.type, e.wallet, e.amount, e.game_id, e.game_round_id, c.*
        FROM ${claims} c FULL JOIN (SELECT id, player_id, type, wallet, amount, game_id, game_round_id FROM $entries n WHERE $operator) e
          ON e.id = c.entry_id AND e.player_id = c.player_id
        WHERE c.entry_id IS NULL AND e.type IN (${typesThat("ofGame")})
          OR c.parts = 1 AND (e.id IS NULL OR c.real_amount <> CASE e.wallet WHEN 'real' THEN e.amount ELSE 0 END
            OR c.bonus_amount <> CASE e.wallet WHEN 'real' THEN 0 ELSE e.amount END)) pair
      LEFT JOIN $originalRounds r
        ON r.player_id = pair.entry_player AND r.game_id = pair.game_id AND r.id::text = pair.game_round_id
      CROSS JOIN LATERAL (
        SELECT 'game_entry_has_its_transaction' AS rule, pair.entry_player AS player_id, 'entry ' || pair.id AS subject,
          'a ' || pair.type || ' that no transaction names' AS message
        WHERE pair.entry_id IS NULL AND r.id IS NULL
        UNION ALL
        SELECT 'transaction_is_its_entries', pair.player_id, ${
      named("pair")
    }, 'a ' || pair.kind || ' of ' || pair.real_amount
          || ' real and ' || pair.bonus_amount || ' bonus names the entry ' || pair.entry_id || ', '
          || coalesce('a ' || pair.type || ' of ' || pair.amount || ' ' || pair.wallet, 'which is not there')
        WHERE pair.entry_id IS NOT NULL) found`
  },
  {
    // the few messages that moved nothing or posted several entries: the others are above
    rule: "transaction_is_its_entries",
    statement: `SELECT t.player_id, ${named("t")} AS subject,
        'a ' || t.kind || ' of ' || t.real_amount || ' real and ' || t.bonus_amount || ' bonus names '
          || cardinality(t.entry_ids) || ' entries; there are ' || coalesce(c.entries, 0) || ' of '
          || coalesce(c.real, 0) || ' real and ' || coalesce(c.bonus, 0) || ' bonus' AS message
      FROM $transactions t
      LEFT JOIN (SELECT claim.provider_id, claim.transaction_id, count(*) AS entries,
          sum(CASE e.wallet WHEN 'real' THEN e.amount ELSE 0 END) AS real,
          sum(CASE e.wallet WHEN 'real' THEN 0 ELSE e.amount END) AS bonus
        FROM ${claims} claim JOIN $entries e ON e.id = claim.entry_id AND e.player_id = claim.player_id
        WHERE claim.parts > 1 GROUP BY claim.provider_id, claim.transaction_id) c
        ON c.provider_id = t.provider_id AND c.transaction_id = t.transaction_id
      WHERE cardinality(t.entry_ids) <> 1 AND (coalesce(c.entries, 0) <> cardinality(t.entry_ids)
        OR coalesce(c.real, 0) <> t.real_amount OR coalesce(c.bonus, 0) <> t.bonus_amount)`
  },
  {
    rule: "entry_of_one_transaction",
    seconds: 14,
    statement: `SELECT min(player_id) AS player_id, 'entry ' || entry_id AS subject,
        count(*) || ' transactions name it' AS message
      FROM ${claims} claim WHERE ${
      inBlockWithRepetition("entry_id", `${claims} named`)
    } GROUP BY entry_id HAVING count(*) > 1`
  },
  {
    rule: ["rollback_has_its_target", "win_has_its_bet"],
    seconds: 15,
    statement: targetsStatement("provider_transactions t", isTargetOf("r")),
    incremental: targetsStatement(`LATERAL (${lookedUp(`provider_transactions t WHERE ${isTargetOf("r")}`)}) t`, "true")
  },
  {
    rule: "reinstated_is_a_bet",
    seconds: 3,
    statement:
      `${withRollbacks}, reinstated AS MATERIALIZED (SELECT s.player_id, s.provider_id, s.transaction_id, r.target_transaction_id
        FROM rollbacks s JOIN rollbacks r ON r.provider_id = s.provider_id AND r.transaction_id = s.target_transaction_id)
      SELECT s.player_id, ${named("s")} AS subject, 'takes back a rollback of '
          || coalesce('a ' || t.kind, 'what was never seen') AS message
      FROM reinstated s
      LEFT JOIN provider_transactions t ON t.provider_id = s.provider_id AND t.transaction_id = s.target_transaction_id
      WHERE t.kind IS DISTINCT FROM 'bet'`,
    incremental: `SELECT s.player_id, ${named("s")} AS subject, 'takes back a rollback of '
          || coalesce('a ' || t.kind, 'what was never seen') AS message
      FROM (SELECT * FROM $transactions n WHERE kind = 'rollback' AND status = 'processed') s
      JOIN LATERAL (${lookedUp(`provider_transactions t WHERE ${isTargetOf("s")}`)}) r
        ON r.kind = 'rollback' AND r.status = 'processed'
      LEFT JOIN LATERAL (${lookedUp(`provider_transactions t WHERE ${isTargetOf("r")}`)}) t ON true
      WHERE t.kind IS DISTINCT FROM 'bet'`
  },
  {
    // a win without a bet, or paid before its bet arrived, still has a round
    rule: "win_has_its_round",
    seconds: 2,
    statement: winRoundsStatement("rounds", isRoundOf("t")),
    incremental: winRoundsStatement(`LATERAL (${lookedUp(`rounds r WHERE ${isRoundOf("t")}`)})`, "true")
  },
  {
    // every win may settle a bet; without wins the count is exact
    rule: "open_bets_are_its_bets",
    seconds: 35,
    // one pass over both: grouping rounds and messages together costs less than a join of them
    statement: `${withRollbacksOf("$openTransactions")}
      SELECT r.player_id, 'round ' || r.round_id || ' of game ' || r.game_id AS subject,
        'it says ' || r.open_bets || ' open bets' || CASE WHEN r.rounds > 1 THEN ', and is stored ' || r.rounds || ' times' ELSE '' END
          || '; ' || r.standing || ' stand, and ' || r.wins || ' wins may have settled some' AS message
      FROM (SELECT player_id, game_id, round_id, max(open_bets) AS open_bets, count(open_bets) AS rounds,
          count(*) FILTER (WHERE is_standing) AS standing, count(*) FILTER (WHERE is_win) AS wins
        FROM (SELECT player_id, game_id, round_id, open_bets, false AS is_standing, false AS is_win FROM $openRounds o
          UNION ALL
          SELECT t.player_id, t.game_id, t.round_id, NULL, t.kind = 'bet' AND s.provider_id IS NULL, t.kind = 'win'
          FROM (SELECT * FROM $openTransactions o WHERE kind IN ('bet', 'win')) t
          LEFT JOIN ${standingRollbacks} s
            ON s.provider_id = t.provider_id AND s.target_transaction_id = t.transaction_id) counted
        GROUP BY player_id, game_id, round_id) r
      WHERE r.open_bets NOT BETWEEN r.standing - r.wins AND r.standing OR r.rounds > 1`
  }
]
