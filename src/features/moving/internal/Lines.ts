/** Parses and validates import lines: players to create, and their open withdrawals. `PlayersAsLines` is the inverse for players. Pure. */
import { Result, Schema, Struct } from "effect"
import * as Crypto from "node:crypto"
import { person } from "../../../contract/players/PlayerResource.ts"
import {
  checkRegistration,
  type FieldMessages,
  type Registration,
  type RegistrationTerms,
  type UniqueFields
} from "../../../contract/players/RegistrationResource.ts"
import { openWithdrawal, PlayerLine, WithdrawalLine } from "../../../contract/moving/LineResource.ts"
import { fieldIssues } from "../../../contract/common/FormErrors.ts"
import { returnWaitOf } from "../../../domain/jurisdiction/ExclusionPeriods.ts"
import type { Profile } from "../../../domain/jurisdiction/Profile.ts"
import { limitFields } from "../../../domain/LimitFields.ts"
import { isStrong } from "../../../domain/limit/ExclusionTerms.ts"
import { readLimitChanges } from "../../../domain/limit/LimitChanges.ts"
import { movedCounters, movedSums } from "../../../domain/limit/LimitUsage.ts"
import { everything, saidOf, withStatement } from "../../../domain/player/Consents.ts"
import type { Arrival, UsedSums } from "../../../domain/moving/Arrival.ts"
import type { Limits } from "../../../domain/state/Limits.ts"
import type { BornTexts } from "../../../domain/state/Birth.ts"
import { noRestrictions } from "../../../domain/state/Player.ts"
import type { ConsentStatement } from "../../../domain/state/ConsentStatement.ts"

type Raw = { readonly [field: string]: unknown }

export const isObject = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isWithdrawal = (line: Raw): boolean => line["kind"] === openWithdrawal

/** With its keys in order, so that how a line is written does not make it another one. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(ordered)
    : isObject(value)
    ? Object.fromEntries(Object.keys(value).toSorted().map((key) => [key, ordered(value[key])]))
    : value

/** SHA-256 of what a line says. */
export const digestOf = (line: Raw): Uint8Array =>
  new Uint8Array(Crypto.createHash("sha256").update(JSON.stringify(ordered(line))).digest())

/** Messages as the reasons of a rejected line: a field has the name that the line gives it, of which the database may not hold every character. */
export const reasonsOf = (messages: FieldMessages): ReadonlyArray<string> =>
  Object.entries(messages).flatMap(([field, texts]) =>
    texts.map((text) => field === "_" ? text : `${field.toWellFormed().replaceAll("\u0000", "\ufffd")} ${text}`)
  )

const decodeLine = Schema.decodeUnknownResult(PlayerLine, { errors: "all" })
const decodeWithdrawal = Schema.decodeUnknownResult(WithdrawalLine, { errors: "all", onExcessProperty: "error" })

const registrationFields: ReadonlySet<string> = new Set([
  ...Struct.keys(person),
  "promo_code",
  "affiliate_id",
  "btag",
  "registration_ip",
  "terms_version",
  "terms_accepted",
  "marketing",
  "is_test",
  "limits",
  "jurisdiction"
])

const known: ReadonlySet<string> = new Set([...registrationFields, ...Struct.keys(PlayerLine.fields)])

export interface LineContext {
  readonly operatorId: number
  readonly baseCurrency: string
  readonly terms: RegistrationTerms
  /** What counts now of a jurisdiction. */
  readonly profileOf: (code: string) => Profile | undefined
  readonly runId: number
  readonly batch: string
  readonly actor: string
  readonly bonusId: number
  readonly sendsEvents: boolean
  /** Hash of a password that nobody knows. */
  readonly passwordHash: string
  /** Limits of a line that names none; null where there is no rate. */
  readonly defaultLimits: (currency: string) => Limits | null
  /** Keyed digest of the line, in hexadecimal digits. */
  readonly lineDigest: string
  readonly now: number
}

export type ReadLine =
  | { readonly _tag: "Arrival"; readonly arrival: Arrival; readonly unique: UniqueFields }
  | { readonly _tag: "Wrong"; readonly messages: FieldMessages }

