/** The engine's store of players over PostgreSQL: how one is loaded, looked things up for, and committed. */
import { PgTypes } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, Option, Result, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type ActiveBonus, type BonusResult, bonusTypes, type GrantedBonus } from "../../domain/Bonus.ts"
import type { Change, Payment } from "../../domain/Change.ts"
import type { Knowledge, PromoStanding } from "../../domain/Decision.ts"
import { limitFields, type Limits, type PendingLimit } from "../../domain/Limits.ts"
import type { Player } from "../../domain/Player.ts"
import { type Query, type Round, roundKey, type Transaction } from "../../domain/Rounds.ts"
import { type CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "../../engine/Failures.ts"
import type { Store } from "../../engine/Machine.ts"
import { describeSqlError, JournalClient } from "../../platform/Database.ts"
import { paymentColumns, PaymentRow, toPayment } from "../PaymentRow.ts"
import { commitStatement } from "./CommitStatement.ts"
import { decodeCounters } from "./CountersCodec.ts"

const nullable = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)

const ExclusionType = Schema.Literals(["time_out", "self_exclusion", "self_closure"])

/** A bonus that runs or waits; instants are epoch milliseconds. */
const OpenBonus = Schema.Struct({
  id: Schema.Number,
  bonusId: Schema.Number,
  name: Schema.String,
  type: Schema.Literals(bonusTypes),
  amount: Schema.Number,
  wagerRequirement: Schema.Number,
  maxBet: Schema.Number,
  maxConversion: Schema.Number,
  validDays: Schema.Number,
  contributions: Schema.Record(Schema.String, Schema.Number),
  createdAt: Schema.Number,
  wagered: Schema.Number,
  openRounds: Schema.Number,
  startedAt: nullable(Schema.Number),
  expiresAt: nullable(Schema.Number)
})

/** Settings of a player that staff may have changed by hand in the database: they are checked when read. */
const PlayerRow = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  currency: Schema.String,
  country: Schema.String,
  language: Schema.String,
  isTest: Schema.Boolean,
  status: Schema.Literals(["active", "locked", "closed"]),
  kycStatus: Schema.Literals(["not_started", "pending_review", "verified", "rejected", "expired"]),
  canLogin: Schema.Boolean,
  canDeposit: Schema.Boolean,
  canWithdraw: Schema.Boolean,
  canBet: Schema.Boolean,
  excludedFromBonuses: Schema.Boolean,
  exclusionType: nullable(ExclusionType),
  exclusionSince: nullable(Schema.Date),
  exclusionUntil: nullable(Schema.Date),
  limits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number)),
  pendingLimits: Schema.Array(Schema.Struct({
    field: Schema.Literals(limitFields),
    value: nullable(Schema.Number),
    effectiveAt: Schema.Number
  })),
  version: Schema.Number,
  entrySeq: Schema.Number,
  walletSeq: Schema.Number,
  withdrawn: Schema.Number,
  real: Schema.Number,
  bonus: Schema.Number,
  counters: Schema.String,
  providerIds: Schema.Array(Schema.Number),
  realUpdatedAt: Schema.Date,
  bonusUpdatedAt: Schema.Date,
  openBonuses: nullable(Schema.Array(OpenBonus)),
  bonusGrants: nullable(Schema.Record(Schema.String, Schema.Number))
})

const decodePlayerRow = Schema.decodeUnknownEffect(PlayerRow)

const noBonuses: ReadonlyArray<GrantedBonus> = []
const noGrants: Player["bonusGrants"] = {}

/** The bonuses that are not finished, as a player carries them: the one that has started, and those that wait. */
const toBonuses = (
  rows: ReadonlyArray<typeof OpenBonus.Type> | null
): Pick<Player, "activeBonus" | "pendingBonuses"> => {
  let activeBonus: ActiveBonus | null = null
  if (rows === null) return { activeBonus, pendingBonuses: noBonuses }
  const pendingBonuses: Array<GrantedBonus> = []
  for (const { expiresAt, openRounds, startedAt, wagered, ...granted } of rows) {
    if (startedAt === null || expiresAt === null) pendingBonuses.push(granted)
    else activeBonus = { ...granted, wagered, openRounds, startedAt, expiresAt }
  }
  return { activeBonus, pendingBonuses }
}

