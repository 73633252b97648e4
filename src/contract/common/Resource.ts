/** Field schemas of responses, which the service writes itself: without messages and bounds. */
import { Schema } from "effect"

/** Id assigned by the service. */
export const id = Schema.Int.annotate({ examples: [48213] })

/** `2026-11-20T12:00:00.000Z` */
export const timestamp = Schema.String.annotate({ format: "date-time", examples: ["2026-11-20T12:00:00.000Z"] })

/** Minor units of the accompanying currency. */
export const money = Schema.Int.annotate({ description: "Minor units.", examples: [2500] })

export const currencyCode = Schema.String.annotate({ description: "ISO 4217.", examples: ["EUR"] })
