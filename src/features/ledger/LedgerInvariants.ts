/**
 * Ledger invariants: each a statement over whole tables that finds violations.
 *
 * They run in time linear in the tables: every join is hashable, and invariants over the same rows share a pass. A violation found in such a pass
 * names its invariant.
 */

import { inBlockWithRepetition, standingRollbacks, typesThat, withRollbacksOf } from "./InvariantSql.ts"
import type { LedgerInvariant } from "./LedgerInvariant.ts"

/** Types of entries that name a payment. */
const ofPayments = "'deposit', 'withdrawal', 'withdrawal_rejection', 'chargeback'"

/**
 * Sums of whole numbers are exact in floating point below this, and running ones cost half as much as in `numeric`. No wallet holds so much:
 * a balance or an amount that reaches it is a violation.
 */
const inexact = "9007199254740992"

/** Payments that a new entry names, or that were changed, with all of their entries. */
const touchedPayments = {
  ctes: `named AS MATERIALIZED (SELECT payment_request_id AS id FROM $entries n WHERE payment_request_id IS NOT NULL),
      touched AS MATERIALIZED (SELECT * FROM payment_requests
        WHERE updated_at >= $since OR created_at >= $since OR id IN (SELECT id FROM named)), `,
  payments: "touched",
  entries: "$entriesOfPayments",
  // not those of the same time that name another
  condition: " AND payment_request_id IN (SELECT id FROM touched UNION SELECT id FROM named)"
}

/** One pass over the entries that name payments, or should. */
const paymentsStatement = ({ condition, ctes, entries, payments }: typeof touchedPayments): string =>
  `WITH ${ctes}entries AS MATERIALIZED (SELECT id, player_id, type, wallet, amount, payment_request_id
        FROM ${entries} n WHERE $operator AND (payment_request_id IS NOT NULL OR type IN (${ofPayments})))
      SELECT 'payment_is_its_entries' AS rule, coalesce(p.player_id, e.player_id) AS player_id,
        'payment ' || coalesce(p.id, e.payment_request_id) AS subject,
        CASE WHEN p.id IS NULL THEN 'entries name a payment that does not exist'
          WHEN p.player_id <> e.player_id THEN 'entries of another player name it'
          ELSE 'a ' || p.status || ' ' || p.type || ' of ' || p.amount || CASE WHEN p.is_reversed THEN ', reversed,' ELSE '' END
            || ' has ' || coalesce(e.entries, 0) || ' entries that sum to ' || coalesce(e.sum, 0) END AS message
      FROM (SELECT *,
          CASE WHEN type = 'deposit' AND status <> 'paid' THEN 0
            WHEN type = 'deposit' THEN CASE WHEN is_reversed THEN 2 ELSE 1 END
            WHEN status IN ('rejected', 'cancelled') THEN 2 ELSE 1 END AS entries_due,
          CASE WHEN type = 'deposit' AND (status <> 'paid' OR is_reversed) THEN 0
            WHEN type = 'deposit' THEN amount
            WHEN status IN ('rejected', 'cancelled') THEN 0 ELSE -amount END AS sum_due
        FROM ${payments} q WHERE $operator) p
      FULL JOIN (SELECT payment_request_id, min(player_id) AS player_id, count(*) AS entries, sum(amount) AS sum
        FROM entries WHERE payment_request_id IS NOT NULL${condition} GROUP BY payment_request_id) e
        ON e.payment_request_id = p.id
      WHERE p.id IS NULL OR p.player_id <> e.player_id OR coalesce(e.entries, 0) <> p.entries_due
        OR coalesce(e.sum, 0) <> p.sum_due
      UNION ALL
      SELECT 'payment_entry_names_its_payment', player_id, 'entry ' || id, 'a ' || type || ' without a payment'
      FROM entries WHERE payment_request_id IS NULL
      UNION ALL
      SELECT 'payment_entry_moves_its_amount', e.player_id, 'entry ' || e.id,
        'a ' || e.type || ' of ' || e.amount || ' in the ' || e.wallet || ' wallet names a ' || p.status || ' ' || p.type
          || ' of ' || p.amount
      FROM entries e JOIN ${payments} p ON p.id = e.payment_request_id
      WHERE e.wallet <> 'real' OR NOT CASE e.type
        WHEN 'deposit' THEN p.type = 'deposit' AND e.amount = p.amount
        WHEN 'chargeback' THEN p.type = 'deposit' AND p.is_reversed AND e.amount = -p.amount
        WHEN 'withdrawal' THEN p.type = 'withdrawal' AND e.amount = -p.amount
        WHEN 'withdrawal_rejection' THEN p.type = 'withdrawal' AND p.status IN ('rejected', 'cancelled')
          AND e.amount = p.amount
        ELSE false END`

