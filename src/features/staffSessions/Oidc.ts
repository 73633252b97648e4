/** Staff sign-in through an identity provider: OpenID Connect, authorization code with PKCE, state and nonce. */
import { Context, Data, Effect, Layer, Redacted, Schema } from "effect"
import { type Role, roles } from "../../domain/staff/Staff.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { stepUpMs } from "./Rules.ts"

/** Time-out of a call to the identity provider, seconds. */
const timeoutSeconds = 10

/** Time that discovery metadata is cached. */
const discoveryKept = "1 hour"

/** How long one may take at the provider, milliseconds. */
export const stateMs = 600_000

const statePurpose = "oidc-state"
const scope = "openid profile email"

/** The provider did not do its part, or the browser came back with something else than it was sent for. */
export class OidcFailed extends Data.TaggedError("OidcFailed")<{ readonly message: string; readonly reason: string }> {}

const failed = (message: string) => (error: unknown) =>
  new OidcFailed({ message, reason: error instanceof Error ? error.message : String(error) })

const Pending = Schema.fromJsonString(Schema.Struct({
  state: Schema.String,
  nonce: Schema.String,
  verifier: Schema.String,
  next: Schema.String,
  at: Schema.Number
}))
const encodePending = Schema.encodeSync(Pending)
const decodePending = Schema.decodeUnknownEffect(Pending)

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null

const listOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : []

/** The value of a claim; dots lead into objects. */
const claimAt = (claims: unknown, path: string): unknown => {
  const direct = isObject(claims) ? claims[path] : undefined
  return direct ?? path.split(".").reduce<unknown>((inner, name) => isObject(inner) ? inner[name] : undefined, claims)
}

/** The role that claims name: the first of the table of roles that is among them; undefined when there is none. */
export const roleIn = (claims: unknown, path: string): Role | undefined => {
  const named = listOf(claimAt(claims, path))
  return roles.find((role) => named.includes(role))
}

/** The slugs of operators that claims name; null: all. Without the claim `absent` says which, and a claim of another form, or null, names none. */
export const operatorsIn = (claims: unknown, path: string, absent: "none" | "all"): ReadonlyArray<string> | null => {
  const value = claimAt(claims, path)
  return value === undefined && absent === "all" ? null : listOf(value)
}

/** Whether the provider says that the person was there in the last minutes (`auth_time`, OpenID Connect Core 2). */
export const wasShownNow = (claims: { readonly [claim: string]: unknown }, now: number): boolean => {
  const { auth_time: at } = claims
  return typeof at === "number" && now - at * 1000 < stepUpMs
}

/** Whether the provider says that it has seen a second factor (RFC 8176, or a context class that names it). */
export const hasSecondFactorIn = (claims: unknown): boolean => {
  if (!isObject(claims)) return false
  return listOf(claims["amr"]).some((method) => /^(mfa|otp|hwk|swk|fido|sms)$/.test(method)) ||
    listOf(claims["acr"]).some((context) => /(mfa|otp|multi-?factor)/i.test(context))
}

const nameIn = (claims: { readonly [name: string]: unknown }, subject: string): string => {
  const name = ["name", "preferred_username", "email"].map((claim) => claims[claim]).find((one) =>
    typeof one === "string" && one.trim() !== ""
  )
  return (typeof name === "string" ? name : subject).replaceAll(/[\p{Cc}]/gu, " ").slice(0, 100)
}

/** Identity in an ID token. */
export interface OidcIdentity {
  /** Unique over issuers. */
  readonly subject: string
  readonly name: string
  readonly role: Role | undefined
  /** Slugs of operators, known here or not; null: all. Undefined: the provider is not asked, and the account stays as it is bound. */
  readonly operators: ReadonlyArray<string> | null | undefined
  readonly hasShownSecondFactor: boolean
  /** The path that the browser was going to. */
  readonly next: string
}