const toPlayer = (row: typeof PlayerRow.Type): Player => ({
  id: row.id,
  operatorId: row.operatorId,
  currency: row.currency,
  country: row.country,
  language: row.language,
  isTest: row.isTest,
  status: row.status,
  restrictions: {
    canLogin: row.canLogin,
    canDeposit: row.canDeposit,
    canWithdraw: row.canWithdraw,
    canBet: row.canBet,
    excludedFromBonuses: row.excludedFromBonuses
  },
  kycStatus: row.kycStatus,
  exclusion: row.exclusionType === null || row.exclusionSince === null ? null : {
    type: row.exclusionType,
    since: row.exclusionSince.getTime(),
    until: row.exclusionUntil?.getTime() ?? null
  },
  limits: row.limits satisfies Limits,
  pendingLimits: row.pendingLimits satisfies ReadonlyArray<PendingLimit>,
  counters: decodeCounters(row.counters),
  real: row.real,
  bonus: row.bonus,
  realUpdatedAt: row.realUpdatedAt.getTime(),
  bonusUpdatedAt: row.bonusUpdatedAt.getTime(),
  entrySeq: row.entrySeq,
  walletSeq: row.walletSeq,
  withdrawn: row.withdrawn,
  ...toBonuses(row.openBonuses),
  bonusGrants: row.bonusGrants ?? noGrants,
  providerIds: row.providerIds,
  rounds: [],
  transactions: []
})

const epochMs = (column: string): string => `round(extract(epoch FROM ${column}) * 1000)::bigint`

const playerColumns = `p.id::float8 AS id, p.operator_id::float8 AS "operatorId", p.currency, p.country, p.language,
  p.is_test AS "isTest", p.status, p.kyc_status AS "kycStatus", p.can_login AS "canLogin", p.can_deposit AS "canDeposit",
  p.can_withdraw AS "canWithdraw", p.can_bet AS "canBet", p.excluded_from_bonuses AS "excludedFromBonuses",
  p.exclusion_type AS "exclusionType", p.exclusion_since AS "exclusionSince", p.exclusion_until AS "exclusionUntil",
  p.limits, p.pending_limits AS "pendingLimits", a.version::float8 AS version, a.entry_seq::float8 AS "entrySeq",
  a.wallet_seq::float8 AS "walletSeq", a.withdrawn::float8 AS withdrawn, a.real_balance::float8 AS real, a.bonus_balance::float8 AS bonus, a.counters,
  a.provider_ids::float8[] AS "providerIds", a.real_updated_at AS "realUpdatedAt", a.bonus_updated_at AS "bonusUpdatedAt",
  (SELECT jsonb_agg(jsonb_build_object('id', b.id, 'bonusId', b.bonus_id, 'name', b.name, 'type', b.type, 'amount', b.amount,
    'wagerRequirement', b.wager_requirement, 'maxBet', b.max_bet, 'maxConversion', b.max_conversion, 'validDays', b.valid_days,
    'contributions', b.contributions, 'wagered', b.wagered, 'openRounds', b.open_rounds,
    'createdAt', ${epochMs("b.created_at")}, 'startedAt', ${epochMs("b.started_at")}, 'expiresAt', ${
  epochMs("b.expires_at")
}) ORDER BY b.id) FROM player_bonuses b WHERE b.player_id = p.id AND b.state <> 'finished') AS "openBonuses",
  (SELECT jsonb_object_agg(g.bonus_id, g.granted) FROM (SELECT b.bonus_id, count(*) AS granted FROM player_bonuses b
    WHERE b.player_id = p.id GROUP BY b.bonus_id) g) AS "bonusGrants"`

const loadText =
  `SELECT ${playerColumns} FROM players p JOIN accounts a ON a.player_id = p.id WHERE p.id = $1::float8::bigint`

/**
 * Raising the version waits for a commit that still holds the row, and makes every later one of the old version fail. A
 * statement of its own: what is loaded after it sees all that the commit before it wrote, in every table.
 */
const fenceText = `UPDATE accounts SET version = version + 1 WHERE player_id = $1::float8::bigint`

