/** Pragmatic Play's seamless wallet protocol. */
import { isSameDigest } from "../Digests.ts"
import { type FormBounds, readForm } from "../FormBody.ts"
import { FormFields } from "../FormFields.ts"
import {
  anyProtocol,
  type Protocol,
  type Received,
  type VendorAnswer,
  type VendorCall,
  type VendorHead
} from "../Protocol.ts"
import { errorOf, pragmaticError, pragmaticRenderer, pragmaticSuccess } from "./PragmaticAnswers.ts"
import { pragmaticCalls } from "./PragmaticCalls.ts"
import { pragmaticHash } from "./PragmaticHash.ts"
import { pragmaticOutbound } from "./PragmaticOutbound.ts"
import { PragmaticSettings } from "./PragmaticSettings.ts"

const ending = ".html"

/**
 * The longest genuine message is a query of 500 games' balances, or details of a round; the one with the most fields a result with special prizes.
 * The hash is a field among sorted ones, so it is found by decoding all.
 */
const largest: FormBounds = { bytes: 32 * 1024, fields: 128 }

const readerOf = ({ method, path }: VendorHead) =>
  method === "POST" && path.endsWith(ending) ? pragmaticCalls.get(path.slice(0, -ending.length)) : undefined

const bind = (settings: PragmaticSettings) => {
  const providerId = settings.provider_id.toLowerCase()
  const terms = { paysFreeRounds: settings.free_rounds_win === "pay" }

  const receive = (vendorCall: VendorCall): Received => {
    const read = readerOf(vendorCall)
    if (read === undefined) return { _tag: "NotFound" }
    const { body, path } = vendorCall
    const answered = (
      reason: "form" | "notice",
      answer: VendorAnswer
    ): Received => ({ _tag: "Answered", reason, method: path.slice(1, -ending.length), answer })

    const entries = readForm(body, largest)
    if (entries === undefined) return { _tag: "Stranger", answer: pragmaticError(7) }
    const form = new FormFields(entries)
    if (!isSameDigest(pragmaticHash(settings.secret_key, entries), form.values.get("hash") ?? "")) {
      return { _tag: "Stranger", answer: pragmaticError(5) }
    }
    if (form.text("providerId", 100).toLowerCase() !== providerId) form.refuse("providerId")
    const { call, fieldsOf } = read(form, terms)
    if (form.bad !== undefined) return answered("form", pragmaticError(7, form.bad))
    return call === undefined
      ? answered("notice", pragmaticSuccess(""))
      : { _tag: "Call", call, render: pragmaticRenderer(fieldsOf) }
  }

  return { receive, outbound: pragmaticOutbound(settings) }
}

export const pragmatic: Protocol<PragmaticSettings> = {
  name: "pragmatic",
  settings: PragmaticSettings,
  secrets: ["secret_key", "feed_password"],
  policy: {
    // a bet without a successful answer is refunded; a win of another bet in the round must not prevent that
    settledBets: "roll_back",
    winsBeforeBets: "refuse",
    closedRounds: "accept",
    afterTombstone: "refuse",
    wonWithinMs: null,
    sameMessage: "content"
  },
  bind,
  refuse: (head, refusal) => readerOf(head) && pragmaticError(errorOf(refusal))
}

export const pragmaticProtocol = anyProtocol(pragmatic)
