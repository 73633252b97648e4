import { Effect, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { Pool } from "undici"
import { BenchError, failedAt } from "../BenchError.ts"
import { makeSigner } from "../load/Signature.ts"

/**
 * Calls the API as an operator's or a provider's own server would: signed, over kept-alive connections. Not the client of `src/client`: another
 * checkout that is measured beside this one may answer in another form, and the first bet after a start is timed.
 */
export interface SignedClient {
  /** The `data` of the answer. Fails on any status but 2xx. */
  readonly call: <A>(
    method: "GET" | "POST" | "PUT",
    uri: string,
    body: object | undefined,
    schema: Schema.Codec<A, unknown>
  ) => Effect.Effect<A, BenchError>
  /** As `call`, of a read: the whole answer. */
  readonly whole: <A>(uri: string, schema: Schema.Codec<A, unknown>) => Effect.Effect<A, BenchError>
  /** Reads something; gives the name of the node that owned it. */
  readonly ownerOf: (uri: string) => Effect.Effect<string, BenchError>
}

const requestTimeoutMs = 30_000

/** How many calls are under way at a time. */
export const signedConcurrency = 16

export const makeSignedClient = (
  origin: string,
  keyHeader: "x-api-key" | "x-provider-key",
  { key, secret }: { readonly key: string; readonly secret: string }
): Effect.Effect<SignedClient, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new Pool(origin, {
          connections: signedConcurrency,
          headersTimeout: requestTimeoutMs,
          bodyTimeout: requestTimeoutMs
        })
      ),
      (pool) => Effect.promise(() => pool.destroy())
    )
    const sign = makeSigner(secret)
    const send = async (method: "GET" | "POST" | "PUT", path: string, body: object | undefined) => {
      const timestamp = Math.floor(Date.now() / 1000).toString()
      const nonce = randomUUID()
      const text = body === undefined ? "" : JSON.stringify(body)
      const response = await pool.request({
        method,
        path,
        headers: {
          [keyHeader]: key,
          "x-timestamp": timestamp,
          "x-nonce": nonce,
          // The nonce is one more line of the string to sign.
          "x-signature": sign(method, path, timestamp, `${text}\n${nonce}`),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        body: body === undefined ? null : text
      })
      const answer = await response.body.text()
      if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${answer}`)
      return { answer, owner: String(response.headers["x-served-by"] ?? "") }
    }
    const answered = <A>(
      method: "GET" | "POST" | "PUT",
      uri: string,
      body: object | undefined,
      schema: Schema.Codec<A, unknown>
    ): Effect.Effect<A, BenchError> =>
      Effect.tryPromise({ try: () => send(method, uri, body), catch: failedAt(`${method} ${uri}`) }).pipe(
        Effect.flatMap(({ answer }) => Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(answer)),
        Effect.catchTag(
          "SchemaError",
          (error) => Effect.fail(new BenchError({ message: `${method} ${uri} answered: ${error.message}` }))
        )
      )
    return {
      ownerOf: (uri) =>
        Effect.map(
          Effect.tryPromise({ try: () => send("GET", uri, undefined), catch: failedAt(`GET ${uri}`) }),
          ({ owner }) => owner
        ),
      whole: (uri, schema) => answered("GET", uri, undefined, schema),
      call: (method, uri, body, schema) =>
        Effect.map(answered(method, uri, body, Schema.Struct({ data: schema })), ({ data }) => data)
    }
  })

const Wallet = Schema.Struct({ balance: Schema.Int })

/** The balances of players, as their operator reads them. */
export const walletBalances = (operator: SignedClient, players: ReadonlyArray<{ readonly id: number }>) =>
  Effect.forEach(
    players,
    ({ id }) => operator.call("GET", `/api/v1/operator/players/${id}/wallet`, undefined, Wallet),
    { concurrency: signedConcurrency }
  ).pipe(Effect.map((wallets) => wallets.map(({ balance }) => balance)))
