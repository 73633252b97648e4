/** Static documents: generated and compressed once, with conditional requests by ETag. */
import { Effect } from "effect"
import { Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"

const compressed = (
  compress: (bytes: Uint8Array, done: (error: Error | null, result: Buffer) => void) => void,
  bytes: Uint8Array
) =>
  Effect.callback<Uint8Array>((resume) => {
    compress(bytes, (error, result) => resume(error === null ? Effect.succeed(result) : Effect.die(error)))
  })

const brotli = (bytes: Uint8Array, done: (error: Error | null, result: Buffer) => void) =>
  // higher qualities take seconds
  brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }, done)

const accepts = (header: string | undefined, coding: string): boolean =>
  (header ?? "").split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase())
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

/** Handler of a document's path. The document is generated at the first request. */
export const serveDocument = <R>(
  document: Effect.Effect<{ readonly text: string; readonly contentType: string }, never, R>,
  headers: { readonly [name: string]: string } = {}
) =>
  Effect.map(
    Effect.cached(Effect.gen(function*() {
      const { contentType, text } = yield* document
      const bytes = new TextEncoder().encode(text)
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`
      const common = { ...headers, etag, "cache-control": "private, no-cache" }
      const [br, gz] = yield* Effect.all([compressed(brotli, bytes), compressed(gzip, bytes)], { concurrency: 2 })
      const response = (body: Uint8Array, coding?: string) =>
        HttpServerResponse.uint8Array(body, {
          contentType,
          headers: Headers.fromInput(coding === undefined ? common : { ...common, "content-encoding": coding })
        })
      return {
        etag,
        unchanged: HttpServerResponse.empty({ status: 304, headers: Headers.fromInput(common) }),
        br: response(br, "br"),
        gzip: response(gz, "gzip"),
        plain: response(bytes)
      }
    })),
    (made) =>
      Effect.gen(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { br, etag, gzip, plain, unchanged } = yield* made
        const known = headers["if-none-match"]
        if (
          known !== undefined && known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)
        ) return unchanged
        const coding = headers["accept-encoding"]
        return accepts(coding, "br") ? br : accepts(coding, "gzip") ? gzip : plain
      })
  )
