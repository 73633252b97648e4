/** Staff API endpoints for AML alerts and alert rules. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ofOperator, ofPlayer, operatorReference, period } from "../common/StaffFields.ts"
import { action } from "../common/StaffAction.ts"
import { alertRules, alertStatuses, longestWindowHours, severities } from "../../domain/compliance/AlertRules.ts"
import { evidenceFigures } from "../../domain/compliance/AlertEvidence.ts"
import { factKinds } from "../../domain/compliance/IdentityAlerts.ts"
import { paymentStatuses, paymentTypes } from "../../domain/state/Change.ts"
import { kycStatuses, playerStatuses } from "../../domain/state/Player.ts"
import { bulkOutcome, idsOf } from "../common/Bulk.ts"
import { StaffIdempotentPost } from "../common/StaffMiddleware.ts"
import { amountFrom, integer, lines, oneOf, pathId, text } from "../common/Fields.ts"
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
  username: Schema.String.annotate({ description: "What the player signs in by." }),
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
  case_id: Schema.NullOr(id).annotate({ description: "The case that it is part of." }),
  notes: Schema.Array(Note),
  created_at: timestamp,
  updated_at: timestamp,
  closed_at: Schema.NullOr(timestamp)
})

/** Sort orders of the alert list. */
export const alertOrders = ["newest", "oldest", "severity"] as const

/** What the alert list is filtered by: a status, or all but closed. */
export const listedAlertStatuses = [...alertStatuses, "waiting"] as const

/** Payment beside an alert. */
const EvidencePayment = Schema.Struct({
  id,
  type: Schema.Literals(paymentTypes),
  status: Schema.Literals(paymentStatuses),
  amount: money,
  currency: currencyCode,
  payment_method: Schema.NullOr(Schema.String),
  created_at: timestamp,
  is_counted: Schema.Boolean.annotate({ description: "Whether it is of the kind that the rule looks for." }),
  is_later: Schema.Boolean.annotate({ description: "Whether it was made after the alert was raised." })
})

/** What an alert is judged by, as it is now. */
export const AlertEvidence = Schema.Struct({
  player: Schema.Struct({
    id,
    name: Schema.String,
    username: Schema.String,
    status: Schema.Literals(playerStatuses),
    kyc_status: Schema.Literals(kycStatuses),
    risk_level: Schema.String,
    country: Schema.String,
    currency: currencyCode,
    balance: money.annotate({ description: "Real money." }),
    registered_at: timestamp,
    last_login_at: Schema.NullOr(timestamp)
  }),
  since: timestamp.annotate({ description: "Beginning of the time that the rule looked at." }),
  figures: Schema.Array(Schema.Struct({
    figure: Schema.Literals(evidenceFigures),
    raised: money.annotate({ description: "Until the alert was raised, minor units of the player's currency." }),
    now: money.annotate({ description: "Until now." }),
    raised_count: Schema.Int,
    now_count: Schema.Int
  })),
  is_lower_bound: Schema.Boolean.annotate({ description: "True where there are more payments than were added up." }),
  payments: Schema.Array(EvidencePayment).annotate({ description: "The newest first, 50 at most." }),
  alerts: Schema.Array(Schema.Struct({
    id,
    player_id: id,
    player_name: Schema.String,
    rule: Schema.Literals(alertRules),
    severity: Schema.Literals(severities),
    status: Schema.Literals(alertStatuses),
    created_at: timestamp,
    shares: Schema.Array(Schema.Literals(factKinds)).annotate({
      description: "What its player has in common with the alert's; empty for the same player."
    })
  })).annotate({
    description: "Other alerts of the player and of those who share an identifying fact, newest first, 20 of each."
  }),
  related: Schema.Array(Schema.Struct({
    player_id: id,
    player_name: Schema.String,
    shares: Schema.Array(Schema.Literals(factKinds))
  })).annotate({ description: "Other players of the operator who share an identifying fact, 20 at most." })
}).annotate({ identifier: "AlertEvidence" })

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

const AlertUpdate = Schema.Struct({
  status: oneOf(alertStatuses).annotate({ description: "New status; closed is final." }),
  note: lines(2000, { description: "A note on the alert." })
}).mapFields(Struct.map(optional))

const RuleInput = Schema.Struct({
  operator: operatorReference,
  ...Struct.map({
    enabled: Schema.Boolean.annotate({ description: "Whether the rule raises alerts (true)." }),
    severity: oneOf(severities).annotate({ description: "Severity of an alert that just meets the rule." }),
    stop_withdrawals: Schema.Boolean.annotate({
      description: "Whether its alerts stop withdrawals until they are closed (false)."
    }),
    threshold: amountFrom(1, "Amount that raises an alert, minor units of the operator's currency."),
    percent: integer(0, 1000).annotate({ description: "Percentage; its meaning depends on the rule." }),
    count: integer(1, 500).annotate({ description: "Count that raises an alert." }),
    window_hours: integer(1, longestWindowHours).annotate({ description: "Hours that the rule looks back." })
  }, optional)
})

