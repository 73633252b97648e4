/** Valid players and provider messages for tests of rules, with overrides. */
import type { CatalogueBonus } from "../../src/domain/bonus/BonusGrants.ts"
import type { ActiveBonus } from "../../src/domain/state/Bonus.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import {
  type Adjustment,
  type Bet,
  type BetSession,
  type CloseRound,
  ownPolicy,
  type PromoWin,
  type Rollback,
  type SettledGame,
  type Win
} from "../../src/domain/settlement/Settlement.ts"
import { newPlayer } from "./players.ts"

/** Wednesday 2026-11-18 12:00 UTC: far from the edge of any window. */
export const noon = Date.UTC(2026, 10, 18, 12)

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export const providerId = 1
export const slot: SettledGame = { id: 11, providerId, type: "rng", category: "slots", active: true }
export const roulette: SettledGame = { id: 12, providerId, type: "live", category: "live", active: true }

/** Sessions at these providers that never expire. */
export const openSessionsAt = (providerIds: ReadonlyArray<number>): Player["openSessions"] =>
  providerIds.map((providerId) => ({ id: 0, providerId, expiresAt: Number.MAX_SAFE_INTEGER }))

/** A player with 10.00 and a session at the provider. */
export const makePlayer = (overrides: Partial<Player> = {}): Player => {
  const { providerIds = [providerId] } = overrides
  return newPlayer({
    real: 1000,
    providerIds,
    openSessions: openSessionsAt(providerIds),
    realUpdatedAt: noon,
    bonusUpdatedAt: noon,
    ...overrides
  })
}

/** A bonus of the catalogue: 5.00, wagered twice within seven days, without caps. */
export const welcome: CatalogueBonus = {
  id: 5,
  operatorId: 1,
  name: "Welcome",
  description: "",
  type: "deposit_match",
  defaultAmount: 500,
  wageringMultiplier: 2,
  validDays: 7,
  maxBet: 0,
  maxConversionMultiplier: 0,
  maxGrantsPerPlayer: 0,
  isActive: true,
  contributions: {},
  currency: "EUR"
}

export const makeBonus = (overrides: Partial<ActiveBonus> = {}): ActiveBonus => ({
  id: 501,
  bonusId: 5,
  name: "Welcome",
  type: "deposit_match",
  amount: 100,
  wagerRequirement: 3000,
  wagered: 0,
  maxBet: 0,
  maxConversion: 0,
  validDays: 7,
  contributions: {},
  createdAt: noon,
  startedAt: noon,
  expiresAt: noon + 7 * day,
  openRounds: 0,
  openUntil: null,
  restored: 0,
  short: 0,
  ...overrides
})

/** A wallet session that ends then. */
export const session = (expiresAt: number): BetSession => ({ id: 1, expiresAt })

export const bet = (transactionId: string, amount: number, overrides: Partial<Bet> = {}): Bet => ({
  action: "bet",
  policy: ownPolicy,
  providerId,
  transactionId,
  currency: "EUR",
  game: slot,
  roundId: "round",
  amount,
  session: session(Number.MAX_SAFE_INTEGER),
  closesRound: false,
  ...overrides
})

export const win = (
  transactionId: string,
  betTransactionId: string | null,
  amount: number,
  overrides: Partial<Win> = {}
): Win => ({
  action: "win",
  policy: ownPolicy,
  providerId,
  transactionId,
  currency: "EUR",
  game: slot,
  roundId: "round",
  betTransactionId,
  amount,
  closesRound: false,
  ...overrides
})

export const rollback = (
  transactionId: string,
  targetTransactionId: string,
  overrides: Partial<Rollback> = {}
): Rollback => ({
  action: "rollback",
  policy: ownPolicy,
  providerId,
  transactionId,
  targetTransactionId,
  closesRound: false,
  ...overrides
})

export const close = (roundId = "round", game = slot, overrides: Partial<CloseRound> = {}): CloseRound => ({
  action: "close_round",
  policy: ownPolicy,
  providerId,
  game,
  roundId,
  ...overrides
})

export const adjustment = (
  transactionId: string,
  amount: number,
  overrides: Partial<Adjustment> = {}
): Adjustment => ({
  action: "adjust",
  policy: ownPolicy,
  providerId,
  transactionId,
  currency: "EUR",
  game: slot,
  roundId: "round",
  amount,
  ...overrides
})

export const promoWin = (transactionId: string, amount: number, overrides: Partial<PromoWin> = {}): PromoWin => ({
  action: "promo_win",
  policy: ownPolicy,
  providerId,
  transactionId,
  currency: "EUR",
  kind: "jackpot",
  campaignId: "campaign",
  amount,
  ...overrides
})
