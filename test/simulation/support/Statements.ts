/**
 * The few SQL statements that capabilities send by themselves, outside a player's commit, answered from the store in memory.
 *
 * A statement is known by words of its text, and its parameters by their place. This is where the simulation ends and
 * PostgreSQL begins: what a statement means is said here a second time. One that is not known dies with its text, and wants to
 * be added below.
 */
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { ServingClient } from "../../../src/platform/Database.ts"
import { PgClient } from "@effect/sql-pg"
import { missing } from "../../../src/domain/Decision.ts"
import { newPlayer } from "../../kit/players.ts"
import type { Connection, Database } from "./Database.ts"
import { bonuses, operatorById, playerIds, promos } from "./House.ts"

type Parameters = ReadonlyArray<unknown>
type Rows = ReadonlyArray<object>

interface Statement {
  /** All of them are in its text. */
  readonly words: ReadonlyArray<string>
  readonly answer: (database: Database, parameters: Parameters) => Rows
}

const numberAt = (parameters: Parameters, place: number): number => Number(parameters[place])
const textAt = (parameters: Parameters, place: number): string => String(parameters[place])

const timeAt = (parameters: Parameters, place: number): number => {
  const value = parameters[place]
  return value instanceof Date ? value.getTime() : Number.NaN
}

const bytesAt = (parameters: Parameters, place: number): Uint8Array => {
  const value = parameters[place]
  return value instanceof Uint8Array ? value : new Uint8Array()
}

/** Somebody to ask the store as: what is looked up by id alone is not a player's own. */
const anybody = newPlayer()

/** Every player: each is looked at by a rule that changes nothing when nothing is due. */
const everybody = (): Rows => playerIds.map((playerId) => ({ playerId }))

