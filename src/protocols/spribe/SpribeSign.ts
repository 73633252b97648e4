/** Spribe's signature: HMAC-SHA256 of the time, the path and query as called, and the raw body. */
import * as Crypto from "node:crypto"
import { isSameDigest } from "../Digests.ts"
import type { VendorCall } from "../Protocol.ts"
import { secretCheck } from "../SharedSecret.ts"
import type { SpribeSettings } from "./SpribeSettings.ts"

/** Seconds. Digits only, so that time and path cannot be confused. */
const time = /^\d{1,16}$/

/**
 * Verifies the signature of a call. No maximum age is documented or enforced: a replayed call moves nothing again, and a wrong clock must not
 * withhold a win from a player.
 */
export const makeSignatureCheck = (settings: SpribeSettings): (call: VendorCall) => boolean => {
  const { client_id: clientId, secret_key: secretKey, wallet_path: walletPath } = settings
  const key = Crypto.createSecretKey(secretKey, "utf8")
  const isClient = secretCheck(clientId)
  return ({ body, header, path, query }) => {
    const ts = header("x-spribe-client-ts") ?? ""
    const given = header("x-spribe-client-signature") ?? ""
    if (!time.test(ts)) return false
    const signed = Crypto.createHmac("sha256", key)
      .update(`${ts}${walletPath}${path}${query === "" ? "" : `?${query}`}`)
      .update(body)
      .digest("hex")
    return isSameDigest(signed, given.toLowerCase()) && isClient(header("x-spribe-client-id") ?? "")
  }
}
