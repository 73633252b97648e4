/** Writes players as export lines, which `Lines` reads back without loss. Pure. */
import { Struct } from "effect"
import { person } from "../../../contract/players/PlayerResource.ts"
import { limitFields } from "../../../domain/LimitFields.ts"
import { movedSums } from "../../../domain/limit/LimitUsage.ts"
import { wireRestrictions } from "../../../domain/player/AccountStatus.ts"
import type { GrantedBonus } from "../../../domain/state/Bonus.ts"
import type { ConsentStatement } from "../../../domain/state/ConsentStatement.ts"
import { isOwn } from "../../../domain/state/Limits.ts"
import { type Exclusion, noRestrictions, type Player } from "../../../domain/state/Player.ts"
import { iso, isoOrNull } from "../../../platform/Time.ts"
import type { PlayerRow } from "../../players/PlayerProfile.ts"
import { withoutNulls } from "./Lines.ts"

type Raw = { readonly [field: string]: unknown }

/** What a line says beside the player's state and row. Minor units. */
export interface LineFacts {
  readonly lifetimeDeposits: number
  readonly lifetimeWithdrawals: number
  /** Without open withdrawals. */
  readonly unverifiedWithdrawn: number
  readonly passwordHash: string | null
  /** Null: what the flags say. */
  readonly consents: ReadonlyArray<ConsentStatement> | null
}

const usedOf = ({ counters }: Player) => {
  // a limit that winnings widen here begins anew elsewhere
  const some = Object.entries(movedSums).map(([field, [counter]]) => [field, counters[counter]] as const)
    .filter(([, sum]) => sum > 0)
  return some.length === 0 ? null : { as_of: iso(counters.at), ...Object.fromEntries(some) }
}

/** How an exclusion ends. Where a line is silent, a self-exclusion ends as the jurisdiction says. */
const endingOf = ({ onRequest, type }: Exclusion) => {
  if (onRequest === undefined) return type === "self_exclusion" ? { ends: "by_itself" } : {}
  return {
    ends: "on_request",
    return_from: iso(onRequest.returnFrom),
    return_at: isoOrNull(onRequest.returnAt),
    ...(onRequest.wait === undefined ? {} : { return_wait: onRequest.wait })
  }
}

const exclusionOf = ({ exclusion }: Player) =>
  exclusion === null ? null : {
    type: exclusion.type,
    since: iso(exclusion.since),
    until: isoOrNull(exclusion.until),
    ...(exclusion.source === undefined ? {} : { source: exclusion.source }),
    ...(exclusion.scope === undefined ? {} : { scope: exclusion.scope }),
    ...endingOf(exclusion)
  }

const capOf = ({ maxConversion }: Pick<GrantedBonus, "maxConversion">) =>
  maxConversion === 0 ? {} : { max_conversion: maxConversion }

const bonusOf = ({ activeBonus, bonus }: Player) =>
  activeBonus === null ? null : {
    name: activeBonus.name,
    type: activeBonus.type,
    amount: activeBonus.amount,
    balance: bonus,
    wager_requirement: activeBonus.wagerRequirement,
    wagered_amount: activeBonus.wagered,
    max_bet: activeBonus.maxBet,
    ...capOf(activeBonus),
    started_at: iso(activeBonus.startedAt),
    expires_at: iso(activeBonus.expiresAt)
  }

const pendingOf = ({ pendingBonuses }: Player) =>
  pendingBonuses.length === 0 ? null : pendingBonuses.map(({ interrupted, ...bonus }) => ({
    name: bonus.name,
    type: bonus.type,
    amount: bonus.amount,
    wager_requirement: bonus.wagerRequirement,
    max_bet: bonus.maxBet,
    ...capOf(bonus),
    valid_days: bonus.validDays,
    granted_at: iso(bonus.createdAt),
    ...(interrupted === null ? {} : {
      interrupted: {
        balance: interrupted.held,
        wagered_amount: Math.max(0, interrupted.wagered),
        started_at: iso(interrupted.startedAt),
        remaining_ms: Math.max(1, interrupted.remainingMs)
      }
    })
  }))

