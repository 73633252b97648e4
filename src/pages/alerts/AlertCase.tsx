/** Detail panel of an alert beside the queue: its finding and evidence, assignee, notes, and the hold on the player's withdrawals. */
import { NoteList } from "../parts/NoteList.tsx"
import { Group, Stack, Text, Title } from "@mantine/core"
import { type AlertStatus, alertTransitions } from "../../domain/compliance/AlertRules.ts"
import type { Data } from "../app/api.ts"
import { useColleagues } from "../app/colleagues.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { Facts } from "../parts/Facts.tsx"
import { type Field, formOf } from "../parts/Fields.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { ActionsOf, type RowAction, type RowActions } from "../parts/RowMenu.tsx"
import { factsOf } from "../parts/shown.tsx"
import { asHeading, PageLink, Status } from "../parts/Values.tsx"
import { AlertEvidence } from "./AlertEvidence.tsx"
import { describeFinding, detailsOf, ruleDescriptions } from "./findings.ts"

type Alert = Data<"alert.show">

/** Form of a note, without another status. */
export const noteForm = (change: Partial<Field>) =>
  formOf("alert.update", { status: false, note: { description: "", ...change } })

const moves: Readonly<Record<Exclude<AlertStatus, "open">, { readonly label: string; readonly explanation: string }>> =
  {
    in_review: { label: "Start review", explanation: "Says that somebody is looking at it." },
    escalated: { label: "Escalate", explanation: "Says that somebody else has to decide." },
    closed: {
      label: "Close alert",
      explanation: "For good: what happens later is another alert. Withdrawals that this alert stops may go on."
    }
  }

/** Allowed transitions. */
export const moveTo = (alert: Alert): ReadonlyArray<RowAction> =>
  alertTransitions(alert.status).flatMap((status) =>
    status === "open" ? [] : [rowAction({
      action: "alert.update",
      label: moves[status].label,
      params: { alert: alert.id },
      fields: noteForm(status === "closed" ? { label: "Reason", required: true } : {}),
      fixed: { status },
      explanation: moves[status].explanation,
      done: `Alert ${alert.id}: ${asHeading(status).toLowerCase()}`,
      danger: status === "closed"
    })]
  )

/** Assigns an alert to the current user, whose account `own` is; none when it is already, or is closed. */
export const assignToMe = (alert: Alert, own: number | null | undefined): ReadonlyArray<RowAction> =>
  alert.status === "closed" || own === null || own === undefined || alert.assigned_to === own ? [] : [rowAction({
    action: "alert.assign",
    label: "Assign to me",
    params: { alert: alert.id },
    fixed: { staff: "me" },
    explanation: `Alert ${alert.id} is yours then.`,
    done: `Alert ${alert.id} is yours`,
    undo: {
      action: "alert.assign",
      request: {
        params: { alert: alert.id },
        payload: { staff: alert.assigned_to === null ? "none" : String(alert.assigned_to) }
      }
    }
  })]

/** Assigns an alert to a colleague who works on alerts, or to nobody. */
const assign = (alert: Alert, colleagues: Data<"staff.colleagues">): RowAction =>
  rowAction({
    action: "alert.assign",
    label: "Assign",
    params: { alert: alert.id },
    fields: [{
      name: "staff",
      label: "To",
      kind: "choice",
      initial: alert.assigned_to === null ? "" : String(alert.assigned_to),
      options: colleagues.filter(({ active, role }) => active && (role === "compliance" || role === "admin")).map((
        { id, name, role }
      ) => ({ value: String(id), label: `${name} (${role})` })),
      description: "Empty: nobody."
    }],
    toPayload: (values) => ({ staff: values["staff"] ?? "none" }),
    done: `Alert ${alert.id} assigned`
  })

