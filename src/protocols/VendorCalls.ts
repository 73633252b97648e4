/** What the calls to vendors have in common: addresses, answers in JSON, and the words of failures. */
import { Effect, Schema } from "effect"
import type { SendToVendor, VendorFailure, VendorResponse } from "./Protocol.ts"

const failure = (kind: VendorFailure["kind"], word: string): VendorFailure => ({
  _tag: "VendorFailure",
  kind,
  word: word.slice(0, 200)
})

/** The vendor said no, and how. */
export const refusedByVendor = (word: string): VendorFailure => failure("refused", word)

/** The vendor gave no answer that means something. */
export const unavailableVendor = (word: string): VendorFailure => failure("unavailable", word)

/** An address below the vendor's base. */
export const vendorUrl = (base: string, path: string): string => `${base.replace(/\/+$/, "")}${path}`

/** Sends a body of JSON; other headers replace those of the same name. */
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

/** Reads an answer in JSON by a schema; unknown fields are ignored. What does not fit, and what failed on their side, is no answer. */
export const answerReader = <T>(schema: Schema.Codec<T, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return ({ body, status }: VendorResponse): Effect.Effect<T, VendorFailure> =>
    status >= 500
      ? Effect.fail(unavailableVendor(`HTTP ${status}`))
      : Effect.mapError(decode(body), () => unavailableVendor(`unreadable answer, HTTP ${status}`))
}

/** An address that a browser may be sent to; one without a host is of `base`. */
export const browserAddress = (text: string, base: string): Effect.Effect<string, VendorFailure> => {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? Effect.succeed(url.href)
    : Effect.fail(unavailableVendor("no address in the answer"))
}