const TransactionRow = Schema.Struct({
  providerId: Schema.Number,
  transactionId: Schema.String,
  playerId: Schema.Number,
  kind: Schema.Literals(["bet", "win", "promo_win", "rollback", "tombstone"]),
  status: Schema.Literals(["processed", "ignored"]),
  amount: Schema.Number,
  gameId: nullable(Schema.Number),
  roundId: nullable(Schema.String),
  targetId: nullable(Schema.String),
  detail: nullable(Schema.String),
  realAmount: Schema.Number,
  bonusAmount: Schema.Number,
  entryIds: Schema.Array(Schema.Number),
  bonusId: nullable(Schema.Number),
  wagered: Schema.Number,
  createdAt: Schema.Date,
  rolledBack: Schema.Boolean
})

const transactionsText = `SELECT t.provider_id::float8 AS "providerId", t.transaction_id AS "transactionId",
  t.player_id::float8 AS "playerId", t.kind, t.status, t.amount::float8 AS amount, t.game_id::float8 AS "gameId",
  t.round_id AS "roundId", t.target_transaction_id AS "targetId", t.detail, t.real_amount::float8 AS "realAmount",
  t.bonus_amount::float8 AS "bonusAmount", t.entry_ids::float8[] AS "entryIds", t.player_bonus_id::float8 AS "bonusId",
  t.wagered::float8 AS wagered, t.created_at AS "createdAt",
  EXISTS (SELECT FROM provider_transactions r WHERE r.provider_id = t.provider_id AND r.target_transaction_id = t.transaction_id
    AND r.kind = 'rollback' AND r.status = 'processed') AS "rolledBack"
  FROM provider_transactions t WHERE t.provider_id = $1::float8::bigint AND t.transaction_id = ANY ($2::text[])`

const RoundRow = Schema.Struct({
  gameId: Schema.Number,
  roundId: Schema.String,
  realStake: Schema.Number,
  bonusStake: Schema.Number,
  paidWins: Schema.Number,
  bonusId: nullable(Schema.Number),
  closed: Schema.Boolean,
  openedAt: Schema.Date
})

const roundsText = `SELECT r.game_id::float8 AS "gameId", r.round_id AS "roundId", r.real_stake::float8 AS "realStake",
  r.bonus_stake::float8 AS "bonusStake", r.paid_wins::float8 AS "paidWins", r.player_bonus_id::float8 AS "bonusId", r.closed,
  r.opened_at AS "openedAt"
  FROM unnest($2::float8[], $3::text[]) AS u(game_id, round_id)
  JOIN rounds r ON r.player_id = $1::float8::bigint AND r.game_id = u.game_id::bigint AND r.round_id = u.round_id`

const paymentText = `SELECT ${paymentColumns} FROM payment_requests
  WHERE operator_id = $1::float8::bigint AND external_reference = $2`

const paymentByIdText = `SELECT ${paymentColumns} FROM payment_requests
  WHERE player_id = $1::float8::bigint AND id = $2::float8::bigint`

const bonusesText = `SELECT id::float8 AS id, result FROM player_bonuses
  WHERE player_id = $1::float8::bigint AND id = ANY ($2::float8[]::bigint[]) AND result IS NOT NULL`

const BonusResultRow = Schema.Struct({
  id: Schema.Number,
  result: Schema.Literals(["converted", "lost", "expired", "cancelled"])
})

const promoText = `SELECT c.max_redemptions IS NOT NULL AND c.redemptions >= c.max_redemptions AS "isUsedUp",
    EXISTS (SELECT FROM promo_redemptions r WHERE r.promo_code_id = c.id AND r.player_id = $1::float8::bigint) AS "isRedeemed"
  FROM promo_codes c WHERE c.id = $2::float8::bigint`

const PromoRow = Schema.Struct({ isUsedUp: Schema.Boolean, isRedeemed: Schema.Boolean })

const decodeBonusResults = Schema.decodeUnknownEffect(Schema.Array(BonusResultRow))
const decodePromos = Schema.decodeUnknownEffect(Schema.Array(PromoRow))
const decodeTransactions = Schema.decodeUnknownEffect(Schema.Array(TransactionRow))
const decodeRounds = Schema.decodeUnknownEffect(Schema.Array(RoundRow))
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentRow))

const unavailable = (error: SqlError.SqlError) => new StoreUnavailable({ reason: describeSqlError(error) })