const ms = (text: string): number => Date.parse(text)
const msOrNull = (text: string | null | undefined): number | null =>
  text === undefined || text === null ? null : Date.parse(text)

export const withoutNulls = (line: Raw): Raw =>
  Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null))

const usedIn = (used: PlayerLine["used"], now: number): UsedSums | null => {
  if (used === undefined) return null
  const sums = Struct.Record(movedCounters, 0)
  for (const field of Struct.keys(movedSums)) sums[movedSums[field][0]] = used[field] ?? 0
  return { at: used.as_of === undefined ? now : ms(used.as_of), ...sums }
}

const exclusionIn = (exclusion: PlayerLine["self_exclusion"]): Arrival["exclusion"] => {
  if (exclusion === undefined) return null
  const { ends, scope, since, source, type, until } = exclusion
  const isOnRequest = ends === "on_request"
  return {
    type,
    since: ms(since),
    until: msOrNull(until),
    source: source ?? null,
    scope: scope ?? null,
    returnFrom: isOnRequest ? msOrNull(exclusion.return_from) ?? msOrNull(until) ?? ms(since) : null,
    returnAt: isOnRequest ? msOrNull(exclusion.return_at) : null,
    returnWait: isOnRequest ? exclusion.return_wait ?? null : null
  }
}

/** An exclusion that lasts holds where the jurisdiction says, and a self-exclusion ends as it says, unless its line does; the same of the return. */
const exclusionUnder = (line: PlayerLine["self_exclusion"], profile: Profile | undefined, now: number) => {
  const exclusion = exclusionIn(line)
  if (exclusion === null || profile === undefined) return exclusion
  const { type, until } = exclusion
  const { ends, scope } = profile.breaks
  const lasts = isStrong(type) && (until === null || until > now)
  const endsOnRequest = lasts && ends === "on_request" && type === "self_exclusion" && line?.ends === undefined
  const returnFrom = exclusion.returnFrom ?? (endsOnRequest ? until : null)
  return {
    ...exclusion,
    scope: exclusion.scope ?? (lasts && scope === "licensee" ? scope : null),
    returnFrom,
    returnWait: returnFrom === null ? null : exclusion.returnWait ?? returnWaitOf(profile.breaks)
  }
}

const textsOf = (
  registration: Registration,
  { category, risk_level }: Pick<PlayerLine, "category" | "risk_level">
): typeof BornTexts.Type => ({
  external_id: registration.external_id ?? null,
  username: registration.username,
  email: registration.email,
  first_name: registration.first_name,
  last_name: registration.last_name,
  middle_name: registration.middle_name ?? null,
  gender: registration.gender ?? null,
  city: registration.city ?? null,
  address: registration.address ?? null,
  zip_code: registration.zip_code ?? null,
  phone: registration.phone ?? null,
  birth_name: registration.birth_name ?? null,
  birth_place: registration.birth_place ?? null,
  last_name_prefix: registration.last_name_prefix ?? null,
  category: category ?? "new",
  risk_level: risk_level ?? "low",
  registration_source: "import",
  registration_ip: registration.registration_ip ?? null,
  registration_promo_code: registration.promo_code ?? null,
  registration_affiliate_id: registration.affiliate_id ?? null,
  registration_btag: registration.btag ?? null
})

