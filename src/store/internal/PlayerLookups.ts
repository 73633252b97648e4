/** Look-ups of ids that a rule needs and the player in memory does not hold: transactions, rounds, payments, bonuses, promo codes, signatures. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema, Struct } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { PlayerBonus } from "../../domain/state/Bonus.ts"
import type { Knowledge } from "../../domain/state/Decision.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type Query, Round, roundKey, Transaction } from "../../domain/state/Rounds.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { playerBonusNames } from "../BonusRows.ts"
import { PaymentRow, toPayments } from "../PaymentRow.ts"
import { isRolledBack, rollbackOf } from "../RollbacksInEffect.ts"
import { processSql } from "../../platform/ServiceProcesses.ts"
import { columnsOf } from "../Rows.ts"
import { numbers, texts } from "../../platform/ArrayParameters.ts"
import { openSeedsText, SeedRow, toSeeds } from "../SeedRows.ts"

/** Each row names the request that it answers: the requests' indexes are passed in the last array. */
const ofRequest = Schema.Struct({ request: Schema.Number })

const TransactionRow = Schema.Struct({ ...Transaction.fields, ...ofRequest.fields })
const RoundRow = Schema.Struct({ ...Round.fields, ...ofRequest.fields })
const PaymentOfRequest = Schema.Struct({ ...PaymentRow.fields, ...ofRequest.fields })
const BonusRow = Schema.Struct({ ...PlayerBonus.fields, ...ofRequest.fields })
const PromoRow = Schema.Struct({
  id: Schema.Number,
  isUsedUp: Schema.Boolean,
  isRedeemed: Schema.Boolean,
  ...ofRequest.fields
})

/** Fields of both rows above. */
const shared = ["gameId", "roundId", "bonusId", "request"] as const

/**
 * Rows of transactions, and rows of rounds, whose `transactionId` is null: each id asked for is one of either. A transaction is found by its provider
 * and id, not by its player: the id of another player's transaction is refused too.
 */
const playText =
  `SELECT u.request, coalesce(t.game_id, o.game_id) AS "gameId", coalesce(t.round_id, o.round_id) AS "roundId",
  coalesce(t.player_bonus_id, o.player_bonus_id) AS "bonusId", ${
    columnsOf({ fields: Struct.omit(RoundRow.fields, shared) }, "o")
  }, ${
    columnsOf({ fields: Struct.omit(TransactionRow.fields, shared) }, "t", {
      targetId: "t.target_transaction_id",
      entryIds: "t.entry_ids::float8[]",
      rolledBack: isRolledBack("t"),
      reinstated: `(SELECT count(*) FROM provider_transactions r JOIN provider_transactions s ON ${rollbackOf("r", "s")}
      WHERE ${rollbackOf("t", "r")})`
    })
  } FROM unnest($1::float8[], $2::text[], $3::float8[], $4::float8[], $5::text[], $6::float8[])
    AS u(provider_id, transaction_id, player_id, game_id, round_id, request)
  LEFT JOIN provider_transactions t ON t.provider_id = u.provider_id::bigint AND t.transaction_id = u.transaction_id
  LEFT JOIN rounds o ON o.player_id = u.player_id::bigint AND o.game_id = u.game_id::bigint AND o.round_id = u.round_id
  WHERE t.transaction_id IS NOT NULL OR o.round_id IS NOT NULL`

const paymentColumns = columnsOf(PaymentOfRequest, "t", { request: "u.request" })

const paymentsText = `SELECT ${paymentColumns}
  FROM unnest($1::float8[], $2::text[], $3::float8[]) AS u(operator_id, external_reference, request)
  JOIN payment_requests t ON t.operator_id = u.operator_id::bigint AND t.external_reference = u.external_reference`

const paymentsByIdText = `SELECT ${paymentColumns}
  FROM unnest($1::float8[], $2::float8[], $3::float8[]) AS u(player_id, id, request)
  JOIN payment_requests t ON t.id = u.id::bigint AND t.player_id = u.player_id::bigint`

// open rounds are counted only where an end may be undone: messages that close them do not look the bonus up
const bonusesText = `SELECT ${
  columnsOf(BonusRow, "b", {
    ...playerBonusNames,
    openRounds: `CASE WHEN b.result IN ('converted', 'lost') AND b.open_rounds > 0 THEN (SELECT count(*) FROM rounds r
      WHERE r.player_id = b.player_id AND r.player_bonus_id = b.id AND NOT r.closed AND r.bonus_stake > 0) ELSE 0 END`,
    request: "u.request"
  })
} FROM unnest($1::float8[], $2::float8[], $3::float8[]) AS u(player_id, id, request)
  JOIN player_bonuses b ON b.id = u.id::bigint AND b.player_id = u.player_id::bigint WHERE b.result IS NOT NULL`

