/** Staff API calls, typed by the API's definition. */
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { endpoints } from "virtual:staff-api"
import type { BackofficeApi } from "../../contract/StaffApi.ts"
import type { RefusalCode } from "../../domain/Refusal.ts"

type Groups = typeof BackofficeApi extends HttpApi.HttpApi<infer _Id, infer G> ? G : never

type Actions = {
  [G in Groups as HttpApiGroup.Identifier<G>]: {
    [E in HttpApiGroup.Endpoints<G> as `${HttpApiGroup.Identifier<G>}.${HttpApiEndpoint.Identifier<E>}`]: E
  }
}[HttpApiGroup.Identifier<Groups>]

type Merged<T> = (T extends unknown ? (value: T) => void : never) extends (value: infer All) => void ? All : never

type EndpointOf = Merged<Actions>

/** `group.endpoint`: the name used by role permissions. */
export type Action = Extract<keyof EndpointOf, string>

/** Answer of an action, without its HTTP status. */
export type Answer<A extends Action> = HttpApiEndpoint.Success<EndpointOf[A]>["Type"]

/** `data` of an answer. */
export type Data<A extends Action> = Answer<A> extends { readonly data: infer D } ? D : never

/** Row of a list. */
export type Row<A extends Action> = Data<A> extends ReadonlyArray<infer R extends object> ? R : never

type Part<S> = S extends { readonly Type: infer T } ? [T] extends [never] ? undefined : T : undefined

/** Request of an action. All query fields are optional: the service has defaults. */
export interface Request<A extends Action> extends AnyRequest {
  readonly params?: Part<HttpApiEndpoint.Params<EndpointOf[A]>>
  readonly query?: Partial<Part<HttpApiEndpoint.Query<EndpointOf[A]>>> | undefined
  readonly payload?: Part<HttpApiEndpoint.Payload<EndpointOf[A]>>
}

/** Code of a refusal by the service, or of a failure to reach it: nothing was sent (`NO_NETWORK`), or nothing is known of it (`UNREACHABLE`). */
type Code = RefusalCode | "NO_NETWORK" | "UNREACHABLE"

/** Refusal by the service (SPEC section 7), or failure to reach it. */
export class Refused extends Error {
  readonly code: Code
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  constructor(
    code: Code,
    message: string,
    status: number,
    details: Readonly<Record<string, unknown>>
  ) {
    super(message)
    this.name = "Refused"
    this.code = code
    this.status = status
    this.details = details
  }
}

/** Messages of a refusal by field. */
export const fieldMessages = (refused: Refused): Readonly<Record<string, string>> => {
  const fields = refused.code === "VALIDATION_FAILED" ? refused.details : {}
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, messages]) =>
      Array.isArray(messages) ? [[name.split(".").at(-1) ?? name, messages.join("; ")]] : []
    )
  )
}

/** Time-out after which the service counts as unavailable. */
const timeoutMs = 30_000

/** Text form of a value in an address; empty for values without one. */
const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : ""

const searchOf = (query: object | undefined): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    const text = textOf(value)
    if (text !== "") parameters.set(name, text)
  }
  const text = parameters.toString()
  return text === "" ? "" : `?${text}`
}

/** Address of an action, for links and downloads. */
export const addressOf = (
  action: Action,
  params: Readonly<Record<string, unknown>> | undefined,
  query: object | undefined
): string => {
  const [, path = ""] = endpoints[action] ?? []
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(params?.[name]))) +
    searchOf(query)
}

const isAction = (name: string): name is Action => Object.hasOwn(endpoints, name)

/** Actions that change something below an address, `/players/:player`, in the contract's order. */
export const changesBelow = (address: string): ReadonlyArray<Action> =>
  Object.entries(endpoints).flatMap(([name, [method, path]]) =>
    method !== "GET" && path.includes(`${address}/`) && isAction(name) ? [name] : []
  )

