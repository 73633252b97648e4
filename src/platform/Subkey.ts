import { Redacted } from "effect"
import * as Crypto from "node:crypto"

/** The bytes of {@link subkey}. */
export const subkeyBytes = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Uint8Array =>
  new Uint8Array(Crypto.hkdfSync("sha256", Redacted.value(masterKey), "", `pitboss ${purpose} v1`, 32))

/** A key for one purpose, derived from the master key (HKDF, RFC 5869): one reveals nothing of another. */
const subkey = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Crypto.KeyObject =>
  Crypto.createSecretKey(subkeyBytes(masterKey, purpose))

/** Authenticates and hides a token. */
export interface TokenKeys {
  readonly tag: Crypto.KeyObject
  readonly mask: Crypto.KeyObject
}

interface MasterKeys {
  readonly masterKey: Redacted.Redacted<Uint8Array>
  readonly masterKeyPrevious: Redacted.Redacted<Uint8Array> | undefined
}

/** Keys of a kind of token: under the master key, and under the previous one, which issues none. */
export const tokenKeys = ({ masterKey, masterKeyPrevious }: MasterKeys, kind: string) => {
  const under = (key: Redacted.Redacted<Uint8Array>): TokenKeys => ({
    tag: subkey(key, `${kind}-tag`),
    mask: subkey(key, `${kind}-mask`)
  })
  return { current: under(masterKey), previous: masterKeyPrevious === undefined ? undefined : under(masterKeyPrevious) }
}
