/**
 * Look-ups of ids that a rule has to know and the player does not carry: transactions, rounds, payments, bonuses, promo codes.
 */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { PlayerBonus } from "../../domain/bonus/Bonus.ts"
import type { Change, Payment } from "../../domain/Change.ts"
import type { Knowledge, PromoStanding } from "../../domain/Decision.ts"
import type { Player } from "../../domain/player/Player.ts"
import { type Query, Round, roundKey, Transaction } from "../../domain/settlement/Rounds.ts"
import type { StoreUnavailable } from "../../engine/Failures.ts"
import type { Store } from "../../engine/Machine.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { playerBonusNames } from "../BonusRows.ts"
import { paymentColumns, PaymentRow, toPayments } from "../PaymentRow.ts"
import { columnsOf } from "../Rows.ts"
import { openSeedsText, SeedRow, toSeeds } from "../SeedRows.ts"
import { orUnavailable } from "./StoreFailures.ts"

const transactionsText = `SELECT ${
  columnsOf(Transaction, "t", {
    targetId: "t.target_transaction_id",
    entryIds: "t.entry_ids::float8[]",
    bonusId: "t.player_bonus_id",
    rolledBack: `EXISTS (SELECT FROM provider_transactions r WHERE r.provider_id = t.provider_id
      AND r.target_transaction_id = t.transaction_id AND r.kind = 'rollback' AND r.status = 'processed')`
  })
} FROM provider_transactions t WHERE t.provider_id = $1::float8::bigint AND t.transaction_id = ANY ($2::text[])`

const roundsText = `SELECT ${columnsOf(Round, "r", { bonusId: "r.player_bonus_id" })}
  FROM unnest($2::float8[], $3::text[]) AS u(game_id, round_id)
  JOIN rounds r ON r.player_id = $1::float8::bigint AND r.game_id = u.game_id::bigint AND r.round_id = u.round_id`

const paymentText = `SELECT ${paymentColumns} FROM payment_requests
  WHERE operator_id = $1::float8::bigint AND external_reference = $2`

const paymentByIdText = `SELECT ${paymentColumns} FROM payment_requests
  WHERE player_id = $1::float8::bigint AND id = $2::float8::bigint`

// the rounds are counted where a conversion may be reversed; none is added to those that were open when the bonus ended
const bonusesText = `SELECT ${
  columnsOf(PlayerBonus, "b", {
    ...playerBonusNames,
    openRounds: `CASE WHEN b.result = 'converted' AND b.open_rounds > 0 THEN (SELECT count(*) FROM rounds r
      WHERE r.player_id = b.player_id AND r.player_bonus_id = b.id AND NOT r.closed AND r.bonus_stake > 0) ELSE 0 END`
  })
} FROM player_bonuses b
  WHERE b.player_id = $1::float8::bigint AND b.id = ANY ($2::float8[]::bigint[]) AND b.result IS NOT NULL`

const promoText = `SELECT c.max_redemptions IS NOT NULL AND c.redemptions >= c.max_redemptions AS "isUsedUp",
    EXISTS (SELECT FROM promo_redemptions r WHERE r.promo_code_id = c.id AND r.player_id = $1::float8::bigint) AS "isRedeemed"
  FROM promo_codes c WHERE c.id = $2::float8::bigint`

const PromoRow = Schema.Struct({ isUsedUp: Schema.Boolean, isRedeemed: Schema.Boolean })

const decodeSeeds = Schema.decodeUnknownEffect(Schema.Array(SeedRow))
const decodeFinishedBonuses = Schema.decodeUnknownEffect(Schema.Array(PlayerBonus))
const decodePromos = Schema.decodeUnknownEffect(Schema.Array(PromoRow))
const decodeTransactions = Schema.decodeUnknownEffect(Schema.Array(Transaction))
const decodeRounds = Schema.decodeUnknownEffect(Schema.Array(Round))
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentRow))

const array = (values: ReadonlyArray<string | number>, oid: number) => Result.getOrThrow(PgTypes.array(values, oid))

/** Adds what was found to what was known; an id that was asked for and not found is known to be absent. */
const extend = <Key, A>(
  before: ReadonlyMap<Key, A | null> | undefined,
  asked: ReadonlyArray<Key>,
  found: ReadonlyArray<readonly [Key, A]>
): ReadonlyMap<Key, A | null> =>
  new Map([...before ?? [], ...asked.map((key): [Key, A | null] => [key, null]), ...found])

