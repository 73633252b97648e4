/** Shared parts of calls to vendors: addresses, JSON answers and failures. */
import { Effect, Schema } from "effect"
import type { SendToVendor, VendorFailure, VendorResponse } from "./Protocol.ts"

const failure = (kind: VendorFailure["kind"], word: string): VendorFailure => ({
  _tag: "VendorFailure",
  kind,
  word: word.slice(0, 200)
})

/** The vendor refused, with its error code. */
export const refusedByVendor = (word: string): VendorFailure => failure("refused", word)

/** The vendor gave no usable answer. */
export const unavailableVendor = (word: string): VendorFailure => failure("unavailable", word)

/** URL below the vendor's base. */
export const vendorUrl = (base: string, path: string): string => `${base.replace(/\/+$/, "")}${path}`

/** Posts a JSON body; given headers replace default ones of the same name. */
export const postJson = (
  send: SendToVendor,
  url: string,
  body: string,
  headers: { readonly [name: string]: string } = {}
): Effect.Effect<VendorResponse, VendorFailure> =>
  send({
    method: "POST",
    url,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body
  })

/** Decodes a JSON answer by a schema; unknown fields are ignored. A mismatch or a 5xx counts as no answer. */
export const answerReader = <T>(schema: Schema.Codec<T, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return ({ body, status }: VendorResponse): Effect.Effect<T, VendorFailure> =>
    status >= 500
      ? Effect.fail(unavailableVendor(`HTTP ${status}`))
      : Effect.mapError(decode(body), () => unavailableVendor(`unreadable answer, HTTP ${status}`))
}

/** URL that a browser may be redirected to; a relative one is resolved against `base`. */
export const browserAddress = (text: string, base: string): Effect.Effect<string, VendorFailure> => {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? Effect.succeed(url.href)
    : Effect.fail(unavailableVendor("no address in the answer"))
}
