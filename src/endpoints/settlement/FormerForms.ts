/**
 * Calls of providers between nodes in the form of the versions with a channel for each kind of protocol, so that nodes of either version settle for
 * each other during an upgrade. Until release 1.0.
 */
import { Effect, Schema } from "effect"
import type { Credentials } from "../../auth/Credentials.ts"
import { ownPolicy } from "../../domain/settlement/Settlement.ts"
import type { Integration, Integrations } from "../../features/integrations/Integrations.ts"
import type { CallingProvider } from "../../features/settlement/WalletActions.ts"
import type { Admitted, FormerForm } from "../../http/EntryPoint.ts"
import { receiveForwarded } from "../../protocols/pitboss/Pitboss.ts"
import type { CallHead, VendorCall } from "../../protocols/Protocol.ts"

const ForwardedCall = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  url: Schema.String,
  target: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  /** Key of the provider. */
  principal: Schema.String
}))
const encodeForwarded = Schema.encodeSync(ForwardedCall)
const decodeForwarded = Schema.decodeUnknownSync(ForwardedCall)
const decodeAnswerHeaders = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

const forwardedHeaders = ["content-type", "content-length", "traceparent", "x-forwarded-for"]

/**
 * Forms of Pitboss's own protocol, as requests of the public server and, for calls that settle, shorter ones. The node that received a call has
 * checked its signature, and does not send it along.
 */
export const ownFormerForm = (credentials: Pick<Credentials["Service"], "provider">): FormerForm<CallingProvider> => {
  const admit = (head: CallHead, key: string) =>
    Effect.map(credentials.provider(key), (credential): Admitted<CallingProvider> | undefined =>
      credential && {
        _tag: "Admitted",
        provider: { providerId: credential.provider.id, policy: ownPolicy },
        name: key,
        receive: (bytes) => receiveForwarded(head, bytes)
      })
  const headOf = (
    method: string,
    target: string,
    headers: { readonly [name: string]: string | undefined },
    now: number
  ): CallHead => ({ method, target, header: (name) => headers[name], now, address: () => undefined })
  return {
    channel: "public",
    write: (head, headers, id, body) => {
      const { method, target } = head
      const sent: Record<string, string> = { "x-request-id": id }
      for (const name of forwardedHeaders) {
        const value = headers[name]
        if (value !== undefined) sent[name] = value
      }
      const principal = head.header("x-provider-key") ?? ""
      const text = method === "POST" ? body.toString("latin1") : ""
      return { head: encodeForwarded({ method, url: target, target, headers: sent, principal }), body: text }
    },
    answerOf: ({ body, head, status }) => {
      const { "retry-after": retryAfter } = decodeAnswerHeaders(head)
      return { status, body, ...retryAfter !== undefined && { headers: { "retry-after": retryAfter } } }
    },
    served: [{
      channel: "public",
      read: ({ body, head }, now) => {
        const { headers, method, principal, target } = decodeForwarded(head)
        if (!target.startsWith("/api/v1/provider/")) return undefined
        const call = headOf(method, target, headers, now)
        const id = headers["x-request-id"] ?? ""
        return { head: call, id, body: Buffer.from(body, "latin1"), admit: admit(call, principal) }
      },
      headOf: ({ headers }) => JSON.stringify({ "content-type": "application/json", ...headers })
    }, {
      channel: "lane",
      read: ({ body, head }, now) => {
        const [target = "", key = "", id = "", traceparent = ""] = head.split("\n")
        const call = headOf("POST", target, traceparent === "" ? {} : { traceparent }, now)
        return { head: call, id, body: Buffer.from(body), admit: admit(call, key) }
      },
      headOf: ({ headers }) => headers?.["retry-after"] ?? ""
    }]
  }
}

const SentCall = Schema.fromJsonString(Schema.Struct({
  slug: Schema.String,
  method: Schema.String,
  /** What follows the slug in the target. */
  rest: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  now: Schema.Number,
  id: Schema.String
}))
const encodeCall = Schema.encodeSync(SentCall)
const decodeCall = Schema.decodeUnknownSync(SentCall)

/** Parts of a target below the entry point. */
export interface VendorTarget extends Pick<VendorCall, "path" | "query"> {
  readonly slug: string
}

/** Form of vendors' protocols below a base path: the node that received a call has checked its address. */
export const vendorFormerForm = (
  basePath: string,
  partsOf: (target: string) => VendorTarget,
  integrations: Pick<Integrations["Service"], "find">
): FormerForm<Integration> => ({
  channel: "vendor",
  write: ({ method, now, target }, headers, id, body) => {
    const { slug } = partsOf(target)
    const rest = target.slice(basePath.length + slug.length)
    return { head: encodeCall({ slug, method, rest, headers, now, id }), body: body.toString("latin1") }
  },
  answerOf: ({ body, head, status }) => ({ status, body, contentType: head }),
  served: [{
    channel: "vendor",
    read: ({ body, head }) => {
      const { headers, id, method, now, rest, slug } = decodeCall(head)
      const target = `${basePath}${slug}${rest}`
      const { path, query } = partsOf(target)
      const header = (name: string) => headers[name]
      return {
        head: { method, target, header, now, address: () => undefined },
        id,
        body: Buffer.from(body, "latin1"),
        admit: Effect.map(integrations.find(slug), (integration) =>
          integration && {
            _tag: "Admitted",
            provider: integration,
            name: slug,
            receive: (bytes) => integration.bound.receive({ method, path, query, header, body: bytes, now })
          })
      }
    },
    headOf: ({ contentType = "application/json" }) => contentType
  }]
})
