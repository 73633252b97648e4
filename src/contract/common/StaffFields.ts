/** Request fields shared by many staff endpoints. */
import { Schema } from "effect"
import { instant, pathId, reference, text } from "./Fields.ts"

const optional = Schema.optionalKey

export const operatorReference = reference.annotate({ description: "Id or slug of the operator." })

export const ofOperator = { operator: optional(reference.annotate({ description: "Filter by operator, id or slug." })) }

/** Guard of one resource: that of another operator is not found. */
export const belongingTo = {
  operator: optional(reference.annotate({ description: "Only if it belongs to this operator, id or slug." }))
}

export const ofPlayer = { player: optional(pathId.annotate({ description: "Filter by the id of a player." })) }

export const period = {
  from: optional(instant.annotate({ description: "At or after, like 2026-11-20T12:00:00Z." })),
  to: optional(instant.annotate({ description: "At or before." }))
}

export const createdPeriod = {
  created_from: optional(instant.annotate({ description: "Created at or after, like 2026-11-20T12:00:00Z." })),
  created_to: optional(instant.annotate({ description: "Created at or before." }))
}

export const auditReason = text(500, { description: "Why, for the audit log." })
