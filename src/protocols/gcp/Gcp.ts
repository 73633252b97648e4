/** The universal API of game studios, version 1 (GCP): Belatra, BGaming and others speak it. */
import { parseJson, readText } from "../JsonBody.ts"
import { JsonFields } from "../JsonFields.ts"
import { anyProtocol, type Protocol, type Received, type VendorCall } from "../Protocol.ts"
import { requestSigner, signatureHeader } from "../RequestSign.ts"
import { gcpError } from "./GcpAnswers.ts"
import { gcpCalls, maxTextLength, playerOf } from "./GcpCalls.ts"
import { gcpOutbound } from "./GcpOutbound.ts"
import { GcpSettings } from "./GcpSettings.ts"

const bind = (settings: GcpSettings) => {
  const signer = requestSigner(settings.auth_token)

  const receive = (vendorCall: VendorCall): Received => {
    const { body, path } = vendorCall
    const read = gcpCalls.get(path)
    if (vendorCall.method !== "POST" || read === undefined) return { _tag: "NotFound" }
    const method = path.slice(1)
    if (!signer.verify(body, vendorCall.header(signatureHeader) ?? "")) {
      return { _tag: "Answered", method, reason: "signature", answer: gcpError(403) }
    }
    const values = parseJson(body)
    if (values === undefined) return { _tag: "Answered", method, reason: "form", answer: gcpError(400) }
    const fields = new JsonFields(values, maxTextLength)
    const asked = read(fields, method)
    if (fields.bad === undefined) return { _tag: "Call", ...asked }
    const about = `${fields.bad}: value is missing or malformed`
    const ref = readText(values["user_id"], maxTextLength)
    if (ref === undefined) return { _tag: "Answered", method, reason: "form", answer: gcpError(400, null, about) }
    // refusals say the balance, also those of the form: the wallet is asked for nothing else
    return {
      _tag: "Call",
      call: { kind: "balance", method, player: playerOf(ref), gameId: null, currency: null },
      render: (outcome) =>
        gcpError(400, outcome._tag === "Balance" || outcome._tag === "Refused" ? outcome.funds : null, about)
    }
  }

  return { receive, outbound: gcpOutbound(settings) }
}

const gcp: Protocol<GcpSettings> = {
  name: "gcp",
  settings: GcpSettings,
  secrets: ["auth_token"],
  // an action that was rolled back before it came is refused; for the rest as in version 2
  policy: {
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept",
    afterTombstone: "refuse",
    sameMessage: "kind"
  },
  bind
}

export const gcpProtocol = anyProtocol(gcp)
