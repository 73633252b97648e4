/** Encrypted fields of players and payments. */
import { Effect } from "effect"
import type { Payment } from "../domain/Change.ts"
import type { PersonalData } from "../platform/PersonalData.ts"
import { comparableNumber } from "./Identity.ts"

type Personal = PersonalData["Service"]

/** What a player's sealed numbers are bound to. */
export const numbersPurpose = (playerId: number): string => `player-numbers:${playerId}`

/** What a payment's sealed details are bound to. */
export const detailsPurpose = (paymentId: number): string => `payment-details:${paymentId}`

interface Numbers {
  readonly personalId: string | null
  readonly documentNumber: string | null
}

const digestOf = (personal: Personal, kind: string, value: string | null): Uint8Array | null => {
  const comparable = comparableNumber(value)
  return comparable === null ? null : personal.digest(kind, comparable)
}

/** The digests that an identity's numbers are searched by. */
export const numberDigests = (personal: Personal, { documentNumber, personalId }: Numbers) => ({
  personalId: digestOf(personal, "personal_id", personalId),
  documentNumber: digestOf(personal, "document_number", documentNumber)
})

/** A player's numbers as they are stored. */
export const sealNumbers = (personal: Personal, playerId: number, { documentNumber, personalId }: Numbers) =>
  personal.seal(numbersPurpose(playerId), { personal_id: personalId, document_number: documentNumber })

/** Puts the numbers of a player back into a row; one from before they were sealed has them in clear. */
export const openNumbers = <Row extends Numbers>(
  personal: Personal,
  playerId: number,
  sealed: Uint8Array | null,
  row: Row
): Effect.Effect<Row> =>
  sealed === null ? Effect.succeed(row) : Effect.map(
    personal.open(numbersPurpose(playerId), sealed),
    (fields): Row => ({
      ...row,
      personalId: fields["personal_id"] ?? null,
      documentNumber: fields["document_number"] ?? null
    })
  )

/** What a payment says of an account and to staff, as it is stored. */
export const sealDetails = (personal: Personal, { bankName, id, info, notes }: Payment): Uint8Array | null =>
  personal.seal(detailsPurpose(id), { info, notes, bank_name: bankName })

/** Puts the details of a payment back. */
export const openDetails = (
  personal: Personal,
  sealed: Uint8Array | null,
  payment: Payment
): Effect.Effect<Payment> =>
  sealed === null ? Effect.succeed(payment) : Effect.map(
    personal.open(detailsPurpose(payment.id), sealed),
    (fields): Payment => ({
      ...payment,
      info: fields["info"] ?? null,
      notes: fields["notes"] ?? null,
      bankName: fields["bank_name"] ?? null
    })
  )
