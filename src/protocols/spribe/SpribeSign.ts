/** Spribe's signature: HMAC-SHA256 of the time, of path and query as they call them, and of the raw body. */
import * as Crypto from "node:crypto"
import { isSameDigest } from "../Digests.ts"
import type { VendorCall } from "../Protocol.ts"
import { secretCheck } from "../SharedSecret.ts"
import type { SpribeSettings } from "./SpribeSettings.ts"

/** Seconds. Digits alone, so that no other time and path give the same text. */
const time = /^\d{1,16}$/

/**
 * Whether a call is theirs. How old a signature may be is not described. None is too old here: a call that is sent again moves nothing again,
 * and a clock that is wrong must not keep a win from its player.
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
