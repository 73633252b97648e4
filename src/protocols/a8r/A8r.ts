/** A8R: the SOFTSWISS Game Aggregator (01.tech) protocol, version 2. */
import { anyProtocol, type Protocol, type Received, type VendorCall, type VendorHead } from "../Protocol.ts"
import { requestSigner } from "../RequestSign.ts"
import { codeOf, receiveSigned } from "../Softswiss.ts"
import { a8rError } from "./A8rAnswers.ts"
import { a8rCalls } from "./A8rCalls.ts"
import { a8rOutbound } from "./A8rOutbound.ts"
import { A8rSettings } from "./A8rSettings.ts"

const prefix = "/v2/a8r_casino."

const readerOf = ({ method, path }: VendorHead) =>
  method === "POST" && path.startsWith(prefix) ? a8rCalls.get(path.slice(prefix.length)) : undefined

const bind = (settings: A8rSettings) => {
  const signer = requestSigner(settings.auth_token)

  const receive = (vendorCall: VendorCall): Received => {
    const read = readerOf(vendorCall)
    if (read === undefined) return { _tag: "NotFound" }
    const method = vendorCall.path.slice(prefix.length)
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
  bind,
  refuse: (head, refusal) => readerOf(head) && a8rError(codeOf(refusal))
}

export const a8rProtocol = anyProtocol(a8r)
