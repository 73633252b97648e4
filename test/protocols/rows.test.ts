import { assert, describe, it } from "@effect/vitest"
import type { Message, Situation } from "../../scripts/simulators/Dialect.ts"
import { fromUnits } from "../../src/protocols/Decimal.ts"
import { protocols } from "../../src/protocols/Protocols.ts"
import type { ReadCall, VendorAnswer, WalletCall, WalletOutcome } from "../../src/protocols/Protocol.ts"
import { answerForms } from "../kit/AnswerForms.ts"
import { type AskingKind, protocolRows, rowMessages, rowSession } from "../kit/ProtocolRows.ts"
import { type VendorCase, vendorCases } from "../kit/Vendors.ts"
import {
  asCall,
  balanceOf,
  bound,
  euros,
  identified,
  noon,
  passing,
  refusedWith,
  settled,
  vendorCall
} from "./support.ts"

// Goal: every protocol reads the messages of a vendor as the same calls of the wallet, and says what came of them in the vendor's words. Method:
// a row of each protocol; the provider simulator writes the messages and reads the answers to made-up outcomes.

const funds = euros(9000)

/** Outcomes of the wallet, and how the message stands by them. */
const outcomes: ReadonlyArray<readonly [kinds: ReadonlyArray<AskingKind>, Situation, WalletOutcome]> = [
  [["authenticate"], "new", identified(funds)],
  [["balance"], "new", balanceOf(funds)],
  [["bet"], "new", settled(funds, { realAmount: -1050 })],
  [["win"], "new", settled(funds, { realAmount: 2500 })],
  [["rollback"], "new", settled(funds, { realAmount: 1050 })],
  [["promo"], "new", settled(funds, { realAmount: 500 })],
  [["bet_win"], "new", settled(funds, { realAmount: -1050 }, { realAmount: 2500 })],
  [["close"], "new", settled(funds)],
  [["bet", "promo"], "duplicate", settled(funds, { status: "replayed" })],
  [["rollback"], "unknown", settled(funds, { status: "ignored" })],
  [["bet"], "insufficient_funds", refusedWith("INSUFFICIENT_FUNDS", { balance: 9000 }, funds)],
  [["bet"], "session_expired", refusedWith("INVALID_SESSION", { reason: "unknown" }, funds)]
]

const isAsking = (kind: string): kind is AskingKind => kind in rowMessages

/** A call without what is for a second look: the same call about another round. */
const withoutLook = (call: WalletCall): WalletCall => {
  if (call.kind !== "settle") return call
  const { inRound: _, ...rest } = call
  return rest
}

const wireOf = ({ body, contentType = "application/json", status }: VendorAnswer) => ({ body, contentType, status })

/** The call of the wallet that a message becomes. */
const readOf = ({ dialect, protocol: name, settings }: VendorCase, message: Message): ReadCall => {
  const protocol = protocols.find((known) => known.name === name)
  assert(protocol !== undefined)
  const wire = dialect.request(message, rowSession, { callId: "call-1", now: noon, damage: "none" })
  const headers = new Map(Object.entries(wire.headers).map(([header, value]) => [header.toLowerCase(), value]))
  const { method, path, query = "" } = wire
  const call = { ...vendorCall(path, wire.body, { method, query }), header: (header: string) => headers.get(header) }
  return asCall(bound(protocol, settings).receive(call))
}

it("every protocol has a row, and every row is a protocol's", () => {
  assert.sameMembers(Object.keys(protocolRows), vendorCases.map(({ name }) => name))
  assert.sameMembers(answerForms.map(({ name }) => name), vendorCases.map(({ name }) => name))
})

for (const found of vendorCases) {
  const { dialect, name } = found
  const calls = Object.entries(protocolRows[name]?.calls ?? {})
  const form = answerForms.find((form) => form.name === name)

  describe(name, () => {
    for (const [kind, expected] of calls) {
      if (!isAsking(kind)) continue
      const message = rowMessages[kind]
      it(`${kind}: asks the wallet for what the vendor means`, () => {
        assert.deepStrictEqual(withoutLook(readOf(found, message).call), expected)
      })

      it(`${kind}: says in the vendor's words what came of it`, () => {
        const { render } = readOf(found, message)
        for (const [, situation, outcome] of outcomes.filter(([kinds]) => kinds.includes(kind))) {
          const { balance: wanted, codes, http = [200] } = dialect.expect(kind, situation)
          if (codes.length === 0) continue
          const answer = wireOf(render(outcome))
          const { body, status } = answer
          const { balance, code, problems } = dialect.read(message, rowSession, "call-1", answer)
          assert.include(codes, code, `${situation}: ${body}`)
          assert.include(http, status, `${situation}: ${body}`)
          assert.deepStrictEqual(problems, [], `${situation}: ${body}`)
          if (wanted === "required") assert.isDefined(balance, `${situation}: ${body}`)
          if (wanted === "absent") assert.isUndefined(balance, `${situation}: ${body}`)
          if (balance !== undefined) assert.deepStrictEqual(balance, fromUnits(9000, 2), `${situation}: ${body}`)
        }
      })

      it(`${kind}: is to be sent again where it cannot be answered now`, () => {
        const { render } = readOf(found, message)
        for (const refusal of passing) {
          const answer = wireOf(render(refusedWith(refusal, {}, null)))
          assert.isTrue(form?.isTryAgain(answer), `${refusal}: ${answer.body}`)
        }
      })
    }
  })
}
