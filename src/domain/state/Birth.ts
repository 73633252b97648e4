/** A new player's data that no rule reads, such as name and address (in code a *birth*): written once, with the player's initial state. */
import { Schema } from "effect"
import type { ConsentStatement } from "./ConsentStatement.ts"

const optional = Schema.NullOr(Schema.String)

/** Texts of a player's row that no rule reads, under the names of the columns. */
export const BornTexts = Schema.Struct({
  external_id: optional,
  username: Schema.String,
  email: Schema.String,
  first_name: Schema.String,
  last_name: Schema.String,
  middle_name: optional,
  gender: optional,
  city: optional,
  address: optional,
  zip_code: optional,
  phone: optional,
  birth_name: optional,
  birth_place: optional,
  last_name_prefix: optional,
  category: Schema.String,
  risk_level: Schema.String,
  registration_source: Schema.String,
  registration_ip: optional,
  registration_promo_code: optional,
  registration_affiliate_id: optional,
  registration_btag: optional
})

/** Consents of a registration. */
export const BornMarketing = Schema.Struct({ email: Schema.Boolean, sms: Schema.Boolean, newsletter: Schema.Boolean })

/** What was before an import. Minor units. */
export const ImportedFacts = Schema.Struct({
  runId: Schema.Number,
  /** Keyed digest of the line, in hexadecimal digits. */
  lineDigest: Schema.String,
  /** Withdrawals of the player while unverified, without open ones. */
  unverifiedWithdrawn: Schema.Number,
  lifetimeDeposits: Schema.Number,
  lifetimeWithdrawals: Schema.Number,
  /** Kept for the operator's own use. */
  passwordHash: optional
})

export interface Birth {
  readonly id: number
  readonly operatorId: number
  readonly texts: typeof BornTexts.Type
  readonly marketing: typeof BornMarketing.Type
  /** What was last said of consents; null: what `marketing` says. */
  readonly consents: ReadonlyArray<ConsentStatement> | null
  /** Stored sealed. */
  readonly numbers: { readonly personalId: string | null; readonly documentNumber: string | null }
  /** `YYYY-MM-DD`. */
  readonly birthDate: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly lastLoginAt: number | null
  /** Hash of the password of the account here. */
  readonly passwordHash: string
  readonly imported: typeof ImportedFacts.Type
  /** `player.registered`, complete; null where nobody is told. */
  readonly event: { readonly id: number; readonly data: { readonly [field: string]: unknown } } | null
}
