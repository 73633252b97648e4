/** Matching of two records to one person (SPEC section 3.5). Pure. */

/** Identifying facts of a person. Absent and null mean unknown. */
export interface Identity {
  readonly firstName: string
  readonly lastName: string
  /** `YYYY-MM-DD`. */
  readonly birthDate: string
  readonly personalId: string | null
  readonly documentNumber: string | null
}

/** Normalises a document number: no separators, case-insensitive. */
export const comparableNumber = (text: string | null): string | null => {
  const comparable = text?.normalize("NFKC").replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase() ?? ""
  return comparable === "" ? null : comparable
}

/** Normalises a name without diacritics, spaces and punctuation: "O'Connor-Müller " is "OCONNORMULLER". */
export const comparableName = (text: string): string =>
  text.normalize("NFKD").replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase()

const sameNumber = (one: string | null, other: string | null): boolean => {
  const comparable = comparableNumber(one)
  return comparable !== null && comparable === comparableNumber(other)
}

/** True when the personal id, the document number, or names with birth date match. */
export const isSamePerson = (one: Identity, other: Identity): boolean =>
  sameNumber(one.personalId, other.personalId) ||
  sameNumber(one.documentNumber, other.documentNumber) ||
  (one.birthDate === other.birthDate &&
    comparableName(one.firstName) === comparableName(other.firstName) &&
    comparableName(one.lastName) === comparableName(other.lastName))