const unreadable = (error: Schema.SchemaError) =>
  new StoreUnavailable({ reason: `a stored row is unreadable: ${error.message}` })

/** Longer than the journal's statement timeout: beyond it the server is not slow but silent. */
const deadline = "6 seconds"

/**
 * Waits for a statement no longer than the deadline. A statement that is late is interrupted, and nobody waits for that: a
 * silent server would not answer that either.
 */
const byDeadline = <A, E, E2>(statement: Effect.Effect<A, E>, late: E2): Effect.Effect<A, E | E2> =>
  Effect.flatMap(
    Effect.forkDetach(Effect.interruptible(statement)),
    (fiber) =>
      Effect.interruptible(Effect.timeoutOption(Fiber.await(fiber), deadline)).pipe(
        Effect.flatMap((exit): Effect.Effect<A, E | E2> => {
          if (Option.isSome(exit)) return exit.value
          fiber.interruptUnsafe()
          return Effect.fail(late)
        })
      )
  )

const silent = "the database does not answer"

const orUnavailable = <A>(
  effect: Effect.Effect<A, SqlError.SqlError | Schema.SchemaError>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.catchTags(byDeadline(effect, new StoreUnavailable({ reason: silent })), {
    SqlError: unavailableFailure,
    SchemaError: unreadableFailure
  })

const unavailableFailure = (error: SqlError.SqlError) => Effect.fail(unavailable(error))
const unreadableFailure = (error: Schema.SchemaError) => Effect.fail(unreadable(error))

/** SQLSTATE of a server's answer, where there was one. */
const stateOf = (error: SqlError.SqlError): string | undefined => {
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined
}

/**
 * What a failed commit means. The server's own word that it refused is a refusal; a connection that could not be made means
 * that nothing was sent; everything else leaves open whether the commit happened.
 */
const commitFailure = (error: SqlError.SqlError): CommitFailure => {
  const { reason } = error
  const reasonText = describeSqlError(error)
  switch (reason._tag) {
    case "UniqueViolation":
    case "ConstraintError":
      return new Rejected({ because: "clash" })
    case "SerializationError":
      return new Rejected({ because: "fenced" })
    case "LockTimeoutError":
      return new Rejected({ because: "busy" })
    case "DeadlockError":
    case "StatementTimeoutError":
    case "SqlSyntaxError":
    case "AuthenticationError":
    case "AuthorizationError":
      return new StoreUnavailable({ reason: reasonText })
    case "ConnectionError":
      return reason.operation === "connect"
        ? new StoreUnavailable({ reason: reasonText })
        : new OutcomeUnknown({ reason: reasonText })
    default: {
      const state = stateOf(error)
      // a value that no column holds is one unit's fault, not the batch's
      if (state?.startsWith("22") === true || state?.startsWith("54") === true) {
        return new Rejected({ because: "clash" })
      }
      // 40003: the server itself does not know; 57P: it was shut down or killed on the way
      return state === undefined || state === "40003" || state.startsWith("57P")
        ? new OutcomeUnknown({ reason: reasonText })
        : new StoreUnavailable({ reason: reasonText })
    }
  }
}

const array = (values: ReadonlyArray<string | number>, oid: number) => Result.getOrThrow(PgTypes.array(values, oid))

/** Adds what was found to what was known; an id that was asked for and not found is known to be absent. */
const extend = <Key, A>(
  before: ReadonlyMap<Key, A | null> | undefined,
  asked: ReadonlyArray<Key>,
  found: ReadonlyArray<readonly [Key, A]>
): ReadonlyMap<Key, A | null> =>
  new Map([...before ?? [], ...asked.map((key): [Key, A | null] => [key, null]), ...found])

/** The store of players on the journal's own connections. */
export const makePlayerStore = Effect.gen(function*() {
  const journal = yield* JournalClient
  const sql = yield* SqlClient.SqlClient

  const load: Store<Player, Change, Query, Knowledge>["load"] = Effect.fnUntraced(function*(key, fence) {
    if (fence) yield* orUnavailable(sql.unsafe(fenceText, [PgTypes.float8(key)]))
    const rows = yield* orUnavailable(sql.unsafe(loadText, [PgTypes.float8(key)]))
    const [row] = rows
    if (row === undefined) return undefined
    const decoded = yield* orUnavailable(decodePlayerRow(row))
    return { state: toPlayer(decoded), version: decoded.version }
  })

  const lookTransactions = (
    providerId: number,
    ids: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<Transaction>, StoreUnavailable> =>
    ids.length === 0 ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(transactionsText, [PgTypes.float8(providerId), array(ids, PgTypes.OID.text)]).pipe(
        Effect.flatMap(decodeTransactions),
        Effect.map((rows) => rows.map((row) => ({ ...row, createdAt: row.createdAt.getTime() })))
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
        Effect.flatMap(decodeRounds),
        Effect.map((rows) => rows.map((row) => ({ ...row, openedAt: row.openedAt.getTime() })))
      )
    )

  const lookPayment = (
    operatorId: number,
    reference: string | null
  ): Effect.Effect<ReadonlyArray<Payment>, StoreUnavailable> =>
    reference === null ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(paymentText, [PgTypes.float8(operatorId), reference]).pipe(
        Effect.flatMap(decodePayments),
        Effect.map((rows) => rows.map(toPayment))
      )
    )

  const lookPaymentById = (
    playerId: number,
    id: number | null
  ): Effect.Effect<ReadonlyArray<Payment>, StoreUnavailable> =>
    id === null ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(paymentByIdText, [PgTypes.float8(playerId), PgTypes.float8(id)]).pipe(
        Effect.flatMap(decodePayments),
        Effect.map((rows) => rows.map(toPayment))
      )
    )

  const lookBonuses = (
    playerId: number,
    ids: ReadonlyArray<number>
  ): Effect.Effect<ReadonlyArray<readonly [number, BonusResult]>, StoreUnavailable> =>
    ids.length === 0 ? Effect.succeed([]) : orUnavailable(
      sql.unsafe(bonusesText, [PgTypes.float8(playerId), array(ids, PgTypes.OID.float8)]).pipe(
        Effect.flatMap(decodeBonusResults),
        Effect.map((rows) => rows.map(({ id, result }) => [id, result] as const))
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

  const look: Store<Player, Change, Query, Knowledge>["look"] = Effect.fnUntraced(function*(player, query, known) {
    const [transactions, rounds, payments, paymentsById, bonuses, promoCodes] = yield* Effect.all([
      lookTransactions(query.providerId, query.transactionIds),
      lookRounds(player.id, query.rounds),
      lookPayment(player.operatorId, query.externalReference),
      lookPaymentById(player.id, query.paymentId),
      lookBonuses(player.id, query.bonusIds),
      lookPromo(player.id, query.promoCodeId)
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
      )
    }
  })

  const commit: Store<Player, Change, Query, Knowledge>["commit"] = (units) =>
    Effect.suspend(() => {
      const { parameters, text } = commitStatement(units)
      return byDeadline(journal.unsafe(text, parameters).values, new OutcomeUnknown({ reason: silent }))
    }).pipe(
      Effect.matchCauseEffect({
        onSuccess: () => Effect.void,
        onFailure: (cause) => {
          const failure = Exit.findErrorOption(Exit.failCause(cause))
          return failure._tag === "Some"
            ? Effect.fail(failure.value._tag === "SqlError" ? commitFailure(failure.value) : failure.value)
            : Effect.andThen(
              Effect.logError("A commit failed for a reason nobody foresaw", cause),
              Effect.fail(new OutcomeUnknown({ reason: Cause.pretty(cause) }))
            )
        }
      })
    )

  return { load, look, commit, claims } satisfies Store<Player, Change, Query, Knowledge>
})

/** What a change claimed to be new. */
export const claims = (_: Player, change: Change): Query => ({
  providerId: change.transactions[0]?.providerId ?? 0,
  transactionIds: change.transactions.flatMap(({ targetId, transactionId }) =>
    targetId === null ? [transactionId] : [transactionId, targetId]
  ),
  rounds: change.rounds.filter(({ isNew }) => isNew).map(({ round }) => round),
  bonusIds: [],
  externalReference: change.payments.find(({ isNew }) => isNew)?.payment.externalReference ?? null,
  paymentId: null,
  promoCodeId: change.redemptions[0]?.promoCodeId ?? null
})
