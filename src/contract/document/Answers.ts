/** OpenAPI responses of an operation: the possible ones only, each code with its meaning and an example, and the headers. */
import { errorGuide } from "../common/ErrorGuide.ts"
import { isRefusalCode, type RefusalCode } from "../common/Errors.ts"
import { staffCodes } from "../../domain/Refusal.ts"
import { examplesOf, membersOf, type Schemas } from "./Examples.ts"

/** A provider's next steps after a refusal. */
const retries = ["never", "same_request", "rollback"] as const

/** Facts of an operation. */
export interface Facts {
  readonly audience: "operator" | "player" | "provider"
  readonly method: string
  readonly hasPathId: boolean
  readonly scope: string | undefined
  readonly feature: string | undefined
  /** Codes declared by the endpoint itself. */
  readonly ownCodes: ReadonlySet<string>
  /** A provider's next step when the outcome is unknown. */
  readonly retryAfterFailure: (typeof retries)[number]
}

const isKeyed = ({ audience, method }: Facts): boolean => method === "post" && audience !== "provider"
const hasBody = ({ method }: Facts): boolean => method !== "get"

/** True when a shared check can refuse a request of this endpoint. */
const canAnswer = (code: RefusalCode, facts: Facts): boolean => {
  if (facts.ownCodes.has(code)) return true
  switch (code) {
    case "INVALID_IDEMPOTENCY_KEY":
    case "IDEMPOTENCY_KEY_REUSED":
    case "IDEMPOTENCY_IN_PROGRESS":
      return isKeyed(facts)
    case "INSUFFICIENT_SCOPE":
      return facts.scope !== undefined
    case "FEATURE_NOT_AVAILABLE":
      return facts.feature !== undefined
    case "NOT_FOUND":
      return facts.hasPathId || facts.audience === "provider"
    case "INVALID_REQUEST":
      return hasBody(facts)
    case "VALIDATION_FAILED":
      // every read refuses a query parameter that it does not declare
      return true
    default:
      return true
  }
}

const codePattern = /#\/components\/schemas\/Error_([A-Z_]+)/g

/** Codes referred to by a response of the generated document. */
const codesIn = (response: unknown): ReadonlyArray<RefusalCode> =>
  [...JSON.stringify(response).matchAll(codePattern)].map(([, code = ""]) => code).filter(isRefusalCode)

const headersOf = (status: number, facts: Facts) => {
  const names = [
    "X-Request-Id",
    ...(facts.audience === "provider" ? [] : ["X-RateLimit-Limit", "X-RateLimit-Remaining"]),
    ...(status === 429 || status === 503 ? ["Retry-After"] : []),
    ...(isKeyed(facts) && status < 500 && ![401, 403, 429].includes(status) ? ["Idempotent-Replayed"] : [])
  ]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const envelope = (code: RefusalCode, more: { readonly [name: string]: unknown } = {}) => {
  const { details, message, meaning } = errorGuide[code]
  return { summary: meaning, value: { error: { code, message, details: { ...details, ...more } } } }
}

/** Envelopes of every code, for operators and players, and for each next step of a provider. */
export const errorExamples = Object.fromEntries(
  Object.keys(errorGuide).filter(isRefusalCode).filter((code) => !staffCodes.has(code)).flatMap((code) => [
    [code, envelope(code)],
    ...retries.map((retry) => [`${code}.${retry}`, envelope(code, { retry })])
  ])
)

/** Name of a code's example for the audience. */
const exampleName = (code: RefusalCode, status: number, { audience, retryAfterFailure }: Facts): string =>
  audience === "provider" ? `${code}.${status >= 500 ? retryAfterFailure : "never"}` : code

const refusal = (status: number, codes: ReadonlyArray<RefusalCode>, facts: Facts) => {
  const schemas = codes.map((code) => ({ $ref: `#/components/schemas/Error_${code}` }))
  return {
    description: codes.map((code) => `\`${code}\`: ${errorGuide[code].meaning}`).join("\n\n"),
    headers: headersOf(status, facts),
    content: {
      "application/json": {
        schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${exampleName(code, status, facts)}` }])
        )
      }
    }
  }
}

const doneWords: { readonly [status: string]: string } = { 200: "What was asked for.", 201: "What was created." }

/** Successful response with its headers and an example. */
const done = (status: number, response: unknown, facts: Facts, schemas: Schemas) => {
  const { content, description } = membersOf(response)
  const media = membersOf(membersOf(content)["application/json"])
  return {
    description: description === "Success" ? doneWords[status] ?? description : description,
    headers: headersOf(status, facts),
    // with the streams that may be answered instead, as they are
    content: { ...membersOf(content), "application/json": { ...media, examples: examplesOf(media["schema"], schemas) } }
  }
}

/** Responses of an operation, based on those of the generated document. */
export const answersOf = (responses: { readonly [status: string]: unknown }, facts: Facts, schemas: Schemas) => {
  const answers: Record<string, unknown> = {}
  for (const [key, response] of Object.entries(responses)) {
    const status = Number(key)
    if (status < 400) answers[key] = done(status, response, facts, schemas)
    else {
      const codes = codesIn(response).filter((code) => canAnswer(code, facts))
      if (codes.length > 0) answers[key] = refusal(status, [...new Set(codes)], facts)
    }
  }
  // a body that is too large
  if (hasBody(facts)) answers["413"] = refusal(413, ["INVALID_REQUEST"], facts)
  return answers
}
