/**
 * How a refusal looks on the wire, once for all endpoints: `{"error": {"code", "message", "details"}}` under the status of its code.
 *
 * An endpoint lists what it can refuse with `error: refusals("NOT_FOUND", …)`; a handler may then fail with exactly these
 * domain refusals, which the compiler checks and the OpenAPI document shows.
 */
import { Schema, SchemaGetter } from "effect"
import { type RefusalCode, statusByCode } from "../domain/Refusal.ts"

const Details = Schema.Record(Schema.String, Schema.Unknown)

const make = <const Code extends RefusalCode>(code: Code) =>
  Schema.Struct({
    error: Schema.Struct({ code: Schema.Literal(code), message: Schema.String, details: Details })
  }).pipe(
    Schema.decodeTo(
      Schema.Struct({
        _tag: Schema.Literal("Refusal"),
        code: Schema.Literal(code),
        message: Schema.String,
        details: Details
      }),
      {
        decode: SchemaGetter.transform(({ error }) => ({ _tag: "Refusal" as const, ...error })),
        encode: SchemaGetter.transform(({ _tag: _, ...error }) => ({ error }))
      }
    )
  ).annotate({ identifier: `Error_${code}`, httpApiStatus: statusByCode[code] })

/** The error schemas of an endpoint, one per code. */
export const refusals = <const Codes extends ReadonlyArray<RefusalCode>>(...codes: Codes) => codes.map((code) => make(code))
