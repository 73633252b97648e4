/** 01.tech's aggregator (SOFTSWISS Game Aggregator), version 2: A8R. */
import { parseJson, readText } from "../JsonBody.ts"
import { JsonFields } from "../JsonFields.ts"
import { anyProtocol, type Protocol, type Received, type VendorCall } from "../Protocol.ts"
import { requestSigner, signatureHeader } from "../RequestSign.ts"
import { a8rError } from "./A8rAnswers.ts"
import { a8rCalls, maxTextLength, playerOf } from "./A8rCalls.ts"
import { a8rOutbound } from "./A8rOutbound.ts"
import { A8rSettings } from "./A8rSettings.ts"

const prefix = "/v2/a8r_casino."

const bind = (settings: A8rSettings) => {
  const signer = requestSigner(settings.auth_token)

  const receive = (vendorCall: VendorCall): Received => {
    const { body, path } = vendorCall
    if (vendorCall.method !== "POST" || !path.startsWith(prefix)) return { _tag: "NotFound" }
    const method = path.slice(prefix.length)
    const read = a8rCalls.get(method)
    if (read === undefined) return { _tag: "NotFound" }
    if (!signer.verify(body, vendorCall.header(signatureHeader) ?? "")) {
      return { _tag: "Answered", method, reason: "signature", answer: a8rError(403) }
    }
    const values = parseJson(body)
    if (values === undefined) return { _tag: "Answered", method, reason: "form", answer: a8rError(400) }
    const fields = new JsonFields(values, maxTextLength)
    const asked = read(fields, method)
    if (fields.bad === undefined) return { _tag: "Call", ...asked }
    const about = `${fields.bad}: value is missing or malformed`
    const ref = readText(values["player_id"], maxTextLength)
    if (ref === undefined) return { _tag: "Answered", method, reason: "form", answer: a8rError(400, null, about) }
    // refusals say the balance, also those of the form: the wallet is asked for nothing else
    return {
      _tag: "Call",
      call: { kind: "balance", method, player: playerOf(ref), gameId: null, currency: null },
      render: (outcome) =>
        a8rError(400, outcome._tag === "Balance" || outcome._tag === "Refused" ? outcome.funds : null, about)
    }
  }

  return { receive, outbound: a8rOutbound(settings) }
}

export const a8r: Protocol<A8rSettings> = {
  name: "a8r",
  settings: A8rSettings,
  secrets: ["auth_token"],
  // rollbacks and wins are always accepted; what was rolled back before it came is answered as if it had been
  policy: {
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept",
    afterTombstone: "ignore",
    sameMessage: "kind"
  },
  bind
}

export const a8rProtocol = anyProtocol(a8r)
