/** Universal API of game studios, version 1 (GCP): used by Belatra, BGaming and others. */
import { anyProtocol, type Protocol, type Received, type VendorCall } from "../Protocol.ts"
import { requestSigner } from "../RequestSign.ts"
import { receiveSigned } from "../Softswiss.ts"
import { gcpError } from "./GcpAnswers.ts"
import { gcpCalls } from "./GcpCalls.ts"
import { gcpOutbound } from "./GcpOutbound.ts"
import { GcpSettings } from "./GcpSettings.ts"

const bind = (settings: GcpSettings) => {
  const signer = requestSigner(settings.auth_token)

  const receive = (vendorCall: VendorCall): Received => {
    const { path } = vendorCall
    const read = gcpCalls.get(path)
    if (vendorCall.method !== "POST" || read === undefined) return { _tag: "NotFound" }
    const method = path.slice(1)
    return receiveSigned(vendorCall, { signer, method, read, playerField: "user_id", error: gcpError })
  }

  return { receive, outbound: gcpOutbound(settings) }
}

const gcp: Protocol<GcpSettings> = {
  name: "gcp",
  settings: GcpSettings,
  secrets: ["auth_token"],
  // an action rolled back before it arrived is refused; otherwise like version 2
  policy: {
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept",
    afterTombstone: "refuse",
    wonWithinMs: null,
    sameMessage: "kind"
  },
  bind
}

export const gcpProtocol = anyProtocol(gcp)
