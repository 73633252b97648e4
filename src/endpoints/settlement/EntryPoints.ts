/**
 * Entry points for game provider calls: Pitboss's own protocol, with the provider found by the request's key, and vendor protocols, with the
 * provider found by the slug in the path.
 */
import { Effect } from "effect"
import { isWithin } from "../../auth/Addresses.ts"
import { addressNotAllowed, invalidKey } from "../../auth/Checks.ts"
import { Credentials, type ProviderCredential } from "../../auth/Credentials.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { ownPolicy } from "../../domain/settlement/Settlement.ts"
import { type Integration, Integrations } from "../../features/integrations/Integrations.ts"
import type { CallingProvider } from "../../features/settlement/WalletActions.ts"
import type { Admission, EntryPoint, IncomingCall, TurnedAway } from "../../http/EntryPoint.ts"
import {
  locateCall,
  type PitbossHead,
  readHead,
  receivePitboss,
  refuseHead,
  refusePitboss
} from "../../protocols/pitboss/Pitboss.ts"
import { refusalAnswer } from "../../protocols/pitboss/PitbossAnswers.ts"
import type { Located } from "../../protocols/pitboss/PitbossEndpoints.ts"
import type { CallHead, VendorAnswer, VendorCall } from "../../protocols/Protocol.ts"

const turnedAway = (refusal: Refusal, name: TurnedAway["name"]): TurnedAway => ({ _tag: "TurnedAway", refusal, name })

const admitOwn = (
  head: CallHead,
  read: PitbossHead,
  credential: ProviderCredential | undefined
): Admission<CallingProvider> => {
  const { key } = read.signed
  const refusal = credential === undefined ? invalidKey : refuseHead(read, head.now)
  if (credential === undefined || refusal !== undefined) return turnedAway(refusal ?? invalidKey, key)
  return {
    _tag: "Admitted",
    provider: { providerId: credential.provider.id, policy: ownPolicy },
    name: key,
    receive: (body) => receivePitboss(head, read, credential, body)
  }
}

/** Entry point of Pitboss's own protocol. */
export const ownEntryPoint = (
  credentials: Pick<Credentials["Service"], "provider" | "rememberedProvider">
): EntryPoint<CallingProvider> => {
  const admit = (head: CallHead, located: Located): IncomingCall<CallingProvider>["admission"] => {
    const read = readHead(located, head)
    if ("_tag" in read) return turnedAway(read, undefined)
    const { key } = read.signed
    const remembered = credentials.rememberedProvider(key, head.now)
    return remembered === undefined
      ? Effect.map(credentials.provider(key), (credential) => admitOwn(head, read, credential))
      : admitOwn(head, read, remembered)
  }
  return {
    path: "/api/v1/provider/",
    open: (head) => {
      const located = locateCall(head)
      return "_tag" in located
        ? {
          route: "none",
          admission: turnedAway(located, null),
          refuse: (refusal) => refusePitboss(undefined, refusal)
        }
        : {
          route: located.endpoint.route,
          admission: admit(head, located),
          refuse: (refusal) => refusePitboss(located, refusal)
        }
    },
    spanOf: (route) => route
  }
}

/** Base path of providers with a vendor protocol, each below its slug. */
const integrationsPath = "/api/v1/integrations/"

/** Parts of a target below the base path. */
interface VendorTarget extends Pick<VendorCall, "path" | "query"> {
  readonly slug: string
}

const noSuchProvider = refuse("NOT_FOUND", "There is no such provider, or its protocol has no such call.")

/** Slug of a target, and what follows it with and without the query; an empty slug is nobody's. */
const partsOf = (target: string): VendorTarget => {
  const [slug = ""] = /^[a-z0-9-]*(?=[/?]|$)/.exec(target.slice(integrationsPath.length)) ?? []
  const rest = target.slice(integrationsPath.length + slug.length)
  const question = rest.indexOf("?")
  return question < 0
    ? { slug, path: rest, query: "" }
    : { slug, path: rest.slice(0, question), query: rest.slice(question + 1) }
}

const admitVendor = (
  head: CallHead,
  path: string,
  query: string,
  integration: Integration | undefined
): Admission<Integration> => {
  if (integration === undefined) return turnedAway(noSuchProvider, null)
  const { allowed, bound, slug } = integration
  if (allowed.length > 0 && !isWithin(allowed, head.address())) return turnedAway(addressNotAllowed, slug)
  const { header, method, now } = head
  return {
    _tag: "Admitted",
    provider: integration,
    name: slug,
    receive: (body) => bound.receive({ method, path, query, header, body, now })
  }
}

/** Entry point of vendors' protocols. */
export const vendorEntryPoint = (
  integrations: Pick<Integrations["Service"], "find" | "peek" | "refuserOf">
): EntryPoint<Integration> => {
  const admit = (head: CallHead, { path, query, slug }: VendorTarget): IncomingCall<Integration>["admission"] => {
    if (slug === "") return turnedAway(noSuchProvider, null)
    const remembered = integrations.peek(slug, head.now)
    return remembered === undefined
      ? Effect.map(integrations.find(slug), (integration) => admitVendor(head, path, query, integration))
      : admitVendor(head, path, query, remembered)
  }
  const refuseUnread = (method: string, { path, slug }: VendorTarget, refusal: Refusal): VendorAnswer => {
    const refuser = integrations.refuserOf(slug)
    const answer = refusal === noSuchProvider ? undefined : refuser?.({ method, path }, refusal)
    if (answer !== undefined) return answer
    return refusalAnswer(refuser === undefined || refusal.code === "RATE_LIMITED" ? refusal : noSuchProvider)
  }
  return {
    path: integrationsPath,
    open: (head) => {
      const parts = partsOf(head.target)
      return {
        route: `${integrationsPath}:slug`,
        admission: admit(head, parts),
        refuse: (refusal) => refuseUnread(head.method, parts, refusal)
      }
    },
    spanOf: (route, { method }) => `${route} ${method}`
  }
}

export const makeEntryPoints: Effect.Effect<
  ReadonlyArray<EntryPoint<CallingProvider>>,
  never,
  Credentials | Integrations
> = Effect.gen(function*() {
  return [ownEntryPoint(yield* Credentials), vendorEntryPoint(yield* Integrations)]
})
