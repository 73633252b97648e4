/** Operators with their settings, API keys and game providers, as rules and the HTTP surface read them. */

import { Schema, SchemaGetter } from "effect"
import { Instant } from "../Instant.ts"
import { limitFields } from "../LimitFields.ts"

/** Known ones of the words of a row, which staff may have changed directly in the database. */
const knownOf = <const Word extends string>(words: ReadonlyArray<Word>) =>
  Schema.Array(Schema.String).pipe(Schema.decodeTo(Schema.Array(Schema.Literals(words)), {
    decode: SchemaGetter.transform((found: ReadonlyArray<string>) => words.filter((word) => found.includes(word))),
    encode: SchemaGetter.transform((known: ReadonlyArray<string>) => known)
  }))

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
  "reports:read",
  "events:read",
  "sandbox"
] as const

/** Permissions of an API key (SPEC section 5.3). */
export type Scope = (typeof scopes)[number]

/** Scopes of a key that is made without any. */
export const defaultScopes = (isSandbox: boolean): ReadonlyArray<Scope> =>
  isSandbox ? scopes : scopes.filter((scope) => scope !== "sandbox")

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

/** An operator, as a row of `operators` has it under the names of the columns. */
export const Operator = Schema.Struct({
  id: Schema.Number,
  slug: Schema.String,
  name: Schema.String,
  /** ISO 4217; the currency of reports and the default of new players. */
  currency: Schema.String,
  cooperationModel: Schema.Literals(cooperationModels),
  active: Schema.Boolean,
  /** For testing: nothing of it leaves the service but webhooks, and its players count in no report over several operators. */
  isSandbox: Schema.Boolean,
  /** Delay before a raised limit takes effect. */
  coolingOffHours: Schema.Number,
  /** Minor units of `currency`; a withdrawal of a larger value needs two approvals. Null: one always suffices. */
  withdrawalSecondApprovalAbove: Schema.NullOr(Schema.Number),
  /** Maximum total withdrawals of an unverified player, in minor units of `currency`. Null: no limit. */
  kycWithdrawalThreshold: Schema.NullOr(Schema.Number),
  forfeitBonusOnWithdrawal: Schema.Boolean,
  disabledFeatures: knownOf(features),
  /** Bounds of one round of an original, in minor units of `currency`. */
  originalMaxStake: Schema.Number,
  originalMaxPayout: Schema.Number,
  /** Maximum total per day of a player's deposits, and of requested withdrawals, in minor units of `currency`. Null: no cap. */
  dailyDepositCap: Schema.NullOr(Schema.Number),
  dailyWithdrawalCap: Schema.NullOr(Schema.Number),
  /** Whose licence it works under: exclusions can hold at all operators of one licensee. */
  licenseeId: Schema.NullOr(Schema.Number),
  /** Codes of the jurisdictions that its players can be registered under, and the one of a registration that names none. */
  profiles: Schema.Array(Schema.String),
  defaultProfile: Schema.String,
  /** Initial limits of a player, in minor units of `currency`. */
  defaultLimits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number))
})

export type Operator = typeof Operator.Type

/** Maximum stake and payout of one round of an original. Minor units. */
export interface OriginalBounds {
  readonly maxStake: number
  readonly maxPayout: number
}

/** Default bounds: 1,000.00 and 100,000.00 in a currency with two decimals. */
export const defaultOriginalBounds: OriginalBounds = { maxStake: 100_000, maxPayout: 10_000_000 }

export const ApiKey = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  /** Public key id, sent as `X-Api-Key`. */
  key: Schema.String,
  name: Schema.String,
  scopes: knownOf(scopes),
  /** Single addresses and CIDR ranges; empty allows any. */
  ipAllowlist: Schema.Array(Schema.String),
  rateLimitPerMinute: Schema.Number,
  /** Epoch milliseconds. */
  expiresAt: Schema.NullOr(Instant),
  revokedAt: Schema.NullOr(Instant),
  /** Last replacement of the secret: player tokens issued by the key until then are invalid. */
  rotatedAt: Schema.NullOr(Instant)
})

export type ApiKey = typeof ApiKey.Type

export const Provider = Schema.Struct({
  id: Schema.Number,
  slug: Schema.String,
  name: Schema.String,
  /** Public key id, sent as `X-Provider-Key`. */
  key: Schema.String,
  /** Template with `{token}`, `{game}` and `{mode}`. */
  launchUrl: Schema.NullOr(Schema.String),
  demoUrl: Schema.NullOr(Schema.String),
  ipAllowlist: Schema.Array(Schema.String),
  active: Schema.Boolean
})

export type Provider = typeof Provider.Type

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
