/** Builds the row of an imported player, as the `player.registered` event shows it. */
import { genders } from "../../../contract/players/PlayerResource.ts"
import type { Arrival } from "../../../domain/moving/Arrival.ts"
import { wireRestrictions } from "../../../domain/player/AccountStatus.ts"
import type { PlayerRow } from "../../players/PlayerProfile.ts"

/** `now`: epoch milliseconds. */
export const arrivalRow = (id: number, arrival: Arrival, now: number): PlayerRow => {
  const { exclusion, marketing, restrictions, texts } = arrival
  const gender = genders.find((word) => word === texts.gender) ?? null
  return {
    ...texts,
    gender,
    id,
    operator_id: arrival.operatorId,
    birth_date: arrival.birthDate,
    country: arrival.country,
    personal_id: arrival.personalId,
    document_number: arrival.documentNumber,
    language: arrival.language,
    currency: arrival.currency,
    status: arrival.status,
    kyc_status: arrival.kycStatus,
    is_verified: arrival.kycStatus === "verified",
    is_test: arrival.isTest,
    jurisdiction: arrival.jurisdiction,
    ...wireRestrictions(restrictions),
    exclusion_type: exclusion?.type ?? null,
    exclusion_since: exclusion?.since ?? null,
    exclusion_until: exclusion?.until ?? null,
    exclusion_return_from: exclusion?.returnFrom ?? null,
    exclusion_return_at: exclusion?.returnAt ?? null,
    exclusion_source: exclusion?.source ?? null,
    registers: [],
    marketing_email: marketing.email,
    marketing_sms: marketing.sms,
    marketing_newsletter: marketing.newsletter,
    last_login_at: arrival.lastLoginAt,
    dormant_since: null,
    created_at: arrival.createdAt,
    updated_at: now,
    numbers_sealed: null
  }
}
