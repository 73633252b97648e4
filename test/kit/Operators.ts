/** Operator fixtures for tests of rules and services. */
import type { Operator } from "../../src/domain/state/Operator.ts"

/** An operator with the settings that a new one has. */
export const operatorOf = (id: number, terms: Partial<Operator> = {}): Operator => ({
  id,
  slug: `operator-${id}`,
  name: `Operator ${id}`,
  currency: "EUR",
  cooperationModel: "api",
  active: true,
  isSandbox: false,
  coolingOffHours: 24,
  withdrawalSecondApprovalAbove: null,
  kycWithdrawalThreshold: null,
  forfeitBonusOnWithdrawal: true,
  originalMaxStake: 100_000,
  originalMaxPayout: 10_000_000,
  dailyDepositCap: null,
  dailyWithdrawalCap: null,
  profiles: ["none"],
  defaultProfile: "none",
  licenseeId: null,
  defaultLimits: {},
  disabledFeatures: [],
  ...terms
})
