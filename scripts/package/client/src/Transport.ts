/** Transport of a call: authentication, time-outs, retries that are safe, answers and errors. */
import { ConnectionError, errorOf, PitbossError } from "./Errors.ts"
import { randomId } from "./Signing.ts"

export interface ConnectionOptions {
  /** Base address of the service, without `/api/v1`. A path in front of it is kept and not signed. */
  readonly baseUrl: string
  /** Maximum of attempts, the first included; 1 switches retries off (4). */
  readonly maxAttempts?: number | undefined
  /** Time-out of an attempt in milliseconds (10,000). A call that is held for events has its `wait` besides. */
  readonly timeoutMs?: number | undefined
  /** Pause before the second attempt in milliseconds, doubled for each further one (200). */
  readonly firstPauseMs?: number | undefined
  /** Longest pause in milliseconds; a longer `Retry-After` is not waited for (60,000). */
  readonly longestPauseMs?: number | undefined
  /** Replaces the platform's `fetch`: a proxy, a test, a log of calls. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options of a single call. */
export interface CallOptions {
  /**
   * Idempotency key of a POST: within 24 hours it takes effect once, and every answer is the first one. Made by default, which covers the
   * client's own retries; pass a stored one to cover those of your process.
   */
  readonly idempotencyKey?: string | undefined
  /** Ends the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface Request extends CallOptions {
  readonly method: string
  /** Below `/api/v1`, with its parameters. */
  readonly path: string
  readonly query?: { readonly [name: string]: unknown } | undefined
  readonly body?: unknown
}

/** Headers that authenticate a request. `uri` is path and query as they are sent. */
export type Authorise = (method: string, uri: string, body: string) => Promise<{ readonly [name: string]: string }>

/** Sends a request; the parsed body of a successful answer, or its text where it is not JSON. */
export type Send = (request: Request) => Promise<unknown>

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Pause in milliseconds. Fails with the signal's reason. */
export const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end)
      resolve()
    }, milliseconds)
    signal?.addEventListener("abort", end, { once: true })
    if (signal?.aborted === true) end()
  })

/** Seconds to wait, from a `Retry-After` of seconds or a date. */
const secondsOf = (value: string | null): number | undefined => {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

/** Whether another attempt may succeed: an exhausted rate limit, a restart, a lost answer, a signature to renew. */
export const isTransient = ({ code, details, status }: PitbossError): boolean =>
  status === undefined || status === 429 || status >= 500 || code === "IDEMPOTENCY_IN_PROGRESS" ||
  (code === "REPLAYED_REQUEST" && details["retry"] === "sign_again")

/** A value of path or query; an object by mistake, or none where one is needed, is sent to nobody. */
export const textOf = (name: string, value: unknown): string => {
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (typeof value === "string" && value !== "") return value
  throw new TypeError(`${name} is missing`)
}

const queryOf = (query: Request["query"] = {}): string => {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) written.append(name, value === "" ? "" : textOf(name, value))
  }
  return written.size === 0 ? "" : `?${written.toString()}`
}

export const makeSend = (options: ConnectionOptions, authorise: Authorise): Send => {
  const { firstPauseMs = 200, longestPauseMs = 60_000, maxAttempts = 4, timeoutMs = 10_000 } = options
  const base = options.baseUrl.replace(/\/+$/, "").replace(/\/api\/v1$/, "")

  const attempt = async (request: Request, idempotencyKey: string | undefined): Promise<unknown> => {
    const { method, query, signal } = request
    const path = `/api/v1${request.path}`
    const uri = path + queryOf(query)
    const body = request.body === undefined ? "" : JSON.stringify(request.body)
    const noAnswer = (reason: string, status?: number, cause?: unknown) =>
      new ConnectionError({
        code: "NO_ANSWER",
        // without the query, which may name a person: messages end up in logs
        message: `${method} ${path}: ${reason}`,
        details: {},
        status,
        requestId: undefined,
        idempotencyKey,
        retryAfterSeconds: undefined
      }, cause)

    const headers = {
      accept: "application/json",
      ...(body === "" ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      ...await authorise(method, uri, body)
    }
    const held = Number(query?.["wait"] ?? 0) * 1000
    const ended = new AbortController()
    const end = () => ended.abort(signal?.reason)
    const timer = setTimeout(() => ended.abort(new Error(`no answer for ${timeoutMs + held} ms`)), timeoutMs + held)
    signal?.addEventListener("abort", end, { once: true })
    if (signal?.aborted === true) end()
    let response: Response
    let text: string
    try {
      response = await (options.fetch ?? fetch)(base + uri, {
        method,
        headers,
        // the service never redirects: credentials must not follow a redirection
        redirect: "manual",
        signal: ended.signal,
        ...(body === "" ? {} : { body })
      })
      text = await response.text()
    } catch (error) {
      signal?.throwIfAborted()
      throw noAnswer(error instanceof Error ? error.message : String(error), undefined, error)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
    }

    const { status } = response
    const isJson = response.headers.get("content-type")?.includes("json") === true
    let answer: unknown = text
    if (isJson) {
      try {
        answer = JSON.parse(text)
      } catch (error) {
        throw noAnswer(`an answer of ${status} that is cut off`, undefined, error)
      }
    }
    if (status >= 200 && status < 300) return answer
    const error = isObject(answer) ? answer["error"] : undefined
    if (!isObject(error) || typeof error["code"] !== "string") {
      throw noAnswer(`a response with status ${status} that is not from the service`, status)
    }
    throw errorOf({
      code: error["code"],
      message: String(error["message"]),
      details: isObject(error["details"]) ? error["details"] : {},
      status,
      requestId: response.headers.get("x-request-id") ?? undefined,
      idempotencyKey,
      retryAfterSeconds: secondsOf(response.headers.get("retry-after"))
    })
  }

  return async (request) => {
    const idempotencyKey = request.method === "POST" ? request.idempotencyKey ?? randomId() : undefined
    for (let attempts = 1;; attempts++) {
      try {
        return await attempt(request, idempotencyKey)
      } catch (error) {
        if (!(error instanceof PitbossError) || attempts >= maxAttempts || !isTransient(error)) throw error
        const asked = (error.retryAfterSeconds ?? 0) * 1000
        if (asked > longestPauseMs) throw error
        // jittered, so that callers that failed together do not retry together
        const own = firstPauseMs * 2 ** (attempts - 1) * (0.5 + Math.random() / 2)
        await pause(Math.min(longestPauseMs, Math.max(asked, own)), request.signal)
      }
    }
  }
}
