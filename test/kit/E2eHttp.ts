/**
 * Calls over HTTP on kept-alive connections, with a broken connection as a value. An
 * answer missing from the OpenAPI document fails the test.
 */
import { Clock, Effect, Schedule, type Scope } from "effect"
import { createHash } from "node:crypto"
import * as Http from "node:http"
import { bytesOf, type Call, ConnectionLost, exchange, type Reply, signedHeaders, type Signer } from "./HttpCalls.ts"

export { ConnectionLost, exchange }

/** Connections that are closed with the scope. */
export const makeAgent = (maxSockets = 64): Effect.Effect<Http.Agent, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Http.Agent({ keepAlive: true, maxSockets })),
    (agent) => Effect.sync(() => agent.destroy())
  )

/** A signing caller. */
export interface Caller {
  readonly signer: Signer
  readonly send: (path: string, call?: Call) => Effect.Effect<Reply, ConnectionLost>
  readonly get: (path: string) => Effect.Effect<Reply, ConnectionLost>
  readonly post: (
    path: string,
    body: unknown,
    headers?: { readonly [name: string]: string }
  ) => Effect.Effect<Reply, ConnectionLost>
}

let nonces = 0

/**
 * Signs with the clock of the test. An operator's request carries a nonce of its own, so that the same can be sent twice in a
 * second; a provider's is sent byte for byte again. `aheadMs`: by how much it signs ahead of its own clock.
 */
export const callerOf = (agent: Http.Agent | false, port: number, signer: Signer, aheadMs = () => 0): Caller => {
  const send = (path: string, call: Call = {}) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const timestamp = Math.floor((now + aheadMs()) / 1000)
      const nonce = signer.header === "X-Api-Key" ? { nonce: `n${process.pid}-${++nonces}` } : {}
      return exchange(agent, port, path, {
        ...call,
        headers: { ...signedHeaders(signer, path, { ...call, timestamp, ...nonce }), ...call.headers }
      })
    })
  return {
    signer,
    send,
    get: (path) => send(path),
    post: (path, body, headers = {}) => send(path, { method: "POST", body, headers })
  }
}

/**
 * As {@link callerOf}, following the service's clock: after TIMESTAMP_OUT_OF_RANGE it signs again with the
 * service's time, and keeps that offset.
 */
export const callerByServiceClock = (agent: Http.Agent, port: number, signer: Signer): Caller => {
  let aheadMs = 0
  const caller = callerOf(agent, port, signer, () => aheadMs)
  const send = (path: string, call: Call = {}): Effect.Effect<Reply, ConnectionLost> =>
    Effect.flatMap(caller.send(path, call), (reply) => {
      if (reply.code !== "TIMESTAMP_OUT_OF_RANGE") return Effect.succeed(reply)
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        aheadMs = Date.parse(String(reply.details["server_time"])) - now
        return send(path, call)
      })
    })
  return {
    signer,
    send,
    get: (path) => send(path),
    post: (path, body, headers = {}) => send(path, { method: "POST", body, headers })
  }
}

/** Caller of the staff API, by token. */
export const staffOf = (agent: Http.Agent, port: () => number, token: string): Pick<Caller, "send"> => ({
  send: (path, call = {}) =>
    exchange(agent, port(), path, { ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } })
})

/**
 * Caller for test setup: retries until answered, with an idempotency key for operator calls,
 * so that the call takes effect once.
 */
export const patiently = (caller: Caller): Caller => {
  const isOperator = caller.signer.header === "X-Api-Key"
  const send = (path: string, call: Call = {}): Effect.Effect<Reply, ConnectionLost> => {
    const isKeyed = isOperator && call.method === "POST"
    const key = createHash("sha256").update(path).update(bytesOf(call)).digest("hex")
    const headers = { ...(isKeyed ? { "Idempotency-Key": key } : {}), ...call.headers }
    return Effect.result(caller.send(path, { ...call, headers })).pipe(
      Effect.repeat({
        until: (result) => result._tag === "Success" && result.success.status !== 503,
        schedule: Schedule.spaced("100 millis"),
        times: 600
      }),
      Effect.flatMap(Effect.fromResult)
    )
  }
  return {
    signer: caller.signer,
    send,
    get: (path) => send(path),
    post: (path, body, headers = {}) => send(path, { method: "POST", body, headers })
  }
}
