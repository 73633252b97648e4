/**
 * Ledger invariants: each a statement over whole tables that finds violations.
 *
 * They run in time linear in the tables: every join is hashable, and invariants over the same rows share a pass. A violation found in such a pass
 * names its invariant.
 */

import { type EntryType, entryTypes } from "../../domain/state/Change.ts"
import type { LedgerInvariant } from "./LedgerInvariant.ts"

/** Whether a provider transaction names the entry, and whether the entry may leave the real wallet below zero. */
const traits: { readonly [type in EntryType]: { readonly ofGame: boolean; readonly overdraws: boolean } } = {
  deposit: { ofGame: false, overdraws: false },
  withdrawal: { ofGame: false, overdraws: false },
  withdrawal_rejection: { ofGame: false, overdraws: false },
  correction_up: { ofGame: false, overdraws: false },
  correction_down: { ofGame: false, overdraws: true },
  bonus_correction_up: { ofGame: false, overdraws: false },
  bonus_correction_down: { ofGame: false, overdraws: false },
  bonus_conversion: { ofGame: false, overdraws: true },
  casino_bet: { ofGame: true, overdraws: false },
  casino_win: { ofGame: true, overdraws: false },
  casino_rollback: { ofGame: true, overdraws: true },
  loyalty_exchange: { ofGame: false, overdraws: false },
  tournament_prize: { ofGame: true, overdraws: false },
  chargeback: { ofGame: false, overdraws: true }
}

const typesThat = (trait: "ofGame" | "overdraws"): string =>
  entryTypes.filter((type) => traits[type][trait]).map((type) => `'${type}'`).join(", ")

/** Types of entries that name a payment. */
const ofPayments = "'deposit', 'withdrawal', 'withdrawal_rejection', 'chargeback'"

/** Replaces `$operator` and `$transactions` for one operator or, with undefined, for all. */
export const forOperator = (statement: string, operatorId: number | undefined): string => {
  const condition = operatorId === undefined ? "true" : `operator_id = ${Math.trunc(operatorId)}`
  // those from before each named its operator do not all name it yet: their player does
  const transactions = operatorId === undefined
    ? "provider_transactions"
    : "(SELECT t.* FROM provider_transactions t JOIN accounts a ON a.player_id = t.player_id WHERE a.$operator)"
  return statement.replaceAll("$transactions", transactions).replaceAll("$operator", condition)
}

const claimed = "t.provider_id, t.transaction_id, t.player_id, t.kind, t.real_amount, t.bonus_amount"

/** Each transaction beside each entry that it names. Nearly all name one, which is read faster than it is unnested. */
const claims = `(SELECT ${claimed}, 1 AS parts, t.entry_ids[1] AS entry_id
  FROM $transactions t WHERE cardinality(t.entry_ids) = 1 AND t.entry_ids[1] IS NOT NULL
  UNION ALL
  SELECT ${claimed}, cardinality(t.entry_ids), unnest(t.entry_ids)
  FROM $transactions t WHERE cardinality(t.entry_ids) <> 1 OR t.entry_ids[1] IS NULL)`

/**
 * Ids that a relation holds twice are looked for in blocks of 64: a block has as many ids as bits, or it holds one twice. That needs
 * neither a sort of all ids nor a group for each.
 */
const inBlockWithRepetition = (id: string, relation: string): string =>
  `${id} >> 6 IN (SELECT block FROM (SELECT ${id} >> 6 AS block, 1::bigint << (${id} & 63)::integer AS bit FROM ${relation}) bits
      GROUP BY block HAVING count(*) <> bit_count(bit_or(bit)::bit(64)))`

/** Of statements that name rollbacks twice: read once. */
const withRollbacks =
  `WITH rollbacks AS MATERIALIZED (SELECT t.provider_id, t.transaction_id, t.target_transaction_id, t.player_id, t.entry_ids
    FROM $transactions t WHERE t.kind = 'rollback' AND t.status = 'processed')`

/** Rollbacks that were not taken back in their turn. */
const standingRollbacks =
  `(SELECT r.provider_id, r.target_transaction_id, r.player_id FROM rollbacks r LEFT JOIN rollbacks s
  ON s.provider_id = r.provider_id AND s.target_transaction_id = r.transaction_id WHERE s.provider_id IS NULL)`

const named = (alias: string): string =>
  `'transaction ' || ${alias}.transaction_id || ' of provider ' || ${alias}.provider_id`

/**
 * Sums of whole numbers are exact in floating point below this, and running ones cost half as much as in `numeric`. No wallet holds so much:
 * a balance or an amount that reaches it is a violation.
 */
const inexact = "9007199254740992"