/** Aggregate of the first violation by entry number, as text that sorts by number: constant memory for a million violations. */
const first = (message: string, condition: string): string =>
  `min(lpad(seq::text, 20, '0') || 'entry ' || id || E'\\n' || ${message}) FILTER (WHERE ${condition})`
const subjectOf = (found: string): string => `split_part(substr(${found}, 21), E'\\n', 1)`
const messageOf = (found: string): string => `split_part(${found}, E'\\n', 2)`

/** Bonuses that a new entry names, or that began or ended since, with all of their entries. */
const touchedBonuses = {
  ctes: `WITH touched AS MATERIALIZED (SELECT * FROM player_bonuses
        WHERE created_at >= $since OR started_at >= $since OR finished_at >= $since
          OR id IN (SELECT player_bonus_id FROM $entries n WHERE player_bonus_id IS NOT NULL))
      `,
  bonuses: "touched",
  entries: "$entriesOfBonuses"
}

/** One pass over the bonuses beside their entries. */
const bonusesStatement = ({ bonuses, ctes, entries }: typeof touchedBonuses): string =>
  `${ctes}SELECT found.rule, b.player_id, 'bonus ' || b.id AS subject, found.message
      FROM (SELECT * FROM ${bonuses} q WHERE $operator) b
      LEFT JOIN (SELECT player_bonus_id, player_id,
          sum(CASE WHEN type = 'bonus_correction_up' THEN amount ELSE 0 END) AS granted,
          sum(CASE WHEN type = 'bonus_conversion' AND wallet = 'real' THEN amount ELSE 0 END) AS converted,
          sum(CASE WHEN type <> 'bonus_conversion' AND wallet = 'real' THEN amount ELSE 0 END) AS late,
          sum(CASE WHEN type = 'bonus_correction_down' THEN -amount ELSE 0 END) AS gone,
          sum(CASE WHEN type IN ('correction_up', 'correction_down') THEN amount ELSE 0 END) AS from_real
        FROM ${entries} n WHERE $operator AND player_bonus_id IS NOT NULL GROUP BY player_bonus_id, player_id) e
        ON e.player_bonus_id = b.id AND e.player_id = b.player_id
      CROSS JOIN LATERAL (
        SELECT 'bonus_is_its_entries' AS rule, 'a ' || b.state || ' bonus of ' || b.amount || ', of which '
          || b.converted || ' converted and ' || b.late_amount || ' came later, has entries of ' || coalesce(e.granted, 0) || ' granted, '
          || coalesce(e.converted, 0) || ' converted and ' || coalesce(e.late, 0) || ' later' AS message
        WHERE coalesce(e.granted, 0) <> CASE WHEN b.started_at IS NULL THEN 0 ELSE coalesce(b.imported_balance, b.amount) + b.restored_amount END
          OR coalesce(e.late, 0) <> b.late_amount OR coalesce(e.converted, 0) <> b.converted
        UNION ALL
        SELECT 'conversion_within_its_cap', 'converted ' || b.converted || ', and ' || b.late_amount || ' came later, of at most '
          || b.max_conversion
        WHERE b.max_conversion > 0 AND b.converted + greatest(b.late_amount, 0) > b.max_conversion
        UNION ALL
        -- what went without a game came back to it since, paid off what it was short of, or came from the real wallet
        SELECT 'lost_forfeited_nothing', 'lost, and ' || coalesce(e.gone, 0) || ' of it was forfeited or moved out, of which '
          || b.restored_amount + coalesce(e.from_real, 0) || ' came back, and it is short of ' || b.short_amount
        WHERE b.result = 'lost' AND coalesce(e.from_real, 0) <= 0
          AND coalesce(e.gone, 0) <> b.restored_amount + coalesce(e.from_real, 0) - b.short_amount) found`