const promoText =
  `SELECT c.id, u.request, c.max_redemptions IS NOT NULL AND c.redemptions >= c.max_redemptions AS "isUsedUp",
    EXISTS (SELECT FROM promo_redemptions r WHERE r.promo_code_id = c.id AND r.player_id = u.player_id::bigint) AS "isRedeemed"
  FROM unnest($1::float8[], $2::float8[], $3::float8[]) AS u(player_id, id, request)
  JOIN promo_codes c ON c.id = u.id::bigint`

const SignatureRow = Schema.Struct({
  signature: Schema.String,
  accepter: Schema.Literals(["this", "other"]),
  ...ofRequest.fields
})

const signaturesText = `SELECT encode(t.signature, 'hex') AS signature, u.request,
    CASE t.process WHEN ${processSql} THEN 'this' ELSE 'other' END AS accepter
  FROM unnest($1::text[], $2::float8[]) AS u(signature, request)
  JOIN accepted_signatures t ON t.signature = decode(u.signature, 'hex')`

const decodeSeeds = Schema.decodeUnknownEffect(Schema.Array(SeedRow))
const decodeFinishedBonuses = Schema.decodeUnknownEffect(Schema.Array(BonusRow))
const decodePromos = Schema.decodeUnknownEffect(Schema.Array(PromoRow))
const decodeSignatures = Schema.decodeUnknownEffect(Schema.Array(SignatureRow))
const decodeTransactions = Schema.decodeUnknownEffect(Schema.Array(TransactionRow))
const decodeRounds = Schema.decodeUnknownEffect(Schema.Array(RoundRow))
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentOfRequest))

const isRound = (row: object): boolean => "transactionId" in row && row.transactionId === null

const decodePlay = (rows: ReadonlyArray<object>) =>
  Effect.all({
    transactions: decodeTransactions(rows.filter((row) => !isRound(row))),
    rounds: decodeRounds(rows.filter(isRound))
  })

/** The id of a transaction or of a round; the rest is null. */
interface AskedPlay {
  readonly providerId: number | null
  readonly transactionId: string | null
  readonly playerId: number | null
  readonly gameId: number | null
  readonly roundId: string | null
}

const nothingElse: AskedPlay = { providerId: null, transactionId: null, playerId: null, gameId: null, roundId: null }

const playOf = ({ player, query: { providerId, rounds, transactionIds } }: LookUpRequest): ReadonlyArray<AskedPlay> => [
  ...transactionIds.map((transactionId) => ({ ...nothingElse, providerId, transactionId })),
  ...rounds.map(({ gameId, roundId }) => ({ ...nothingElse, playerId: player.id, gameId, roundId }))
]

/** Query of one decision. */
export interface LookUpRequest {
  readonly player: Player
  readonly query: Query
  readonly known: Knowledge | undefined
}

type LookFailure = SqlError.SqlError | Schema.SchemaError

/** Extends the knowledge; an id requested and not found is known to be absent. */
const extend = <Key, A>(
  before: ReadonlyMap<Key, A | null> | undefined,
  asked: ReadonlyArray<Key>,
  found: ReadonlyArray<readonly [Key, A]>
): ReadonlyMap<Key, A | null> =>
  new Map([...before ?? [], ...asked.map((key): [Key, A | null] => [key, null]), ...found])

