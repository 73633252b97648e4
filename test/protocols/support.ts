/** Vendors' calls and made-up outcomes for codecs of protocols. */
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import { type Details, refuse, type RefusalCode, refuseFields } from "../../src/domain/Refusal.ts"
import { noSuchGame } from "../../src/domain/settlement/SettlementParts.ts"
import type { Settlement } from "../../src/domain/settlement/Settlement.ts"
import type {
  AnyProtocol,
  Bound,
  Funds,
  LaunchOrder,
  Received,
  VendorAnswer,
  VendorCall,
  VendorRequest,
  VendorTools,
  WalletOutcome
} from "../../src/protocols/Protocol.ts"

/** 2026-11-22T12:00:00Z. */
export const noon = Date.UTC(2026, 10, 22, 12)

/** The protocol with valid settings. */
export const bound = (protocol: AnyProtocol, settings: unknown): Bound => Result.getOrThrow(protocol.bind(settings))

interface CallParts {
  readonly method?: string
  readonly query?: string
  readonly headers?: { readonly [name: string]: string }
  readonly now?: number
}

export const vendorCall = (
  path: string,
  body: string | Buffer,
  { headers = {}, method = "POST", now = noon, query = "" }: CallParts = {}
): VendorCall => ({
  method,
  path,
  query,
  header: (name) => headers[name],
  body: typeof body === "string" ? Buffer.from(body) : body,
  now
})

/** The result as a call of the wallet. */
export const asCall = (received: Received): Extract<Received, { readonly _tag: "Call" }> => {
  assert(received._tag === "Call", `answered at once: ${JSON.stringify(received)}`)
  return received
}

/** The call of one action, and the action. */
export const asAction = (received: Received) => {
  const { call } = asCall(received)
  assert(call.kind === "settle")
  const [action] = call.actions
  assert(action !== undefined && call.actions.length === 1)
  return { call, action }
}

/** The answer given without the wallet. */
export const asAnswer = (received: Received): Extract<Received, { readonly _tag: "Answered" }> => {
  assert(received._tag === "Answered", `not answered at once: ${JSON.stringify(received)}`)
  return received
}

/** The answer to a caller without a good signature. */
export const asStranger = (received: Received): VendorAnswer => {
  assert(received._tag === "Stranger", `taken for the vendor: ${JSON.stringify(received)}`)
  return received.answer
}

/** The answer's body as values. */
export const valuesOf = ({ body }: VendorAnswer): { readonly [name: string]: unknown } => {
  const values: { readonly [name: string]: unknown } = JSON.parse(body)
  return values
}

export const euros = (real: number, bonus = 0): Funds => ({ currency: "EUR", real, bonus })

export const settled = (funds: Funds, ...settlements: ReadonlyArray<Partial<Settlement>>): WalletOutcome => ({
  _tag: "Settled",
  playerRef: "1018",
  funds,
  settlements: settlements.map((settlement) => ({
    transactionId: "t-1",
    status: "processed",
    first: settlement.status === "ignored" ? "ignored" : "processed",
    settledAt: noon,
    entryIds: [],
    realAmount: 0,
    bonusAmount: 0,
    balance: funds.real,
    bonusBalance: funds.bonus,
    currency: funds.currency,
    walletSeq: 1,
    roundState: "open",
    ...settlement
  }))
})

export const refusedWith = (
  code: RefusalCode,
  details: Details = {},
  funds: Funds | null = euros(1050)
): WalletOutcome => ({
  _tag: "Refused",
  refusal: refuse(code, "", details),
  playerRef: "1018",
  funds
})

/** The refusal of a game that the provider does not have. */
export const gameUnknown: WalletOutcome = {
  _tag: "Refused",
  refusal: noSuchGame,
  playerRef: "1018",
  funds: euros(1050)
}

/** The refusal of a field's value. */
export const fieldRefused = (field: string): WalletOutcome => ({
  _tag: "Refused",
  refusal: refuseFields({ [field]: ["is wrong"] }),
  playerRef: "1018",
  funds: euros(1050)
})

/** Retryable refusals, with nothing settled. */
export const passing: ReadonlyArray<RefusalCode> = ["TRY_AGAIN", "SERVER_ERROR", "RATE_LIMITED"]

export const balanceOf = (funds: Funds): WalletOutcome => ({ _tag: "Balance", playerRef: "1018", funds })

export const identified = (funds: Funds): WalletOutcome => ({
  _tag: "Identified",
  player: {
    playerRef: "1018",
    token: "t-1",
    country: "DE",
    language: "de",
    birthDate: "1990-01-31",
    registeredAt: noon,
    tags: []
  },
  funds
})

/** The answer to a call, given the wallet's outcome; immediate answers need none. */
export const answerTo = (received: Received, outcome?: WalletOutcome): VendorAnswer => {
  assert(received._tag !== "NotFound", "no call of the protocol")
  if (received._tag !== "Call") return received.answer
  assert(outcome !== undefined, "the wallet was asked")
  return received.render(outcome)
}

/** A launch order under a session token. */
export const launchOf = (token: string, order: Partial<LaunchOrder> = {}): LaunchOrder => ({
  gameId: "gold",
  token,
  mode: "real",
  platform: "mobile",
  ip: "203.0.113.7",
  player: {
    playerRef: "1018",
    token,
    country: "DE",
    language: "de",
    birthDate: null,
    registeredAt: noon,
    tags: [],
    currency: "EUR",
    username: "ada"
  },
  lobbyUrl: "https://casino.example.com/lobby",
  depositUrl: null,
  ...order
})

/** A vendor that gives one answer and records its requests. */
export const vendorAnswering = (body: unknown, status = 200) => {
  const asked: Array<VendorRequest> = []
  const tools: VendorTools = {
    send: (request) => {
      asked.push(request)
      return Effect.succeed({
        status,
        header: () => undefined,
        body: typeof body === "string" ? body : JSON.stringify(body)
      })
    },
    uuid: () => "00000000-0000-4000-8000-000000000001",
    now: () => noon
  }
  return { tools, asked }
}
