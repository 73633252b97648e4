/** Alerts and alert rules in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { alertRules, alertStatuses, longestWindowHours, severities } from "../../domain/compliance/AlertRules.ts"
import { amountFrom, integer, lines, oneOf, pathId, reference, text } from "../common/Fields.ts"
import { cursorPage, cursorQuery, list, single } from "../common/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

const optional = Schema.optionalKey

const Note = Schema.Struct({
  at: timestamp,
  by: Schema.String,
  status: Schema.Literals(alertStatuses).annotate({ description: "Of the alert, after the note." }),
  note: Schema.String
})

export const Alert = Schema.Struct({
  id,
  operator_id: id,
  player_id: id,
  rule: Schema.Literals(alertRules),
  severity: Schema.Literals(severities),
  status: Schema.Literals(alertStatuses),
  occurrence: Schema.String.annotate({ description: "The occurrence it is about; one occurrence raises one alert." }),
  payment_id: Schema.NullOr(id),
  details: Schema.Unknown.annotate({ description: "The figures that made it; amounts in the operator's currency." }),
  stops_withdrawals: Schema.Boolean.annotate({
    description: "Whether the player cannot withdraw because of it, now or in a moment."
  }),
  assigned_to: Schema.NullOr(id).annotate({ description: "The account that works on it." }),
  notes: Schema.Array(Note),
  created_at: timestamp,
  updated_at: timestamp,
  closed_at: Schema.NullOr(timestamp)
})

/** A rule with an operator's terms; null where the rule has no such term. */
export const Rule = Schema.Struct({
  operator_id: id,
  rule: Schema.Literals(alertRules),
  enabled: Schema.Boolean,
  severity: Schema.Literals(severities),
  stop_withdrawals: Schema.Boolean,
  threshold: Schema.NullOr(money),
  percent: Schema.NullOr(Schema.Int),
  count: Schema.NullOr(Schema.Int),
  window_hours: Schema.NullOr(Schema.Int),
  currency: currencyCode.annotate({ description: "Of the threshold: the operator's." })
})

const AlertUpdate = Schema.Struct({ status: oneOf(alertStatuses), note: lines(2000) }).mapFields(Struct.map(optional))

const RuleInput = Schema.Struct({
  operator: reference,
  ...Struct.map({
    enabled: Schema.Boolean,
    severity: oneOf(severities),
    stop_withdrawals: Schema.Boolean,
    threshold: amountFrom(1),
    percent: integer(0, 1000),
    count: integer(1, 500),
    window_hours: integer(1, longestWindowHours)
  }, optional)
})

/** `me`, `none`, or the id of an account. */
const assignee = Schema.String.annotate({ examples: ["me"] }).check(
  Schema.isPattern(/^(me|none|[1-9]\d{0,14})$/u, { message: "must be me, none or the id of an account" })
)

const HoldInput = Schema.Struct({ reason: lines(500).check(Schema.isPattern(/\S/u, { message: "must not be blank" })) })

export type AlertUpdate = typeof AlertUpdate.Type
export type RuleInput = typeof RuleInput.Type

export const AlertGroup = HttpApiGroup.make("alert").add(
  HttpApiEndpoint.get("list", "/alerts", {
    query: {
      operator: optional(reference),
      status: optional(oneOf(alertStatuses)),
      rule: optional(oneOf(alertRules)),
      player: optional(pathId),
      assigned_to: optional(assignee),
      ...cursorQuery
    },
    success: cursorPage(Alert)
  }),
  HttpApiEndpoint.get("show", "/alerts/:alert", { params: { alert: pathId }, success: single(Alert) }),
  HttpApiEndpoint.patch("update", "/alerts/:alert", {
    params: { alert: pathId },
    payload: AlertUpdate,
    success: single(Alert)
  }),
  HttpApiEndpoint.post("assign", "/alerts/:alert/assign", {
    params: { alert: pathId },
    payload: Schema.Struct({ staff: assignee }),
    success: single(Alert)
  }),
  HttpApiEndpoint.post("hold", "/alerts/:alert/hold", {
    params: { alert: pathId },
    payload: HoldInput,
    success: single(Alert)
  }),
  HttpApiEndpoint.post("release", "/alerts/:alert/release", {
    params: { alert: pathId },
    payload: HoldInput,
    success: single(Alert)
  }),
  HttpApiEndpoint.get("rules", "/alert-rules", { query: { operator: reference }, success: list(Rule) }),
  HttpApiEndpoint.patch("configure", "/alert-rules/:rule", {
    params: { rule: text(50) },
    payload: RuleInput,
    success: single(Rule)
  })
)
