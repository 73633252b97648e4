/** Schemas of register settings; each error message continues the name of the setting. */
import { Schema } from "effect"
import * as Crypto from "node:crypto"
import type { TlsSettings } from "./Register.ts"

/** Value of a header: visible characters, and blanks between them. */
export const settingWord = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]([\x20-\x7e]{0,510}[\x21-\x7e])?$/, {
    message: "must be one line of 1 to 512 ASCII characters"
  })
)

/** Address of a register; whether it may be called is up to the caller. */
export const settingUrl = Schema.String.check(
  Schema.makeFilter((url: string) => {
    const parsed = url.length <= 2000 ? URL.parse(url) : null
    return parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.hash === ""
  }, { message: "must be an https address of at most 2000 characters", expected: "an address" })
)

/** Address that paths are added to. */
export const settingBaseUrl = settingUrl.check(
  Schema.makeFilter((url: string) => !url.includes("?"), {
    message: "must have no query",
    expected: "an address without a query"
  })
)

/** The address without slashes at its end, for a path to follow. */
export const baseOf = (url: string): string => url.replace(/\/+$/, "")

const maxPemCharacters = 65_536

const readable = (pem: string, read: (pem: string) => unknown): boolean => {
  try {
    read(pem)
    return pem.length <= maxPemCharacters
  } catch {
    return false
  }
}

const blocks = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

const isCertificates = (pem: string): boolean => {
  const found = pem.match(blocks) ?? []
  return found.length > 0 && found.every((block) => readable(block, (text) => new Crypto.X509Certificate(text)))
}

const pem = (isValid: (pem: string) => boolean, message: string) =>
  Schema.optional(Schema.String.check(Schema.makeFilter(isValid, { message, format: "pem", expected: "PEM" })))

const certificates = pem(isCertificates, "must be certificates in PEM")

/** Settings for TLS that every kind has. */
export const tlsFields = {
  client_certificate: certificates,
  client_key: pem(
    (text) => readable(text, Crypto.createPrivateKey),
    "must be a private key in PEM without a passphrase"
  ),
  ca: certificates
}

/** A certificate goes with its own key. */
export const certificateHasKey = Schema.makeFilter(({ client_certificate, client_key }: TlsSettings) => {
  if (client_certificate === undefined && client_key === undefined) return undefined
  if (client_certificate === undefined) return { path: ["client_certificate"], issue: "must be given with client_key" }
  if (client_key === undefined) return { path: ["client_key"], issue: "must be given with client_certificate" }
  return new Crypto.X509Certificate(client_certificate).checkPrivateKey(Crypto.createPrivateKey(client_key))
    ? undefined
    : { path: ["client_key"], issue: "must be the key of client_certificate" }
})
