/** Staff API endpoints for player imports and exports (docs/moving.md). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action } from "../common/StaffAction.ts"
import { ofOperator, operatorReference } from "../common/StaffFields.ts"
import { refusals } from "../common/Errors.ts"
import { integer, lines, oneOf, pathId, sha256, text } from "../common/Fields.ts"
import { list, part, partQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { ImportTotals } from "./LineResource.ts"

const optional = Schema.optionalKey

export const importStatuses = ["checking", "proposed", "approved", "rejected", "posted"] as const

/** Lines of one request, and chunks of one file. */
export const maxLines = 200
const maxChunks = 100_000

export const ImportRun = Schema.Struct({
  id,
  operator_id: id,
  name: Schema.String.annotate({ description: "Of the batch, as the audit log names it." }),
  file_sha256: Schema.String,
  sends_events: Schema.Boolean,
  status: Schema.Literals(importStatuses),
  chunks: Schema.NullOr(Schema.Int).annotate({ description: "Parts of the file; null until all are checked." }),
  posted_chunks: Schema.Int,
  totals: Schema.NullOr(ImportTotals).annotate({ description: "What is or was to be approved; null until then." }),
  proposed_by: Schema.String.annotate({
    description: "Who began it, as the audit log names who acts: nobody else sends its lines or proposes it."
  }),
  proposed_at: timestamp,
  decided_by: Schema.NullOr(Schema.String),
  decided_at: Schema.NullOr(timestamp),
  posting_at: Schema.NullOr(timestamp).annotate({
    description: "When it was begun to be posted: from then on it cannot be rejected."
  })
}).annotate({ identifier: "ImportRun" })

const rejected = Schema.Array(Schema.Struct({
  line: Schema.Int.annotate({ description: "Of the file, from 1." }),
  reasons: Schema.Array(Schema.String)
}))

export const ImportChunk = Schema.Struct({
  number: Schema.Int.annotate({ description: "Of the file, from 0." }),
  posted: Schema.Boolean,
  totals: ImportTotals,
  rejected
}).annotate({ identifier: "ImportChunk" })

export const LinePart = Schema.Struct({
  lines: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  next: Schema.NullOr(Schema.String).annotate({ description: "Where the next lines begin; null: there are none." })
}).annotate({ identifier: "LinePart" })

const someLines = {
  first_line: integer(1, Number.MAX_SAFE_INTEGER),
  lines: Schema.Array(Schema.String).check(
    Schema.isBetweenLength(1, maxLines, { message: `must be 1 to ${maxLines} lines` })
  ).annotate({ description: "Of the file, one after the other, each as text." })
}

const ofRun = { run: pathId }
const decided = refusals("INVALID_REQUEST")

export const ImportGroup = HttpApiGroup.make("import_run").annotate(
  OpenApi.Description,
  "Imports of players from another platform, posted once a second person approved them"
).add(
  HttpApiEndpoint.get("list", "/import-runs", {
    query: {
      ...partQuery,
      ...ofOperator,
      status: optional(oneOf(importStatuses).annotate({ description: "Filter by status." }))
    },
    success: part(ImportRun)
  }).annotateMerge(action("Imports, newest first", { roles: ["payments", "compliance"], concern: "operator" })),
  HttpApiEndpoint.get("show", "/import-runs/:run", { params: ofRun, success: single(ImportRun) }).annotateMerge(
    action("Show an import with its totals", { roles: ["payments", "compliance"], concern: "operator" })
  ),
  HttpApiEndpoint.post("approve", "/import-runs/:run/approve", {
    params: ofRun,
    success: single(ImportRun),
    error: decided
  }).annotateMerge(
    action("Approve the totals of another person's import", { roles: ["payments"], concern: "operator", is: "money" })
  ),
  HttpApiEndpoint.post("reject", "/import-runs/:run/reject", {
    params: ofRun,
    payload: Schema.Struct({ reason: optional(lines(500, { description: "Why, for the audit log." })) }),
    success: single(ImportRun),
    error: decided
  }).annotateMerge(action("Reject an import of which nothing is posted", { roles: ["payments"], concern: "operator" })),
  HttpApiEndpoint.post("open", "/import-runs", {
    payload: Schema.Struct({
      operator: operatorReference,
      name: text(255),
      file_sha256: sha256,
      sends_events: optional(Schema.Boolean)
    }),
    success: single(ImportRun),
    error: refusals("VALIDATION_FAILED")
  }).annotateMerge(
    action("Begin an import, or find the one of the same file", {
      roles: ["payments"],
      concern: "operator",
      isWithoutCommand: true
    })
  ),
  HttpApiEndpoint.get("chunks", "/import-runs/:run/chunks", {
    params: ofRun,
    query: { after: optional(Schema.NumberFromString.check(Schema.isInt())) },
    success: list(ImportChunk)
  }).annotateMerge(
    action("Chunks of an import with their outcome, a hundred after one", {
      roles: ["payments"],
      concern: "operator",
      isWithoutCommand: true
    })
  ),
  HttpApiEndpoint.post("put", "/import-runs/:run/chunks", {
    params: ofRun,
    payload: Schema.Struct({ number: integer(0, maxChunks - 1), ...someLines }),
    success: single(ImportChunk),
    error: refusals("INVALID_REQUEST", "VALIDATION_FAILED")
  }).annotateMerge(
    action("Check a chunk of an import, or post it once that is approved", {
      roles: ["payments"],
      concern: "operator",
      isWithoutCommand: true
    })
  ),
  HttpApiEndpoint.post("propose", "/import-runs/:run/propose", {
    params: ofRun,
    payload: Schema.Struct({ chunks: integer(1, maxChunks) }),
    success: single(ImportRun),
    error: decided
  }).annotateMerge(
    action("Propose an import whose chunks are checked", {
      roles: ["payments"],
      concern: "operator",
      isWithoutCommand: true
    })
  ),
  HttpApiEndpoint.post("check", "/import-lines/check", {
    payload: Schema.Struct({ operator: operatorReference, ...someLines }),
    success: single(ImportChunk),
    error: refusals("VALIDATION_FAILED")
  }).annotateMerge(
    action("Check lines of an import, and write nothing", {
      roles: ["payments"],
      concern: "operator",
      isWithoutCommand: true
    })
  ),
  HttpApiEndpoint.get("export", "/import-lines", {
    query: {
      operator: operatorReference,
      after: optional(text(300).annotate({ description: "Where the lines begin: what the answer before said." }))
    },
    success: single(LinePart),
    error: refusals("VALIDATION_FAILED")
  }).annotateMerge(
    action("Players as lines of an import, in the order of their external ids", {
      roles: [],
      concern: "operator",
      is: "authority",
      isWithoutCommand: true
    })
  )
)
