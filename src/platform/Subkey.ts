/** Keys derived from the master key, one for each purpose (HKDF, RFC 5869); derived keys are independent. */
import { Redacted } from "effect"
import * as Crypto from "node:crypto"

/** The bytes of {@link subkey}. */
export const subkeyBytes = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Uint8Array =>
  new Uint8Array(Crypto.hkdfSync("sha256", Redacted.value(masterKey), "", `pitboss ${purpose} v1`, 32))

const subkey = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Crypto.KeyObject =>
  Crypto.createSecretKey(subkeyBytes(masterKey, purpose))

/** Keys that authenticate and encrypt tokens. */
export interface TokenKeys {
  readonly tag: Crypto.KeyObject
  readonly mask: Crypto.KeyObject
}

interface MasterKeys {
  readonly masterKey: Redacted.Redacted<Uint8Array>
  readonly masterKeyPrevious: Redacted.Redacted<Uint8Array> | undefined
}

/** Keys of a kind of token: under the master key, and under the previous one, which is not used for new tokens. */
export const tokenKeys = ({ masterKey, masterKeyPrevious }: MasterKeys, kind: string) => {
  const under = (key: Redacted.Redacted<Uint8Array>): TokenKeys => ({
    tag: subkey(key, `${kind}-tag`),
    mask: subkey(key, `${kind}-mask`)
  })
  return { current: under(masterKey), previous: masterKeyPrevious === undefined ? undefined : under(masterKeyPrevious) }
}
