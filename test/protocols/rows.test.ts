import { assert, describe, it } from "@effect/vitest"
import type { Dialect, Message, Situation } from "../../scripts/simulators/Dialect.ts"
import { pitbossDialect } from "../../scripts/simulators/dialects/Pitboss.ts"
import { networks } from "../../src/auth/Addresses.ts"
import { signingKey } from "../../src/auth/Signature.ts"
import { fromUnits } from "../../src/protocols/Decimal.ts"
import { protocols } from "../../src/protocols/Protocols.ts"
import { locateCall, readHead, receivePitboss } from "../../src/protocols/pitboss/Pitboss.ts"
import type { Received, VendorAnswer, WalletCall, WalletOutcome } from "../../src/protocols/Protocol.ts"
import { answerForms, ownForm } from "../kit/AnswerForms.ts"
import {
  type AskingKind,
  ownCalls,
  type ProtocolRow,
  protocolRows,
  rowMessages,
  rowSession
} from "../kit/ProtocolRows.ts"
import { vendorCases } from "../kit/Vendors.ts"
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

const session: WalletOutcome = {
  _tag: "Session",
  playerRef: rowSession.playerRef,
  country: "DE",
  language: "de",
  expiresAt: noon,
  funds
}

/** Outcomes of the wallet, and how the message stands by them. */
const outcomes: ReadonlyArray<readonly [kinds: ReadonlyArray<AskingKind>, Situation, WalletOutcome]> = [
  [["authenticate"], "new", identified(funds)],
  [["authenticate"], "new", session],
  [["balance"], "new", balanceOf(funds)],
  [["bet"], "new", settled(funds, { realAmount: -1050 })],
  [["win"], "new", settled(funds, { realAmount: 2500 })],
  [["rollback"], "new", settled(funds, { realAmount: 1050 })],
  [["promo"], "new", settled(funds, { realAmount: 500 })],
  [["bet_win"], "new", settled(funds, { realAmount: -1050 }, { realAmount: 2500 })],
  [["close"], "new", settled(funds, {})],
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

type WireRequest = ReturnType<Dialect["request"]>

/** A protocol: the simulator of its providers, its row, and how the service reads what they send. */
interface ProtocolCase {
  readonly name: string
  readonly dialect: Dialect
  readonly calls: ProtocolRow["calls"]
  readonly receive: (wire: WireRequest) => Received
  readonly isTryAgain: (answer: ReturnType<typeof wireOf>) => boolean
}

const headerOf = ({ headers }: WireRequest) => {
  const known = new Map(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]))
  return (name: string) => known.get(name)
}

const vendors = vendorCases.map(({ dialect, name, protocol: protocolName, settings }): ProtocolCase => {
  const protocol = protocols.find((known) => known.name === protocolName)
  const form = answerForms.find((known) => known.name === name)
  const row = protocolRows[name]
  assert(protocol !== undefined && form !== undefined && row !== undefined, name)
  return {
    name,
    dialect,
    calls: row.calls,
    receive: (wire) => {
      const { body, method, path, query = "" } = wire
      return bound(protocol, settings).receive({ ...vendorCall(path, body, { method, query }), header: headerOf(wire) })
    },
    isTryAgain: form.isTryAgain
  }
})

const own: ProtocolCase = {
  name: "pitboss",
  dialect: pitbossDialect.make({ key: "pbp_live_1", secret: "a-secret" }),
  calls: ownCalls,
  receive: (wire) => {
    const { body, method, path } = wire
    const target = `/api/v1/provider/wallet${path}`
    const head = { method, target, header: headerOf(wire), now: noon, address: () => "203.0.113.7" }
    const located = locateCall(head)
    assert(!("_tag" in located), JSON.stringify(located))
    const read = readHead(located, head)
    assert(!("_tag" in read), JSON.stringify(read))
    const credential = { signingKey: signingKey("a-secret"), allowed: networks([]) }
    return receivePitboss(head, read, credential, Buffer.from(body))
  },
  isTryAgain: ownForm.isTryAgain
}

it("every provider protocol has test cases for its calls, and every test case belongs to a protocol", () => {
  assert.sameMembers(Object.keys(protocolRows), vendorCases.map(({ name }) => name))
  assert.sameMembers(answerForms.map(({ name }) => name), vendorCases.map(({ name }) => name))
})

for (const { calls, dialect, isTryAgain, name, receive } of [own, ...vendors]) {
  const readOf = (message: Message) =>
    asCall(receive(dialect.request(message, rowSession, { callId: "call-1", now: noon, damage: "none" })))

  describe(name, () => {
    for (const [kind, expected] of Object.entries(calls)) {
      if (!isAsking(kind)) continue
      const message = rowMessages[kind]
      it(`${kind}: is decoded to the expected wallet call`, () => {
        assert.deepStrictEqual(withoutLook(readOf(message).call), expected)
      })

      it(`${kind}: answers every outcome with a code of the vendor's protocol`, () => {
        const { render } = readOf(message)
        for (const [, situation, outcome] of outcomes.filter(([kinds]) => kinds.includes(kind))) {
          const { balance: wanted, codes, http = [200] } = dialect.expect(kind, situation)
          if (codes.length === 0 || outcome._tag === (name === own.name ? "Identified" : "Session")) continue
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

      it(`${kind}: asks the vendor to retry when it cannot be answered now`, () => {
        const { render } = readOf(message)
        for (const refusal of passing) {
          const answer = wireOf(render(refusedWith(refusal, {}, null)))
          assert.isTrue(isTryAgain(answer), `${refusal}: ${answer.body}`)
        }
      })
    }
  })
}
