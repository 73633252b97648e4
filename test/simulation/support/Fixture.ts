/** Fixture of a simulated world: operators, players, games, bonuses. */
import { Context, Effect, Layer } from "effect"
import { SealedSecrets } from "../../../src/auth/SealedSecrets.ts"
import type { CatalogueBonus, PromoCode } from "../../../src/domain/bonus/BonusGrants.ts"
import type { Rules } from "../../../src/domain/jurisdiction/Rules.ts"
import type { Operator, Provider } from "../../../src/domain/state/Operator.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import type { SettledGame, SettlementPolicy } from "../../../src/domain/settlement/Settlement.ts"
import type { Game } from "../../../src/features/games/Game.ts"
import { Games } from "../../../src/features/games/Games.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { OpeningSessions } from "../../../src/features/games/OpeningSessions.ts"
import { SessionTokens } from "../../../src/features/games/SessionTokens.ts"
import { type PaymentMethod, PaymentMethods } from "../../../src/features/payments/Methods.ts"
import { ActiveOperators } from "../../../src/features/operators/ActiveOperators.ts"
import { Settings } from "../../../src/platform/Settings.ts"
import { operatorOf } from "../../kit/Operators.ts"
import { openSessionsAt } from "../../kit/Messages.ts"
import { newPlayer } from "../../kit/players.ts"
import { policies } from "../../kit/Policies.ts"

/** The first requires a second approval and verified players; the second requires neither. */
export const operators: ReadonlyArray<Operator> = [
  operatorOf(1, { withdrawalSecondApprovalAbove: 700, kycWithdrawalThreshold: 1500 }),
  operatorOf(2, { forfeitBonusOnWithdrawal: false, coolingOffHours: 1 })
]

export const operatorById = (id: number): Operator | undefined => operators.find((operator) => operator.id === id)

/** Players of the first operator, then those of the second. */
export const playerIds: ReadonlyArray<number> = [101, 102, 103, 104]

export const operatorOfPlayer = (playerId: number): number => playerId === 104 ? 2 : 1

/** The operator that a player does not belong to. */
export const strangerTo = (playerId: number): number => 3 - operatorOfPlayer(playerId)

/** Vendors with protocols of their own, each with a game: a provider for every policy. */
export const vendors: ReadonlyArray<
  { readonly policy: SettlementPolicy; readonly providerId: number; readonly game: SettledGame }
> = Object.values(policies).slice(1).map((policy, index) => {
  const providerId = 11 + index
  return {
    policy,
    providerId,
    game: { id: 100 + index, providerId, type: index % 2 === 0 ? "rng" : "live", category: "slots", active: true }
  }
})

const providerIds = [1, 2, ...vendors.map(({ providerId }) => providerId)]

/** The players with their opening real balance, in minor units, and their rules. */
export const playersAt = (now: number, opening: number, rules: Rules): ReadonlyArray<Player> =>
  playerIds.map((id) =>
    newPlayer({
      id,
      operatorId: operatorOfPlayer(id),
      rules,
      kycStatus: id === 101 ? "verified" : "not_started",
      real: opening,
      providerIds,
      openSessions: openSessionsAt(providerIds),
      realUpdatedAt: now,
      bonusUpdatedAt: now
    })
  )

const providerOf = (id: number): Provider => ({
  id,
  slug: `provider-${id}`,
  name: `Provider ${id}`,
  key: `provider-key-${id}`,
  launchUrl: null,
  demoUrl: null,
  ipAllowlist: [],
  active: true
})

const providers: ReadonlyArray<Provider> = [providerOf(1), providerOf(2)]

export const providerById = (id: number): Provider => providers.find((provider) => provider.id === id) ?? providerOf(id)

const gameOf = (id: number, providerId: number, externalId: string, type: Game["type"]): Game => ({
  id,
  externalId,
  name: externalId,
  type,
  category: "slots",
  rtp: null,
  thumbnailUrl: null,
  original: null,
  active: true,
  provider: { ...providerOf(providerId), protocol: "pitboss" }
})

