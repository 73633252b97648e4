import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { Seals } from "../../../src/chain/Seals.ts"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { LedgerAudit } from "../../../src/features/ledger/LedgerAudit.ts"
import { Bonuses } from "../../../src/features/bonuses/Bonuses.ts"
import { Corrections } from "../../../src/features/corrections/Corrections.ts"
import type { PaymentTransitionName } from "../../../src/domain/payment/PaymentTransitions.ts"
import { Launches } from "../../../src/features/launches/Launches.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { Approvals } from "../../../src/features/payments/Approvals.ts"
import { Payments } from "../../../src/features/payments/Payments.ts"
import { ProviderWallet } from "../../../src/features/settlement/ProviderWallet.ts"
import { ownWallet } from "../../kit/OwnWallet.ts"
import { Wallet } from "../../../src/features/wallet/Wallet.ts"
import { type Action, ownPolicy, settleAll, type SettlementPolicy } from "../../../src/domain/settlement/Settlement.ts"
import { noteCheckStep } from "../../../src/domain/player/RegisterChecks.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { adjustment, bet as ruleBet, rollback as ruleRollback, win as ruleWin } from "../../kit/Messages.ts"
import { registerAnswer } from "../../kit/players.ts"
import { acme } from "../../kit/Providers.ts"
import { Calendar, hourMs, pass } from "../../kit/Calendar.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

const render = () => ({ status: 200, body: "{}" })

const staff = { id: null, name: "test", role: "admin", operators: null, label: "staff:1" } as const

/**
 * A history with every legitimate case that could look wrong: bets of both outcomes, a rollback, a rollback before its target, a
 * win of 0, a win rolled back after it was spent, a promo-win, corrections, withdrawals in every state, a deposit charged
 * back after it was spent, active and converted bonuses, and a player without any activity.
 */
