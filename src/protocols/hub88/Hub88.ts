/** Hub88's Wallet API protocol, and Caleta's dialect of it. */
import * as Crypto from "node:crypto"
import { type JsonObject, parseJson, readText } from "../JsonBody.ts"
import { anyProtocol, type Protocol, type Received, type RefuseUnread, type VendorCall } from "../Protocol.ts"
import { answerOf, answerTo, type Echo, refusalAnswer } from "./Hub88Answers.ts"
import { readCall } from "./Hub88Calls.ts"
import { dialects, methodOf } from "./Hub88Dialects.ts"
import { makeOutbound } from "./Hub88Outbound.ts"
import { Hub88Settings } from "./Hub88Settings.ts"

/** Of a call with a wrong signature, player and request are only named in the answer where it is no larger than any genuine one. */
const echoed = { bytes: 4096, values: 128 }

const makeReceive = (settings: Hub88Settings) => {
  const dialect = dialects[settings.dialect ?? "hub88"]
  const header = dialect.signatureHeader.toLowerCase()
  const publicKey = Crypto.createPublicKey(settings.vendor_public_key)
  const isSigned = (body: Buffer, signature: string | undefined): boolean =>
    signature !== undefined && Crypto.verify("sha256", body, publicKey, Buffer.from(signature, "base64"))
  return (call: VendorCall): Received => {
    const method = methodOf(dialect, call)
    if (method === undefined) return { _tag: "NotFound" }
    const echoOf = (body: JsonObject | undefined): Echo => ({
      user: (dialect.isCaleta ? readText(body?.["supplier_user"]) : undefined) ?? readText(body?.["user"]) ?? null,
      requestId: readText(body?.["request_uuid"])
    })
    if (!isSigned(call.body, call.header(header))) {
      const echo = echoOf(call.body.length <= echoed.bytes ? parseJson(call.body, echoed.values) : undefined)
      return { _tag: "Stranger", answer: answerOf("RS_ERROR_INVALID_SIGNATURE", echo) }
    }
    const body = parseJson(call.body)
    const echo = echoOf(body)
    const asked = body === undefined ? "RS_ERROR_WRONG_SYNTAX" : readCall(method, body, dialect)
    return typeof asked === "string"
      ? { _tag: "Answered", method, reason: "form", answer: answerOf(asked, echo) }
      : {
        _tag: "Call",
        call: asked,
        render: (outcome) => answerTo(method, echo, outcome, dialect, settings.sub_partner_id)
      }
  }
}

/** The dialects have no path in common. */
const refuse: RefuseUnread = (head, refusal) => {
  for (const dialect of Object.values(dialects)) {
    const method = methodOf(dialect, head)
    if (method !== undefined) return refusalAnswer(method, refusal, dialect)
  }
  return undefined
}

const hub88: Protocol<Hub88Settings> = {
  name: "hub88",
  settings: Hub88Settings,
  secrets: ["private_key"],
  policy: {
    // several bets in one round are rolled back individually, also in a paid round
    settledBets: "roll_back",
    winsBeforeBets: "refuse",
    closedRounds: "accept",
    afterTombstone: "refuse",
    wonWithinMs: null,
    sameMessage: "content"
  },
  bind: (settings) => ({
    receive: makeReceive(settings),
    outbound: makeOutbound(settings),
    // Caleta: a different transaction only if user, round or game differ
    ...settings.dialect === "caleta" && { policy: { ...hub88.policy, sameMessage: "round" } }
  }),
  refuse
}

export const hub88Protocol = anyProtocol(hub88)
