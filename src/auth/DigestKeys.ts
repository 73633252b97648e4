/**
 * Key for the keyed digests by which personal data is searched: derived from the first master key, stored encrypted under the current one. When the
 * master key is lost, a new key is derived and earlier digests match nothing: excluded persons are then recognised by name and birth date only.
 */
import { Effect, Layer } from "effect"
import * as Crypto from "node:crypto"
import { DigestKey } from "../platform/PersonalData.ts"
import { Settings } from "../platform/Settings.ts"
import { subkeyBytes } from "../platform/Subkey.ts"
import { SealedSecrets } from "./SealedSecrets.ts"

const purpose = "personal-data-digest"

export const layerDigestKey = Layer.effect(
  DigestKey,
  Effect.gen(function*() {
    const { masterKey } = yield* Settings
    const { kept } = yield* SealedSecrets
    return Crypto.createSecretKey(yield* kept(purpose, subkeyBytes(masterKey, purpose)))
  })
)