export const games: ReadonlyArray<Game> = [
  gameOf(11, 1, "slot", "rng"),
  gameOf(12, 1, "roulette", "live"),
  gameOf(13, 2, "wheel", "rng")
]

export const gameById = (id: number): Game | undefined => games.find((game) => game.id === id)

const bonusOf = (id: number, operatorId: number, terms: Partial<CatalogueBonus>): CatalogueBonus => ({
  id,
  operatorId,
  name: `Bonus ${id}`,
  description: "",
  type: "no_deposit",
  defaultAmount: 100,
  wageringMultiplier: 2,
  validDays: 1,
  maxBet: 0,
  maxConversionMultiplier: 0,
  maxGrantsPerPlayer: 0,
  isActive: true,
  contributions: {},
  currency: "EUR",
  ...terms
})

export const bonuses: ReadonlyArray<CatalogueBonus> = [
  bonusOf(21, 1, {}),
  bonusOf(22, 1, { wageringMultiplier: 0, type: "cash", defaultAmount: 50 }),
  bonusOf(23, 1, { maxGrantsPerPlayer: 1, maxBet: 150, maxConversionMultiplier: 1, defaultAmount: 200 }),
  bonusOf(25, 1, { wageringMultiplier: 1, maxConversionMultiplier: 1 }),
  bonusOf(24, 2, { contributions: { 12: 50 }, defaultAmount: 120, wageringMultiplier: 1 })
]

/** A promo code and its maximum number of redemptions. */
export interface PromoOnOffer extends Pick<PromoCode, "id" | "code" | "bonus"> {
  readonly operatorId: number
  readonly maxRedemptions: number
}

export const promos: ReadonlyArray<PromoOnOffer> = [
  { id: 31, code: "HELLO", operatorId: 1, bonus: bonusOf(21, 1, {}), maxRedemptions: 2 },
  { id: 32, code: "SECOND", operatorId: 2, bonus: bonusOf(24, 2, { defaultAmount: 120 }), maxRedemptions: 1 }
]

const methodOf = (operatorId: number): PaymentMethod => ({
  id: operatorId,
  operatorId,
  code: "bank",
  name: "Bank",
  currencies: ["EUR"],
  supportsDeposit: true,
  supportsWithdrawal: true,
  minDeposit: 5,
  maxDeposit: 5000,
  minWithdrawal: 5,
  maxWithdrawal: 5000
})

/** Catalogues, constant during a run. */
export const layerCatalogues = Layer.mergeAll(
  Layer.mock(ActiveOperators)({ isActive: () => true }),
  Layer.mock(Games)({
    get: (gameId) => Effect.fromNullishOr(gameById(gameId)).pipe(Effect.orDie),
    find: (gameId) => Effect.succeed(gameById(gameId)),
    findUnsafe: gameById,
    findByExternalId: (providerId, externalId) => Effect.succeed(gameByName(providerId, externalId)),
    findByExternalIdUnsafe: (providerId, externalId) => gameByName(providerId, externalId)
  }),
  Layer.mock(PaymentMethods)({
    find: (operatorId, code) => Effect.succeed(code === "bank" ? methodOf(operatorId) : undefined),
    findUnsafe: (operatorId, code) => code === "bank" ? methodOf(operatorId) : undefined
  })
)

const gameByName = (providerId: number, externalId: string): Game | undefined =>
  games.find((game) => game.provider.id === providerId && game.externalId === externalId)

/** Player refs and session tokens, shared by all services of the same master key. */
export const layerNames = Layer.mergeAll(SessionTokens.layer, OpeningSessions.layer, PlayerRefs.layer).pipe(
  Layer.provide([Settings.layerTest(), SealedSecrets.layerMemory])
)

const names = Effect.runSync(Effect.scoped(Layer.build(layerNames)))

export const tokens = Context.get(names, SessionTokens)
export const refs = Context.get(names, PlayerRefs)