export class Oidc extends Context.Service<Oidc, {
  /** Where a browser is sent, the state in that address, and the sealed sign-in that the browser keeps under it; undefined without a provider. */
  readonly begin: (
    base: string,
    next: string,
    now: number
  ) => Effect.Effect<
    { readonly location: string; readonly state: string; readonly sealed: string } | undefined,
    OidcFailed
  >
  /** Exchanges the code in the callback URL for an identity; `sealed` is what the browser kept under the state of that URL. */
  readonly complete: (
    base: string,
    pathAndQuery: string,
    sealed: string | undefined,
    now: number
  ) => Effect.Effect<OidcIdentity, OidcFailed>
}>()("pitboss/staffSessions/Oidc") {
  static readonly layer = Layer.effect(
    Oidc,
    Effect.gen(function*() {
      const { oidc } = yield* Settings
      if (oidc === undefined) {
        return Oidc.of({
          begin: () => Effect.succeed(undefined),
          complete: () =>
            Effect.fail(
              new OidcFailed({ message: "There is no identity provider.", reason: "OIDC_ISSUER is not set" })
            )
        })
      }
      // loaded by need: its modules take time at every start, and few services have a provider
      const Client = yield* Effect.promise(() => import("openid-client"))
      const secrets = yield* Secrets
      const callback = (base: string) => `${base}/sign-in/oidc/callback`
      const unavailable = "The identity provider does not answer. Try again, or sign in with your password."

      const discovered = Effect.tryPromise({
        try: () =>
          Client.discovery(
            new URL(oidc.issuer),
            oidc.clientId,
            undefined,
            Client.ClientSecretBasic(Redacted.value(oidc.clientSecret)),
            {
              timeout: timeoutSeconds,
              // the settings allow no issuer without TLS but of this machine
              execute: oidc.issuer.startsWith("http:") ? [Client.allowInsecureRequests] : []
            }
          ),
        catch: failed(unavailable)
      })
      const [cached, invalidate] = yield* Effect.cachedInvalidateWithTTL(discovered, discoveryKept)
      /** Discovery metadata; failures are not cached. */
      const configuration = Effect.tapError(cached, () => invalidate)

      const begin = Effect.fn("Oidc.begin")(function*(base: string, next: string, now: number) {
        const config = yield* configuration
        const [state, nonce, verifier] = [Client.randomState(), Client.randomNonce(), Client.randomPKCECodeVerifier()]
        const challenge = yield* Effect.promise(() => Client.calculatePKCECodeChallenge(verifier))
        const location = Client.buildAuthorizationUrl(config, {
          redirect_uri: callback(base),
          scope,
          state,
          nonce,
          // a second factor that was shown this morning is none that is shown now
          max_age: String(stepUpMs / 1000),
          code_challenge: challenge,
          code_challenge_method: "S256"
        }).href
        const sealed = secrets.seal(statePurpose, encodePending({ state, nonce, verifier, next, at: now }))
        return { location, state, sealed: Buffer.from(sealed).toString("base64url") }
      })

      const complete = Effect.fn("Oidc.complete")(
        function*(base: string, pathAndQuery: string, sealed: string | undefined, now: number) {
          const config = yield* configuration
          const lost = "The sign-in took too long, or began in another browser. Start it again."
          const pending = yield* secrets.openText(statePurpose, Buffer.from(sealed ?? "", "base64url")).pipe(
            Effect.flatMap(decodePending),
            Effect.mapError(failed(lost))
          )
          if (pending.at + stateMs < now) return yield* Effect.fail(failed(lost)("state expired"))
          const refused = "The identity provider did not sign you in."
          const { claims, subject } = yield* Effect.tryPromise({
            try: async () => {
              const tokens = await Client.authorizationCodeGrant(config, new URL(pathAndQuery, base), {
                expectedState: pending.state,
                expectedNonce: pending.nonce,
                pkceCodeVerifier: pending.verifier,
                idTokenExpected: true
              })
              const ofToken = tokens.claims()
              if (ofToken === undefined) throw new Error("no ID token")
              // many providers put the role into the one, many into the other
              const more = config.serverMetadata().userinfo_endpoint === undefined
                ? {}
                : await Client.fetchUserInfo(config, tokens.access_token, ofToken.sub)
              return { claims: { ...more, ...ofToken }, subject: ofToken.sub }
            },
            catch: failed(refused)
          })
          return {
            subject: `${config.serverMetadata().issuer} ${subject}`,
            name: nameIn(claims, subject),
            role: roleIn(claims, oidc.roleClaim),
            operators: oidc.operatorsClaim === undefined
              ? undefined
              : operatorsIn(claims, oidc.operatorsClaim, oidc.operatorsAbsent),
            hasShownSecondFactor: hasSecondFactorIn(claims) && wasShownNow(claims, now),
            next: pending.next
          }
        }
      )

      return Oidc.of({ begin, complete })
    })
  )
}
