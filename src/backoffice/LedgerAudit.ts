/**
 * Proves the ledger: every law of money that stands in the tables, checked over all of them in one snapshot.
 *
 * Each check is one statement over whole tables. They read what the journal wrote and share no code with it, so that a mistake
 * there does not hide here.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Refusal } from "../domain/Refusal.ts"
import { orTryAgain, rowsOf } from "../players/Rows.ts"
import { type Law, toldMost, type Violation } from "./Law.ts"
import { findWrongOutcomes, originalLaws } from "./OriginalsAudit.ts"
import { reportLaws } from "./ReportLaws.ts"

export interface LedgerReport {
  readonly players: number
  readonly entries: number
  readonly violations: ReadonlyArray<Violation>
}

const violationRows = rowsOf(Schema.Struct({
  player_id: Schema.NullOr(Schema.Number),
  subject: Schema.String,
  message: Schema.String
}))
const countRows = rowsOf(Schema.Struct({ players: Schema.Number, entries: Schema.Number }))

/** Provider transactions name no operator: their player does. */
const transactions =
  `(SELECT t.* FROM provider_transactions t JOIN accounts a ON a.player_id = t.player_id WHERE $operator)`

const claims = `(SELECT t.provider_id, t.transaction_id, t.player_id, claimed.entry_id
  FROM ${transactions} t CROSS JOIN LATERAL unnest(t.entry_ids) AS claimed (entry_id))`

