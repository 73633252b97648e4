/** Evidence of an alert: the player, figures at the alert and now, payments, and other alerts of this player and related ones. */
import { Paper, Stack, Text, Title } from "@mantine/core"
import { ageText } from "../../domain/Age.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { DetailsLink } from "../parts/Beside.tsx"
import { type Column, DataTable } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { asHeading, countText, Instant, moneyText, PageLink, Status, words } from "../parts/Values.tsx"

type Evidence = Data<"alert.evidence">

function PlayerBox({ player }: { readonly player: Evidence["player"] }) {
  const { balance, country, currency, id, kyc_status: kyc, name, registered_at: since, risk_level: risk, status } =
    player
  return (
    <Paper withBorder p="sm" component="section" aria-label="Player">
      <Facts
        columns={3}
        facts={[
          ["Player", <PageLink key="player" to={`/players/${id}`}>{name}</PageLink>],
          ["Signs in as", player.username],
          ["Account", <Status key="status" of={status} />],
          ["KYC", <Status key="kyc" of={kyc} />],
          ["Risk", <Status key="risk" of={risk} />],
          ["Balance", moneyText(balance, currency)],
          ["Registered", `${ageText(Date.parse(since), Date.now())} ago`.replace("today ago", "today")],
          ["Country", country],
          ["Last sign-in", <Instant key="last" at={player.last_login_at} seconds={false} isBrief />]
        ]}
      />
    </Paper>
  )
}

/** Sums until the alert was raised beside those of now. */
function Figures(
  { evidence: { figures, is_lower_bound: isMore, player: { currency }, since } }: { readonly evidence: Evidence }
) {
  const sumText = (count: number, amount: number) => `${countText(count)}, ${moneyText(amount, currency)}`
  const columns: ReadonlyArray<Column<Evidence["figures"][number]>> = [
    { id: "figure", header: "Figure", cell: ({ figure }) => asHeading(figure) },
    { id: "raised", header: "When raised", align: "right", cell: (row) => sumText(row.raised_count, row.raised) },
    {
      id: "now",
      header: "Now",
      align: "right",
      cell: (row) => <b>{sumText(row.now_count, row.now)}{isMore ? " or more" : ""}</b>
    }
  ]
  return (
    <Stack gap={4}>
      <DataTable
        label="Figures"
        minWidth={0}
        columns={columns}
        rows={figures}
        rowKey={({ figure }) => figure}
      />
      <Text size="xs" c="dimmed">
        Since <Instant at={since} seconds={false} />, in effect.
      </Text>
    </Stack>
  )
}

const paymentColumns = columnsOfList(
  "alert.evidence",
  "payments",
  ["id", { to: ({ id }) => `/payments?id=${id}` }],
  "type",
  ["amount", {
    cell: ({ amount, currency, is_counted: isCounted }) =>
      isCounted ? <b>{moneyText(amount, currency)}</b> : moneyText(amount, currency)
  }],
  ["payment_method", {}],
  ["status", {}],
  ["created_at", {
    label: "At",
    cell: ({ created_at: at, is_later: isLater }) => (
      <>
        <Instant at={at} seconds={false} isBrief />
        {isLater && <span className="aside">{" "}after</span>}
      </>
    )
  }]
)

const sharesText = (shares: ReadonlyArray<string>): string =>
  shares.map((kind) => kind === "ip" ? "network address" : words(kind)).join(", ")

const alertColumns = columnsOfList(
  "alert.evidence",
  "alerts",
  ["id", { cell: ({ id }) => <DetailsLink param="id" value={id}>{id}</DetailsLink> }],
  "severity",
  ["rule", { cell: ({ rule }) => asHeading(rule) }],
  "status",
  ["player_id", {
    cell: ({ player_id: id, player_name: name, shares }) =>
      shares.length === 0 ? "same player" : <PageLink to={`/players/${id}`}>{name}</PageLink>
  }],
  ["created_at", { label: "Raised" }]
)

const idOf = ({ id }: { readonly id: number }) => id

/** What an alert is judged by. */
export function AlertEvidence({ alert: { id } }: { readonly alert: Data<"alert.show"> }) {
  const query = useAnswer("alert.evidence", { params: { alert: id } })
  const evidence = query.data?.data
  if (evidence === undefined || query.isPlaceholderData) return <Waiting query={query} />
  const { alerts, payments, player, related } = evidence
  return (
    <Stack gap="sm" component="section" aria-label="Evidence">
      <PlayerBox player={player} />
      <Figures evidence={evidence} />
      <Title order={3} size="h5">Payments</Title>
      {payments.length === 0
        ? <Text size="sm">None in this time.</Text>
        : (
          <>
            <DataTable
              label="Payments"
              minWidth={0}
              columns={paymentColumns}
              rows={payments}
              rowKey={idOf}
              sorts={none}
            />
            <Text size="xs" c="dimmed">Bold: what the rule looks for. After: made after the alert was raised.</Text>
          </>
        )}
      <Title order={3} size="h5">Other alerts</Title>
      {alerts.length === 0
        ? <Text size="sm">None, of this player or of related ones.</Text>
        : (
          <DataTable
            label="Other alerts"
            minWidth={0}
            columns={alertColumns}
            rows={alerts}
            rowKey={idOf}
            sorts={none}
          />
        )}
      <Title order={3} size="h5">Related players</Title>
      {related.length === 0
        ? <Text size="sm">No other player shares an address, a name or a document.</Text>
        : (
          <ul className="reasons">
            {related.map(({ player_id: other, player_name: name, shares }) => (
              <li key={other}>
                <PageLink to={`/players/${other}`}>{name}</PageLink>: {sharesText(shares)}
              </li>
            ))}
          </ul>
        )}
    </Stack>
  )
}

/** Evidence has an order of its own. */
const none = {}
