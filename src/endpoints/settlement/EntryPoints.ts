/** Entry points of game providers: Pitboss's own protocol, by the key of a request, and vendors' protocols, by the slug in its path. */
import { Effect } from "effect"
import { isWithin } from "../../auth/Addresses.ts"
import { addressNotAllowed, invalidKey } from "../../auth/Checks.ts"
import { Credentials, type ProviderCredential } from "../../auth/Credentials.ts"
import { refusalBody, retryAfterOf, statusOf } from "../../contract/common/Envelope.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { ownPolicy } from "../../domain/settlement/Settlement.ts"
import { type Integration, Integrations } from "../../features/integrations/Integrations.ts"
import type { CallingProvider } from "../../features/settlement/WalletActions.ts"
import type { Admission, EntryPoint, TurnedAway } from "../../http/EntryPoint.ts"
import {
  type PitbossHead,
  readHead,
  receivePitboss,
  refuseHead,
  refusePitboss,
  routeOfPitboss
} from "../../protocols/pitboss/Pitboss.ts"
import type { CallHead, VendorAnswer } from "../../protocols/Protocol.ts"
import { ownFormerForm, vendorFormerForm, type VendorTarget } from "./FormerForms.ts"

const turnedAway = (refusal: Refusal, name: TurnedAway["name"]): TurnedAway => ({ _tag: "TurnedAway", refusal, name })

/** Refusals of a head for what it calls, not for who calls. */
const isUnknownCall = ({ code }: Refusal): boolean => code === "NOT_FOUND" || code === "METHOD_NOT_ALLOWED"

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
  const turnAway = (refusal: Refusal): TurnedAway => turnedAway(refusal, isUnknownCall(refusal) ? null : undefined)
  return {
    path: "/api/v1/provider/",
    peek: (head) => {
      const read = readHead(head)
      if ("_tag" in read) return turnAway(read)
      const credential = credentials.rememberedProvider(read.signed.key, head.now)
      return credential && admitOwn(head, read, credential)
    },
    admit: (head) => {
      const read = readHead(head)
      return "_tag" in read
        ? Effect.succeed(turnAway(read))
        : Effect.map(credentials.provider(read.signed.key), (credential) => admitOwn(head, read, credential))
    },
    refuse: refusePitboss,
    routeOf: routeOfPitboss,
    spanOf: (route) => route,
    formerForm: ownFormerForm(credentials)
  }
}

/** Base path of providers with a vendor protocol, each below its slug. */
const integrationsPath = "/api/v1/integrations/"

const noSuchProvider = refuse("NOT_FOUND", "There is no such provider, or its protocol has no such call.")

const envelope = (refusal: Refusal): VendorAnswer => {
  const retryAfter = retryAfterOf(refusal)
  return {
    status: statusOf(refusal),
    body: refusalBody(refusal),
    ...retryAfter !== undefined && { headers: { "retry-after": retryAfter } }
  }
}

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
): EntryPoint<Integration> => ({
  path: integrationsPath,
  peek: (head) => {
    const { path, query, slug } = partsOf(head.target)
    if (slug === "") return turnedAway(noSuchProvider, null)
    const integration = integrations.peek(slug, head.now)
    return integration && admitVendor(head, path, query, integration)
  },
  admit: (head) => {
    const { path, query, slug } = partsOf(head.target)
    return Effect.map(integrations.find(slug), (integration) => admitVendor(head, path, query, integration))
  },
  refuse: ({ method, target }, refusal) => {
    const { path, slug } = partsOf(target)
    const refuseUnread = integrations.refuserOf(slug)
    const answer = refusal === noSuchProvider ? undefined : refuseUnread?.({ method, path }, refusal)
    if (answer !== undefined) return answer
    return envelope(refuseUnread === undefined || refusal.code === "RATE_LIMITED" ? refusal : noSuchProvider)
  },
  routeOf: () => `${integrationsPath}:slug`,
  spanOf: (route, { method }) => `${route} ${method}`,
  formerForm: vendorFormerForm(integrationsPath, partsOf, integrations)
})

export const makeEntryPoints: Effect.Effect<
  ReadonlyArray<EntryPoint<CallingProvider>>,
  never,
  Credentials | Integrations
> = Effect.gen(function*() {
  return [ownEntryPoint(yield* Credentials), vendorEntryPoint(yield* Integrations)]
})
