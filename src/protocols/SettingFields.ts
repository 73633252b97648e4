/** Schemas of protocol settings; each error message continues the name of the setting. */
import { Schema } from "effect"
import * as Crypto from "node:crypto"
import { isLine } from "./JsonBody.ts"

/** Single line of text, 1 to `max` characters. */
export const settingText = (max = 255) =>
  Schema.String.check(
    Schema.makeFilter((text: string) => text !== "" && isLine(text, max), {
      message: `must be one line of 1 to ${max} characters`,
      expected: "one line of text"
    })
  )

const isRsaKey = (kind: "public" | "private", pem: string): boolean => {
  try {
    const key = kind === "public" ? Crypto.createPublicKey(pem) : Crypto.createPrivateKey(pem)
    return key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 1024
  } catch {
    return false
  }
}

/** RSA key in PEM, without a passphrase. */
export const settingRsaKey = (kind: "public" | "private") =>
  Schema.String.check(
    Schema.makeFilter((pem: string) => pem.length <= 16_384 && pem.includes(`-----BEGIN`) && isRsaKey(kind, pem), {
      message: `must be an RSA ${kind} key in PEM`,
      format: "pem",
      expected: `an RSA ${kind} key`
    })
  )