/** Rules of a line beside the form of each field. */
const objections = (line: PlayerLine, now: number): FieldMessages => {
  const messages: Record<string, ReadonlyArray<string>> = {}
  if (ms(line.created_at) > now) messages["created_at"] = ["must not be in the future"]
  const { bonus, consents = [], pending_bonuses: waiting = [], self_exclusion: exclusion, used } = line
  if (waiting.some(({ granted_at: at }) => ms(at) > now)) {
    messages["pending_bonuses"] = ["granted_at must not be in the future"]
  }
  const oddConsents = [
    ...(consents.some(({ at }) => ms(at) > now) ? ["at must not be in the future"] : []),
    ...(consents.some(({ channel, product }) => channel === everything && product !== everything)
      ? ["product must be * where channel is *"]
      : [])
  ]
  if (oddConsents.length > 0) messages["consents"] = oddConsents
  if (used?.as_of !== undefined && ms(used.as_of) > now) messages["used.as_of"] = ["must not be in the future"]
  if (bonus !== undefined && ms(bonus.expires_at) <= ms(bonus.started_at)) {
    messages["bonus.expires_at"] = ["must be later than started_at"]
  }
  if (exclusion !== undefined && exclusion.until !== null && ms(exclusion.until) <= ms(exclusion.since)) {
    messages["self_exclusion.until"] = ["must be later than since"]
  }
  const { returnAt = null, returnFrom = null } = exclusionIn(exclusion) ?? {}
  if (returnFrom !== null && returnAt !== null && returnAt < returnFrom) {
    messages["self_exclusion.return_at"] = ["must not be before return_from"]
  }
  return messages
}

/** What was last said of each consent, in the order of time. */
const consentsIn = (consents: NonNullable<PlayerLine["consents"]>): ReadonlyArray<ConsentStatement> =>
  consents.map(({ at, text_version = null, ...said }) => ({ ...said, at: ms(at), text_version }))
    .toSorted((one, other) => one.at - other.at)
    .reduce<ReadonlyArray<ConsentStatement>>((earlier, said) => withStatement(earlier, said), [])

/** The flag of a channel, which is of all products: as the line says, unless a consent of it says otherwise. */
const flagIn = (
  channel: "email" | "sms" | "newsletter",
  marketing: Registration["marketing"],
  consents: ReadonlyArray<ConsentStatement> | null
): boolean => {
  const flag = marketing?.[channel]
  if (consents === null) return flag ?? false
  const own = consents.filter((said) => said.channel === channel)
  const ofAll = saidOf(consents, channel, everything)?.granted === true
  return (flag ?? ofAll) && (ofAll || own.length > 0) && own.every(({ granted }) => granted)
}