/** `me`, `none`, or the id of an account. */
const assignee = Schema.String.annotate({ examples: ["me"] }).check(
  Schema.isPattern(/^(me|none|[1-9]\d{0,14})$/u, { message: "must be me, none or the id of an account" })
)

const HoldInput = Schema.Struct({
  reason: lines(500).check(Schema.isPattern(/\S/u, { message: "must not be blank" })).annotate({
    description: "Why, for the audit log."
  })
})

export type AlertUpdate = typeof AlertUpdate.Type
export type RuleInput = typeof RuleInput.Type

export const AlertGroup = HttpApiGroup.make("alert").annotate(OpenApi.Description, "Alerts on suspicious behaviour")
  .add(
    HttpApiEndpoint.get("list", "/alerts", {
      query: {
        ...ofOperator,
        sort: optional(
          oneOf(alertOrders).annotate({
            description: "Order (newest); severity: the most severe first, of those the oldest."
          })
        ),
        status: optional(
          oneOf(listedAlertStatuses).annotate({ description: "Filter by status; waiting: all that are not closed." })
        ),
        rule: optional(oneOf(alertRules).annotate({ description: "Filter by rule." })),
        ...ofPlayer,
        assigned_to: optional(
          assignee.annotate({ description: "Filter by assignee: me, none or the id of an account." })
        ),
        ...period,
        ...cursorQuery
      },
      success: cursorPage(Alert)
    }).annotateMerge(action("Alerts, newest first", { roles: ["compliance"], concern: "operator" })),
    HttpApiEndpoint.get("show", "/alerts/:alert", { params: { alert: pathId }, success: single(Alert) }).annotateMerge(
      action("One alert", { roles: ["compliance"], concern: "operator" })
    ),
    HttpApiEndpoint.get("evidence", "/alerts/:alert/evidence", {
      params: { alert: pathId },
      success: single(AlertEvidence)
    }).annotateMerge(
      action("What an alert is judged by: payments, figures of now, and alerts of the player and of related ones", {
        roles: ["compliance"],
        concern: "operator"
      })
    ),
    HttpApiEndpoint.patch("update", "/alerts/:alert", {
      params: { alert: pathId },
      payload: AlertUpdate,
      success: single(Alert)
    }).annotateMerge(
      action("Move an alert, or note something about it", { roles: ["compliance"], concern: "operator" })
    ),
    HttpApiEndpoint.post("assign", "/alerts/:alert/assign", {
      params: { alert: pathId },
      payload: Schema.Struct({
        staff: assignee.annotate({ description: "Assignee: me, none, or the id of an account." })
      }),
      success: single(Alert)
    }).annotateMerge(action("Give an alert to an account", { roles: ["compliance"], concern: "operator" })),
    HttpApiEndpoint.post("assign_many", "/alerts/assign", {
      payload: Schema.Struct({
        alerts: idsOf("alerts"),
        staff: assignee.annotate({ description: "Assignee: me, none, or the id of an account." })
      }),
      success: bulkOutcome
    }).middleware(StaffIdempotentPost).annotateMerge(
      action("Give alerts to an account", { roles: ["compliance"], concern: "operator" })
    ),
    HttpApiEndpoint.post("update_many", "/alerts/update", {
      payload: Schema.Struct({ alerts: idsOf("alerts"), ...AlertUpdate.fields }),
      success: bulkOutcome
    }).middleware(StaffIdempotentPost).annotateMerge(
      action("Move alerts, or note something about them", { roles: ["compliance"], concern: "operator" })
    ),
    HttpApiEndpoint.post("hold", "/alerts/:alert/hold", {
      params: { alert: pathId },
      payload: HoldInput,
      success: single(Alert)
    }).annotateMerge(
      action("Stop the player's withdrawals for an open alert", { roles: ["compliance"], concern: "operator" })
    ),
    HttpApiEndpoint.post("release", "/alerts/:alert/release", {
      params: { alert: pathId },
      payload: HoldInput,
      success: single(Alert)
    }).annotateMerge(
      action("Take away an alert's hold on withdrawals", {
        roles: ["compliance"],
        concern: "operator",
        is: "authority"
      })
    ),
    HttpApiEndpoint.get("rules", "/alert-rules", { query: { operator: operatorReference }, success: list(Rule) })
      .annotateMerge(
        action("The rules of an operator, as they are set", { roles: ["compliance"], concern: "operator" })
      ),
    HttpApiEndpoint.patch("configure", "/alert-rules/:rule", {
      params: { rule: text(50, { description: "The rule.", flag: { kind: "flag", words: alertRules } }) },
      payload: RuleInput,
      success: single(Rule)
    }).annotateMerge(
      action("Set a rule of an operator", { roles: ["compliance"], concern: "operator", is: "authority" })
    )
  )
