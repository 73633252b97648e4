/** Operators with their settings, API keys and game providers, as rules and the HTTP surface read them. */

import type { Limits } from "./limit/Limits.ts"

export const scopes = [
  "players:read",
  "players:write",
  "limits:write",
  "wallet:read",
  "payments:read",
  "payments:write",
  "games:read",
  "games:launch",
  "bonuses:read",
  "bonuses:write",
  "reports:read"
] as const

/** What an API key may do (SPEC section 5.3). */
export type Scope = (typeof scopes)[number]

export const features = [
  "players",
  "payments",
  "games",
  "bonuses",
  "responsible_gaming",
  "reports",
  "originals"
] as const

/** A part of the platform that staff can switch off for a turnkey operator. */
export type Feature = (typeof features)[number]

export const cooperationModels = ["api", "turnkey"] as const

type CooperationModel = (typeof cooperationModels)[number]

export interface Operator {
  readonly id: number
  readonly slug: string
  readonly name: string
  /** ISO 4217; the currency of reports and the default of new players. */
  readonly currency: string
  readonly cooperationModel: CooperationModel
  readonly active: boolean
  /** How long a raised limit waits. */
  readonly coolingOffHours: number
  /** Minor units of `currency`; a withdrawal of a larger value needs two approvals. Null: one is always enough. */
  readonly withdrawalSecondApprovalAbove: number | null
  /** Minor units of `currency` that an unverified player may withdraw in total. Null: no limit. */
  readonly kycWithdrawalThreshold: number | null
  readonly forfeitBonusOnWithdrawal: boolean
  readonly disabledFeatures: ReadonlyArray<Feature>
  readonly originalBounds: OriginalBounds
  /** Minor units of `currency` that a player's deposits, and withdrawals asked for, of a day may come to. Null: no cap. */
  readonly dailyDepositCap: number | null
  readonly dailyWithdrawalCap: number | null
  /** What a player begins with, in minor units of `currency`. */
  readonly defaultLimits: Limits
}

/** The most that one round of an original takes and pays. Minor units. */
export interface OriginalBounds {
  readonly maxStake: number
  readonly maxPayout: number
}

/** Bounds of operators that have set none: 1,000.00 and 100,000.00 where a currency has two decimals. */
export const defaultOriginalBounds: OriginalBounds = { maxStake: 100_000, maxPayout: 10_000_000 }

export interface ApiKey {
  readonly id: number
  readonly operatorId: number
  /** The public key id, sent as `X-Api-Key`. */
  readonly key: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  /** Single addresses and CIDR ranges; empty allows any. */
  readonly ipAllowlist: ReadonlyArray<string>
  readonly rateLimitPerMinute: number
  /** Epoch milliseconds. */
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** When its secret was last replaced: player tokens that it issued until then are over. */
  readonly rotatedAt: number | null
}

export interface Provider {
  readonly id: number
  readonly slug: string
  readonly name: string
  /** The public key id, sent as `X-Provider-Key`. */
  readonly key: string
  /** Template with `{token}`, `{game}` and `{mode}`. */
  readonly launchUrl: string | null
  readonly demoUrl: string | null
  readonly ipAllowlist: ReadonlyArray<string>
  readonly active: boolean
}

/** What a feature is part of: who has no games has no originals. */
const partOf: { readonly [feature in Feature]?: Feature } = { originals: "games" }

/**
 * The missing feature, undefined when the operator has it: `api` operators have all, `turnkey` ones
 * those that staff left on.
 */
export const missingFeature = (operator: Operator, feature: Feature): Feature | undefined => {
  if (operator.cooperationModel === "api") return undefined
  if (operator.disabledFeatures.includes(feature)) return feature
  const whole = partOf[feature]
  return whole === undefined ? undefined : missingFeature(operator, whole)
}

/** True when the operator has the feature. */
export const hasFeature = (operator: Operator, feature: Feature): boolean =>
  missingFeature(operator, feature) === undefined