/** Looks up the ids of queries, one statement for transactions and rounds and one for each other kind of id; ids not found are recorded as absent. */
export const makeLookUp = (sql: SqlClient.SqlClient, personal: PersonalData["Service"]) => {
  /** Runs the look-up of one kind; no statement without ids. */
  const ask = <Named, Rows>(
    requests: ReadonlyArray<LookUpRequest>,
    name: (request: LookUpRequest) => ReadonlyArray<Named>,
    text: string,
    columns: ReadonlyArray<(named: ReadonlyArray<Named>) => unknown>,
    decode: (rows: ReadonlyArray<object>) => Effect.Effect<Rows, Schema.SchemaError>
  ): Effect.Effect<Rows, LookFailure> => {
    const named = requests.map(name)
    const all = named.flat()
    if (all.length === 0) return decode([])
    const numbersOfRequests = named.flatMap((some, request) => some.map(() => request))
    return Effect.flatMap(
      sql.unsafe(text, [...columns.map((column) => column(all)), numbers(numbersOfRequests)]),
      decode
    )
  }

  const findPayments = (found: Effect.Effect<ReadonlyArray<typeof PaymentOfRequest.Type>, LookFailure>) =>
    Effect.flatMap(
      found,
      (rows) =>
        Effect.map(
          toPayments(personal, rows.map(({ request: _, ...row }) => row)),
          (payments) => payments.map((payment, index) => ({ payment, request: rows[index]?.request }))
        )
    )

  const findSeeds = (requests: ReadonlyArray<LookUpRequest>) =>
    Effect.forEach(requests, ({ known, player, query }) =>
      query.seeds
        ? sql.unsafe(openSeedsText, [PgTypes.float8(player.id)]).pipe(
          Effect.flatMap(decodeSeeds),
          Effect.map(toSeeds)
        )
        : Effect.succeed(known?.seeds), { concurrency: 2 })

  return Effect.fnUntraced(function*(requests: ReadonlyArray<LookUpRequest>) {
    const [play, payments, paymentsById, bonuses, promoCodes, signatures, seeds] = yield* Effect.all([
      ask(
        requests,
        playOf,
        playText,
        [
          (asked) => numbers(asked.map(({ providerId }) => providerId)),
          (asked) => texts(asked.map(({ transactionId }) => transactionId)),
          (asked) => numbers(asked.map(({ playerId }) => playerId)),
          (asked) => numbers(asked.map(({ gameId }) => gameId)),
          (asked) => texts(asked.map(({ roundId }) => roundId))
        ],
        decodePlay
      ),
      findPayments(ask(
        requests,
        ({ player: { operatorId }, query: { externalReference } }) =>
          externalReference === null ? [] : [{ operatorId, externalReference }],
        paymentsText,
        [
          (named) => numbers(named.map(({ operatorId }) => operatorId)),
          (named) => texts(named.map(({ externalReference }) => externalReference))
        ],
        decodePayments
      )),
      findPayments(
        ask(requests, ofPlayer(({ paymentId }) => paymentId), paymentsByIdText, playerAndId, decodePayments)
      ),
      ask(
        requests,
        ({ player, query }) => query.bonusIds.map((id) => ({ playerId: player.id, id })),
        bonusesText,
        playerAndId,
        decodeFinishedBonuses
      ),
      ask(requests, ofPlayer(({ promoCodeId }) => promoCodeId), promoText, playerAndId, decodePromos),
      ask(
        requests,
        ({ query: { signature } }) => signature === null ? [] : [signature],
        signaturesText,
        [texts],
        decodeSignatures
      ),
      findSeeds(requests)
    ], { concurrency: 3 })
    const byRequest = {
      transactions: Map.groupBy(play.transactions, numberOf),
      rounds: Map.groupBy(play.rounds, numberOf),
      bonuses: Map.groupBy(bonuses, numberOf),
      promoCodes: Map.groupBy(promoCodes, numberOf),
      signatures: Map.groupBy(signatures, numberOf),
      payments: Map.groupBy(payments, numberOf),
      paymentsById: Map.groupBy(paymentsById, numberOf)
    }
    return requests.map(({ known, query }, number): Knowledge => {
      const own = <Row>(rows: ReadonlyMap<number | undefined, ReadonlyArray<Row>>) => rows.get(number) ?? []
      return {
        transactions: extend(
          known?.transactions,
          query.transactionIds,
          own(byRequest.transactions).map(({ request: _, ...transaction }) => [transaction.transactionId, transaction])
        ),
        rounds: extend(
          known?.rounds,
          query.rounds.map(({ gameId, roundId }) => roundKey(gameId, roundId)),
          own(byRequest.rounds).map(({ request: _, ...round }) => [roundKey(round.gameId, round.roundId), round])
        ),
        bonuses: extend(
          known?.bonuses,
          query.bonusIds,
          own(byRequest.bonuses).map(({ request: _, ...bonus }) => [bonus.id, bonus])
        ),
        promoCodes: extend(
          known?.promoCodes,
          query.promoCodeId === null ? [] : [query.promoCodeId],
          own(byRequest.promoCodes).map(({ id, isRedeemed, isUsedUp }) => [id, { isRedeemed, isUsedUp }])
        ),
        signatures: extend(
          known?.signatures,
          query.signature === null ? [] : [query.signature],
          own(byRequest.signatures).map(({ accepter, signature }) => [signature, accepter])
        ),
        payments: extend(
          known?.payments,
          query.externalReference === null ? [] : [query.externalReference],
          own(byRequest.payments).map(({ payment }) => [payment.externalReference ?? "", payment])
        ),
        paymentsById: extend(
          known?.paymentsById,
          query.paymentId === null ? [] : [query.paymentId],
          own(byRequest.paymentsById).map(({ payment }) => [payment.id, payment])
        ),
        seeds: seeds[number]
      }
    })
  })
}

const numberOf = ({ request }: { readonly request: number | undefined }) => request

interface OfPlayer {
  readonly playerId: number
  readonly id: number
}

const ofPlayer =
  (pick: (query: Query) => number | null) => ({ player, query }: LookUpRequest): ReadonlyArray<OfPlayer> => {
    const id = pick(query)
    return id === null ? [] : [{ playerId: player.id, id }]
  }

const playerAndId = [
  (named: ReadonlyArray<OfPlayer>) => numbers(named.map(({ playerId }) => playerId)),
  (named: ReadonlyArray<OfPlayer>) => numbers(named.map(({ id }) => id))
]