/** Finds what a query names; what is not there is known to be absent from then on. */
export const lookUp = (
  sql: SqlClient.SqlClient,
  personal: PersonalData["Service"]
): Store<Player, Change, Query, Knowledge>["look"] => {
  const lookTransactions = (
    providerId: number,
    ids: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<Transaction>, StoreUnavailable> =>
    ids.length === 0 ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(transactionsText, [PgTypes.float8(providerId), array(ids, PgTypes.OID.text)]).pipe(
        Effect.flatMap(decodeTransactions)
      )
    )

  const lookRounds = (
    playerId: number,
    rounds: Query["rounds"]
  ): Effect.Effect<ReadonlyArray<Round>, StoreUnavailable> =>
    rounds.length === 0 ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(roundsText, [
        PgTypes.float8(playerId),
        array(rounds.map(({ gameId }) => gameId), PgTypes.OID.float8),
        array(rounds.map(({ roundId }) => roundId), PgTypes.OID.text)
      ]).pipe(
        Effect.flatMap(decodeRounds)
      )
    )

  const lookPayment = (
    operatorId: number,
    reference: string | null
  ): Effect.Effect<ReadonlyArray<Payment>, StoreUnavailable> =>
    reference === null ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(paymentText, [PgTypes.float8(operatorId), reference]).pipe(
        Effect.flatMap(decodePayments),
        Effect.flatMap((rows) => toPayments(personal, rows))
      )
    )

  const lookPaymentById = (
    playerId: number,
    id: number | null
  ): Effect.Effect<ReadonlyArray<Payment>, StoreUnavailable> =>
    id === null ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(paymentByIdText, [PgTypes.float8(playerId), PgTypes.float8(id)]).pipe(
        Effect.flatMap(decodePayments),
        Effect.flatMap((rows) => toPayments(personal, rows))
      )
    )

  const lookBonuses = (
    playerId: number,
    ids: ReadonlyArray<number>
  ): Effect.Effect<ReadonlyArray<readonly [number, PlayerBonus]>, StoreUnavailable> =>
    ids.length === 0 ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(bonusesText, [PgTypes.float8(playerId), array(ids, PgTypes.OID.float8)]).pipe(
        Effect.flatMap(decodeFinishedBonuses),
        Effect.map((rows) => rows.map((row) => [row.id, row] as const))
      )
    )

  const lookPromo = (
    playerId: number,
    id: number | null
  ): Effect.Effect<ReadonlyArray<readonly [number, PromoStanding]>, StoreUnavailable> =>
    id === null ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(promoText, [PgTypes.float8(playerId), PgTypes.float8(id)]).pipe(
        Effect.flatMap(decodePromos),
        Effect.map((rows) => rows.map((row) => [id, row] as const))
      )
    )

  const lookSeeds = (playerId: number) =>
    orUnavailable(
      sql.unsafe(openSeedsText, [PgTypes.float8(playerId)]).pipe(Effect.flatMap(decodeSeeds), Effect.map(toSeeds))
    )

  return Effect.fnUntraced(function*(player, query, known) {
    const [transactions, rounds, payments, paymentsById, bonuses, promoCodes, seeds] = yield* Effect.all([
      lookTransactions(query.providerId, query.transactionIds),
      lookRounds(player.id, query.rounds),
      lookPayment(player.operatorId, query.externalReference),
      lookPaymentById(player.id, query.paymentId),
      lookBonuses(player.id, query.bonusIds),
      lookPromo(player.id, query.promoCodeId),
      query.seeds ? lookSeeds(player.id) : Effect.succeed(known?.seeds)
    ], { concurrency: 5 })
    return {
      transactions: extend(
        known?.transactions,
        query.transactionIds,
        transactions.map((transaction) => [transaction.transactionId, transaction])
      ),
      rounds: extend(
        known?.rounds,
        query.rounds.map(({ gameId, roundId }) => roundKey(gameId, roundId)),
        rounds.map((round) => [roundKey(round.gameId, round.roundId), round])
      ),
      bonuses: extend(known?.bonuses, query.bonusIds, bonuses),
      promoCodes: extend(known?.promoCodes, query.promoCodeId === null ? [] : [query.promoCodeId], promoCodes),
      payments: extend(
        known?.payments,
        query.externalReference === null ? [] : [query.externalReference],
        payments.map((payment) => [payment.externalReference ?? "", payment])
      ),
      paymentsById: extend(
        known?.paymentsById,
        query.paymentId === null ? [] : [query.paymentId],
        paymentsById.map((payment) => [payment.id, payment])
      ),
      seeds
    }
  })
}