const consentsOf = (consents: LineFacts["consents"]) =>
  consents?.map(({ at, channel, granted, product, source, text_version: textVersion }) => ({
    channel,
    product,
    granted,
    at: iso(at),
    source,
    ...(textVersion === null ? {} : { text_version: textVersion })
  })) ?? null

const restrictionsOf = ({ restrictions }: Player) =>
  Struct.keys(noRestrictions).every((name) => restrictions[name] === noRestrictions[name])
    ? null
    : wireRestrictions(restrictions)

type Row = Pick<
  PlayerRow,
  | "id"
  | keyof typeof person
  | "category"
  | "risk_level"
  | "is_test"
  | "last_login_at"
  | "created_at"
  | `marketing_${"email" | "sms" | "newsletter"}`
  | `registration_${"ip" | "promo_code" | "affiliate_id" | "btag"}`
>

/** Which limits were chosen for the player; null: all of them. */
const chosenOf = (player: Player) => {
  const all = limitFields.filter((field) => player.limits[field] !== undefined)
  const chosen = all.filter((field) => isOwn(player, player.limits, field))
  return chosen.length === all.length ? null : chosen
}

/** The operator's own name of a player, or one that is made of the id. */
export const exportedId = ({ external_id, id }: Pick<PlayerRow, "external_id" | "id">): string =>
  external_id ?? `pitboss-${id}`

/** A player as a line of an export. What is absent or as it is by default is left out. */
export const lineOf = (player: Player, row: Row, facts: LineFacts): Raw =>
  withoutNulls({
    ...Struct.pick(row, Struct.keys(person)),
    external_id: exportedId(row),
    promo_code: row.registration_promo_code,
    affiliate_id: row.registration_affiliate_id,
    btag: row.registration_btag,
    registration_ip: row.registration_ip,
    terms_version: player.termsVersion,
    marketing: { email: row.marketing_email, sms: row.marketing_sms, newsletter: row.marketing_newsletter },
    is_test: row.is_test ? true : null,
    jurisdiction: player.rules.code,
    created_at: iso(row.created_at),
    last_login_at: isoOrNull(row.last_login_at),
    status: player.status,
    category: row.category,
    risk_level: row.risk_level,
    kyc_status: player.kycStatus,
    document_expires_at: isoOrNull(player.documentExpiresAt),
    restrictions: restrictionsOf(player),
    balance: player.real,
    bonus: bonusOf(player),
    pending_bonuses: pendingOf(player),
    consents: consentsOf(facts.consents),
    net_deposit_cap: player.netDepositCap,
    limits: Object.fromEntries(
      limitFields.flatMap((field) => {
        const value = player.limits[field]
        return value === undefined ? [] : [[field, value] as const]
      })
    ),
    limits_chosen: chosenOf(player),
    reality_check: player.extras?.realityCheck ?? null,
    moved: player.rules.moved === null
      ? null
      : { from: player.rules.moved.from, until: iso(player.rules.moved.until) },
    pending_changes: player.pendingLimits.length === 0 ? null : player.pendingLimits.map((raise) => ({
      field: raise.field,
      requested_value: raise.value,
      effective_at: iso(raise.effectiveAt),
      ...(raise.confirmUntil === undefined ? {} : { confirm_until: iso(raise.confirmUntil) })
    })),
    self_exclusion: exclusionOf(player),
    used: usedOf(player),
    lifetime: facts.lifetimeDeposits === 0 && facts.lifetimeWithdrawals === 0
      ? null
      : { deposits: facts.lifetimeDeposits, withdrawals: facts.lifetimeWithdrawals },
    unverified_withdrawn: facts.unverifiedWithdrawn === 0 ? null : facts.unverifiedWithdrawn,
    password_hash: facts.passwordHash
  })
