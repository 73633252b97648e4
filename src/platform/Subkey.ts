import { Redacted } from "effect"
import * as Crypto from "node:crypto"

/** The bytes of {@link subkey}. */
export const subkeyBytes = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Uint8Array =>
  new Uint8Array(Crypto.hkdfSync("sha256", Redacted.value(masterKey), "", `pitboss ${purpose} v1`, 32))

/** A key of its own for one purpose, derived from the master key (HKDF, RFC 5869): knowing one tells nothing of another. */
const subkey = (masterKey: Redacted.Redacted<Uint8Array>, purpose: string): Crypto.KeyObject =>
  Crypto.createSecretKey(subkeyBytes(masterKey, purpose))

/** What tags and what hides a token. */
export interface TokenKeys {
  readonly tag: Crypto.KeyObject
  readonly mask: Crypto.KeyObject
}

interface MasterKeys {
  readonly masterKey: Redacted.Redacted<Uint8Array>
  readonly masterKeyPrevious: Redacted.Redacted<Uint8Array> | undefined
}

/** The keys of a kind of token, and of the master key before, under which no new one is issued. */
export const tokenKeys = ({ masterKey, masterKeyPrevious }: MasterKeys, kind: string) => {
  const under = (key: Redacted.Redacted<Uint8Array>): TokenKeys => ({
    tag: subkey(key, `${kind}-tag`),
    mask: subkey(key, `${kind}-mask`)
  })
  return { current: under(masterKey), previous: masterKeyPrevious === undefined ? undefined : under(masterKeyPrevious) }
}
