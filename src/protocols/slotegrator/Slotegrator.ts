/** Slotegrator's GIS protocol ("APIgrator"), versions 1.4.3 and 1.4.4. */
import * as Crypto from "node:crypto"
import { isSameDigest } from "../Digests.ts"
import { type FormBounds, readForm } from "../FormBody.ts"
import { FormFields } from "../FormFields.ts"
import { anyProtocol, type Protocol, type Received, type VendorCall, type VendorHead } from "../Protocol.ts"
import { slotegratorError } from "./SlotegratorAnswers.ts"
import { slotegratorCalls } from "./SlotegratorCalls.ts"
import { slotegratorOutbound } from "./SlotegratorOutbound.ts"
import { SlotegratorSettings } from "./SlotegratorSettings.ts"
import { slotegratorSign } from "./SlotegratorSign.ts"

/** The largest genuine message: a rollback of a hundred transactions, each of at most six fields and some 400 bytes. */
const largest: FormBounds = { bytes: 48 * 1024, fields: 640 }

/** Maximum difference between their clock and ours. */
const maxSkewMs = 30_000

const isNear = (timestamp: string, now: number): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= maxSkewMs

/** One address for all actions, which the body names. */
const isCall = ({ method, path }: VendorHead): boolean => method === "POST" && (path === "" || path === "/")

const bind = (settings: SlotegratorSettings) => {
  const key = Crypto.createSecretKey(settings.merchant_key, "utf8")

  const receive = (vendorCall: VendorCall): Received => {
    if (!isCall(vendorCall)) return { _tag: "NotFound" }
    const { body, header, now } = vendorCall
    const stranger = (description: string): Received => ({
      _tag: "Stranger",
      answer: slotegratorError("INTERNAL_ERROR", description)
    })

    const merchantId = header("x-merchant-id") ?? ""
    const timestamp = header("x-timestamp") ?? ""
    const headers = {
      "X-Merchant-Id": merchantId,
      "X-Timestamp": timestamp,
      "X-Nonce": header("x-nonce") ?? ""
    }
    if (merchantId !== settings.merchant_id) return stranger("Unknown merchant")
    if (!isNear(timestamp, now)) return stranger("The timestamp is too old")
    const entries = readForm(body, largest)
    if (entries === undefined) return stranger("Not a form, or too large")
    if (!isSameDigest(slotegratorSign(key, entries, headers), header("x-sign") ?? "")) return stranger("Invalid sign")

    const form = new FormFields(entries)
    const action = form.optional("action") ?? ""
    const answered = (description: string): Received => ({
      _tag: "Answered",
      method: action.slice(0, 32),
      reason: "form",
      answer: slotegratorError("INTERNAL_ERROR", description)
    })
    const asked = slotegratorCalls.get(action)?.(form)
    if (asked === undefined) return answered("Unknown action")
    return form.bad === undefined
      ? { _tag: "Call", ...asked }
      : answered(`${form.bad} is missing or malformed`)
  }

  return { receive, outbound: slotegratorOutbound(settings) }
}

const slotegrator: Protocol<SlotegratorSettings> = {
  name: "slotegrator",
  settings: SlotegratorSettings,
  secrets: ["merchant_key"],
  // a rollback lists bets, wins and refunds of a round in any order; wins are paid without a bet
  policy: {
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept",
    afterTombstone: "refuse",
    wonWithinMs: null,
    sameMessage: "content"
  },
  bind,
  refuse: (head, refusal) => isCall(head) ? slotegratorError("INTERNAL_ERROR", refusal.message) : undefined
}

export const slotegratorProtocol = anyProtocol(slotegrator)
