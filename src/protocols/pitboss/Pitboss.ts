/**
 * Pitboss's own protocol (`docs/api.md`, `src/contract/settlement`). A provider is known by the key in the request's head, so a call is checked in
 * this order: head, signature, source address, body. There is no replay protection and no rate limit: retries are idempotent by their transaction
 * ids. A deactivated provider may settle its open rounds; the settlement rules refuse its new bets.
 */
import { isWithin, type Networks } from "../../auth/Addresses.ts"
import {
  addressNotAllowed,
  invalidSignature,
  missingCredentials,
  refuseNonce,
  refuseTimestamp,
  type SignedHeaders,
  signedHeaders
} from "../../auth/Checks.ts"
import { type SigningKey, verify } from "../../auth/Signature.ts"
import { parseObject } from "../../contract/common/FormErrors.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { isJson, noObject, otherMediaType, refuseLongList, refuseOverfull, textOf } from "../ApiBodies.ts"
import type { CallHead, Received, VendorAnswer } from "../Protocol.ts"
import { answerTo, refusalAnswer } from "./PitbossAnswers.ts"
import { locate, type Located, type PitbossEndpoint, type ReadBody } from "./PitbossEndpoints.ts"

const noSuchRoute = refuse("NOT_FOUND", "There is no such path.")

const noCredentials = missingCredentials("X-Provider-Key")

const otherMethod = ({ methods }: PitbossEndpoint): Refusal =>
  refuse("METHOD_NOT_ALLOWED", `This path takes ${methods.join(", ")}.`, { allowed_methods: methods })

const pathOf = (target: string): string => {
  const question = target.indexOf("?")
  return question < 0 ? target : target.slice(0, question)
}

/** A call with a known endpoint and complete credentials, before they are checked. */
export interface PitbossHead extends Located {
  readonly signed: SignedHeaders
}

/** Finds the endpoint that a call is for. */
export const locateCall = ({ method, target }: CallHead): Located | Refusal => {
  const located = locate(pathOf(target))
  if (located === undefined) return noSuchRoute
  return located.endpoint.methods.includes(method) ? located : otherMethod(located.endpoint)
}

/** Reads who says that a call is theirs. */
export const readHead = ({ endpoint, name }: Located, { header }: CallHead): PitbossHead | Refusal => {
  const signed = signedHeaders({
    "x-provider-key": header("x-provider-key"),
    "x-timestamp": header("x-timestamp"),
    "x-signature": header("x-signature"),
    "x-nonce": header("x-nonce")
  }, "x-provider-key")
  return signed === undefined ? noCredentials : { endpoint, name, signed }
}

/** Refuses credentials that no signature makes good. */
export const refuseHead = ({ signed }: PitbossHead, now: number): Refusal | undefined =>
  refuseTimestamp(signed.timestamp, now) ?? refuseNonce(signed.nonce)

/** Signing key of a provider, and the addresses it may call from; none allow any. */
export interface PitbossCredential {
  readonly signingKey: SigningKey
  readonly allowed: Networks
}

const readBody = (
  { list, method, read }: PitbossEndpoint,
  name: string | undefined,
  contentType: string | undefined,
  body: Buffer
): ReadBody | Refusal => {
  if (method === "GET") return read(name)
  if (!isJson(contentType)) return otherMediaType
  const overfull = refuseOverfull(body)
  if (overfull !== undefined) return overfull
  const object = parseObject(textOf(body))
  if (object === undefined) return noObject
  const tooLong = list === undefined ? undefined : refuseLongList(object, list)
  return tooLong ?? read(object)
}

const receiveBody = (
  { endpoint, name }: Located,
  contentType: string | undefined,
  body: Buffer
): Received => {
  const { onFailure, route } = endpoint
  const asked = readBody(endpoint, name, contentType, body)
  if ("_tag" in asked) {
    return { _tag: "Answered", reason: "form", method: route, answer: refusalAnswer(asked, onFailure) }
  }
  const { call, requested } = asked
  return { _tag: "Call", call, render: (outcome) => answerTo(requested, onFailure, outcome) }
}

/** Receives a call that another node has authenticated. */
export const receiveForwarded = ({ header, target }: CallHead, body: Buffer): Received => {
  const located = locate(pathOf(target))
  return located === undefined ? { _tag: "NotFound" } : receiveBody(located, header("content-type"), body)
}

/** Receives a call whose head was read and not refused. */
export const receivePitboss = (
  head: CallHead,
  read: PitbossHead,
  { allowed, signingKey }: PitbossCredential,
  sent: Buffer
): Received => {
  const { endpoint, signed } = read
  const body = endpoint.method === "GET" ? sent.subarray(0, 0) : sent
  const { nonce, signature, timestamp } = signed
  const { address, header, method, target } = head
  const stranger = (refusal: Refusal): Received => ({
    _tag: "Stranger",
    refusal,
    answer: refusalAnswer(refusal, endpoint.onFailure)
  })
  if (!verify(signingKey, { method, uri: target, timestamp, nonce, body }, signature)) return stranger(invalidSignature)
  if (allowed.length > 0 && !isWithin(allowed, address())) return stranger(addressNotAllowed)
  return receiveBody(read, header("content-type"), body)
}

/** Answers a call that is refused before it is read; `located` is undefined for one that there is not. */
export const refusePitboss = (located: Located | undefined, refusal: Refusal): VendorAnswer => {
  const answer = refusalAnswer(refusal, located?.endpoint.onFailure ?? "same_request")
  const { allowed_methods: methods } = refusal.details
  return refusal.code === "METHOD_NOT_ALLOWED" && Array.isArray(methods)
    ? { ...answer, headers: { ...answer.headers, allow: methods.join(", ") } }
    : answer
}
