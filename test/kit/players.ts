/** Player values for tests of rules. */
import { noRules } from "../../src/domain/jurisdiction/Rules.ts"
import { noActivity } from "../../src/domain/state/Activity.ts"
import { emptyCounters } from "../../src/domain/state/Limits.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import { emptyRecent } from "../../src/domain/state/Recent.ts"

/** An active, verified player with empty wallets, with overrides. */
export const newPlayer = (overrides: Partial<Player> = {}): Player => ({
  id: 1,
  operatorId: 1,
  currency: "EUR",
  baseCurrency: "EUR",
  jurisdiction: "none",
  rules: noRules,
  birthDay: 19_900_101,
  country: "MT",
  language: "en",
  isTest: false,
  status: "active",
  restrictions: noRestrictions,
  withdrawalHolds: [],
  kycStatus: "verified",
  documentExpiresAt: null,
  exclusion: null,
  sessionsEndedAt: null,
  limits: {},
  pendingLimits: [],
  limitsSet: 0,
  obligations: [],
  counters: emptyCounters,
  real: 0,
  bonus: 0,
  realUpdatedAt: 0,
  bonusUpdatedAt: 0,
  entrySeq: 0,
  walletSeq: 0,
  withdrawn: 0,
  activity: noActivity,
  activeBonus: null,
  pendingBonuses: [],
  bonusGrants: {},
  endedSessions: [],
  openSessions: [],
  providerIds: [],
  rounds: emptyRecent,
  transactions: emptyRecent,
  seeds: null,
  ...overrides
})