const play = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const wallet = yield* Wallet
  const corrections = yield* Corrections
  const games = ownWallet(yield* ProviderWallet)
  const operator = yield* addOperator("one")
  const other = yield* addOperator("two", "SEK")
  yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
    VALUES (1, 'acme', 'Acme', 'pv', '\\x00', now(), now())`
  yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
    VALUES (2, 1, 'reels', 'Reels', 'rng', 'slots', now(), now())`
  const playerId = yield* addPlayer(operator, "ada")
  yield* addPlayer(operator, "idle")
  const stranger = yield* addPlayer(other, "bob")
  const deposit = (amount: number, externalReference: string) =>
    wallet.deposit(operator, playerId, { amount, externalReference, paymentMethod: null, info: null, notes: null }, {
      claim: undefined,
      render
    })
  const correct = (amount: number, player = playerId) =>
    corrections.correct(staff, player, { wallet: "real", amount, reason: "test" })
  const session = yield* (yield* Launches).launch(
    operator.id,
    playerId,
    2,
    { mode: "real", platform: null, ip: null },
    {
      claim: undefined,
      render
    }
  )
  const playerRef = (yield* PlayerRefs).playerRef(1, playerId)
  const round = (roundId: string) => ({ game_id: "reels", round_id: roundId, currency: "EUR" })
  const bet = (id: string, roundId: string, amount: number) =>
    games.bet(acme, { ...round(roundId), transaction_id: id, amount, session_token: session.sessionToken })
  const win = (id: string, betId: string, roundId: string, amount: number) =>
    games.win(acme, {
      ...round(roundId),
      transaction_id: id,
      bet_transaction_id: betId,
      amount,
      player_ref: playerRef
    })
  const rollback = (id: string, targetId: string) =>
    games.rollback(acme, { transaction_id: id, target_transaction_id: targetId, player_ref: playerRef })

  yield* deposit(1000, "d1")
  yield* bet("b1", "r1", 100)
  yield* win("w1", "b1", "r1", 250)
  yield* bet("b2", "r2", 50)
  yield* win("w2", "b2", "r2", 0)
  yield* bet("b3", "r3", 60)
  yield* rollback("x3", "b3")
  yield* rollback("x4", "b4")
  yield* games.promoWin(acme, {
    transaction_id: "p1",
    player_ref: playerRef,
    amount: 40,
    currency: "EUR",
    kind: "tournament",
    campaign_id: "c"
  })
  yield* correct(-1100)
  yield* rollback("x1", "w1")
  yield* deposit(500, "d2")
  yield* correct(70, stranger)

  // pending, paid out, and returned
  const payments = yield* Payments
  const approvals = yield* Approvals
  yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, created_at)
    VALUES (3, ${operator.id}, 'bank', 'Bank', '{EUR}', now())`
  const payer = yield* addPlayer(operator, "payer")
  const move = (paymentId: number, ...moves: ReadonlyArray<PaymentTransitionName>) =>
    Effect.forEach(moves, (name) => approvals.apply({ paymentId, transition: name, actor: "staff:1", reason: null }))
  const withdraw = (amount: number, externalReference: string, ...moves: ReadonlyArray<PaymentTransitionName>) =>
    payments.withdraw(
      operator,
      payer,
      { amount, externalReference, paymentMethod: "bank", info: null, notes: null, bankName: null },
      { claim: undefined, render }
    ).pipe(Effect.flatMap(({ payment }) => move(payment.id, ...moves)))
  const charged = yield* wallet.deposit(
    operator,
    payer,
    { amount: 800, externalReference: "d3", paymentMethod: null, info: null, notes: null },
    { claim: undefined, render }
  )
  yield* withdraw(100, "new")
  yield* withdraw(110, "allowed", "approve")
  yield* withdraw(120, "paid", "approve", "pay")
  yield* withdraw(130, "rejected", "reject")
  yield* withdraw(140, "cancelled", "cancel")
  yield* move(charged.payment.id, "chargeback")
  const bonuses = yield* Bonuses
  const receiver = yield* addPlayer(operator, "cleo")
  yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
      updated_at)
    VALUES (3, ${operator.id}, 'Cash', 'cash', 30, 0, 1, now(), now()),
      (4, ${operator.id}, 'Welcome', 'no_deposit', 80, 10, 1, now(), now())`
  yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, created_at)
    VALUES (5, ${operator.id}, 'HELLO', 4, now())`
  yield* bonuses.grant(operator.id, receiver, { bonusId: 3, amount: null, note: null }, { claim: undefined, render })
  yield* bonuses.redeem(operator.id, receiver, "hello")

  // vendor protocols also allow: a bet reinstated, a win of a round, a win before its bet, corrections
  const dora = yield* addPlayer(operator, "dora")
  // and corrections in a round that a bonus paid for
  const edda = yield* addPlayer(operator, "edda")
  const launches = yield* Launches
  for (const player of [dora, edda]) {
    yield* launches.launch(operator.id, player, 2, { mode: "real", platform: null, ip: null }, {
      claim: undefined,
      render
    })
  }
  const actors = yield* PlayerActors
  const policy: SettlementPolicy = {
    ...ownPolicy,
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept"
  }
  const reels = { policy, game: { id: 2, providerId: 1, type: "rng", category: "slots", active: true } } as const
  const settles = (...actions: ReadonlyArray<Action>) =>
    actors.ask(null, dora, (player, context) => settleAll(player, actions, context))
  yield* wallet.deposit(operator, dora, {
    amount: 100,
    externalReference: "d4",
    paymentMethod: null,
    info: null,
    notes: null
  }, { claim: undefined, render })
  yield* settles(
    ruleBet("n1", 100, { ...reels, roundId: "n", session: "none" }),
    ruleRollback("nk", "n1", { policy })
  )
  yield* settles(ruleBet("ob", 60, { ...reels, roundId: "o", session: "none" }))
  yield* settles(ruleRollback("nkk", "nk", { policy }))
  yield* settles(ruleWin("nw", null, 230, { ...reels, roundId: "n" }))
  yield* settles(
    adjustment("na", 20, { ...reels, roundId: "n" }),
    adjustment("nd", -10, { ...reels, roundId: "n" }),
    ruleRollback("ndk", "nd", { policy }),
    ruleWin("mw", "mb", 15, { ...reels, roundId: "m", closesRound: true }),
    ruleBet("mb", 5, { ...reels, roundId: "m", session: "none" })
  )

  yield* bonuses.grant(operator.id, edda, { bonusId: 4, amount: null, note: null }, { claim: undefined, render })
  yield* actors.ask(null, edda, (player, context) =>
    settleAll(player, [
      ruleBet("pb", 50, { ...reels, roundId: "p", session: "none" }),
      ruleWin("pw", "pb", 60, { ...reels, roundId: "p" }),
      adjustment("pa", 20, { ...reels, roundId: "p" }),
      adjustment("pd", -10, { ...reels, roundId: "p" }),
      ruleRollback("pdk", "pd", { policy })
    ], context))

  // a register's word in both of its senses, and one that did not answer
  for (const [index, verdict] of (["clear", "excluded", "unavailable"] as const).entries()) {
    yield* actors.ask(operator.id, dora, noteCheckStep(registerAnswer({ verdict, answeredAt: 1000 * (index + 1) })))
  }
  return { playerId, operatorId: operator.id, otherId: other.id, stranger }
})

/** Ways to break each invariant, by SQL on the tables of the history above. */
const damages: ReadonlyArray<readonly [damage: string, rules: ReadonlyArray<string>]> = [
  ["UPDATE ledger_entries SET balance_after = balance_after - 1 WHERE type = 'casino_win'", ["balance_chain"]],
  [
    "UPDATE ledger_entries SET amount = amount + 1 WHERE type = 'casino_win'",
    ["balance_chain", "account_is_its_ledger", "transaction_is_its_entries", "daily_sums_are_the_ledger"]
  ],
  ["DELETE FROM ledger_entries WHERE type = 'correction_down'", [
    "entries_without_gap",
    "balance_chain",
    "account_is_its_ledger"
  ]],
  ["UPDATE ledger_entries SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM ledger_entries)", [
    "entries_without_gap"
  ]],
  ["UPDATE accounts SET real_balance = real_balance + 1 WHERE real_balance = 70", ["account_is_its_ledger"]],
  ["UPDATE accounts SET bonus_balance = 5 WHERE entry_seq = 0", ["account_is_its_ledger"]],
  ["UPDATE accounts SET entry_seq = entry_seq + 1 WHERE real_balance = 70", ["account_is_its_ledger"]],
  ["DELETE FROM accounts WHERE real_balance = 70", ["account_is_its_ledger"]],
  ["UPDATE ledger_entries SET operator_id = 5 WHERE type = 'correction_up'", ["entry_of_its_operator"]],
  [
    "UPDATE ledger_entries SET id = (SELECT id FROM ledger_entries WHERE type = 'correction_down') WHERE type = 'correction_up'",
    ["entry_id_once"]
  ],
  ["UPDATE ledger_entries SET type = 'casino_bet', game_id = 2 WHERE type = 'casino_rollback' AND balance_after < 0", [
    "negative_balance",
    "daily_sums_are_the_ledger"
  ]],
  [
    "UPDATE payment_requests SET amount = amount + 1 WHERE external_reference = 'd1'",
    ["payment_is_its_entries", "payment_entry_moves_its_amount"]
  ],
  ["UPDATE payment_requests SET is_reversed = true WHERE external_reference = 'd1'", ["payment_is_its_entries"]],
  [
    "UPDATE payment_requests SET type = 'withdrawal' WHERE external_reference = 'd1'",
    [
      "payment_is_its_entries",
      "payment_entry_moves_its_amount",
      "withdrawn_is_its_requests",
      "daily_sums_are_the_ledger",
      "daily_players_are_the_ledger"
    ]
  ],
  ["DELETE FROM payment_requests WHERE external_reference = 'd2'", ["payment_is_its_entries"]],
  ["UPDATE ledger_entries SET payment_request_id = NULL WHERE type = 'deposit' AND amount = 500", [
    "payment_is_its_entries",
    "payment_entry_names_its_payment"
  ]],
  // a hold without a payment, a payout without a hold, a refund for a pending payment
  [
    "UPDATE payment_requests SET status = 'cancelled', cancelled_at = now() WHERE external_reference = 'new'",
    ["payment_is_its_entries", "withdrawn_is_its_requests"]
  ],
  [
    "UPDATE payment_requests SET status = 'allowed', rejected_at = NULL, reject_reason = NULL WHERE external_reference = 'rejected'",
    ["payment_is_its_entries", "payment_entry_moves_its_amount", "withdrawn_is_its_requests"]
  ],
  [
    `INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, created_at, updated_at)
      SELECT 5, operator_id, player_id, type, status, amount, currency, created_at, updated_at
      FROM payment_requests WHERE external_reference = 'new'`,
    ["payment_is_its_entries", "withdrawn_is_its_requests"]
  ],
  ["UPDATE ledger_entries SET type = 'correction_down' WHERE type = 'withdrawal' AND amount = -110", [
    "payment_entry_moves_its_amount"
  ]],
  ["UPDATE ledger_entries SET type = 'deposit' WHERE type = 'withdrawal_rejection' AND amount = 140", [
    "payment_entry_moves_its_amount",
    "daily_sums_are_the_ledger"
  ]],
  ["UPDATE ledger_entries SET type = 'withdrawal' WHERE type = 'chargeback'", [
    "negative_balance",
    "payment_entry_moves_its_amount",
    "daily_sums_are_the_ledger"
  ]],
  ["UPDATE payment_requests SET is_reversed = false WHERE external_reference = 'd3'", [
    "payment_is_its_entries",
    "payment_entry_moves_its_amount"
  ]],
  ["UPDATE accounts SET withdrawn = withdrawn + 1 WHERE withdrawn = 330", ["withdrawn_is_its_requests"]],
  ["UPDATE payment_requests SET paid_at = now() WHERE external_reference = 'allowed'", ["payment_went_a_known_way"]],
  ["UPDATE payment_requests SET status = 'allowed' WHERE external_reference = 'paid'", [
    "payment_went_a_known_way",
    "daily_sums_are_the_ledger",
    "daily_players_are_the_ledger"
  ]],
  ["UPDATE payment_requests SET reject_reason = NULL WHERE external_reference = 'rejected'", [
    "payment_went_a_known_way"
  ]],
  ["UPDATE payment_requests SET is_reversed = true WHERE external_reference = 'paid'", ["payment_went_a_known_way"]],
  ["UPDATE provider_transactions SET entry_ids = '{}' WHERE transaction_id = 'b1'", [
    "transaction_is_its_entries",
    "game_entry_has_its_transaction"
  ]],
  ["UPDATE provider_transactions SET entry_ids = entry_ids || 77777::bigint WHERE transaction_id = 'b1'", [
    "transaction_is_its_entries"
  ]],
  ["UPDATE provider_transactions SET real_amount = -99 WHERE transaction_id = 'b1'", [
    "transaction_is_its_entries",
    "transaction_moves_its_amount"
  ]],
  ["UPDATE provider_transactions SET amount = 99 WHERE transaction_id = 'b1'", ["transaction_moves_its_amount"]],
  ["UPDATE provider_transactions SET amount = 39 WHERE transaction_id = 'p1'", ["transaction_moves_its_amount"]],
  ["UPDATE provider_transactions SET amount = 249 WHERE transaction_id = 'w1'", ["transaction_moves_its_amount"]],
  [
    `UPDATE provider_transactions SET entry_ids = (SELECT entry_ids FROM provider_transactions WHERE transaction_id = 'b1')
      WHERE transaction_id = 'b2'`,
    ["transaction_is_its_entries", "entry_of_one_transaction", "game_entry_has_its_transaction"]
  ],
  ["DELETE FROM provider_transactions WHERE transaction_id = 'p1'", ["game_entry_has_its_transaction"]],
  [
    `DROP INDEX provider_transactions_taken_back;
    INSERT INTO provider_transactions SELECT provider_id, 'x3 again', player_id, kind, status, amount, game_id, round_id,
      target_transaction_id, detail, 0, 0, '{}', player_bonus_id, wagered, created_at, operator_id
      FROM provider_transactions WHERE transaction_id = 'x3'`,
    ["rolled_back_once"]
  ],
  ["UPDATE provider_transactions SET target_transaction_id = 'b9' WHERE transaction_id = 'x3'", [
    "rollback_has_its_target",
    "open_bets_are_its_bets"
  ]],
  ["UPDATE provider_transactions SET target_transaction_id = 'x4' WHERE transaction_id = 'x1'", [
    "rollback_has_its_target"
  ]],
  ["UPDATE provider_transactions SET target_transaction_id = 'ndk' WHERE transaction_id = 'nkk'", [
    "reinstated_is_a_bet",
    "open_bets_are_its_bets"
  ]],
  ["UPDATE provider_transactions SET target_transaction_id = 'mb' WHERE transaction_id = 'nkk'", [
    "negative_balance",
    "open_bets_are_its_bets"
  ]],
  ["UPDATE provider_transactions SET amount = 21 WHERE transaction_id = 'na'", ["transaction_moves_its_amount"]],
  ["UPDATE provider_transactions SET round_id = 'elsewhere' WHERE transaction_id = 'nw'", ["win_has_its_round"]],
  [
    `UPDATE provider_transactions SET detail = NULL WHERE transaction_id = 'mw';
    UPDATE provider_transactions SET target_transaction_id = 'other' WHERE transaction_id = 'mw'`,
    ["win_has_its_bet"]
  ],
  ["UPDATE rounds SET open_bets = 2 WHERE round_id = 'r1'", ["open_bets_are_its_bets"]],
  ["UPDATE rounds SET open_bets = 0 WHERE round_id = 'o'", ["open_bets_are_its_bets"]],
  [
    "ALTER TABLE rounds DROP CONSTRAINT rounds_pkey; INSERT INTO rounds SELECT * FROM rounds WHERE round_id = 'o'",
    ["open_bets_are_its_bets", "rounds_are_counted"]
  ],
  ["UPDATE ledger_entries SET type = 'correction_up' WHERE type = 'bonus_conversion' AND wallet = 'real'", [
    "conversion_in_pairs",
    "bonus_is_its_entries",
    "daily_sums_are_the_ledger"
  ]],
  ["UPDATE player_bonuses SET late_amount = 1 WHERE result = 'converted'", ["bonus_is_its_entries"]],
  ["UPDATE player_bonuses SET restored_amount = 1 WHERE state = 'activated'", ["bonus_is_its_entries"]],
  ["UPDATE player_bonuses SET wager_requirement = 1, wagered = 1 WHERE result = 'converted'", [
    "conversion_was_wagered"
  ]],
  ["UPDATE player_bonuses SET converted = converted + 1 WHERE result = 'converted'", ["bonus_is_its_entries"]],
  ["UPDATE player_bonuses SET max_conversion = 29 WHERE result = 'converted'", ["conversion_within_its_cap"]],
  // a late win above the cap that became real money
  ["UPDATE player_bonuses SET max_conversion = 30, late_amount = 5 WHERE result = 'converted'", [
    "bonus_is_its_entries",
    "conversion_within_its_cap"
  ]],
  // money that came back to a lost bonus, and was forfeited
  [
    "UPDATE player_bonuses SET state = 'finished', result = 'lost', finished_at = now() WHERE state = 'activated';" +
    "UPDATE ledger_entries SET type = 'bonus_correction_down', amount = -80 WHERE type = 'bonus_correction_up' AND amount = 80",
    ["balance_chain", "account_is_its_ledger", "bonus_is_its_entries", "lost_forfeited_nothing"]
  ],
  // a shortage that nothing was lent for
  [
    "UPDATE player_bonuses SET state = 'finished', result = 'lost', finished_at = now(), short_amount = 1 WHERE state = 'activated'",
    ["lost_forfeited_nothing"]
  ],
  // an undone conversion that was forfeited because another bonus ran
  [
    "UPDATE player_bonuses b SET started_at = (SELECT finished_at FROM player_bonuses WHERE result = 'converted') WHERE state = 'activated';" +
    "UPDATE player_bonuses SET result = 'cancelled' WHERE result = 'converted';" +
    "UPDATE ledger_entries SET amount = -30 WHERE type = 'bonus_conversion'",
    [
      "balance_chain",
      "account_is_its_ledger",
      "conversion_in_pairs",
      "bonus_is_its_entries",
      "undone_while_another_ran",
      "daily_sums_are_the_ledger"
    ]
  ],
  ["DELETE FROM player_bonuses WHERE state = 'activated'", ["entry_of_a_bonus", "bonus_costs_are_the_grants"]],
  [
    `UPDATE player_bonuses SET state = 'activated', result = NULL, finished_at = NULL, expires_at = now()
      WHERE result = 'converted'`,
    ["one_bonus_at_a_time"]
  ],
  ["UPDATE promo_codes SET redemptions = 2", ["promo_code_counts"]],
  [
    "INSERT INTO ledger_blocks SELECT player_id, 0, 'real', 'deposit', 1, now(), now() FROM accounts WHERE real_balance = 70",
    ["block_is_its_entries"]
  ],
  ["UPDATE provider_transactions SET target_transaction_id = 'b9' WHERE transaction_id = 'w2'", ["win_has_its_bet"]],
  ["UPDATE provider_transactions SET target_transaction_id = 'w1' WHERE transaction_id = 'w2'", ["win_has_its_bet"]],
  ["UPDATE daily_sums SET bets = bets + 1 WHERE provider_id <> 0", ["daily_sums_are_the_ledger"]],
  ["UPDATE bonus_cost_changes SET granted_amount = granted_amount + 1 WHERE granted > 0", [
    "bonus_costs_are_the_grants"
  ]],
  ["DELETE FROM bonus_cost_changes WHERE finished > 0", ["bonus_costs_are_the_grants"]],
  ["UPDATE daily_sums SET currency = 'USD' WHERE provider_id = 0", ["daily_sums_are_the_ledger"]],
  ["DELETE FROM daily_sums", ["daily_sums_are_the_ledger", "rounds_are_counted"]],
  ["INSERT INTO game_sums_walk VALUES ('game_sums', '1970-01-01', '2100-01-01')", ["game_sums_are_the_daily_sums"]],
  ["UPDATE daily_sums SET rounds = rounds + 1 WHERE provider_id <> 0", ["rounds_are_counted"]],
  ["UPDATE daily_players SET players = players + 1 WHERE kind = 'deposit'", ["daily_players_are_the_ledger"]],
  ["DELETE FROM daily_players WHERE kind = 'casino'", ["daily_players_are_the_ledger"]],
  ["UPDATE rounds SET is_live = true WHERE round_id = 'r1'", [
    "daily_sums_are_the_ledger",
    "rounds_are_counted",
    "daily_players_are_the_ledger"
  ]],
  // a round keeps the type that its game had
  ["UPDATE games SET type = 'live' WHERE id = 2", []],
  ["UPDATE games SET type = 'live' WHERE id = 2; UPDATE rounds SET is_live = true WHERE round_id = 'r1'", [
    "daily_sums_are_the_ledger",
    "rounds_are_counted",
    "daily_players_are_the_ledger"
  ]],
  ["UPDATE players SET is_test = true WHERE username = 'ada'", [
    "daily_sums_are_the_ledger",
    "rounds_are_counted",
    "daily_players_are_the_ledger"
  ]],
  ["UPDATE players SET currency = 'USD' WHERE username = 'ada'", ["daily_sums_are_the_ledger"]],
  ["SET LOCAL session_replication_role = replica; DELETE FROM players WHERE username = 'ada'", [
    "entry_of_its_operator",
    "rounds_are_counted",
    "daily_players_are_the_ledger"
  ]],
  ["UPDATE rounds SET is_live = NULL WHERE round_id = 'r1'", ["rounds_are_counted", "round_with_a_bet_has_its_type"]],
  ["UPDATE ledger_entries SET player_id = 1 WHERE type = 'deposit' AND amount = 500", [
    "entries_without_gap",
    "balance_chain",
    "account_is_its_ledger",
    "entry_of_its_operator",
    "payment_is_its_entries"
  ]],
  ["DELETE FROM register_checks", ["register_answer_has_its_check"]],
  ["UPDATE players SET registers = '[]'", ["register_exclusion_stands"]],
  ["UPDATE ledger_entries SET exchange_rate_id = 9 WHERE type = 'casino_win'", [
    "daily_sums_are_the_ledger",
    "rate_is_of_its_currency"
  ]]
]

layer(layerBackoffice.pipe(Layer.provideMerge(layerTestService())))("LedgerAudit", (it) => {
  // Goal: the service's own ledger verifies, and every violation is found. Method: a history through the service
  // itself; then each kind of damage alone, in a transaction that is rolled back.
  it.effect("finds no violation in a sound ledger, and finds every kind of damage", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* LedgerAudit
      const { operatorId, otherId, playerId } = yield* play
      const sound = yield* audit.verify(undefined)
      assert.deepInclude(sound, { players: 7, entries: 41, violations: [] })
      const negative = yield* sql`SELECT 1 FROM ledger_entries WHERE balance_after < 0 AND player_id = ${playerId}`
      assert.isAbove(negative.length, 0, "the history has a balance below zero that is allowed")

      for (const [damage, rules] of damages) {
        const report = yield* sql.withTransaction(Effect.gen(function*() {
          for (const statement of damage.split(";")) yield* sql.unsafe(statement)
          return yield* Effect.flatMap(audit.verify(undefined), Effect.fail)
        })).pipe(Effect.flip)
        assert.isTrue("violations" in report, damage)
        if (!("violations" in report)) return
        const found = [...new Set(report.violations.map(({ rule }) => rule))]
        assert.sameMembers(found.filter((rule) => !rule.startsWith("chain_")), [...rules], damage)
        // the rate is chosen inside the commit, and links do not cover it
        const isRowOfTheChain = /(UPDATE|DELETE FROM) ledger_entries/.test(damage) &&
          !damage.includes("exchange_rate_id")
        assert.strictEqual(found.some((rule) => rule.startsWith("chain_row_")), isRowOfTheChain, damage)
        for (const { message, subject } of report.violations) assert.isAbove(message.length * subject.length, 0)
      }

      // entries of an operator without players
      const strange = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO operators
          SELECT (jsonb_populate_record(o, '{"id": 999999, "slug": "empty"}')).* FROM operators o WHERE id = ${otherId}`
        yield* sql`UPDATE ledger_entries SET operator_id = 999999 WHERE type = 'deposit'`
        return yield* Effect.flatMap(audit.verify(999_999), Effect.fail)
      })).pipe(Effect.flip)
      assert.isTrue("violations" in strange, "operator without players")
      if (!("violations" in strange)) return
      assert.includeMembers(strange.violations.map(({ rule }) => rule), [
        "entry_of_its_operator",
        "daily_sums_are_the_ledger"
      ])

      // an operator's proof covers the operator's own players
      assert.deepInclude(yield* audit.verify(otherId), { players: 1, entries: 1, violations: [] })
      yield* sql`UPDATE ledger_entries SET balance_after = 71 WHERE balance_after = 70`
      assert.deepStrictEqual((yield* audit.verify(operatorId)).violations, [])
      assert.deepStrictEqual((yield* audit.verify(otherId)).violations.map(({ rule }) => rule), [
        "balance_chain",
        "chain_row_changed"
      ])

      // of a part nothing is told to who watches: it says nothing of the whole
      const told = Effect.map(Metric.snapshot, (metrics) =>
        metrics.filter(({ id }) => id === "ledger_violations").map(({ state }) => state))
      const before = yield* told
      yield* audit.verify(otherId)
      assert.deepStrictEqual(yield* told, before)
      const { violations } = yield* audit.verify(undefined)
      assert.isAbove(violations.length, 0)
      assert.deepStrictEqual(yield* told, [{ value: violations.length }])
    }))
})

