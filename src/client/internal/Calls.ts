/** The calls of a client, made from the contract: one function per endpoint, in its group. */
import { Context, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpClient } from "effect/http"
import { HttpApi, HttpApiClient, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { RetryAfterFailure } from "../../contract/Annotations.ts"
import type { RefusalCode } from "../../contract/Errors.ts"
import { BadRequest, NoAnswer, type Refused } from "../Errors.ts"
import { CurrentCall } from "./Transport.ts"

/** What a single call may be told. */
export interface CallOptions {
  /**
   * Names a POST: however often it is sent within 24 hours, by whatever process, it has its effect once, and every answer is the
   * first one. Made up when left out, which protects the client's own retries; give one of your own (and keep it) to protect
   * yours.
   */
  readonly idempotencyKey?: string
}

/** A part of a request: left out where the contract can do without it. */
type Part<Name extends string, Field extends Schema.Constraint> = [Field["Type"]] extends [never] ? unknown
  : null extends Field["Type"] ? { readonly [name in Name]?: Exclude<Field["~type.make.in"], null> }
  : Record<string, never> extends Field["~type.make.in"] ? { readonly [name in Name]?: Field["~type.make.in"] }
  : { readonly [name in Name]: Field["~type.make.in"] }

type RequestOf<Endpoint extends HttpApiEndpoint.ConstraintRequest> =
  & Part<"params", Endpoint["~Params"]>
  & Part<"query", Endpoint["~Query"]>
  & Part<"payload", Endpoint["~Payload"]>

/** The codes an endpoint refuses with, those of everything around it included. */
type CodeOf<Refusals> = Refusals extends { readonly code: infer Code extends RefusalCode } ? Code : never

/** Calls an endpoint: what it takes, what it answers, and every way it can refuse. */
type Call<Endpoint extends HttpApiEndpoint.ConstraintRequest> = (
  ...args: Record<string, never> extends RequestOf<Endpoint> ? [request?: RequestOf<Endpoint>, options?: CallOptions]
    : [request: RequestOf<Endpoint>, options?: CallOptions]
) => Effect.Effect<
  HttpApiClient.SuccessType<Endpoint["~Success"]>,
  Refused<CodeOf<HttpApiEndpoint.Errors<Endpoint>>> | NoAnswer | BadRequest
>

/** Every group of the contract with its calls. */
type Calls<Groups extends HttpApiGroup.Constraint> = {
  readonly [Group in Groups as Group["identifier"]]: {
    readonly [
      Endpoint in Extract<HttpApiGroup.Endpoints<Group>, HttpApiEndpoint.ConstraintRequest> as Endpoint["identifier"]
    ]: Call<Endpoint>
  }
}

/** A good answer that is not what the contract says: as good as none. */
const unreadable = <A, R>(decoded: Effect.Effect<A, unknown, R>): Effect.Effect<A, NoAnswer, R> =>
  Effect.flatMap(CurrentCall, ({ idempotencyKey }) =>
    Effect.mapError(decoded, (cause) =>
      new NoAnswer({
        message: "an answer of another form than the contract's",
        status: undefined,
        idempotencyKey,
        cause
      })))

/** A call as the generated client has it. */
type Generated = (
  request: { readonly [part: string]: unknown }
) => Effect.Effect<unknown, Refused | NoAnswer | Schema.SchemaError>

/** Makes the calls of an API over a transport. With `isIdempotent`, every POST carries an idempotency key. */
export const makeCalls = Effect.fnUntraced(function*<Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  { isIdempotent, transport }: {
    readonly transport: HttpClient.HttpClient.With<Refused | NoAnswer>
    readonly isIdempotent: boolean
  }
) {
  const random = yield* SecureRandom.SecureRandom
  const generated: { readonly [group: string]: { readonly [endpoint: string]: Generated } } = Object(
    yield* HttpApiClient.makeWith(api, { httpClient: transport, transformResponse: unreadable })
  )

  const calls: Record<string, Record<string, unknown>> = {}
  HttpApi.reflect(api, {
    onGroup: ({ group }) => {
      calls[group.identifier] = {}
    },
    onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
      const send = generated[group.identifier]?.[endpoint.identifier]
      const isKeyed = isIdempotent && endpoint.method === "POST"
      // What is not known to have happened is then taken back, not sent again.
      const isRepeatable = Context.getOrUndefined(mergedAnnotations, RetryAfterFailure) !== "rollback"
      const query = endpoint.query
      const call = Effect.fn(`${group.identifier}.${endpoint.identifier}`)(
        function*(request: { readonly [part: string]: unknown } = {}, options: CallOptions = {}) {
          const idempotencyKey = isKeyed ? options.idempotencyKey ?? (yield* random.uuidV4()) : undefined
          const filled = {
            payload: null,
            ...request,
            ...(query === undefined ? {} : { query: yield* query.makeEffect(request["query"] ?? {}) })
          }
          return yield* send === undefined
            ? Effect.die(new Error(`no endpoint ${group.identifier}.${endpoint.identifier}`))
            : Effect.provideService(send(filled), CurrentCall, { idempotencyKey, isRepeatable })
        },
        Effect.mapError((error) =>
          error._tag === "Refused" || error._tag === "NoAnswer"
            ? error
            : new BadRequest({
              message: (error._tag === "SchemaError" ? error : new Schema.SchemaError(error)).message
            })
        )
      )
      calls[group.identifier] = { ...calls[group.identifier], [endpoint.identifier]: call }
    }
  })
  const typed: Calls<Groups> = Object(calls)
  return typed
})
