/** Operators with their settings, API keys and game providers, as rules and the HTTP surface read them. */

import type { Limits } from "./Limits.ts"

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

/** Permissions of an API key (SPEC section 5.3). */
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

/** Part of the platform that staff can disable for a turnkey operator. */
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
  /** Delay before a raised limit takes effect. */
  readonly coolingOffHours: number
  /** Minor units of `currency`; a withdrawal of a larger value needs two approvals. Null: one always suffices. */
  readonly withdrawalSecondApprovalAbove: number | null
  /** Maximum total withdrawals of an unverified player, in minor units of `currency`. Null: no limit. */
  readonly kycWithdrawalThreshold: number | null
  readonly forfeitBonusOnWithdrawal: boolean
  readonly disabledFeatures: ReadonlyArray<Feature>
  readonly originalBounds: OriginalBounds
  /** Maximum total per day of a player's deposits, and of requested withdrawals, in minor units of `currency`. Null: no cap. */
  readonly dailyDepositCap: number | null
  readonly dailyWithdrawalCap: number | null
  /** Initial limits of a player, in minor units of `currency`. */
  readonly defaultLimits: Limits
}

/** Maximum stake and payout of one round of an original. Minor units. */
export interface OriginalBounds {
  readonly maxStake: number
  readonly maxPayout: number
}

/** Default bounds: 1,000.00 and 100,000.00 in a currency with two decimals. */
export const defaultOriginalBounds: OriginalBounds = { maxStake: 100_000, maxPayout: 10_000_000 }

export interface ApiKey {
  readonly id: number
  readonly operatorId: number
  /** Public key id, sent as `X-Api-Key`. */
  readonly key: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  /** Single addresses and CIDR ranges; empty allows any. */
  readonly ipAllowlist: ReadonlyArray<string>
  readonly rateLimitPerMinute: number
  /** Epoch milliseconds. */
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Last replacement of the secret: player tokens issued by the key until then are invalid. */
  readonly rotatedAt: number | null
}

export interface Provider {
  readonly id: number
  readonly slug: string
  readonly name: string
  /** Public key id, sent as `X-Provider-Key`. */
  readonly key: string
  /** Template with `{token}`, `{game}` and `{mode}`. */
  readonly launchUrl: string | null
  readonly demoUrl: string | null
  readonly ipAllowlist: ReadonlyArray<string>
  readonly active: boolean
}

/** Parent features: originals require games. */
const partOf: { readonly [feature in Feature]?: Feature } = { originals: "games" }

/**
 * The missing feature; undefined when the operator has it. Operators of type `api` have all features, `turnkey` operators those that staff left
 * enabled.
 */
export const missingFeature = (operator: Operator, feature: Feature): Feature | undefined => {
  if (operator.cooperationModel === "api") return undefined
  if (operator.disabledFeatures.includes(feature)) return feature
  const whole = partOf[feature]
  return whole === undefined ? undefined : missingFeature(operator, whole)
}

export const hasFeature = (operator: Operator, feature: Feature): boolean =>
  missingFeature(operator, feature) === undefined