const byCalendar = layerBackoffice.pipe(Layer.provideMerge(layerTestService()), Layer.provideMerge(Calendar.layer))

layer(byCalendar, { excludeTestServices: true })("incremental verification of the ledger", (it) => {
  // Goal: what was written since the last verification is verified as strictly as everything is. Method: a ledger that is verified, four hours later the
  // history, then each kind of damage alone; the rules that are violated are those that a verification of everything finds.
  it.effect("finds every kind of damage to entries written since the last verification", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* LedgerAudit
      const seals = yield* Seals
      const before = yield* addOperator("before")
      yield* (yield* Corrections).correct(staff, yield* addPlayer(before, "old"), {
        wallet: "real",
        amount: 7,
        reason: "test"
      })
      yield* seals.run
      assert.deepInclude(yield* audit.verify(undefined, "new"), { violations: [], after_seal: null, since: null })
      yield* pass(4 * hourMs)
      yield* play
      yield* seals.run
      const found = Effect.fnUntraced(function*(damage: string) {
        const report = yield* sql.withTransaction(Effect.gen(function*() {
          for (const statement of damage.split(";")) yield* sql.unsafe(statement)
          return yield* Effect.flatMap(audit.verify(undefined, "new"), Effect.fail)
        })).pipe(Effect.flip)
        return "violations" in report ? report : undefined
      })
      assert.deepInclude(yield* found("SELECT 1"), { players: 8, entries: 42, violations: [], seals: 2, after_seal: 1 })
      for (const [damage, rules] of damages) {
        const report = yield* found(damage)
        assert.strictEqual(report?.after_seal, 1, damage)
        const violated = [...new Set((report?.violations ?? []).map(({ rule }) => rule))]
        assert.sameMembers(
          violated.filter((rule) => !rule.startsWith("chain_")),
          // made by readers, of any time
          rules.filter((rule) => rule !== "block_is_its_entries"),
          damage
        )
        const isRowOfTheChain = /(UPDATE|DELETE FROM) ledger_entries/.test(damage) &&
          !damage.includes("exchange_rate_id")
        assert.strictEqual(violated.some((rule) => rule.startsWith("chain_row_")), isRowOfTheChain, damage)
      }
    }))
})
