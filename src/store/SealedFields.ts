/** Encryption and search digests of personal fields of players and payments. */
import { Effect } from "effect"
import type { Payment } from "../domain/state/Change.ts"
import { comparableNumber } from "../domain/player/Identity.ts"
import type { PersonalData } from "../platform/PersonalData.ts"

type Personal = PersonalData["Service"]

/** Encryption context of a player's sealed numbers. */
export const numbersPurpose = (playerId: number): string => `player-numbers:${playerId}`

/** Encryption context of the password hash that came with an import. */
export const passwordPurpose = (playerId: number): string => `imported-password:${playerId}`

/** Encryption context of a payment's sealed details. */
export const detailsPurpose = (paymentId: number): string => `payment-details:${paymentId}`

interface Numbers {
  readonly personalId: string | null
  readonly documentNumber: string | null
}

const digestOf = (personal: Personal, kind: string, value: string | null): Uint8Array | null => {
  const comparable = comparableNumber(value)
  return comparable === null ? null : personal.digest(kind, comparable)
}

/** Search digests of an identity's numbers. */
export const numberDigests = (personal: Personal, { documentNumber, personalId }: Numbers) => ({
  personalId: digestOf(personal, "personal_id", personalId),
  documentNumber: digestOf(personal, "document_number", documentNumber)
})

/** Encrypts a player's numbers for storage. */
export const sealNumbers = (personal: Personal, playerId: number, { documentNumber, personalId }: Numbers) =>
  personal.seal(numbersPurpose(playerId), { personal_id: personalId, document_number: documentNumber })

/** Decrypts the numbers of a player. */
export const openNumbers = (
  personal: Personal,
  playerId: number,
  sealed: Uint8Array | null
): Effect.Effect<Numbers> =>
  Effect.map(personal.open(numbersPurpose(playerId), sealed), (fields) => ({
    personalId: fields["personal_id"] ?? null,
    documentNumber: fields["document_number"] ?? null
  }))

/** Encrypts the bank details and staff notes of a payment for storage. */
export const sealDetails = (personal: Personal, { bankName, id, info, notes }: Payment): Uint8Array | null =>
  personal.seal(detailsPurpose(id), { info, notes, bank_name: bankName })

/** Decrypts the details of a payment. */
export const openDetails = (personal: Personal, paymentId: number, sealed: Uint8Array | null) =>
  Effect.map(personal.open(detailsPurpose(paymentId), sealed), (fields) => ({
    info: fields["info"] ?? null,
    notes: fields["notes"] ?? null,
    bankName: fields["bank_name"] ?? null
  }))
