/** In-memory repositories of the capabilities; each read is one round trip on a machine's connection to the simulated database. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { missing } from "../../../src/domain/state/Decision.ts"
import { BonusRepository } from "../../../src/features/bonuses/BonusRepository.ts"
import { ApprovalFacts } from "../../../src/features/payments/ApprovalFacts.ts"
import { DueAccounts } from "../../../src/features/players/DueAccountChanges.ts"
import { ProviderTransactions } from "../../../src/features/settlement/ProviderTransactions.ts"
import { StoredReplies } from "../../../src/store/Idempotency.ts"
import { orTryAgain } from "../../../src/store/Rows.ts"
import { windowStart } from "../../../src/domain/state/Windows.ts"
import { newPlayer } from "../../kit/players.ts"
import type { Connection, Database } from "./Database.ts"
import { bonuses, operatorById, playerIds, promos } from "./Fixture.ts"

const dayMs = 86_400_000

/** All players: the rule changes nothing without a due change. */
const everybody = playerIds.map((playerId) => ({ playerId }))

export const layerRepositories = (database: Database, connection: Connection) => {
  const { bonusOwners, memory } = database
  const query = <A>(answer: () => A) => connection.call("statement", () => Effect.runSyncExit(Effect.sync(answer)))
  const read = <A>(answer: () => A) => orTryAgain(query(answer))
  /** Looks up ids for a player, as a rule does. */
  const lookUp = (wanted: Parameters<typeof missing>[0], playerId = 0) =>
    Effect.runSync(memory.lookUp(newPlayer({ id: playerId }), missing(wanted).query, undefined))
  const reply = ({ key, scope }: { readonly scope: string; readonly key: string }) => memory.findReply(scope, key)

  return Layer.mergeAll(
    Layer.succeed(StoredReplies, {
      find: (claim) =>
        read(() => {
          const found = reply(claim)
          return found === undefined ? undefined : { ...found, sealed: null }
        }),
      insert: ({ body, sealed: _, ...kept }) => query(() => memory.keepReply({ ...kept, body: body ?? "" })),
      remove: (claim, until) =>
        query(() => {
          const found = reply(claim)
          if (found !== undefined && found.createdAt <= until) memory.forgetReply(found)
        }),
      prune: (until) =>
        query(() => {
          const gone = memory.tables().replies.filter(({ createdAt }) => createdAt <= until)
          for (const each of gone) memory.forgetReply(each)
          return gone.length
        })
    }),
    Layer.succeed(ProviderTransactions, {
      find: (providerId, transactionId) =>
        read(() =>
          lookUp({ providerId, transactionIds: [transactionId] }).transactions.get(transactionId) ?? undefined
        ),
      // no protocol here names a bet in another round
      findRounds: () => read(() => []),
      // nor closes a round without its game
      findGames: () => read(() => []),
      creditTerms: () => read(() => null)
    }),
    Layer.succeed(ApprovalFacts, {
      find: (paymentId) =>
        read(() => {
          const payment = memory.tables().payments.find(({ id }) => id === paymentId)
          const operator = payment === undefined ? undefined : operatorById(payment.operatorId)
          if (payment === undefined || operator === undefined) return undefined
          const { amount, createdAt, currency, firstApprovedBy, playerId, secondApprovedBy } = payment
          const { currency: base, withdrawalSecondApprovalAbove: secondApprovalAbove } = operator
          const approvals = { firstApprovedBy, secondApprovedBy, secondApprovalAbove }
          return { playerId, amount, currency, base, requestedAt: new Date(createdAt), ...approvals }
        }),
      // no operator here has rules that hold withdrawals
      isWaiting: () => read(() => false),
      // corrections are made below the service that counts them
      countedBeside: ({ id, playerId, requestedAt }, now) =>
        query(() => {
          const [from, today] = [windowStart("day", requestedAt), windowStart("day", now)]
          const beside = memory.tables().payments.filter((payment) =>
            payment.playerId === playerId && payment.id !== id && payment.type === "withdrawal" &&
            ["new", "allowed", "paid"].includes(payment.status) &&
            ((payment.createdAt >= from && payment.createdAt < from + dayMs) || payment.createdAt >= today ||
              (payment.status !== "new" && payment.updatedAt >= today))
          )
          return { beside: beside.reduce((sum, { amount }) => sum + amount, 0), correctors: [] }
        }),
      staff: (labels) =>
        query(() => {
          const staff = new Map(labels.map((label) => [label, { label, isBootstrap: false, tokenIssuedAt: 0 }]))
          return { staff, trust: { handovers: [], factors: new Map() } }
        })
    }),
    Layer.mock(BonusRepository, {
      find: (operatorId, bonusId) =>
        read(() => bonuses.find((bonus) => bonus.id === bonusId && bonus.operatorId === operatorId)),
      findPromo: (operatorId, playerId, code) =>
        read(() => {
          const promo = promos.find((each) =>
            each.operatorId === operatorId && each.code.toLowerCase() === code.toLowerCase()
          )
          if (promo === undefined) return undefined
          const { isRedeemed = false, isUsedUp = false } =
            lookUp({ promoCodeId: promo.id }, playerId).promoCodes.get(promo.id) ?? {}
          const terms = { promoCodeId: promo.id, code: promo.code, isPromoActive: true, expiresAt: null }
          return { ...promo.bonus, ...terms, isRedeemed, isUsedUp }
        }),
      ownerOf: (playerBonusId) =>
        read(() => {
          const playerId = bonusOwners.get(playerBonusId)
          return playerId === undefined ? undefined : { playerId }
        }),
      findDue: () => query(() => everybody),
      findRegistrations: () => query(() => [])
    }),
    Layer.succeed(DueAccounts, { find: () => query(() => everybody) })
  )
}

/** A client for parts of the capabilities that no simulated request reaches: a statement is a defect. */
export const layerNoStatements = Layer.effect(
  SqlClient.SqlClient,
  SqlClient.make({
    acquirer: Effect.die(new Error("not simulated: a statement outside the repositories")),
    compiler: PgClient.makeCompiler(),
    driver: "simulated",
    spanAttributes: []
  })
).pipe(Layer.provide(Reactivity.layer))
