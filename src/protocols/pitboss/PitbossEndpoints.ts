/** Endpoints of Pitboss's own protocol by method and path, as the contract declares them. */
import { Context, Result, Schema } from "effect"
import { BoundedList, type ListBound, RetryAfterFailure } from "../../contract/common/Annotations.ts"
import { type Retry } from "../../contract/common/Envelope.ts"
import { reference } from "../../contract/common/Fields.ts"
import { fieldIssues } from "../../contract/common/FormErrors.ts"
import * as Wire from "../../contract/settlement/Api.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import type { WalletCall } from "../Protocol.ts"
import type { Requested } from "./PitbossAnswers.ts"
import * as Calls from "./PitbossCalls.ts"

/** Base path of the endpoints. */
const pitbossPath = "/api/v1/provider/wallet"

/** Call of the wallet, and the ids that its answer repeats. */
export interface ReadBody {
  readonly call: WalletCall
  readonly requested: Requested
}

export interface PitbossEndpoint {
  /** Template of the whole path. */
  readonly route: string
  readonly method: "GET" | "POST"
  /** Methods of a request for it. */
  readonly methods: ReadonlyArray<string>
  /** Advice when the service fails. */
  readonly onFailure: Retry
  readonly list: ListBound | undefined
  /** Reads the body; of a GET, the part of the path that the template leaves open. */
  readonly read: (body: unknown) => ReadBody | Refusal
}

const { endpoints } = Wire.ProviderWalletGroup

type Name = keyof typeof endpoints

const endpointOf = (name: Name, method: "GET" | "POST", read: PitbossEndpoint["read"]): PitbossEndpoint => {
  const { annotations, path } = endpoints[name]
  return {
    route: `${pitbossPath}${path}`,
    method,
    methods: method === "GET" ? ["GET", "HEAD"] : [method],
    onFailure: Context.getOrUndefined(annotations, RetryAfterFailure) ?? "same_request",
    list: Context.getOrUndefined(annotations, BoundedList),
    read
  }
}

/** An endpoint with a body of this schema. */
const post = <Body extends object>(
  name: Name,
  schema: Schema.Codec<Body, unknown>,
  callOf: (body: Body) => WalletCall
): PitbossEndpoint => {
  // the decoder that names every wrong field takes a slower way for right ones too
  const decode = Schema.decodeUnknownResult(schema)
  const explain = Schema.decodeUnknownResult(schema, { errors: "all" })
  return endpointOf(name, "POST", (body) => {
    const quick = decode(body)
    const decoded = Result.isSuccess(quick) ? quick : explain(body)
    return Result.isSuccess(decoded)
      ? { call: callOf(decoded.success), requested: decoded.success }
      : refuseFields(fieldIssues(decoded.failure.issue))
  })
}

const nothingThere = refuse("NOT_FOUND", "There is nothing under this path.")

const isReference = Schema.is(reference)

const all: ReadonlyArray<PitbossEndpoint> = [
  post("authenticate", Wire.Authenticate, Calls.authenticateCall),
  post("balance", Wire.BalanceOf, Calls.balanceCall),
  post("bet", Wire.Bet, Calls.betCall),
  post("win", Wire.Win, Calls.winCall),
  post("betWin", Wire.BetWin, Calls.betWinCall),
  post("batch", Wire.Batch, Calls.batchCall),
  post("rollback", Wire.Rollback, Calls.rollbackCall),
  post("closeRound", Wire.CloseRound, Calls.closeRoundCall),
  post("promoWin", Wire.PromoWin, Calls.promoWinCall),
  endpointOf(
    "transaction",
    "GET",
    (id) => isReference(id) ? { call: Calls.statusCall(id), requested: {} } : nothingThere
  )
]

/** Longest name in a path, as the router has it: a transaction id with every byte escaped. */
const maxNameLength = 1024

/** Parts of a path, escapes decoded; undefined for a broken escape. A slash at the end is ignored. */
const partsOf = (path: string): ReadonlyArray<string> | undefined => {
  const parts = path.split("/")
  if (parts.at(-1) === "") parts.pop()
  try {
    return parts.every(({ length }) => length <= maxNameLength) ? parts.map(decodeURIComponent) : undefined
  } catch {
    return undefined
  }
}

/** Endpoint of a path, and the part that its template leaves open. */
export interface Located {
  readonly endpoint: PitbossEndpoint
  readonly name: string | undefined
}

const matches = (template: ReadonlyArray<string>, parts: ReadonlyArray<string>): boolean =>
  template.length === parts.length && template.every((part, index) => part.startsWith(":") || part === parts[index])

const templates = all.map((endpoint) => ({ endpoint, template: endpoint.route.split("/") }))

/** Endpoints whose paths are spelled as their templates. */
const located = new Map(
  all.flatMap((endpoint): ReadonlyArray<[string, Located]> =>
    endpoint.route.includes(":") ? [] : [[endpoint.route, { endpoint, name: undefined }]]
  )
)

/** Finds the endpoint of a path, whatever its method. */
export const locate = (path: string): Located | undefined => {
  const known = located.get(path)
  if (known !== undefined) return known
  const parts = partsOf(path)
  const found = parts && templates.find(({ template }) => matches(template, parts))
  return found && { endpoint: found.endpoint, name: parts?.at(-1) }
}