const holdOrRelease = (alert: Alert): RowAction =>
  alert.stops_withdrawals
    ? rowAction({
      action: "alert.release",
      label: "Release withdrawals",
      params: { alert: alert.id },
      fields: formOf("alert.release"),
      explanation: "As far as this alert is concerned, the player may withdraw. The alert stays open.",
      done: "Withdrawals released"
    })
    : rowAction({
      action: "alert.hold",
      label: "Hold withdrawals",
      params: { alert: alert.id },
      fields: formOf("alert.hold"),
      explanation: "The player cannot withdraw until this is released or the alert is closed.",
      done: "Withdrawals held",
      danger: true
    })

/** Notes, oldest first, as entered. */
function Notes({ alert }: { readonly alert: Data<"alert.show"> }) {
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">Notes</Title>
        {alert.notes.length > 0 && <NoteButton alert={alert} />}
      </Group>
      {alert.notes.length === 0
        ? (
          <Group gap="sm">
            <Text size="sm">Nothing noted yet. Write down what you looked at and what you found.</Text>
            <NoteButton alert={alert} />
          </Group>
        )
        : <NoteList notes={alert.notes} />}
    </Stack>
  )
}

function NoteButton({ alert }: { readonly alert: Alert }) {
  return (
    <ActionButton
      action="alert.update"
      label="Add note"
      params={{ alert: alert.id }}
      fields={noteForm({ required: true })}
      done="Note added"
    />
  )
}

function Found({ alert }: { readonly alert: Data<"alert.show"> }) {
  const operatorOf = useOperatorOf()
  const may = usePermission()
  const { nameOf } = useColleagues()
  const { currency } = operatorOf(alert.operator_id)
  const { list, text } = detailsOf(alert.details)
  const transaction = text("transaction_id")
  const players = list("players")
  return (
    <Stack gap="xs">
      <Text size="sm">{describeFinding(alert.rule, alert.details, currency)}</Text>
      {players.length > 0 && (
        <Group gap="xs" component="p" m={0} fz="sm">
          With: {players.map((id) => <PageLink key={id} to={`/players/${id}`}>{id}</PageLink>)}
        </Group>
      )}
      <Facts
        columns={3}
        facts={[
          ...factsOf(
            "alert.show",
            alert,
            "status",
            "severity",
            ["stops_withdrawals", {
              label: "Withdrawals",
              cell: ({ stops_withdrawals: stops }) => <Status of={stops ? "stopped" : "allowed"} />
            }],
            ["assigned_to", { cell: ({ assigned_to: id }) => nameOf(id) }],
            "operator_id"
          ),
          ...(alert.payment_id === null ? [] : factsOf("alert.show", alert, ["payment_id", {
            label: "Payment",
            to: ({ payment_id: id }) => `/payments?id=${id}`
          }])),
          transaction !== "–" && [
            "Transaction",
            may("round.search")
              ? <PageLink key="round" to={`/rounds?transaction=${transaction}`}>{transaction}</PageLink>
              : transaction
          ],
          ...factsOf("alert.show", alert, ["created_at", { label: "Raised" }]),
          ...(alert.closed_at === null ? [] : factsOf("alert.show", alert, "closed_at"))
        ]}
      />
      <Text size="xs" c="dimmed">The rule looks for this: {ruleDescriptions[alert.rule]}</Text>
    </Stack>
  )
}

/** Case by id. */
export function AlertCase({ id }: { readonly id: number }) {
  const query = useAnswer("alert.show", { params: { alert: id } })
  const { colleagues, own } = useColleagues()
  const alert = query.data?.data
  // the previous case must not be shown under this id while this one is loading
  if (alert?.id !== id) return <Waiting query={query} />
  const actions: RowActions<Data<"alert.show">> = {
    nameOf: () => `alert ${id}`,
    of: (shown) => [
      ...moveTo(shown),
      ...assignToMe(shown, own),
      ...(shown.status === "closed" ? [] : [assign(shown, colleagues), holdOrRelease(shown)])
    ]
  }
  return (
    <Stack>
      <Found alert={alert} />
      <ActionsOf actions={actions} row={alert} />
      <AlertEvidence alert={alert} />
      <Notes alert={alert} />
    </Stack>
  )
}
