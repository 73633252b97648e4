/** Player values for tests of rules. */
import type { RegisterAnswer } from "../../src/domain/player/RegisterChecks.ts"
import { noRules } from "../../src/domain/jurisdiction/Rules.ts"
import { emptyPlayer, type Player } from "../../src/domain/state/Player.ts"

/** An active, verified player with empty wallets, with overrides. */
export const newPlayer = (overrides: Partial<Player> = {}): Player => ({
  ...emptyPlayer,
  id: 1,
  operatorId: 1,
  currency: "EUR",
  baseCurrency: "EUR",
  rules: noRules,
  birthDay: 19_900_101,
  country: "MT",
  language: "en",
  kycStatus: "verified",
  ...overrides
})

/** Answer of a register about a player: clear, unless it is said otherwise. */
export const registerAnswer = (more: Partial<RegisterAnswer> = {}): RegisterAnswer => ({
  kind: "spelpaus",
  event: "login",
  verdict: "clear",
  askedAt: 0,
  answeredAt: 0,
  requestId: "4f7c",
  responseId: "r-1",
  status: 200,
  fault: null,
  profile: "x-one",
  profileVersion: 3,
  personDigest: new Uint8Array(16),
  askAgain: false,
  ...more
})