const unreachable = (reason: string) =>
  new Refused(
    "UNREACHABLE",
    "The service does not answer. It is unknown whether the request took effect: check before you repeat it.",
    0,
    {
      reason
    }
  )

const noNetwork = () =>
  new Refused(
    "NO_NETWORK",
    "This browser has no network. Nothing was sent, and nothing is sent later by itself: try again when the network is back.",
    0,
    {}
  )

const isEnvelope = (
  body: unknown
): body is { readonly error: { readonly code: RefusalCode; readonly message: string; readonly details?: object } } =>
  typeof body === "object" && body !== null && "error" in body

/** Handlers for an ended session and a required second factor. True: the call is repeated. */
export interface Interrupts {
  readonly signIn: () => Promise<boolean>
  readonly stepUp: () => Promise<boolean>
}

const none: Interrupts = { signIn: async () => false, stepUp: async () => false }
let interrupts = none

/** Installs the handlers. */
export const onInterrupt = (handlers: Interrupts): void => {
  interrupts = handlers
}

/** Request of any action. */
export interface AnyRequest {
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly query?: object | undefined
  readonly payload?: unknown
  /** Of an action that happens once, however often it is sent. */
  readonly idempotencyKey?: string | undefined
}

/** Types an answer by its definition: the service encodes it by the Schema of that type. */
export const asAnswer = <A extends Action>(_action: A, body: unknown): Answer<A> => body as Answer<A>

/** Like {@link asAnswer}, for a list's rows. */
export const asRows = <A extends Action>(_action: A, rows: ReadonlyArray<unknown>): ReadonlyArray<Row<A>> =>
  rows as ReadonlyArray<Row<A>>

const parsed = (text: string): unknown => text === "" ? undefined : JSON.parse(text)

/** Time of the user's last activity: background requests after it do not extend the session. */
let touchedAt = Date.now()
const unattendedMs = 90_000

for (const name of ["pointerdown", "keydown", "wheel"]) {
  addEventListener(name, () => {
    touchedAt = Date.now()
  }, { capture: true, passive: true })
}

const send = async (action: Action, { idempotencyKey, params, payload, query }: AnyRequest, signal?: AbortSignal) => {
  if (!navigator.onLine) throw noNetwork()
  const [method = "GET"] = endpoints[action] ?? []
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await fetch(addressOf(action, params, query), {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      "x-requested-with": "pitboss",
      ...(Date.now() - touchedAt > unattendedMs ? { "x-unattended": "1" } : {}),
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
    },
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    ...(payload === undefined ? {} : { body: JSON.stringify(payload) })
  })
  const body = parsed(await response.text())
  if (response.ok) return body
  if (!isEnvelope(body)) throw unreachable(`HTTP ${response.status}`)
  throw new Refused(body.error.code, body.error.message, response.status, { ...body.error.details })
}

/**
 * Calls an action of any type. Rejects with {@link Refused}. When the session has ended, or the second factor is required, the user is prompted, the
 * page is kept, and the call is repeated.
 */
export const callAny = async (action: Action, request: AnyRequest, signal?: AbortSignal): Promise<unknown> => {
  const attempt = async (): Promise<unknown> => {
    try {
      return await send(action, request, signal)
    } catch (error) {
      if (error instanceof Refused || (error instanceof DOMException && error.name === "AbortError")) throw error
      throw unreachable(String(error))
    }
  }
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // a refused sign-in must not prompt for another one
    const repeats = error.status === 401 && !/^(session|sign_in)\./.test(action)
      ? await interrupts.signIn()
      : error.details["reason"] === "step_up_required" && await interrupts.stepUp()
    if (!repeats) throw error
    return attempt()
  }
}

/** {@link callAny}, typed by the action. */
export const call = async <A extends Action>(action: A, request: Request<A> = {}, signal?: AbortSignal) =>
  asAnswer(action, await callAny(action, request, signal))
