/**
 * Spribe's wallet protocol (Aviator and its other games), in the version since November 2024 with signed calls. Spribe calls a bet a withdrawal, and
 * a win a deposit.
 *
 * Reasons for the settlement policy, by documentation that operators have published, since Spribe publishes none:
 * - `settledBets`, the rollback of a bet that was paid: unspecified. Refused: the win has to be rolled back first, so that no player gets both.
 * - `winsBeforeBets`: a win whose bet is unknown is answered 408.
 * - `closedRounds`: each bet is a round of its own here. A further win of it is paid, since several are not excluded.
 * - `afterTombstone`, a bet that arrives after its rollback: unspecified. Refused, as a rolled back bet must not be played.
 * - `wonWithinMs`: a lost bet is followed by nothing. A round lasts for a minute or two, and a win is repeated for some more. One that comes later
 *   still is paid; only the end of an empty bonus does not wait for it.
 * - `sameMessage`: a `provider_tx_id` is one transaction. One with different content is not a retry.
 */
import { parseJson } from "../JsonBody.ts"
import { anyProtocol, type Protocol, type Received, type VendorCall, type VendorHead } from "../Protocol.ts"
import { answerOf, answerTo, codeOfRefusal } from "./SpribeAnswers.ts"
import { type Method, methods, readCall } from "./SpribeCalls.ts"
import { makeLaunch } from "./SpribeLaunch.ts"
import { SpribeSettings } from "./SpribeSettings.ts"
import { makeSignatureCheck } from "./SpribeSign.ts"

const isMethod = (name: string): name is Method => (methods as ReadonlyArray<string>).includes(name)

const methodOf = ({ method, path }: VendorHead): Method | undefined => {
  const name = path.slice(1)
  return method === "POST" && path.startsWith("/") && isMethod(name) ? name : undefined
}

const makeReceive = (settings: SpribeSettings) => {
  const isSigned = makeSignatureCheck(settings)
  return (call: VendorCall): Received => {
    const method = methodOf(call)
    if (method === undefined) return { _tag: "NotFound" }
    if (!isSigned(call)) return { _tag: "Stranger", answer: answerOf(413) }
    const body = parseJson(call.body)
    const asked = body && readCall(method, body)
    if (asked === undefined) return { _tag: "Answered", method, reason: "form", answer: answerOf(405) }
    return { _tag: "Call", call: asked.call, render: (outcome) => answerTo(method, asked.echo, outcome) }
  }
}

const spribe: Protocol<SpribeSettings> = {
  name: "spribe",
  settings: SpribeSettings,
  secrets: ["secret_key"],
  policy: {
    settledBets: "refuse",
    winsBeforeBets: "refuse",
    closedRounds: "accept",
    afterTombstone: "refuse",
    wonWithinMs: 10 * 60_000,
    sameMessage: "content"
  },
  bind: (settings) => ({ receive: makeReceive(settings), outbound: { launch: makeLaunch(settings) } }),
  refuse: (head, refusal) => {
    const method = methodOf(head)
    return method && answerOf(codeOfRefusal(method, refusal))
  }
}

export const spribeProtocol = anyProtocol(spribe)
