/** 01.tech's aggregator (SOFTSWISS Game Aggregator), version 2: A8R. */
import { anyProtocol, type Protocol, type Received, type VendorCall } from "../Protocol.ts"
import { requestSigner } from "../RequestSign.ts"
import { receiveSigned } from "../Softswiss.ts"
import { a8rError } from "./A8rAnswers.ts"
import { a8rCalls } from "./A8rCalls.ts"
import { a8rOutbound } from "./A8rOutbound.ts"
import { A8rSettings } from "./A8rSettings.ts"

const prefix = "/v2/a8r_casino."

const bind = (settings: A8rSettings) => {
  const signer = requestSigner(settings.auth_token)

  const receive = (vendorCall: VendorCall): Received => {
    const { path } = vendorCall
    if (vendorCall.method !== "POST" || !path.startsWith(prefix)) return { _tag: "NotFound" }
    const method = path.slice(prefix.length)
    const read = a8rCalls.get(method)
    if (read === undefined) return { _tag: "NotFound" }
    return receiveSigned(vendorCall, { signer, method, read, playerField: "player_id", error: a8rError })
  }

  return { receive, outbound: a8rOutbound(settings) }
}

export const a8r: Protocol<A8rSettings> = {
  name: "a8r",
  settings: A8rSettings,
  secrets: ["auth_token"],
  // rollbacks and wins are always accepted; an action rolled back before it arrived is answered as rolled back
  policy: {
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept",
    afterTombstone: "ignore",
    wonWithinMs: null,
    sameMessage: "kind"
  },
  bind
}

export const a8rProtocol = anyProtocol(a8r)