interface Ledgers {
  /** Entries, with what they go on from. */
  readonly entries: string
  /** Accounts, with the ledgers that they had when they were verified. */
  readonly accounts: string
  /** What is added to a sum of entries, of each entry and of each account. */
  readonly from: { readonly entries: string; readonly real: string; readonly bonus: string }
  readonly verified: { readonly entries: string; readonly real: string; readonly bonus: string }
}

/** One pass over every ledger: numbering, balances, sums, ownership. */
const ledgersStatement = ({ accounts, entries, from, verified }: Ledgers): string => {
  const real = `${verified.real} coalesce(l.real, 0)`
  const bonus = `${verified.bonus} coalesce(l.bonus, 0)`
  const count = `${verified.entries} coalesce(l.entries, 0)`
  return `SELECT found.rule, player_id, found.subject, found.message
      FROM (SELECT coalesce(a.player_id, l.player_id) AS player_id, l.gap, l.real_break, l.bonus_break,
          CASE WHEN a.entry_seq IS NULL OR a.real_balance <> ${real} OR a.bonus_balance <> ${bonus} OR a.entry_seq <> ${count}
            THEN 'the account says ' || coalesce(a.real_balance || ' real, ' || a.bonus_balance || ' bonus, ' || a.entry_seq
              || ' entries', 'nothing') || '; the ledger ' || (${real}) || ' real, ' || (${bonus}) || ' bonus, ' || (${count}) || ' entries' END AS account_message,
          CASE WHEN l.player_id IS NOT NULL
              AND (p.id IS NULL OR p.operator_id <> l.lowest_operator OR p.operator_id <> l.highest_operator)
            THEN 'its entries name operators ' || l.lowest_operator || ' to ' || l.highest_operator || ', the player '
              || coalesce(p.operator_id::text, 'does not exist') END AS operator_message
        FROM (SELECT player_id, count(*) AS entries, sum(CASE wallet WHEN 'real' THEN amount ELSE 0 END) AS real,
            sum(CASE wallet WHEN 'real' THEN 0 ELSE amount END) AS bonus, min(operator_id) AS lowest_operator,
            max(operator_id) AS highest_operator,
            ${first("'entry number ' || seq || ' stands where ' || place || ' should'", "seq <> place")} AS gap,
            ${
    first(
      "'the real balance after it is ' || balance_after || ', the entries sum to ' || running_real::text::numeric",
      `wallet = 'real' AND (balance_after <> running_real OR abs(running_real) >= ${inexact} OR abs(amount) >= ${inexact})`
    )
  } AS real_break,
            ${
    first(
      "'the ' || wallet || ' balance after it is ' || balance_after || ', the entries sum to ' || running_bonus::text::numeric",
      `wallet <> 'real' AND (balance_after <> running_bonus OR abs(running_bonus) >= ${inexact} OR abs(amount) >= ${inexact})`
    )
  } AS bonus_break
          FROM (SELECT player_id, operator_id, id, seq, wallet, amount, balance_after, ${from.entries} row_number() OVER history AS place,
              ${from.real} sum(CASE wallet WHEN 'real' THEN amount ELSE 0 END::float8) OVER history AS running_real,
              ${from.bonus} sum(CASE wallet WHEN 'real' THEN 0 ELSE amount END::float8) OVER history AS running_bonus
            FROM ${entries}
            WINDOW history AS (PARTITION BY player_id ORDER BY seq ROWS UNBOUNDED PRECEDING)) walked
          GROUP BY player_id) l
        FULL JOIN (${accounts}) a ON a.player_id = l.player_id
        LEFT JOIN players p ON p.id = l.player_id) ledgers
      CROSS JOIN LATERAL (VALUES
        ('entries_without_gap', ${subjectOf("gap")}, ${messageOf("gap")}),
        ('balance_chain', ${subjectOf("real_break")}, ${messageOf("real_break")}),
        ('balance_chain', ${subjectOf("bonus_break")}, ${messageOf("bonus_break")}),
        ('account_is_its_ledger', 'player ' || player_id, account_message),
        ('entry_of_its_operator', 'player ' || player_id, operator_message)) AS found (rule, subject, message)
      WHERE (gap IS NOT NULL OR real_break IS NOT NULL OR bonus_break IS NOT NULL OR account_message IS NOT NULL
        OR operator_message IS NOT NULL) AND found.message IS NOT NULL`
}

const nothing = { entries: "", real: "", bonus: "" }