const statements: ReadonlyArray<Statement> = [
  {
    words: ["FROM provider_transactions t"],
    answer: ({ memory }, parameters) => {
      const transactionId = textAt(parameters, 1)
      const { query } = missing({ providerId: numberAt(parameters, 0), transactionIds: [transactionId] })
      const found = Effect.runSync(memory.look(anybody, query, undefined)).transactions.get(transactionId)
      return found === undefined || found === null ? [] : [found]
    }
  },
  {
    words: ["SELECT fingerprint, status, body, body_sealed", "FROM idempotency_keys"],
    answer: ({ memory }, parameters) => {
      const found = memory.findReply(textAt(parameters, 0), textAt(parameters, 1))
      if (found === undefined) return []
      const { body, createdAt, fingerprint, status } = found
      return [{ fingerprint, status, body, body_sealed: null, created_at: new Date(createdAt) }]
    }
  },
  {
    words: ["DELETE FROM idempotency_keys WHERE scope ="],
    answer: ({ memory }, parameters) => {
      const found = memory.findReply(textAt(parameters, 0), textAt(parameters, 1))
      if (found !== undefined && found.createdAt <= timeAt(parameters, 2)) memory.forgetReply(found)
      return []
    }
  },
  {
    words: ["INSERT INTO idempotency_keys"],
    answer: ({ memory }, parameters) =>
      memory.keepReply({
          scope: textAt(parameters, 0),
          key: textAt(parameters, 1),
          fingerprint: bytesAt(parameters, 2),
          status: numberAt(parameters, 3),
          body: textAt(parameters, 4),
          createdAt: timeAt(parameters, 6)
        })
        ? [{ one: 1 }]
        : []
  },
  {
    words: ["DELETE FROM idempotency_keys WHERE (scope, key) IN"],
    answer: ({ memory }, parameters) => {
      const gone = memory.tables().replies.filter(({ createdAt }) => createdAt <= timeAt(parameters, 0))
      for (const reply of gone) memory.forgetReply(reply)
      return gone
    }
  },
  {
    words: ["FROM payment_requests p JOIN operators o"],
    answer: (database, parameters) => {
      const playerId = database.owners.payments.get(numberAt(parameters, 0))
      const operatorId = playerId === undefined ? undefined : database.stateOf(playerId)?.operatorId
      const operator = operatorId === undefined ? undefined : operatorById(operatorId)
      if (operator === undefined) return []
      const { currency: base, withdrawalSecondApprovalAbove: secondApprovalAbove } = operator
      const payment = database.memory.tables().payments.find(({ id }) => id === numberAt(parameters, 0))
      if (payment === undefined) return []
      const { createdAt, firstApprovedBy, secondApprovedBy } = payment
      return [{
        playerId,
        currency: "EUR",
        base,
        secondApprovalAbove,
        createdAt: new Date(createdAt),
        firstApprovedBy,
        secondApprovedBy
      }]
    }
  },
  {
    // corrections are made below what counts them
    words: ["WITH corrected AS", "AS beside"],
    answer: ({ memory }, parameters) => {
      const [playerId, paymentId] = [numberAt(parameters, 4), numberAt(parameters, 5)]
      const [from, until, today] = [timeAt(parameters, 6), timeAt(parameters, 7), timeAt(parameters, 8)]
      const beside = memory.tables().payments.filter((payment) =>
        payment.playerId === playerId && payment.id !== paymentId && payment.type === "withdrawal" &&
        ["new", "allowed", "paid"].includes(payment.status) &&
        ((payment.createdAt >= from && payment.createdAt < until) || payment.createdAt >= today ||
          (payment.status !== "new" && payment.updatedAt >= today))
      )
      return [{ beside: beside.reduce((sum, { amount }) => sum + amount, 0), correctors: [] }]
    }
  },
  {
    words: ["JOIN staff s ON", "LEFT JOIN LATERAL"],
    answer: () =>
      [1, 2].map((id) => ({
        id,
        createdBy: "staff:bootstrap",
        tokenIssuedAt: new Date(0),
        tokenIssuedBy: "staff:bootstrap"
      }))
  },
  {
    // no operator here has rules that stop withdrawals
    words: ["compliance_settings", "AS \"isWaiting\""],
    answer: () => [{ isWaiting: false }]
  },
  {
    words: ["FROM promo_codes c JOIN bonuses b"],
    answer: ({ memory }, parameters) => {
      const [playerId, operatorId] = [numberAt(parameters, 0), numberAt(parameters, 1)]
      const promo = promos.find(({ code, operatorId: of }) =>
        of === operatorId && code.toLowerCase() === textAt(parameters, 2).toLowerCase()
      )
      if (promo === undefined) return []
      const { query } = missing({ promoCodeId: promo.id })
      const known = Effect.runSync(memory.look({ ...anybody, id: playerId }, query, undefined))
      const standing = known.promoCodes.get(promo.id)
      return [{
        promoCodeId: promo.id,
        code: promo.code,
        isPromoActive: true,
        expiresAt: null,
        isUsedUp: standing?.isUsedUp ?? false,
        isRedeemed: standing?.isRedeemed ?? false,
        ...promo.bonus
      }]
    }
  },
  {
    words: ["FROM bonuses b JOIN operators o", "WHERE b.id ="],
    answer: (_, parameters) =>
      bonuses.filter(({ id, operatorId }) => id === numberAt(parameters, 0) && operatorId === numberAt(parameters, 1))
  },
  {
    words: ["FROM player_bonuses WHERE id ="],
    answer: ({ owners }, parameters) => {
      const playerId = owners.bonuses.get(numberAt(parameters, 0))
      return playerId === undefined ? [] : [{ playerId }]
    }
  },
  { words: ["FROM player_bonuses", "state = 'activated' AND expires_at <="], answer: everybody },
  { words: ["jsonb_array_elements(pending_limits)"], answer: everybody },
  { words: ["p.registration_promo_due"], answer: () => [] }
]

const find = (text: string): Statement | undefined =>
  statements.find(({ words }) => words.every((word) => text.includes(word)))

/** The client of the capabilities, on a machine's connection to the simulated database. */
export const layerStatements = (database: Database, connection: Connection) => {
  const notSimulated = (what: string) => Effect.die(new Error(`not simulated: ${what}`))
  const execute: SqlConnection.Connection["execute"] = (text, parameters) => {
    const statement = find(text)
    return statement === undefined
      ? notSimulated(`the statement ${text}`)
      : connection.call(
        "statement",
        () => Effect.runSyncExit(Effect.sync(() => statement.answer(database, parameters)))
      )
  }
  const pool: SqlConnection.Connection = {
    execute,
    executeUnprepared: execute,
    executeRaw: notSimulated,
    executeValues: notSimulated,
    executeValuesUnprepared: notSimulated,
    executeStream: () => {
      throw new Error("not simulated: a stream of rows")
    }
  }
  const general = Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({
      acquirer: Effect.succeed(pool),
      compiler: PgClient.makeCompiler(),
      driver: "simulated",
      spanAttributes: []
    })
  ).pipe(Layer.provide(Reactivity.layer))
  return Layer.provideMerge(Layer.effect(ServingClient, SqlClient.SqlClient), general)
}
