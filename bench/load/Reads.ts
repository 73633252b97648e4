import { Effect } from "effect"
import type { Histogram } from "hdr-histogram-js"
import { randomUUID } from "node:crypto"
import { Pool } from "undici"
import { type BenchError, failedAt } from "../BenchError.ts"
import { makeHistogram } from "./Latency.ts"
import { makeSigner } from "./Signature.ts"

export interface ReadJob {
  readonly origin: string
  /** Authentication headers, computed per request. */
  readonly headersOf: (uri: string) => Readonly<Record<string, string>>
  /** Request URIs, repeated in order. */
  readonly uris: ReadonlyArray<string>
  /** Connections of the closed loop: each reads again when it is answered. */
  readonly connections: number
  /** Answers that are measured. */
  readonly repetitions: number
  /** Answers before them that are not. */
  readonly warmUp: number
}

export interface ReadResult {
  /** From before the headers were made until the whole answer was there, µs. */
  readonly histogram: Histogram
  readonly perSecond: number
}

const timeoutMs = 60_000

/** The headers of an operator's key: SPEC.md, section 2. */
export const signedBy = ({ key, secret }: { readonly key: string; readonly secret: string }): ReadJob["headersOf"] => {
  const sign = makeSigner(secret)
  return (uri) => {
    const timestamp = Math.floor(Date.now() / 1000).toString()
    const nonce = randomUUID()
    return {
      "x-api-key": key,
      "x-timestamp": timestamp,
      "x-nonce": nonce,
      "x-signature": sign("GET", uri, timestamp, `\n${nonce}`)
    }
  }
}

/** GET requests in a closed loop. An answer other than 200 ends the run: a refusal is quick, and no measurement. */
export const measureReads = (job: ReadJob): Effect.Effect<ReadResult, BenchError> =>
  Effect.tryPromise({
    try: async () => {
      const pool = new Pool(job.origin, {
        connections: job.connections,
        pipelining: 1,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs
      })
      const histogram = makeHistogram()
      let next = 0
      let left = 0
      const read = async (measured: boolean) => {
        const uri = job.uris[next++ % job.uris.length]
        if (uri === undefined) throw new Error("nothing to read")
        const start = performance.now()
        const response = await pool.request({ method: "GET", path: uri, headers: job.headersOf(uri) })
        const body = await response.body.text()
        if (response.statusCode !== 200) throw new Error(`${uri} answered ${response.statusCode} ${body.slice(0, 500)}`)
        if (measured) histogram.recordValue(Math.round((performance.now() - start) * 1000))
      }
      const loop = async (measured: boolean) => {
        while (left-- > 0) await read(measured)
      }
      const run = async (count: number, measured: boolean) => {
        left = count
        await Promise.all(Array.from({ length: job.connections }, () => loop(measured)))
      }
      try {
        await run(job.warmUp, false)
        const start = performance.now()
        await run(job.repetitions, true)
        return { histogram, perSecond: job.repetitions / ((performance.now() - start) / 1000) }
      } finally {
        await pool.destroy()
      }
    },
    catch: failedAt(job.origin)
  })