/** Aggregate of the first violation by entry number, as text that sorts by number: constant memory for a million violations. */
const first = (message: string, condition: string): string =>
  `min(lpad(seq::text, 20, '0') || 'entry ' || id || E'\\n' || ${message}) FILTER (WHERE ${condition})`
const subjectOf = (found: string): string => `split_part(substr(${found}, 21), E'\\n', 1)`
const messageOf = (found: string): string => `split_part(${found}, E'\\n', 2)`

export const ledgerInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    // one pass over every ledger: numbering, balances, sums, ownership
    rule: ["entries_without_gap", "balance_chain", "account_is_its_ledger", "entry_of_its_operator"],
    seconds: 24,
    statement: `SELECT found.rule, player_id, found.subject, found.message
      FROM (SELECT coalesce(a.player_id, l.player_id) AS player_id, l.gap, l.real_break, l.bonus_break,
          CASE WHEN a.player_id IS NULL OR a.real_balance <> coalesce(l.real, 0) OR a.bonus_balance <> coalesce(l.bonus, 0)
              OR a.entry_seq <> coalesce(l.entries, 0)
            THEN 'the account says ' || coalesce(a.real_balance || ' real, ' || a.bonus_balance || ' bonus, ' || a.entry_seq
              || ' entries', 'nothing') || '; the ledger ' || coalesce(l.real, 0) || ' real, ' || coalesce(l.bonus, 0)
              || ' bonus, ' || coalesce(l.entries, 0) || ' entries' END AS account_message,
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
          FROM (SELECT player_id, operator_id, id, seq, wallet, amount, balance_after, row_number() OVER history AS place,
              sum(CASE wallet WHEN 'real' THEN amount ELSE 0 END::float8) OVER history AS running_real,
              sum(CASE wallet WHEN 'real' THEN 0 ELSE amount END::float8) OVER history AS running_bonus
            FROM ledger_entries WHERE $operator
            WINDOW history AS (PARTITION BY player_id ORDER BY seq ROWS UNBOUNDED PRECEDING)) walked
          GROUP BY player_id) l
        FULL JOIN (SELECT * FROM accounts WHERE $operator) a ON a.player_id = l.player_id
        LEFT JOIN players p ON p.id = l.player_id) ledgers
      CROSS JOIN LATERAL (VALUES
        ('entries_without_gap', ${subjectOf("gap")}, ${messageOf("gap")}),
        ('balance_chain', ${subjectOf("real_break")}, ${messageOf("real_break")}),
        ('balance_chain', ${subjectOf("bonus_break")}, ${messageOf("bonus_break")}),
        ('account_is_its_ledger', 'player ' || player_id, account_message),
        ('entry_of_its_operator', 'player ' || player_id, operator_message)) AS found (rule, subject, message)
      WHERE (gap IS NOT NULL OR real_break IS NOT NULL OR bonus_break IS NOT NULL OR account_message IS NOT NULL
        OR operator_message IS NOT NULL) AND found.message IS NOT NULL`
  },
  {
    rule: "entry_id_once",
    seconds: 7,
    statement:
      `SELECT min(player_id) AS player_id, 'entry ' || id AS subject, count(*) || ' entries have this id' AS message
      FROM ledger_entries WHERE $operator AND ${
        inBlockWithRepetition("id", "ledger_entries WHERE $operator")
      } GROUP BY id HAVING count(*) > 1`
  },
  {
    rule: "negative_balance",
    seconds: 2,
    statement: `${withRollbacks}
      SELECT player_id, 'entry ' || id AS subject,
        'a ' || type || ' leaves ' || balance_after || ' in the ' || wallet || ' wallet' AS message
      FROM ledger_entries
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
    statement: `WITH entries AS MATERIALIZED (SELECT id, player_id, type, wallet, amount, payment_request_id
        FROM ledger_entries WHERE $operator AND (payment_request_id IS NOT NULL OR type IN (${ofPayments})))
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
        FROM payment_requests WHERE $operator) p
      FULL JOIN (SELECT payment_request_id, min(player_id) AS player_id, count(*) AS entries, sum(amount) AS sum
        FROM entries WHERE payment_request_id IS NOT NULL GROUP BY payment_request_id) e
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
      FROM entries e JOIN payment_requests p ON p.id = e.payment_request_id
      WHERE e.wallet <> 'real' OR NOT CASE e.type
        WHEN 'deposit' THEN p.type = 'deposit' AND e.amount = p.amount
        WHEN 'chargeback' THEN p.type = 'deposit' AND p.is_reversed AND e.amount = -p.amount
        WHEN 'withdrawal' THEN p.type = 'withdrawal' AND e.amount = -p.amount
        WHEN 'withdrawal_rejection' THEN p.type = 'withdrawal' AND p.status IN ('rejected', 'cancelled')
          AND e.amount = p.amount
        ELSE false END`
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
      LEFT JOIN (SELECT player_id, sum(amount) AS total FROM payment_requests
        WHERE $operator AND type = 'withdrawal' AND status NOT IN ('rejected', 'cancelled') GROUP BY player_id) w
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
        WHEN kind IN ('promo_win', 'adjustment') THEN real_amount <> amount OR bonus_amount <> 0
        WHEN kind = 'win' THEN real_amount < 0 OR bonus_amount < 0 OR real_amount + bonus_amount > amount
        ELSE false END`
  },
  {
    rule: "conversion_in_pairs",
    seconds: 2,
    statement: `SELECT player_id, 'bonus ' || coalesce(player_bonus_id::text, 'unnamed') AS subject,
        'its conversions sum to ' || sum(amount) AS message
      FROM ledger_entries WHERE $operator AND type = 'bonus_conversion'
      GROUP BY player_id, player_bonus_id HAVING sum(amount) <> 0 OR player_bonus_id IS NULL`
  },
  {
    // one pass over the bonuses beside their entries
    rule: ["bonus_is_its_entries", "conversion_within_its_cap", "lost_forfeited_nothing"],
    seconds: 4,
    statement: `SELECT found.rule, b.player_id, 'bonus ' || b.id AS subject, found.message
      FROM (SELECT * FROM player_bonuses WHERE $operator) b
      LEFT JOIN (SELECT player_bonus_id, player_id,
          sum(CASE WHEN type = 'bonus_correction_up' THEN amount ELSE 0 END) AS granted,
          sum(CASE WHEN type = 'bonus_conversion' AND wallet = 'real' THEN amount ELSE 0 END) AS converted,
          sum(CASE WHEN type <> 'bonus_conversion' AND wallet = 'real' THEN amount ELSE 0 END) AS late,
          sum(CASE WHEN type = 'bonus_correction_down' THEN -amount ELSE 0 END) AS gone,
          sum(CASE WHEN type IN ('correction_up', 'correction_down') THEN amount ELSE 0 END) AS from_real
        FROM ledger_entries WHERE $operator AND player_bonus_id IS NOT NULL GROUP BY player_bonus_id, player_id) e
        ON e.player_bonus_id = b.id AND e.player_id = b.player_id
      CROSS JOIN LATERAL (
        SELECT 'bonus_is_its_entries' AS rule, 'a ' || b.state || ' bonus of ' || b.amount || ', of which '
          || b.converted || ' converted and ' || b.late_amount || ' came later, has entries of ' || coalesce(e.granted, 0) || ' granted, '
          || coalesce(e.converted, 0) || ' converted and ' || coalesce(e.late, 0) || ' later' AS message
        WHERE coalesce(e.granted, 0) <> CASE WHEN b.started_at IS NULL THEN 0 ELSE b.amount + b.restored_amount END
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
  },
  {
    // where another bonus runs, the one whose end is undone runs or waits
    rule: "undone_while_another_ran",
    statement: `SELECT b.player_id, 'bonus ' || b.id AS subject,
        'its conversion was undone, and it was cancelled while the bonus ' || min(c.id) || ' ran' AS message
      FROM (SELECT * FROM player_bonuses WHERE $operator AND result = 'cancelled') b
      JOIN (SELECT DISTINCT player_id, player_bonus_id, created_at FROM ledger_entries
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
    statement: `${withRollbacks}
      SELECT b.player_id, 'bonus ' || b.id AS subject, 'converted, with ' || b.wagered || ' wagered of ' || b.wager_requirement
          || '; the bets that were not rolled back sum to ' || coalesce(w.wagered, 0) + coalesce(o.wagered, 0) AS message
      FROM (SELECT * FROM player_bonuses WHERE $operator AND result = 'converted' AND wager_requirement > 0) b
      LEFT JOIN (SELECT t.player_id, t.player_bonus_id, sum(t.wagered) AS wagered
        FROM (SELECT * FROM $transactions s WHERE kind = 'bet' AND wagered > 0) t
        LEFT JOIN ${standingRollbacks} r ON r.provider_id = t.provider_id AND r.target_transaction_id = t.transaction_id
        WHERE r.provider_id IS NULL GROUP BY t.player_id, t.player_bonus_id) w
        ON w.player_bonus_id = b.id AND w.player_id = b.player_id
      LEFT JOIN (SELECT c.id, sum(p.stake * coalesce((c.contributions ->> p.game_id::text)::bigint, 100) / 100) AS wagered
        FROM player_bonuses c JOIN original_rounds p
          ON p.player_id = c.player_id AND p.created_at BETWEEN c.started_at AND c.finished_at
        WHERE c.result = 'converted' AND c.wager_requirement > 0 GROUP BY c.id) o ON o.id = b.id
      WHERE least(b.wagered, coalesce(w.wagered, 0) + coalesce(o.wagered, 0)) < b.wager_requirement
        OR coalesce(w.wagered, 0) + coalesce(o.wagered, 0) < b.wagered`
  },
  {
    rule: "entry_of_a_bonus",
    seconds: 3,
    statement:
      `SELECT e.player_id, 'entry ' || e.id AS subject, 'names a bonus that the player was never granted' AS message
      FROM (SELECT * FROM ledger_entries WHERE $operator AND player_bonus_id IS NOT NULL) e
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
        FROM ${claims} c FULL JOIN (SELECT id, player_id, type, wallet, amount, game_id, game_round_id FROM ledger_entries WHERE $operator) e
          ON e.id = c.entry_id AND e.player_id = c.player_id
        WHERE c.entry_id IS NULL AND e.type IN (${typesThat("ofGame")})
          OR c.parts = 1 AND (e.id IS NULL OR c.real_amount <> CASE e.wallet WHEN 'real' THEN e.amount ELSE 0 END
            OR c.bonus_amount <> CASE e.wallet WHEN 'real' THEN 0 ELSE e.amount END)) pair
      LEFT JOIN original_rounds r
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
        FROM ${claims} claim JOIN ledger_entries e ON e.id = claim.entry_id AND e.player_id = claim.player_id
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
    statement:
      `SELECT CASE r.kind WHEN 'win' THEN 'win_has_its_bet' ELSE 'rollback_has_its_target' END AS rule, r.player_id,
        ${
        named("r")
      } AS subject, CASE r.kind WHEN 'win' THEN 'a win of ' ELSE 'takes back ' END || r.target_transaction_id || ', which '
          || coalesce('is a ' || t.status || ' ' || t.kind
            || CASE WHEN t.player_id <> r.player_id THEN ' of another player' ELSE '' END, 'was never seen') AS message
      FROM $transactions r LEFT JOIN provider_transactions t
        ON t.provider_id = r.provider_id AND t.transaction_id = r.target_transaction_id
      WHERE (r.kind = 'win' AND r.target_transaction_id IS NOT NULL AND r.detail IS DISTINCT FROM 'without_bet'
          OR r.kind = 'rollback' AND r.status = 'processed')
        AND (t.transaction_id IS NULL OR t.player_id <> r.player_id
          OR CASE r.kind WHEN 'win' THEN t.kind <> 'bet'
            ELSE t.status <> 'processed' OR t.kind NOT IN ('bet', 'win', 'promo_win', 'adjustment', 'rollback') END)`
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
      WHERE t.kind IS DISTINCT FROM 'bet'`
  },
  {
    // a win without a bet, or paid before its bet arrived, still has a round
    rule: "win_has_its_round",
    seconds: 2,
    statement: `SELECT t.player_id, ${named("t")} AS subject,
        'a win of the round ' || coalesce(t.round_id, 'without a name') || ', which ' || CASE WHEN r.player_id IS NULL THEN 'is not there'
          ELSE 'has seen neither bet nor win' END AS message
      FROM (SELECT * FROM $transactions w WHERE kind = 'win' AND (target_transaction_id IS NULL OR detail = 'without_bet')) t
      LEFT JOIN rounds r ON r.player_id = t.player_id AND r.game_id = t.game_id AND r.round_id = t.round_id
      WHERE r.is_live IS NULL`
  },
  {
    // every win may settle a bet; without wins the count is exact
    rule: "open_bets_are_its_bets",
    seconds: 14,
    statement: `${withRollbacks}
      SELECT r.player_id, 'round ' || r.round_id || ' of game ' || r.game_id AS subject,
        'it says ' || r.open_bets || ' open bets; ' || r.standing || ' stand, and ' || r.wins || ' wins may have settled some' AS message
      FROM (SELECT n.player_id, n.game_id, n.round_id, n.open_bets,
          count(*) FILTER (WHERE t.kind = 'bet' AND s.provider_id IS NULL) AS standing, count(*) FILTER (WHERE t.kind = 'win') AS wins
        FROM (SELECT * FROM rounds WHERE open_bets IS NOT NULL) n
        JOIN (SELECT player_id FROM accounts WHERE $operator) a ON a.player_id = n.player_id
        LEFT JOIN (SELECT * FROM provider_transactions WHERE kind IN ('bet', 'win')) t
          ON t.player_id = n.player_id AND t.game_id = n.game_id AND t.round_id = n.round_id
        LEFT JOIN ${standingRollbacks} s ON s.provider_id = t.provider_id AND s.target_transaction_id = t.transaction_id
        GROUP BY n.player_id, n.game_id, n.round_id, n.open_bets) r
      WHERE r.open_bets NOT BETWEEN r.standing - r.wins AND r.standing`
  },
  {
    rule: "block_is_its_entries",
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
