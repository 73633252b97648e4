/** Staff API wire schemas of compliance cases, their reports and evidence. */
import { Schema } from "effect"
import { caseDecisions, caseStatuses, caseTypes, consents } from "../../domain/case/Case.ts"
import { Hit } from "../../domain/register/Register.ts"
import { Obligation } from "../obligations/ObligationResource.ts"
import { sha256, text } from "../common/Fields.ts"
import { id, money, timestamp } from "../common/Resource.ts"

export const Case = Schema.Struct({
  id,
  operator_id: id,
  player_id: id,
  type: Schema.Literals(caseTypes),
  status: Schema.Literals(caseStatuses),
  decision: Schema.NullOr(Schema.Literals(caseDecisions)),
  amount: Schema.NullOr(money).annotate({
    description: "With the decision raise: the player's cap on net deposits, minor units of the player's currency."
  }),
  assigned_to: Schema.NullOr(id).annotate({ description: "The account that works on it." }),
  opened_by: Schema.String.annotate({ description: "As the audit log names who acts; `compliance`: by itself." }),
  created_at: timestamp,
  updated_at: timestamp,
  closed_at: Schema.NullOr(timestamp)
})

export type Case = typeof Case.Type

const Note = Schema.Struct({
  at: timestamp,
  by: Schema.String,
  status: Schema.Literals(caseStatuses).annotate({ description: "Of the case, after the note." }),
  note: Schema.String
})

/** Report of suspicious activity to an authority. */
export const CaseReport = Schema.Struct({
  id,
  authority: Schema.String,
  reference: Schema.String,
  submitted_at: timestamp,
  consent: Schema.Literals(consents).annotate({
    description: "Whether the authority was asked to consent to payouts, and what came of it."
  }),
  deemed_at: Schema.NullOr(timestamp).annotate({ description: "When its silence counted as consent." }),
  created_at: timestamp,
  updated_at: timestamp
})

export type CaseReport = typeof CaseReport.Type

/** A document that the operator keeps. */
export const evidencePiece = {
  kind: text(64),
  reference: text(200),
  sha256
}

export const CaseEvidence = Schema.Struct({
  id,
  kind: Schema.String,
  reference: Schema.String,
  sha256: Schema.String,
  at: timestamp,
  by: Schema.String
})

export const CaseDetails = Schema.Struct({
  ...Case.fields,
  player_name: Schema.String,
  alerts: Schema.Array(id).annotate({ description: "Ids of the alerts that are part of it." }),
  obligations: Schema.Array(Obligation).annotate({ description: "Those that it has imposed, oldest first." }),
  reports: Schema.Array(CaseReport).annotate({ description: "Reports to authorities, oldest first." }),
  evidence: Schema.Array(CaseEvidence).annotate({
    description: "Documents about the source of funds, oldest first. The operator keeps the files."
  }),
  hits: Schema.Array(Hit).annotate({ description: "What a screening found; kept here alone." }),
  notes: Schema.Array(Note).annotate({ description: "Oldest first." })
})

export type CaseDetails = typeof CaseDetails.Type
