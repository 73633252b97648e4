/**
 * Key that authenticates the links of the ledger's hash chain (HMAC): derived from the first master key, and from then on stored encrypted under
 * the current one. When the master key is lost, the stored key cannot be decrypted and another one is derived: the tags of older chains can no longer
 * be verified, only their hashes, and the first chain under the new key is recorded.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import { ChainKey, reserveChainId } from "../chain/Chain.ts"
import { describeSqlError } from "../platform/Database.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { subkeyBytes } from "../platform/Subkey.ts"
import { SealedSecrets } from "./SealedSecrets.ts"

const purpose = "ledger-chain"
const keyBytes = 32

/** Number of a database's first chain. */
const firstOfAll = 1

/**
 * The key is stored with the first chain it applies to. When it is lost with the master key (`MASTER_KEY_LOST`), tags of earlier chains are
 * not verified, and shared chains restart. A key missing for another reason was removed: it is derived again, and all chains are
 * verified against it.
 */
export const layerChainKey = Layer.effect(
  ChainKey,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { masterKey, masterKeyLost } = yield* Settings
    const { kept } = yield* SealedSecrets
    const chainId = yield* Effect.mapError(
      reserveChainId(sql),
      (error) =>
        new StartupError({ message: `no id could be reserved for the ledger's hash chain: ${describeSqlError(error)}` })
    )
    // Kept: initial. Room to derive a key in, at the start. Several nodes: of no use after the start.
    const initial = Buffer.alloc(keyBytes + 8)
    initial.set(subkeyBytes(masterKey, purpose))
    initial.writeBigUInt64BE(BigInt(masterKeyLost ? chainId : firstOfAll), keyBytes)
    const bytes = Buffer.from(yield* kept(purpose, initial))
    return {
      key: Crypto.createSecretKey(bytes.subarray(0, keyBytes)),
      firstChainId: Number(bytes.readBigUInt64BE(keyBytes))
    }
  })
)