export const ledgerInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    // one pass over every ledger: numbering, balances, sums, ownership
    rule: ["entries_without_gap", "balance_chain", "account_is_its_ledger", "entry_of_its_operator"],
    seconds: 24,
    statement: ledgersStatement({
      entries: "ledger_entries WHERE $operator",
      accounts: "SELECT * FROM accounts WHERE $operator",
      from: nothing,
      verified: nothing
    }),
    // goes on from the ledgers as they were found to be
    incremental: ledgersStatement({
      entries: `(SELECT e.*, coalesce(v.entries, 0) AS entries, coalesce(v.real_balance, 0) AS real_balance,
          coalesce(v.bonus_balance, 0) AS bonus_balance
        FROM (SELECT * FROM $entries n WHERE $operator) e LEFT JOIN ledger_verified_players v ON v.player_id = e.player_id
        WHERE e.seq NOT BETWEEN 1 AND coalesce(v.entries, 0)) n`,
      accounts: `SELECT coalesce(a.player_id, v.player_id) AS player_id, a.real_balance, a.bonus_balance, a.entry_seq,
          v.entries, v.real_balance AS verified_real, v.bonus_balance AS verified_bonus
        FROM (SELECT * FROM accounts WHERE $operator) a
        FULL JOIN (SELECT * FROM ledger_verified_players WHERE $operator) v ON v.player_id = a.player_id`,
      from: { entries: "entries +", real: "real_balance +", bonus: "bonus_balance +" },
      verified: {
        entries: "coalesce(a.entries, 0) +",
        real: "coalesce(a.verified_real, 0) +",
        bonus: "coalesce(a.verified_bonus, 0) +"
      }
    })
  },
  {
    rule: "entry_id_once",
    seconds: 7,
    statement:
      `SELECT min(player_id) AS player_id, 'entry ' || id AS subject, count(*) || ' entries have this id' AS message
      FROM $entries e WHERE $operator AND ${
        inBlockWithRepetition("id", "$entries n WHERE $operator")
      } GROUP BY id HAVING count(*) > 1`
  },
  {
    rule: "negative_balance",
    seconds: 2,
    // the stake that stands again is new, what it stood for may not be
    statement: `${withRollbacksOf("$allTransactions")}
      SELECT player_id, 'entry ' || id AS subject,
        'a ' || type || ' leaves ' || balance_after || ' in the ' || wallet || ' wallet' AS message
      FROM $entries e
      WHERE $operator AND balance_after < 0 AND (wallet <> 'real'
        OR (amount < 0 AND type NOT IN (${typesThat("overdraws")})
          -- a stake that stands again is taken whatever the balance
          AND (type <> 'casino_bet' OR id NOT IN (SELECT unnest(s.entry_ids) FROM rollbacks s
            JOIN rollbacks r ON r.provider_id = s.provider_id AND r.transaction_id = s.target_transaction_id))))`
  },
  {
    // one pass over the entries that name payments, or should
    rule: ["payment_is_its_entries", "payment_entry_names_its_payment", "payment_entry_moves_its_amount"],
    seconds: 9,
    statement: paymentsStatement({ ctes: "", payments: "payment_requests", entries: "ledger_entries", condition: "" }),
    incremental: paymentsStatement(touchedPayments)
  },
  {
    rule: "payment_went_a_known_way",
    statement: `SELECT player_id, 'payment ' || id AS subject, 'a ' || status || ' ' || type
        || CASE WHEN is_reversed THEN ', reversed' ELSE '' END || ', whose dates or reason tell otherwise' AS message
      FROM payment_requests
      WHERE $operator AND NOT (
        (status = 'paid') = (paid_at IS NOT NULL)
        AND (status = 'rejected') = (rejected_at IS NOT NULL) AND (status = 'rejected') = (reject_reason IS NOT NULL)
        AND (status = 'cancelled') = (cancelled_at IS NOT NULL)
        AND (type <> 'deposit' OR status = 'paid')
        AND (NOT is_reversed OR type = 'deposit'))`
  },
  {
    rule: "withdrawn_is_its_requests",
    statement: `SELECT a.player_id, 'player ' || a.player_id AS subject,
        'the account says ' || a.withdrawn || ' withdrawn, the requests sum to ' || coalesce(w.total, 0) AS message
      FROM (SELECT * FROM accounts WHERE $operator) a
      LEFT JOIN (SELECT player_id, sum(amount) AS total FROM (
          SELECT player_id, amount FROM payment_requests
          WHERE $operator AND type = 'withdrawal' AND status NOT IN ('rejected', 'cancelled')
          UNION ALL SELECT player_id, unverified_withdrawn FROM imported_players WHERE $operator) parts GROUP BY player_id) w
        ON w.player_id = a.player_id
      WHERE a.withdrawn <> coalesce(w.total, 0)`
  },
  {
    rule: "transaction_moves_its_amount",
    seconds: 4,
    statement: `SELECT player_id, 'transaction ' || transaction_id || ' of provider ' || provider_id AS subject,
        'a ' || kind || ' of ' || amount || ' moved ' || real_amount || ' real and ' || bonus_amount || ' bonus' AS message
      FROM $transactions t
      WHERE CASE
        WHEN status = 'ignored' OR kind = 'tombstone' THEN real_amount <> 0 OR bonus_amount <> 0
        WHEN kind = 'bet' THEN real_amount > 0 OR bonus_amount > 0 OR real_amount + bonus_amount <> -amount
        WHEN kind = 'promo_win' OR kind = 'adjustment' AND player_bonus_id IS NULL THEN real_amount <> amount OR bonus_amount <> 0
        WHEN kind = 'adjustment' AND amount < 0 THEN real_amount > 0 OR bonus_amount > 0 OR real_amount + bonus_amount <> amount
        WHEN kind IN ('win', 'adjustment') THEN real_amount < 0 OR bonus_amount < 0 OR real_amount + bonus_amount > amount
        ELSE false END`
  },
  {
    rule: "conversion_in_pairs",
    seconds: 2,
    statement: `SELECT player_id, 'bonus ' || coalesce(player_bonus_id::text, 'unnamed') AS subject,
        'its conversions sum to ' || sum(amount) AS message
      FROM $entries e WHERE $operator AND type = 'bonus_conversion'
      GROUP BY player_id, player_bonus_id HAVING sum(amount) <> 0 OR player_bonus_id IS NULL`
  },
  {
    // one pass over the bonuses beside their entries
    rule: ["bonus_is_its_entries", "conversion_within_its_cap", "lost_forfeited_nothing"],
    seconds: 4,
    statement: bonusesStatement({ ctes: "", bonuses: "player_bonuses", entries: "ledger_entries" }),
    incremental: bonusesStatement(touchedBonuses)
  },
  {
    // where another bonus runs, the one whose end is undone runs or waits
    rule: "undone_while_another_ran",
    statement: `SELECT b.player_id, 'bonus ' || b.id AS subject,
        'its conversion was undone, and it was cancelled while the bonus ' || min(c.id) || ' ran' AS message
      FROM (SELECT * FROM player_bonuses WHERE $operator AND result = 'cancelled') b
      JOIN (SELECT DISTINCT player_id, player_bonus_id, created_at FROM $entries n
        WHERE $operator AND type = 'bonus_conversion' AND wallet = 'real' AND amount < 0) e
        ON e.player_bonus_id = b.id AND e.player_id = b.player_id AND e.created_at = b.finished_at
      JOIN player_bonuses c ON c.player_id = b.player_id
      LEFT JOIN (SELECT subject FROM audit_log WHERE action = 'bonus.cancel') a ON a.subject = 'player_bonus:' || b.id
      WHERE a.subject IS NULL AND c.id <> b.id AND c.state <> 'pending' AND c.started_at <= b.finished_at
        AND (c.finished_at IS NULL OR c.finished_at > b.finished_at)
      GROUP BY b.player_id, b.id`
  },
  {
    // rounds of originals name no bonus: those of the time in which it was wagered count in full
    rule: "conversion_was_wagered",
    statement: `${withRollbacksOf("$wagers")}
      SELECT b.player_id, 'bonus ' || b.id AS subject, 'converted, with ' || b.wagered || ' wagered of ' || b.wager_requirement
          || '; the bets that were not rolled back sum to ' || coalesce(b.imported_wagered, 0) + coalesce(w.wagered, 0) + coalesce(o.wagered, 0) AS message
      FROM (SELECT * FROM player_bonuses WHERE $operator AND result = 'converted' AND wager_requirement > 0 AND coalesce(finished_at, created_at) >= $since) b
      LEFT JOIN (SELECT t.player_id, t.player_bonus_id, sum(t.wagered) AS wagered
        FROM (SELECT * FROM $wagers s WHERE kind = 'bet' AND wagered > 0) t
        LEFT JOIN ${standingRollbacks} r ON r.provider_id = t.provider_id AND r.target_transaction_id = t.transaction_id
        WHERE r.provider_id IS NULL GROUP BY t.player_id, t.player_bonus_id) w
        ON w.player_bonus_id = b.id AND w.player_id = b.player_id
      LEFT JOIN (SELECT c.id, sum(p.stake * coalesce((c.contributions ->> p.game_id::text)::bigint, 100) / 100) AS wagered
        FROM player_bonuses c JOIN $roundsOfWagers p
          ON p.player_id = c.player_id AND p.created_at BETWEEN c.started_at AND c.finished_at
        WHERE c.result = 'converted' AND c.wager_requirement > 0 AND coalesce(c.finished_at, c.created_at) >= $since GROUP BY c.id) o ON o.id = b.id
      WHERE least(b.wagered, coalesce(b.imported_wagered, 0) + coalesce(w.wagered, 0) + coalesce(o.wagered, 0)) < b.wager_requirement
        OR coalesce(b.imported_wagered, 0) + coalesce(w.wagered, 0) + coalesce(o.wagered, 0) < b.wagered`
  },
  {
    rule: "entry_of_a_bonus",
    seconds: 3,
    statement:
      `SELECT e.player_id, 'entry ' || e.id AS subject, 'names a bonus that the player was never granted' AS message
      FROM (SELECT * FROM $entries n WHERE $operator AND player_bonus_id IS NOT NULL) e
      LEFT JOIN player_bonuses b ON b.id = e.player_bonus_id AND b.player_id = e.player_id
      WHERE b.id IS NULL`
  },
  {
    rule: "one_bonus_at_a_time",
    statement: `SELECT player_id, 'player ' || player_id AS subject, count(*) || ' bonuses run at once' AS message
      FROM player_bonuses WHERE $operator AND state = 'activated' GROUP BY player_id HAVING count(*) > 1`
  },
  {
    rule: "promo_code_counts",
    statement: `SELECT NULL::bigint AS player_id, 'promo code ' || c.id AS subject,
        'says ' || c.redemptions || ' redemptions of at most ' || coalesce(c.max_redemptions::text, 'any number')
          || '; there are ' || coalesce(r.redeemed, 0) AS message
      FROM (SELECT * FROM promo_codes WHERE $operator) c
      LEFT JOIN (SELECT promo_code_id, count(*) AS redeemed FROM promo_redemptions GROUP BY promo_code_id) r
        ON r.promo_code_id = c.id
      WHERE c.redemptions <> coalesce(r.redeemed, 0) OR c.redemptions > c.max_redemptions`
  },
  {
    rule: "block_is_its_entries",
    // readers make them, of entries of any time
    incremental: null,
    statement: `SELECT coalesce(b.player_id, e.player_id) AS player_id,
        'block ' || coalesce(b.block, e.block) || ' of player ' || coalesce(b.player_id, e.player_id) AS subject,
        'its summary says ' || coalesce(b.entries, 0) || ' of ' || coalesce(b.wallet, e.wallet) || ' ' || coalesce(b.type, e.type)
          || ', the ledger ' || coalesce(e.entries, 0) || ', or of another time' AS message
      FROM (SELECT k.* FROM ledger_blocks k JOIN accounts a ON a.player_id = k.player_id WHERE $operator) b
      FULL JOIN (SELECT l.player_id, ((l.seq - 1) / 256)::integer AS block, l.wallet, l.type, count(*) AS entries,
          min(l.created_at) AS first_at, max(l.created_at) AS last_at
        FROM ledger_entries l JOIN (SELECT player_id, max(block) AS last FROM ledger_blocks GROUP BY player_id) summed
          ON summed.player_id = l.player_id AND l.seq <= (summed.last + 1) * 256
        WHERE $operator GROUP BY 1, 2, 3, 4) e
        ON e.player_id = b.player_id AND e.block = b.block AND e.wallet = b.wallet AND e.type = b.type
      WHERE b.player_id IS NULL OR e.player_id IS NULL OR b.entries <> e.entries OR b.first_at <> e.first_at
        OR b.last_at <> e.last_at`
  }
]
