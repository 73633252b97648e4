/** Second factor of staff: time-based codes (RFC 6238: SHA-1, six digits, 30 seconds) and recovery codes. Pure. */
import { Secret, TOTP } from "otpauth"
import { renderSVG } from "uqr"
import { sha256 } from "../../platform/Secrets.ts"

const periodMs = 30_000

/** Accepted TOTP steps before and after the current one, for clock skew of phones. */
const window = 1

/** Length of the secret in bytes: RFC 4226 recommends that of the hash. */
export const secretBytes = 20

/** How many recovery codes there are. */
export const recoveryCodes = 10

const totpOf = (secret: Uint8Array, label: string): TOTP =>
  new TOTP({
    issuer: "Pitboss",
    label,
    algorithm: "SHA1",
    digits: 6,
    period: periodMs / 1000,
    secret: new Secret({ buffer: new Uint8Array(secret).buffer })
  })

/** Secret and otpauth URI for an authenticator app. */
export const enrolment = (secret: Uint8Array, name: string) => {
  const totp = totpOf(secret, name)
  const uri = totp.toString()
  return { secret: totp.secret.base32, uri, qr_svg: renderSVG(uri, { ecc: "M", border: 2 }) }
}

/** Digits of a code as people type it. */
const digitsIn = (code: string): string => code.replaceAll(/[\s-]/g, "")

/** Whether a code is one of an authenticator; else it may be a recovery code. */
export const isTimeBased = (code: string): boolean => /^\d{6}$/.test(digitsIn(code))

/** TOTP step of a valid code; undefined when invalid, or not later than the last accepted step: a code works once. */
export const acceptedStep = (
  secret: Uint8Array,
  code: string,
  now: number,
  lastStep: number | null
): number | undefined => {
  const delta = totpOf(secret, "").validate({ token: digitsIn(code), timestamp: now, window })
  if (delta === null) return undefined
  const step = Math.floor(now / periodMs) + delta
  return lastStep === null || step > lastStep ? step : undefined
}

/** A recovery code as it is shown: three groups of four; `letters` are at least 12. */
export const recoveryCode = (letters: string): string =>
  [0, 4, 8].map((from) => letters.slice(from, from + 4)).join("-")

/** Hash of a recovery code of an account: 12 of 62 characters cannot be guessed, so that no slow hash is needed. */
export const recoveryHash = (staffId: number, code: string): Uint8Array =>
  sha256(`staff-recovery:${staffId}:${digitsIn(code)}`)
