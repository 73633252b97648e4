/** Case of one alert: its finding, assignee, notes, and the hold on the player's withdrawals. */
import { Group, Paper, Stack, Text, Title } from "@mantine/core"
import { type AlertStatus, alertTransitions } from "../../domain/compliance/AlertRules.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Facts } from "../parts/Facts.tsx"
import { type Field, formOf } from "../parts/Fields.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { factsOf } from "../parts/shown.tsx"
import { asHeading, Instant, PageLink, Status } from "../parts/Values.tsx"
import { useAccounts } from "./accounts.ts"
import { describeFinding, detailsOf, ruleDescriptions } from "./findings.ts"

type Alert = Data<"alert.show">

/** Form of a note, without another status. */
const noteForm = (change: Partial<Field>) =>
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

/** Buttons of the allowed transitions. */
function Moves({ alert }: { readonly alert: Alert }) {
  return alertTransitions(alert.status).map((status) =>
    status === "open" ? null : (
      <ActionButton
        key={status}
        action="alert.update"
        label={moves[status].label}
        params={{ alert: alert.id }}
        fields={noteForm(status === "closed" ? { label: "Reason", required: true } : {})}
        fixed={{ status }}
        explanation={moves[status].explanation}
        done={`Alert ${alert.id}: ${asHeading(status).toLowerCase()}`}
        danger={status === "closed"}
      />
    )
  )
}

/** Assigns an alert to the current user. Hidden when already assigned to them. */
export function AssignToMe({ alert, own }: { readonly alert: Alert; readonly own: number | null | undefined }) {
  if (alert.status === "closed" || own === null || own === undefined || alert.assigned_to === own) return null
  return (
    <ActionButton
      action="alert.assign"
      label="Assign to me"
      params={{ alert: alert.id }}
      fixed={{ staff: "me" }}
      explanation={`Alert ${alert.id} is yours then.`}
      done={`Alert ${alert.id} is yours`}
      undo={{
        action: "alert.assign",
        request: {
          params: { alert: alert.id },
          payload: { staff: alert.assigned_to === null ? "none" : String(alert.assigned_to) }
        }
      }}
    />
  )
}

function Assign({ alert }: { readonly alert: Alert }) {
  const { accounts, own } = useAccounts()
  if (alert.status === "closed") return null
  const workers = accounts.filter(({ active, role }) => active && (role === "compliance" || role === "admin"))
  const initial = alert.assigned_to === null ? "" : String(alert.assigned_to)
  return (
    <>
      <AssignToMe alert={alert} own={own} />
      <ActionButton
        action="alert.assign"
        label="Assign"
        params={{ alert: alert.id }}
        fields={[{
          name: "staff",
          label: "To",
          initial,
          ...(workers.length > 0
            ? {
              kind: "choice",
              options: workers.map(({ id, name, role }) => ({ value: String(id), label: `${name} (${role})` })),
              description: "Empty: nobody."
            }
            : { kind: "text", description: "The id of an account that works on alerts. Empty: nobody." })
        }]}
        toPayload={(values) => ({ staff: values["staff"] ?? "none" })}
        done={`Alert ${alert.id} assigned`}
      />
    </>
  )
}

function Withdrawals({ alert }: { readonly alert: Alert }) {
  if (alert.status === "closed") return null
  return alert.stops_withdrawals
    ? (
      <ActionButton
        action="alert.release"
        label="Release withdrawals"
        params={{ alert: alert.id }}
        fields={formOf("alert.release")}
        explanation="As far as this alert is concerned, the player may withdraw. The alert stays open."
        done="Withdrawals released"
      />
    )
    : (
      <ActionButton
        action="alert.hold"
        label="Hold withdrawals"
        params={{ alert: alert.id }}
        fields={formOf("alert.hold")}
        explanation="The player cannot withdraw until this is released or the alert is closed."
        done="Withdrawals held"
        danger
      />
    )
}

/** Notes, oldest first, as entered. */
function Notes({ alert }: { readonly alert: Alert }) {
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
        : (
          <Stack component="ol" gap="xs" m={0} p={0} style={{ listStyle: "none" }} aria-label="Notes">
            {alert.notes.map(({ at, by, note: text, status }, index) => (
              <Paper component="li" withBorder p="sm" key={index}>
                <Group gap="xs">
                  <Text size="xs" fw={600}>{by}</Text>
                  <Text size="xs" c="dimmed" component="span">
                    <Instant at={at} />
                  </Text>
                  <Status of={status} />
                </Group>
                <Text size="sm" mt={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{text}</Text>
              </Paper>
            ))}
          </Stack>
        )}
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

function Found({ alert }: { readonly alert: Alert }) {
  const operatorOf = useOperatorOf()
  const may = usePermission()
  const { nameOf } = useAccounts()
  const { currency } = operatorOf(alert.operator_id)
  const { list, text } = detailsOf(alert.details)
  const transaction = text("transaction_id")
  const players = list("players")
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Text>{describeFinding(alert.rule, alert.details, currency)}</Text>
        {players.length > 0 && (
          <Group gap="xs" component="p" m={0} fz="sm">
            With: {players.map((id) => <PageLink key={id} to={`/players/${id}`}>{id}</PageLink>)}
          </Group>
        )}
        <Facts
          columns={4}
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
              "player_id",
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
            ...factsOf("alert.show", alert, ["created_at", { label: "Raised", seconds: true }], ["updated_at", {
              seconds: true
            }]),
            ...(alert.closed_at === null ? [] : factsOf("alert.show", alert, ["closed_at", { seconds: true }]))
          ]}
        />
        <Text size="xs" c="dimmed">The rule looks for this: {ruleDescriptions[alert.rule]}</Text>
      </Stack>
    </Paper>
  )
}

/** Case by id. `back`: address of the list that it was opened from. */
export function AlertCase({ back, id }: { readonly id: number; readonly back: string }) {
  const query = useAnswer("alert.show", { params: { alert: id } })
  const alert = query.data?.data
  // the previous case must not be shown under this id while this one is loading
  if (alert?.id !== id) {
    return (
      <Stack>
        <PageLink to={back}>All alerts</PageLink>
        <Waiting query={query} />
      </Stack>
    )
  }
  return (
    <Stack>
      <PageLink to={back}>All alerts</PageLink>
      <Group justify="space-between">
        <Title order={2} size="h3">Alert {alert.id}: {asHeading(alert.rule).toLowerCase()}</Title>
        <Group gap="xs">
          <Assign alert={alert} />
          <Withdrawals alert={alert} />
          <Moves alert={alert} />
        </Group>
      </Group>
      <Found alert={alert} />
      <Notes alert={alert} />
    </Stack>
  )
}