/** Reads a line of a player by the rules of a registration as they were at its `created_at`. */
export const readLine = (sent: Raw, context: LineContext): ReadLine => {
  const line = withoutNulls(sent)
  const decoded = decodeLine(line)
  const created = Result.isSuccess(decoded) ? ms(decoded.success.created_at) : context.now
  const checked = checkRegistration(
    {
      terms_accepted: true,
      ...Object.fromEntries(Object.entries(line).filter(([field]) => registrationFields.has(field)))
    },
    context.terms,
    created
  )
  const chosen = readLimitChanges(line["limits"] ?? {})
  const messages: FieldMessages = {
    ...Object.fromEntries(
      Object.keys(line).filter((field) => !known.has(field)).map((field) => [field, ["is not known"]])
    ),
    ...(line["external_id"] === undefined ? { external_id: ["is required"] } : {}),
    ...(Result.isFailure(decoded) ? fieldIssues(decoded.failure.issue) : objections(decoded.success, context.now)),
    ...checked.messages,
    ..."_tag" in chosen ? messagesIn(chosen.details) : {}
  }
  const { registration, unique } = checked
  if (
    Object.keys(messages).length > 0 || registration === undefined || Result.isFailure(decoded) || "_tag" in chosen
  ) return { _tag: "Wrong", messages }
  const own = decoded.success
  const currency = registration.currency ?? context.baseCurrency
  const jurisdiction = registration.jurisdiction ?? context.terms.defaultProfile
  const limits = line["limits"] === undefined
    ? context.defaultLimits(currency)
    : Object.fromEntries([...chosen].flatMap(([field, value]) => value === null ? [] : [[field, value] as const]))
  if (limits === null) {
    return {
      _tag: "Wrong",
      messages: {
        currency: [`has no exchange rate to ${context.baseCurrency}, which the operator's default limits need`]
      }
    }
  }
  const consents = own.consents === undefined ? null : consentsIn(own.consents)
  return {
    _tag: "Arrival",
    unique,
    arrival: {
      operatorId: context.operatorId,
      batch: context.batch,
      actor: context.actor,
      currency,
      baseCurrency: context.baseCurrency,
      jurisdiction,
      termsVersion: registration.terms_version ?? null,
      birthDate: registration.birth_date,
      country: registration.country,
      language: registration.language ?? "en",
      isTest: registration.is_test ?? false,
      texts: textsOf(registration, own),
      marketing: {
        email: flagIn("email", registration.marketing, consents),
        sms: flagIn("sms", registration.marketing, consents),
        newsletter: flagIn("newsletter", registration.marketing, consents)
      },
      personalId: registration.personal_id ?? null,
      documentNumber: registration.document_number ?? null,
      passwordHash: context.passwordHash,
      createdAt: created,
      lastLoginAt: msOrNull(own.last_login_at),
      status: own.status ?? "active",
      kycStatus: own.kyc_status ?? "not_started",
      documentExpiresAt: msOrNull(own.document_expires_at),
      restrictions: { ...noRestrictions, ...own.restrictions },
      balance: own.balance,
      bonus: own.bonus === undefined ? null : {
        bonusId: context.bonusId,
        name: own.bonus.name,
        type: own.bonus.type,
        amount: own.bonus.amount,
        balance: own.bonus.balance,
        wagerRequirement: own.bonus.wager_requirement,
        wagered: own.bonus.wagered_amount,
        maxBet: own.bonus.max_bet ?? 0,
        maxConversion: own.bonus.max_conversion ?? 0,
        startedAt: ms(own.bonus.started_at),
        expiresAt: ms(own.bonus.expires_at)
      },
      pendingBonuses: (own.pending_bonuses ?? []).map((bonus) => ({
        bonusId: context.bonusId,
        name: bonus.name,
        type: bonus.type,
        amount: bonus.amount,
        wagerRequirement: bonus.wager_requirement,
        maxBet: bonus.max_bet ?? 0,
        maxConversion: bonus.max_conversion ?? 0,
        validDays: bonus.valid_days,
        createdAt: ms(bonus.granted_at),
        interrupted: bonus.interrupted === undefined ? null : {
          held: bonus.interrupted.balance,
          wagered: bonus.interrupted.wagered_amount,
          startedAt: ms(bonus.interrupted.started_at),
          remainingMs: bonus.interrupted.remaining_ms
        }
      })),
      consents,
      netDepositCap: own.net_deposit_cap ?? null,
      limits,
      limitsChosen: line["limits"] === undefined
        ? []
        : limitFields.filter((field) => limits[field] !== undefined && own.limits_chosen?.includes(field) !== false),
      realityCheck: own.reality_check ?? null,
      moved: own.moved === undefined ? null : { from: own.moved.from, until: ms(own.moved.until) },
      pendingLimits: (own.pending_changes ?? []).map((raise) => ({
        field: raise.field,
        value: raise.requested_value,
        effectiveAt: ms(raise.effective_at),
        confirmUntil: msOrNull(raise.confirm_until)
      })),
      exclusion: exclusionUnder(own.self_exclusion, context.profileOf(jurisdiction), context.now),
      used: usedIn(own.used, context.now),
      imported: {
        runId: context.runId,
        lineDigest: context.lineDigest,
        unverifiedWithdrawn: own.unverified_withdrawn ?? 0,
        lifetimeDeposits: own.lifetime?.deposits ?? 0,
        lifetimeWithdrawals: own.lifetime?.withdrawals ?? 0,
        passwordHash: own.password_hash ?? null
      },
      sendsEvents: context.sendsEvents
    }
  }
}

const messagesIn = (details: Raw): FieldMessages =>
  Object.fromEntries(
    Object.entries(details).map(([field, texts]) => [field, Array.isArray(texts) ? texts.map(String) : [String(texts)]])
  )

export const readWithdrawal = (sent: Raw, now: number) => {
  const decoded = decodeWithdrawal(sent)
  if (Result.isFailure(decoded)) return { _tag: "Wrong", messages: fieldIssues(decoded.failure.issue) } as const
  if (ms(decoded.success.created_at) > now) {
    return { _tag: "Wrong", messages: { created_at: ["must not be in the future"] } } as const
  }
  return { _tag: "Withdrawal", withdrawal: decoded.success, createdAt: ms(decoded.success.created_at) } as const
}
