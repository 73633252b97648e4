/**
 * Response field schemas, without validation messages and bounds, since the service writes responses itself. A field of both requests and responses
 * is declared once: `form` is its schema in requests, `shown` in responses.
 */
import { Schema, Struct } from "effect"

/** Id assigned by the service. */
export const id = Schema.Int.annotate({ examples: [48213] })

/** `2026-11-20T12:00:00.000Z` */
export const timestamp = Schema.String.annotate({ format: "date-time", examples: ["2026-11-20T12:00:00.000Z"] })

/** Minor units of the accompanying currency. */
export const money = Schema.Int.annotate({ description: "Minor units.", examples: [2500], amount: true })

export const currencyCode = Schema.String.annotate({ description: "ISO 4217.", examples: ["EUR"] })

interface FormOf extends Struct.Lambda {
  <Form>(field: { readonly form: Form }): Form
  readonly "~lambda.out": this["~lambda.in"] extends { readonly form: infer Form } ? Form : never
}

interface ShownOf extends Struct.Lambda {
  <Shown>(field: { readonly shown: Shown }): Shown
  readonly "~lambda.out": this["~lambda.in"] extends { readonly shown: infer Shown } ? Shown : never
}

/** Form of a field in requests. */
export const formOf = Struct.lambda<FormOf>(({ form }) => form)

/** Field as it shows. */
export const shownOf = Struct.lambda<ShownOf>(({ shown }) => shown)
