/** Staff API endpoints for compliance cases. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { caseDecisions, caseStatuses, caseTypes } from "../../domain/case/Case.ts"
import { Duration } from "../../domain/jurisdiction/Duration.ts"
import { amountFrom, instant, integer, lines, oneOf, pathId, text } from "../common/Fields.ts"
import { idsOf } from "../common/Bulk.ts"
import { created, part, partQuery, single } from "../common/Pagination.ts"
import { action } from "../common/StaffAction.ts"
import { ofOperator, ofPlayer } from "../common/StaffFields.ts"
import { Case, CaseDetails, CaseReport, evidencePiece } from "./CaseResource.ts"

const optional = Schema.optionalKey

/** What the list is filtered by: a status, or all but closed. */
export const listedCaseStatuses = [...caseStatuses, "waiting"] as const

const OpenCase = Schema.Struct({
  type: oneOf(caseTypes).annotate({ description: "What it is about." }),
  player: integer(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Id of the player." }),
  alerts: optional(idsOf("player's alerts that become part of it")),
  note: optional(lines(2000, { description: "A note on the case." }))
})

/** `me`, `none`, or the id of an account. */
const assignee = Schema.String.annotate({ examples: ["me"] }).check(
  Schema.isPattern(/^(me|none|[1-9]\d{0,14})$/u, { message: "must be me, none or the id of an account" })
)

const CaseUpdate = Schema.Struct({
  status: oneOf(caseStatuses).annotate({
    description: "New status: open, in_progress, decided, closed; closed is final, only decided goes back."
  }),
  decision: oneOf(caseDecisions).annotate({ description: "What was decided, where the case is decided." }),
  amount: amountFrom(1, "With the decision raise: the player's new cap on net deposits, minor units."),
  note: lines(2000, { description: "A note on the case." }),
  assign: assignee.annotate({ description: "The account that works on it: me, none, or the id of an account." })
}).mapFields(Struct.map(optional))

export type CaseUpdate = typeof CaseUpdate.Type

const ReportInput = Schema.Struct({
  reference: text(200, { description: "The authority's reference of the report; a known one is updated." }),
  ...Struct.map({
    authority: text(200, { description: "The authority that was told." }),
    submitted_at: instant.annotate({ description: "When it was submitted." }),
    consent_requested: Schema.Boolean.annotate({
      description:
        "Whether the authority is asked to consent to payouts; until it has answered all withdrawals are held.",
      flag: { isSwitch: true }
    }),
    consent: oneOf(["granted", "refused", "deemed"]).annotate({
      description: "What came of it; with refused withdrawals are held until the case is closed."
    }),
    deemed_at: instant.annotate({ description: "When the authority's silence counted as consent." })
  }, optional)
})

export type ReportInput = typeof ReportInput.Type

const yes = (description: string) => Schema.Literal(true).annotate({ description, flag: { isSwitch: true } })

const CaseFunds = Schema.Struct({
  text: lines(2000, { description: "What the player is asked for, in words for the player." }).check(
    Schema.isPattern(/\S/u, { message: "must not be blank" })
  ),
  due: Duration.annotate({ description: "From when deposits are stopped, from now on, like P14D (at once)." }),
  evidence: Schema.Array(Schema.Struct(evidencePiece)).check(
    Schema.isBetweenLength(1, 20, { message: "must be 1 to 20 pieces" })
  ).annotate({ description: "Documents, each with its digest; the operator keeps the files." }),
  accept: yes("The evidence is enough."),
  reject: yes("The evidence is not enough; deposits stay stopped.")
}).mapFields(Struct.map(optional))

export type CaseFunds = typeof CaseFunds.Type

const caseId = pathId.annotate({ description: "Id of the case." })

const compliance = { roles: ["compliance"], concern: "operator" } as const

export const CaseGroup = HttpApiGroup.make("case").annotate(OpenApi.Description, "Staff's files about players").add(
  HttpApiEndpoint.post("open", "/cases", { payload: OpenCase, success: created(Case) }).annotateMerge(
    action("Open a case about a player", compliance)
  ),
  HttpApiEndpoint.get("list", "/cases", {
    query: {
      ...partQuery,
      ...ofOperator,
      ...ofPlayer,
      type: optional(oneOf(caseTypes).annotate({ description: "Filter by type." })),
      status: optional(
        oneOf(listedCaseStatuses).annotate({ description: "Filter by status; waiting: all that are not closed." })
      )
    },
    success: part(Case)
  }).annotateMerge(action("Cases, newest first", compliance)),
  HttpApiEndpoint.get("show", "/cases/:case", { params: { case: caseId }, success: single(CaseDetails) })
    .annotateMerge(action("A case with everything that belongs to it", compliance)),
  HttpApiEndpoint.patch("update", "/cases/:case", {
    params: { case: caseId },
    payload: CaseUpdate,
    success: single(CaseDetails)
  }).annotateMerge(action("Move a case, decide it, give it to an account, or note something about it", compliance)),
  HttpApiEndpoint.post("add", "/cases/:case/alerts", {
    params: { case: caseId },
    payload: Schema.Struct({ alerts: idsOf("player's alerts that become part of it") }),
    success: single(CaseDetails)
  }).annotateMerge(action("Make alerts part of a case", compliance)),
  HttpApiEndpoint.post("sar", "/cases/:case/sar", {
    params: { case: caseId },
    payload: ReportInput,
    success: single(CaseReport)
  }).annotateMerge(
    action("Note a report to an authority, or what came of it", { ...compliance, is: "authority" })
  ),
  HttpApiEndpoint.post("funds", "/cases/:case/funds", {
    params: { case: caseId },
    payload: CaseFunds,
    success: single(CaseDetails)
  }).annotateMerge(action("Ask the player for the source of funds, keep evidence, accept or reject it", compliance))
)
