import { Redacted } from "effect"
import * as Crypto from "node:crypto"

/** A key of its own for one purpose, derived from the master key (HKDF, RFC 5869): knowing one tells nothing of another. */
export const subkey = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Crypto.KeyObject =>
  Crypto.createSecretKey(
    Buffer.from(Crypto.hkdfSync("sha256", Redacted.value(masterKey), "", `pitboss ${purpose} v1`, 32))
  )