const laws: ReadonlyArray<Law> = [
  {
    rule: "entries_without_gap",
    statement: `SELECT DISTINCT ON (player_id) player_id, 'entry ' || id AS subject,
        'entry number ' || seq || ' stands where ' || place || ' should' AS message
      FROM (SELECT player_id, id, seq, row_number() OVER (PARTITION BY player_id ORDER BY seq) AS place
        FROM ledger_entries WHERE $operator) numbered
      WHERE seq <> place ORDER BY player_id, seq`
  },
  {
    rule: "balance_chain",
    statement: `SELECT DISTINCT ON (player_id, wallet) player_id, 'entry ' || id AS subject,
        'the ' || wallet || ' balance after it is ' || balance_after || ', the entries sum to ' || running AS message
      FROM (SELECT player_id, id, seq, wallet, balance_after, CASE wallet
          WHEN 'real' THEN sum(CASE wallet WHEN 'real' THEN amount ELSE 0 END) OVER history
          ELSE sum(CASE wallet WHEN 'real' THEN 0 ELSE amount END) OVER history END AS running
        FROM ledger_entries WHERE $operator
        WINDOW history AS (PARTITION BY player_id ORDER BY seq ROWS UNBOUNDED PRECEDING)) chained
      WHERE balance_after <> running ORDER BY player_id, wallet, seq`
  },
  {
    rule: "account_is_its_ledger",
    statement: `SELECT coalesce(a.player_id, l.player_id) AS player_id,
        'player ' || coalesce(a.player_id, l.player_id) AS subject,
        'the account says ' || coalesce(a.real_balance || ' real, ' || a.bonus_balance || ' bonus, ' || a.entry_seq
          || ' entries', 'nothing') || '; the ledger ' || coalesce(l.real, 0) || ' real, ' || coalesce(l.bonus, 0)
          || ' bonus, ' || coalesce(l.entries, 0) || ' entries' AS message
      FROM (SELECT * FROM accounts WHERE $operator) a
      FULL JOIN (SELECT player_id, count(*) AS entries, sum(CASE wallet WHEN 'real' THEN amount ELSE 0 END) AS real,
          sum(CASE wallet WHEN 'real' THEN 0 ELSE amount END) AS bonus
        FROM ledger_entries WHERE $operator GROUP BY player_id) l ON l.player_id = a.player_id
      WHERE a.player_id IS NULL OR a.real_balance <> coalesce(l.real, 0) OR a.bonus_balance <> coalesce(l.bonus, 0)
        OR a.entry_seq <> coalesce(l.entries, 0)`
  },
  {
    rule: "entry_of_its_operator",
    statement: `SELECT e.player_id, 'entry ' || e.id AS subject, 'its operator is not its player''s' AS message
      FROM (SELECT * FROM ledger_entries WHERE $operator) e LEFT JOIN players p ON p.id = e.player_id
      WHERE p.operator_id IS DISTINCT FROM e.operator_id`
  },
  {
    rule: "entry_id_once",
    statement:
      `SELECT min(player_id) AS player_id, 'entry ' || id AS subject, count(*) || ' entries have this id' AS message
      FROM ledger_entries WHERE $operator GROUP BY id HAVING count(*) > 1`
  },
  {
    rule: "negative_balance",
    statement: `SELECT player_id, 'entry ' || id AS subject,
        'a ' || type || ' leaves ' || balance_after || ' in the ' || wallet || ' wallet' AS message
      FROM ledger_entries
      WHERE $operator AND balance_after < 0 AND (wallet <> 'real'
        OR (amount < 0 AND type NOT IN ('casino_rollback', 'chargeback', 'correction_down')))`
  },
  {
    rule: "payment_is_its_entries",
    statement: `SELECT coalesce(p.player_id, e.player_id) AS player_id,
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
        FROM ledger_entries WHERE $operator AND payment_request_id IS NOT NULL GROUP BY payment_request_id) e
        ON e.payment_request_id = p.id
      WHERE p.id IS NULL OR p.player_id <> e.player_id OR coalesce(e.entries, 0) <> p.entries_due
        OR coalesce(e.sum, 0) <> p.sum_due`
  },
  {
    rule: "payment_entry_names_its_payment",
    statement: `SELECT player_id, 'entry ' || id AS subject, 'a ' || type || ' without a payment' AS message
      FROM ledger_entries
      WHERE $operator AND payment_request_id IS NULL
        AND type IN ('deposit', 'withdrawal', 'withdrawal_rejection', 'chargeback')`
  },
  {
    rule: "payment_entry_moves_its_amount",
    statement:
      `SELECT e.player_id, 'entry ' || e.id AS subject, 'a ' || e.type || ' of ' || e.amount || ' in the ' || e.wallet
        || ' wallet names a ' || p.status || ' ' || p.type || ' of ' || p.amount AS message
      FROM (SELECT * FROM ledger_entries WHERE $operator AND payment_request_id IS NOT NULL) e
      JOIN payment_requests p ON p.id = e.payment_request_id
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
    rule: "transaction_is_its_entries",
    statement: `SELECT t.player_id, 'transaction ' || t.transaction_id || ' of provider ' || t.provider_id AS subject,
        'a ' || t.kind || ' of ' || t.real_amount || ' real and ' || t.bonus_amount || ' bonus names '
          || cardinality(t.entry_ids) || ' entries; there are ' || coalesce(c.entries, 0) || ' of '
          || coalesce(c.real, 0) || ' real and ' || coalesce(c.bonus, 0) || ' bonus' AS message
      FROM ${transactions} t
      LEFT JOIN (SELECT claim.provider_id, claim.transaction_id, count(*) AS entries,
          sum(CASE e.wallet WHEN 'real' THEN e.amount ELSE 0 END) AS real,
          sum(CASE e.wallet WHEN 'real' THEN 0 ELSE e.amount END) AS bonus
        FROM ${claims} claim JOIN ledger_entries e ON e.id = claim.entry_id AND e.player_id = claim.player_id
        GROUP BY claim.provider_id, claim.transaction_id) c
        ON c.provider_id = t.provider_id AND c.transaction_id = t.transaction_id
      WHERE coalesce(c.entries, 0) <> cardinality(t.entry_ids) OR coalesce(c.real, 0) <> t.real_amount
        OR coalesce(c.bonus, 0) <> t.bonus_amount`
  },
  {
    rule: "transaction_moves_its_amount",
    statement: `SELECT player_id, 'transaction ' || transaction_id || ' of provider ' || provider_id AS subject,
        'a ' || kind || ' of ' || amount || ' moved ' || real_amount || ' real and ' || bonus_amount || ' bonus' AS message
      FROM ${transactions} t
      WHERE CASE
        WHEN status = 'ignored' OR kind = 'tombstone' THEN real_amount <> 0 OR bonus_amount <> 0
        WHEN kind = 'bet' THEN real_amount > 0 OR bonus_amount > 0 OR real_amount + bonus_amount <> -amount
        WHEN kind = 'promo_win' THEN real_amount <> amount OR bonus_amount <> 0
        WHEN kind = 'win' THEN real_amount < 0 OR bonus_amount < 0 OR real_amount + bonus_amount > amount
        ELSE false END`
  },
  {
    rule: "entry_of_one_transaction",
    statement: `SELECT min(player_id) AS player_id, 'entry ' || entry_id AS subject,
        count(*) || ' transactions name it' AS message
      FROM ${claims} claim GROUP BY entry_id HAVING count(*) > 1`
  },
  {
    rule: "game_entry_has_its_transaction",
    statement:
      `SELECT e.player_id, 'entry ' || e.id AS subject, 'a ' || e.type || ' that no transaction names' AS message
      FROM (SELECT * FROM ledger_entries
        WHERE $operator AND type IN ('casino_bet', 'casino_win', 'casino_rollback', 'tournament_prize')) e
      LEFT JOIN ${claims} claim ON claim.entry_id = e.id AND claim.player_id = e.player_id
      LEFT JOIN original_rounds r
        ON r.player_id = e.player_id AND r.game_id = e.game_id AND r.id::text = e.game_round_id
      WHERE claim.entry_id IS NULL AND r.id IS NULL`
  },
  {
    rule: "conversion_in_pairs",
    statement: `SELECT player_id, 'bonus ' || coalesce(player_bonus_id::text, 'unnamed') AS subject,
        'its conversions sum to ' || sum(amount) AS message
      FROM ledger_entries WHERE $operator AND type = 'bonus_conversion'
      GROUP BY player_id, player_bonus_id HAVING sum(amount) <> 0 OR player_bonus_id IS NULL`
  },
  {
    rule: "bonus_is_its_entries",
    statement:
      `SELECT b.player_id, 'bonus ' || b.id AS subject, 'a ' || b.state || ' bonus of ' || b.amount || ', of which '
          || b.converted || ' converted, has entries of ' || coalesce(e.granted, 0) || ' granted and '
          || coalesce(e.converted, 0) || ' converted' AS message
      FROM (SELECT * FROM player_bonuses WHERE $operator) b
      LEFT JOIN (SELECT player_bonus_id, player_id,
          sum(CASE WHEN type = 'bonus_correction_up' THEN amount ELSE 0 END) AS granted,
          sum(CASE WHEN type = 'bonus_conversion' AND wallet = 'real' THEN amount ELSE 0 END) AS converted
        FROM ledger_entries WHERE $operator AND player_bonus_id IS NOT NULL GROUP BY player_bonus_id, player_id) e
        ON e.player_bonus_id = b.id AND e.player_id = b.player_id
      WHERE coalesce(e.granted, 0) <> CASE WHEN b.started_at IS NULL THEN 0 ELSE b.amount END
        OR coalesce(e.converted, 0) <> b.converted OR (b.max_conversion > 0 AND b.converted > b.max_conversion)`
  },
  {
    rule: "entry_of_a_bonus",
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
    statement: `SELECT min(player_id) AS player_id,
        'transaction ' || target_transaction_id || ' of provider ' || provider_id AS subject,
        'rolled back ' || count(*) || ' times' AS message
      FROM ${transactions} t WHERE kind = 'rollback' AND status = 'processed'
      GROUP BY provider_id, target_transaction_id HAVING count(*) > 1`
  },
  {
    rule: "rollback_has_its_target",
    statement: `SELECT r.player_id, 'transaction ' || r.transaction_id || ' of provider ' || r.provider_id AS subject,
        'takes back ' || r.target_transaction_id || ', which ' || coalesce('is a ' || t.status || ' ' || t.kind
          || CASE WHEN t.player_id <> r.player_id THEN ' of another player' ELSE '' END, 'was never seen') AS message
      FROM ${transactions} r LEFT JOIN provider_transactions t
        ON t.provider_id = r.provider_id AND t.transaction_id = r.target_transaction_id
      WHERE r.kind = 'rollback' AND r.status = 'processed' AND (t.transaction_id IS NULL
        OR t.player_id <> r.player_id OR t.status <> 'processed' OR t.kind NOT IN ('bet', 'win', 'promo_win'))`
  },
  {
    rule: "win_has_its_bet",
    statement: `SELECT w.player_id, 'transaction ' || w.transaction_id || ' of provider ' || w.provider_id AS subject,
        'a win of the bet ' || w.target_transaction_id || ', which was not taken' AS message
      FROM ${transactions} w LEFT JOIN provider_transactions b
        ON b.provider_id = w.provider_id AND b.transaction_id = w.target_transaction_id
      WHERE w.kind = 'win' AND (b.transaction_id IS NULL OR b.kind <> 'bet' OR b.player_id <> w.player_id)`
  }
]

export class LedgerAudit extends Context.Service<LedgerAudit, {
  /** Checks the ledgers of one operator or, with undefined, all. Takes as long as reading the tables a few times. */
  readonly verify: (operatorId: number | undefined) => Effect.Effect<LedgerReport, Refusal<"TRY_AGAIN">>
}>()("pitboss/backoffice/LedgerAudit") {
  static readonly layer = Layer.effect(
    LedgerAudit,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const verify = Effect.fn("LedgerAudit.verify")((operatorId: number | undefined) => {
        const condition = operatorId === undefined ? "true" : `operator_id = ${Math.trunc(operatorId)}`
        const check = ({ rule, statement }: Law) =>
          violationRows(sql.unsafe(
            `SELECT player_id::float8 AS player_id, subject, message
              FROM (${statement.replaceAll("$operator", condition)}) found LIMIT ${toldMost}`
          )).pipe(Effect.map((found) => found.map((violation) => ({ rule, ...violation }))))
        return sql.withTransaction(Effect.gen(function*() {
          // one snapshot for all checks, for as long as they take
          yield* sql`SET LOCAL statement_timeout = 0`
          yield* sql`SET LOCAL work_mem = '64MB'`
          const counted = yield* countRows(sql.unsafe(
            `SELECT (SELECT count(*) FROM accounts WHERE ${condition})::float8 AS players,
              (SELECT count(*) FROM ledger_entries WHERE ${condition})::float8 AS entries`
          ))
          const violations = yield* Effect.forEach([...laws, ...originalLaws, ...reportLaws], check)
          const wrongOutcomes = yield* findWrongOutcomes(sql, condition)
          return {
            players: counted[0]?.players ?? 0,
            entries: counted[0]?.entries ?? 0,
            violations: [...violations.flat(), ...wrongOutcomes]
          }
        })).pipe(
          Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
          orTryAgain
        )
      })

      return LedgerAudit.of({ verify })
    })
  )
}
