/** Evolution's One Wallet protocol, with each debit settled on its own ("mixed" settlement). */
import { type Method, methods, readCall, readTable } from "./EvolutionCalls.ts"
import { answerOf, answerTo, refusalAnswer } from "./EvolutionAnswers.ts"
import { makeLaunch } from "./EvolutionLaunch.ts"
import { EvolutionSettings } from "./EvolutionSettings.ts"
import { type FormBounds, readForm } from "../FormBody.ts"
import { parseJson, readText } from "../JsonBody.ts"
import { anyProtocol, type Protocol, type Received, type VendorCall, type VendorHead } from "../Protocol.ts"
import { secretCheck } from "../SharedSecret.ts"

const isMethod = (name: string): name is Method => (methods as ReadonlyArray<string>).includes(name)

const methodOf = ({ method, path }: VendorHead): Method | undefined => {
  const name = path.slice(1)
  return method === "POST" && path.startsWith("/") && isMethod(name) ? name : undefined
}

/** A genuine query has the token, and perhaps something of a proxy beside it. */
const largestQuery: FormBounds = { bytes: 4096, fields: 16 }

const tokenIn = (query: string): string =>
  readForm(Buffer.from(query, "latin1"), largestQuery)?.find(([name]) => name === "authToken")?.[1] ?? ""

const makeReceive = ({ auth_token: authToken }: EvolutionSettings) => {
  const isAuthToken = secretCheck(authToken)
  return (call: VendorCall): Received => {
    const method = methodOf(call)
    if (method === undefined) return { _tag: "NotFound" }
    if (!isAuthToken(tokenIn(call.query))) {
      return { _tag: "Stranger", answer: answerOf("INVALID_TOKEN_ID", {}, 401) }
    }
    const body = parseJson(call.body)
    const uuid = readText(body?.uuid, 512)
    const asked = body && readCall(method, body)
    if (asked !== undefined) return { _tag: "Call", call: asked, render: (outcome) => answerTo(method, uuid, outcome) }
    const ref = readText(body?.userId)
    if (body === undefined || method === "check" || ref === undefined) {
      const answer = answerOf("INVALID_PARAMETER", { uuid }, body === undefined ? 400 : 200)
      return { _tag: "Answered", method, reason: "form", answer }
    }
    // refusals, including malformed calls, contain the balance: the wallet is asked for nothing else
    const player = { ref, token: null, transactionId: null }
    return {
      _tag: "Call",
      call: { kind: "balance", method, player, gameId: readTable(body) ?? null, currency: null },
      render: (outcome) =>
        answerOf("INVALID_PARAMETER", {
          uuid,
          funds: outcome._tag === "Balance" || outcome._tag === "Refused" ? outcome.funds : null
        })
    }
  }
}

const evolution: Protocol<EvolutionSettings> = {
  name: "evolution",
  settings: EvolutionSettings,
  secrets: ["auth_token", "api_token"],
  policy: {
    // settlement is per debit, not per round: one can be cancelled after another was paid
    settledBets: "roll_back",
    winsBeforeBets: "refuse",
    closedRounds: "accept",
    afterTombstone: "refuse",
    wonWithinMs: null,
    sameMessage: "content"
  },
  bind: (settings) => ({ receive: makeReceive(settings), outbound: { launch: makeLaunch(settings) } }),
  refuse: (head, refusal) => {
    const method = methodOf(head)
    return method && refusalAnswer(method, refusal)
  }
}

export const evolutionProtocol = anyProtocol(evolution)
