/** Refuses malformed requests: a body, path or query parameter that the endpoint does not accept. */
import { Context, Effect, Result, Schema } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import { type Refusal, refuse, refuseFields } from "../domain/Refusal.ts"
import { BoundedList } from "../contract/common/Annotations.ts"
import { fieldIssues, parseObject } from "../contract/common/FormErrors.ts"
import { isJson, noObject, otherMediaType, refuseOverfull } from "../protocols/ApiBodies.ts"
import { fieldsOfQuery, parameterIssues } from "./QueryParameters.ts"
import { bytesOrNone } from "./RequestBytes.ts"
import { routedValues, splitTarget } from "./RequestTarget.ts"

type FormRefusal = Refusal<"NOT_FOUND" | "INVALID_REQUEST" | "VALIDATION_FAILED">

const noSuchPath = refuse("NOT_FOUND", "There is nothing under this path.")

/** Body of the request as an object with unvalidated fields. */
export const bodyObject = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!isJson(request.headers["content-type"])) return yield* Effect.fail(otherMediaType)
  return parseObject(yield* Effect.orElseSucceed(request.text, () => "")) ?? (yield* Effect.fail(noObject))
})

/** Optional body of a request; the empty object when absent. */
export const optionalBody = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const isEmpty = (yield* Effect.orElseSucceed(request.text, () => "")) === ""
    const decoded = decode(isEmpty ? {} : yield* bodyObject)
    return Result.isSuccess(decoded)
      ? decoded.success
      : yield* Effect.fail(refuseFields(fieldIssues(decoded.failure.issue)))
  })
}

/** Validation errors of a query; for a repeated field only the repetition. */
const queryIssues = (url: string, issues: ReturnType<typeof fieldIssues>): ReturnType<typeof fieldIssues> => {
  const sent = new URLSearchParams(splitTarget(url).query)
  return Object.fromEntries(
    Object.entries(issues).map(([name, messages]) => [
      name,
      sent.getAll(name).length > 1 ? ["must be sent once"] : messages
    ])
  )
}

/** Refuses a malformed request. A malformed answer of the service is a defect. */
const refuseForm = (
  error: HttpApiError.HttpApiSchemaError
): Effect.Effect<never, FormRefusal, HttpServerRequest.HttpServerRequest> => {
  const badFields = Effect.suspend(() => Effect.fail(refuseFields(fieldIssues(error.cause.issue))))
  switch (error.kind) {
    case "Params":
      return Effect.fail(noSuchPath)
    case "Headers":
      return badFields
    case "Query":
      return Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ url }) => Effect.fail(refuseFields(queryIssues(url, fieldIssues(error.cause.issue))))
      )
    case "Payload":
      return Effect.andThen(bodyObject, badFields)
    default:
      return Effect.die(error)
  }
}

/** Decodes a part of a request for its errors alone. */
const issuesOf = (schema: Schema.Top | undefined) => {
  if (schema === undefined) return () => ({})
  const decode = Schema.decodeUnknownResult(
    Schema.make<Schema.Codec<unknown, unknown>>(Schema.toCodecArrayFromSingle(schema).ast),
    { errors: "all" }
  )
  return (value: unknown): ReturnType<typeof fieldIssues> => {
    const decoded = decode(value)
    return Result.isSuccess(decoded) ? {} : fieldIssues(decoded.failure.issue)
  }
}

/** Refuses a read of an empty id, and one with a parameter that its endpoint does not declare, together with what else is wrong with its query. */
const makeParameterRules = (
  { method, params, query }: HttpApiEndpoint.Top,
  ignored: ReadonlyArray<string>
) => {
  if (method !== "GET") return undefined
  const known = fieldsOfQuery(query)
  const pathIssues = issuesOf(params)
  const valueIssues = issuesOf(query)
  return Effect.gen(function*() {
    const { params: inPath, query: sent } = yield* routedValues
    const { url } = yield* HttpServerRequest.HttpServerRequest
    // an empty id: the list above it would be answered
    if (splitTarget(url).path.endsWith("/")) return noSuchPath
    const unknown = parameterIssues(known, sent, ignored)
    if (unknown === undefined) return undefined
    if (Object.keys(pathIssues(inPath)).length > 0) return noSuchPath
    return refuseFields({ ...queryIssues(url, valueIssues(sent)), ...unknown })
  })
}

/** What else runs around a handler: checks before its errors are told. */
interface FormOptions<E, R> {
  /** May refuse first, for a missing resource of the path. */
  readonly checkPath?: Effect.Effect<void, E, R>
  /** Endpoint whose undeclared query parameters are refused; only reads do. */
  readonly endpoint?: HttpApiEndpoint.Top
  /** Parameters left alone besides. */
  readonly ignored?: ReadonlyArray<string>
}

/** Runs a handler with its decoding and refuses malformed requests. */
export const withFormRules = <E, R, E2 = never, R2 = never>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  { checkPath = Effect.void, endpoint, ignored = [] }: FormOptions<E2, R2> = {}
) => {
  type Answered = Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    E | E2 | FormRefusal,
    R2 | HttpServerRequest.HttpServerRequest
  >
  const handled = Effect.matchEffect(handler, {
    onSuccess: (response): Answered =>
      // The decoder's answer to an unsupported media type.
      response.status === 415 ? Effect.andThen(checkPath, Effect.fail(otherMediaType)) : Effect.succeed(response),
    onFailure: (error): Answered =>
      !HttpApiError.HttpApiSchemaError.is(error)
        ? Effect.fail(error)
        : error.kind === "Params"
        ? refuseForm(error)
        : Effect.andThen(checkPath, refuseForm(error))
  })
  const refusing = (refusal: FormRefusal | undefined): typeof handled =>
    refusal === undefined
      ? handled
      : refusal === noSuchPath
      ? Effect.fail(refusal)
      : Effect.andThen(checkPath, Effect.fail(refusal))
  const more = endpoint === undefined ? 0 : Context.getOrUndefined(endpoint.annotations, BoundedList)?.maximum
  const refuseParameters = endpoint === undefined ? undefined : makeParameterRules(endpoint, ignored)
  if (refuseParameters !== undefined) return Effect.flatMap(refuseParameters, refusing)
  return Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request): typeof handled =>
      request.method === "GET" || request.method === "HEAD" || !isJson(request.headers["content-type"])
        ? handled
        : Effect.flatMap(bytesOrNone(request), (bytes) => refusing(refuseOverfull(bytes, more)))
  )
}
