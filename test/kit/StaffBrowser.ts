/** Staff API calls as from a browser: session cookie, and the header sent by the pages. */
import { Clock, Effect } from "effect"
import { TOTP } from "otpauth"
import { BothServers, made } from "./Casino.ts"
import { type Call, send } from "./HttpCalls.ts"

const api = "/backoffice/v1"

/** The header that a page of ours sends. */
export const ofPages = { "x-requested-with": "pitboss" }

/** The code of a secret (base32) at an instant, epoch milliseconds. */
export const codeOf = (secret: string, at: number): string =>
  new TOTP({ secret, algorithm: "SHA1" }).generate({ timestamp: at })

/** Sends a call of the staff API at a port; without a port, at the server's. */
export const browse = Effect.fnUntraced(function*(
  method: string,
  path: string,
  call: Omit<Call, "method"> & { readonly port?: number } = {}
) {
  const { backofficePort } = yield* BothServers
  const { port = backofficePort, ...rest } = call
  const headers = { "content-type": "application/json", ...rest.headers }
  return yield* send(port, `${api}${path}`, { ...rest, method, headers })
})

/** The cookie that an answer sets, as a browser sends it back. */
export const cookieOf = ({ headers }: { readonly headers: { readonly [name: string]: string | undefined } }): string =>
  (headers["set-cookie"] ?? "").split(";", 1)[0] ?? ""

/** Calls the staff API as the pages do, in the session of a cookie. */
export const inSession = (cookie: string) => (method: string, path: string, body?: unknown, port?: number) =>
  browse(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(port === undefined ? {} : { port }),
    headers: { cookie, ...ofPages }
  })

/** Signs in; gives the answer. */
export const signIn = (fields: { readonly [field: string]: string }, port?: number) =>
  browse("POST", "/session", { body: fields, headers: ofPages, ...(port === undefined ? {} : { port }) })

/** An account with a password, signed in without a second factor. */
export const withPassword = Effect.fnUntraced(function*(name: string, role = "admin") {
  const password = `correct horse of ${name}`
  const account = yield* made("/staff", { name, role, password })
  const answer = yield* signIn({ name, password })
  const cookie = cookieOf(answer)
  return { id: Number(account.id), name, password, token: String(account.token), cookie, call: inSession(cookie) }
})

/** Sets up a second factor in a session; gives its secret and the recovery codes. */
export const enrols = Effect.fnUntraced(function*(call: ReturnType<typeof inSession>) {
  const begun = yield* call("POST", "/session/second-factor")
  const secret: string = begun.data.secret
  const code = codeOf(secret, yield* Clock.currentTimeMillis)
  const confirmed = yield* call("POST", "/session/second-factor/confirm", { code })
  const recovery: ReadonlyArray<string> = confirmed.data.recovery_codes
  return { secret, begun: begun.data, recovery }
})

/** An account with a password and a second factor, in a session that has verified it. */
export const withSecondFactor = Effect.fnUntraced(function*(name: string, role = "admin") {
  const account = yield* withPassword(name, role)
  return { ...account, ...yield* enrols(account.call) }
})
