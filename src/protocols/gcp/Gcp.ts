/** GCP: SOFTSWISS's universal API of game studios, version 1, used by Belatra, BGaming and others. */
import { anyProtocol, type Protocol, type Received, type VendorCall, type VendorHead } from "../Protocol.ts"
import { requestSigner } from "../RequestSign.ts"
import { codeOf, receiveSigned } from "../Softswiss.ts"
import { gcpError } from "./GcpAnswers.ts"
import { gcpCalls } from "./GcpCalls.ts"
import { gcpOutbound } from "./GcpOutbound.ts"
import { GcpSettings } from "./GcpSettings.ts"

const readerOf = ({ method, path }: VendorHead) => method === "POST" ? gcpCalls.get(path) : undefined

const bind = (settings: GcpSettings) => {
  const signer = requestSigner(settings.auth_token)

  const receive = (vendorCall: VendorCall): Received => {
    const read = readerOf(vendorCall)
    if (read === undefined) return { _tag: "NotFound" }
    const method = vendorCall.path.slice(1)
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
  bind,
  refuse: (head, refusal) => readerOf(head) && gcpError(codeOf(refusal))
}

export const gcpProtocol = anyProtocol(gcp)
