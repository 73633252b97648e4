/** Who a program acts as: a key of an operator, given or made for the time being by the staff token. */
import { Clock, Config, Effect, Option, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import { HttpClientError } from "effect/http"
import { callFor, explainCall } from "../../src/commands/Calls.ts"
import { standardError } from "../../src/platform/Output.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { publicAddress } from "../ServiceSettings.ts"

const text = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

export const credentialFlags = {
  operator: text("operator", "Operator, by the staff token of the service's DATA_DIR or BACKOFFICE_TOKEN").pipe(
    Flag.optional
  ),
  key: text("key", "Key of the operator, else PITBOSS_KEY").pipe(
    Flag.withFallbackConfig(Config.String("PITBOSS_KEY")),
    Flag.optional
  ),
  secret: text("secret", "Its secret: better PITBOSS_SECRET, which others on the machine do not see").pipe(
    Flag.optional
  ),
  url: text("url", "The service, else PITBOSS_URL (http://HOST:PORT of the service's settings)").pipe(
    Flag.withFallbackConfig(Config.String("PITBOSS_URL")),
    Flag.optional
  )
}

/** A call of the staff API by the staff token; gives the `data` of the answer. */
export type StaffCall = (
  method: "GET" | "POST" | "PATCH",
  path: string,
  payload?: { readonly [name: string]: unknown }
) => Effect.Effect<unknown, StartupError, StaffServices>

export type StaffServices = Effect.Services<ReturnType<typeof callFor>>

export interface Given {
  readonly operator: Option.Option<string>
  readonly key: Option.Option<string>
  readonly secret: Option.Option<string>
  readonly url: Option.Option<string>
}

export interface Credentials {
  readonly url: string
  readonly key: string
  readonly secret: Redacted.Redacted
  /** The same at the next call, also of a key that was made for this one. */
  readonly name: string
  /** Absent where a key was given. */
  readonly staff?: StaffCall
}

/** How long a key lasts that was made for the time being, should it not be revoked. */
const keyMs = 12 * 60 * 60 * 1000

const seenSecret =
  "pitboss: others on this machine see --secret in the list of processes: set PITBOSS_SECRET in its place\n"

/** The secret of the flag, or of the environment. */
const secretOf = Effect.fnUntraced(function*({ secret }: Pick<Given, "secret">) {
  if (Option.isSome(secret)) {
    standardError.offer(seenSecret)
    return Option.some(Redacted.make(secret.value))
  }
  return yield* Effect.orElseSucceed(Config.option(Config.Redacted("PITBOSS_SECRET")), Option.none)
})

const Made = Schema.Struct({ key: Schema.String, secret: Schema.String })

const defaultUrl = Effect.orElseSucceed(publicAddress, () => "http://127.0.0.1:8080")

const messageOf = (error: unknown): string =>
  HttpClientError.isHttpClientError(error)
    ? explainCall(error).message
    : error instanceof Error
    ? error.message
    : String(Object(error).message)

const staff: StaffCall = (method, path, payload) =>
  callFor({ method, path: `/backoffice/v1${path}`, query: {}, payload }, Option.none()).pipe(
    Effect.map(({ data }) => data),
    Effect.mapError((error) => new StartupError({ message: messageOf(error) }))
  )

const Operators = Schema.Array(
  Schema.Struct({
    id: Schema.Int,
    slug: Schema.String,
    is_sandbox: Schema.Boolean,
    profiles: Schema.Array(Schema.String)
  })
)

/** The operator of a slug or an id, as staff see it. */
export const staffOperator = Effect.fnUntraced(function*(call: StaffCall, operator: string) {
  const operators = yield* call("GET", "/operators").pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Operators)),
    Effect.mapError((error) => new StartupError({ message: messageOf(error) }))
  )
  const found = operators.find(({ id, slug }) => slug === operator || String(id) === operator)
  return found ?? (yield* new StartupError({ message: `there is no operator ${operator}` }))
})

/** Refusal of what would make real money move. */
export const notASandbox = (operator: string) =>
  new StartupError({
    message: `${operator} is a live operator: this is for sandboxes only (pitboss operator create --sandbox)`
  })

/** Takes the given key, or makes one of these scopes, which is revoked when the scope closes. `onlySandbox`: makes none for a live operator. */
export const openCredentials = Effect.fnUntraced(function*(
  given: Given,
  scopes: ReadonlyArray<string>,
  onlySandbox = false
) {
  const url = Option.isSome(given.url) ? given.url.value : yield* defaultUrl
  if (Option.isSome(given.operator)) {
    const operator = given.operator.value
    const expiresAt = new Date((yield* Clock.currentTimeMillis) + keyMs).toISOString()
    if (onlySandbox && !(yield* staffOperator(staff, operator)).is_sandbox) return yield* notASandbox(operator)
    const made = yield* Effect.acquireRelease(
      staff("POST", "/keys", { operator, name: "pitboss command", scopes, expires_at: expiresAt }).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Made)),
        Effect.mapError((error) => new StartupError({ message: `no key for ${operator}: ${messageOf(error)}` }))
      ),
      ({ key }) => Effect.ignore(staff("POST", `/keys/${key}/revoke`))
    )
    return { url, key: made.key, secret: Redacted.make(made.secret), name: operator, staff } satisfies Credentials
  }
  const secret = yield* secretOf(given)
  if (Option.isNone(given.key) || Option.isNone(secret)) {
    return yield* new StartupError({
      message: "say who acts: --operator SLUG with the staff token, or PITBOSS_KEY and PITBOSS_SECRET (--key, --secret)"
    })
  }
  const { key: { value: key } } = given
  return { url, key, secret: secret.value, name: key } satisfies Credentials
})
