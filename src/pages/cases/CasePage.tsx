/** One case: its player, alerts, payments, obligations put on the player, evidence, reports and notes. */
import { NoteList } from "../parts/NoteList.tsx"
import { Paper, Stack, Text } from "@mantine/core"
import { usePathPart } from "../app/address.ts"
import { useColleagues } from "../app/colleagues.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { Facts } from "../parts/Facts.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { ActionsOf } from "../parts/RowMenu.tsx"
import { Section, TableSection } from "../parts/Section.tsx"
import { columnsOf, columnsOfList, factsOf } from "../parts/shown.tsx"
import { asHeading, moneyText, PageLink, words } from "../parts/Values.tsx"
import { PlayerChecks } from "../registers/Checks.tsx"
import { actionsOf, type CaseDetails } from "./caseActions.tsx"

/** Newest alerts of the player that the page reads. */
const maxAlerts = 100

const idOf = ({ id }: { readonly id: number }) => id

const alertColumns = columnsOf(
  "alert.list",
  ["id", { to: ({ id }) => `/alerts?id=${id}` }],
  "severity",
  ["rule", { cell: ({ rule }) => asHeading(rule) }],
  "status",
  ["created_at", { label: "Raised" }]
)

const paymentColumns = columnsOf(
  "payment.list",
  ["id", { to: ({ id }) => `/payments?id=${id}` }],
  "amount",
  "payment_method",
  "status",
  ["created_at", { label: "At" }]
)

const obligationColumns = columnsOfList(
  "case.show",
  "obligations",
  ["kind", { cell: ({ kind }) => words(kind) }],
  "state",
  ["due_at", { label: "Due" }],
  ["created_at", { label: "Since" }]
)

const hitColumns = columnsOfList("case.show", "hits", "name", "list", "category", "score")

const reportColumns = columnsOfList(
  "case.show",
  "reports",
  "reference",
  "authority",
  ["submitted_at", { label: "Submitted" }],
  ["consent", { cell: ({ consent }) => words(consent) }]
)

const evidenceColumns = columnsOfList("case.show", "evidence", "kind", "reference", ["sha256", { width: 160 }], [
  "at",
  {}
])

function PlayerBox({ id, name }: { readonly id: number; readonly name: string }) {
  const player = useAnswer("player.show", { params: { player: id } }).data?.data
  return (
    <Paper withBorder p="sm" component="section" aria-label="Player">
      <Facts
        columns={3}
        facts={[
          ["Player", <PageLink key="player" to={`/players/${id}?tab=compliance`}>{name}</PageLink>],
          ...(player === undefined ? [] : [
            ...factsOf(
              "player.show",
              player,
              "username",
              "status",
              "kyc_status",
              "risk_level",
              "country",
              "jurisdiction"
            ),
            ...factsOf("player.show", player, ["created_at", { label: "Registered" }])
          ])
        ]}
      />
    </Paper>
  )
}

/** Links to alerts of the case that are older than those that the page reads. */
function OlderAlerts({ ids }: { readonly ids: ReadonlyArray<number> }) {
  return (
    <>
      Older than the player's newest {maxAlerts}: {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <PageLink to={`/alerts?id=${id}`}>{id}</PageLink>
        </span>
      ))}
    </>
  )
}

function Notes({ notes }: Pick<CaseDetails, "notes">) {
  return (
    <Section heading="Notes">
      {notes.length === 0 ?
        <Text size="sm">Nothing noted yet.</Text> :
        <NoteList notes={notes} />}
    </Section>
  )
}

function Found({ shown }: { readonly shown: CaseDetails }) {
  const may = usePermission()
  const { actorOf, nameOf, own } = useColleagues()
  const { alerts, id, player_id: player } = shown
  const ofPlayer = useAnswer("alert.list", { query: { player, limit: maxAlerts } }, { enabled: may("alert.list") })
  const newest = ofPlayer.data?.data
  const older = newest === undefined ? [] : alerts.filter((alert) => !newest.some(({ id: found }) => found === alert))
  const hasMore = typeof ofPlayer.data?.meta.next_cursor === "string"
  const deposits = useAnswer("payment.list", { query: { player, type: "deposit", per_page: 50 } }, {
    enabled: may("payment.list")
  })
  const currency = useAnswer("player.show", { params: { player } }).data?.data.currency ?? "EUR"
  return (
    <Stack>
      <PageHead heading={`Case ${id}`} />
      <Facts
        facts={[
          ...factsOf("case.show", shown, ["type", { cell: ({ type }) => words(type) }], "status"),
          ["Decision", shown.decision === null ? "none" : words(shown.decision)],
          shown.amount !== null && ["Cap on net deposits", moneyText(shown.amount, currency)],
          ...factsOf("case.show", shown, ["assigned_to", { cell: ({ assigned_to: to }) => nameOf(to) }], "operator_id"),
          ["Opened by", actorOf(shown.opened_by)],
          ...factsOf("case.show", shown, ["created_at", { label: "Opened" }]),
          ...(shown.closed_at === null ? [] : factsOf("case.show", shown, "closed_at"))
        ]}
      />
      <ActionsOf actions={actionsOf(own, currency)} row={shown} />
      <PlayerBox id={player} name={shown.player_name} />
      {shown.hits.length > 0 && (
        <TableSection
          heading="Hits"
          columns={hitColumns}
          rows={shown.hits}
          rowKey={({ list, name }) => `${list} ${name}`}
        />
      )}
      <TableSection
        heading="Alerts of this case"
        columns={alertColumns}
        query={ofPlayer}
        rows={newest?.filter((alert) => alerts.includes(alert.id))}
        rowKey={idOf}
        {...(older.length === 0 ? {} : { note: <OlderAlerts ids={older} /> })}
        empty={older.length === 0
          ? "None. Make alerts part of the case with case add."
          : `None of the newest ${maxAlerts}.`}
      />
      <TableSection
        heading="Other alerts of the player"
        columns={alertColumns}
        query={ofPlayer}
        rows={newest?.filter((alert) => !alerts.includes(alert.id))}
        rowKey={idOf}
        {...(hasMore ? { note: `Of the player's newest ${maxAlerts}.` } : {})}
        empty="None."
      />
      {may("payment.list") && (
        <TableSection
          heading="Deposits"
          columns={paymentColumns}
          query={deposits}
          rows={deposits.data?.data}
          rowKey={idOf}
          empty="None."
        />
      )}
      <TableSection
        heading="Obligations"
        columns={obligationColumns}
        rows={shown.obligations}
        rowKey={idOf}
        empty="The case has asked the player for nothing."
      />
      {shown.evidence.length > 0 && (
        <TableSection heading="Source of funds" columns={evidenceColumns} rows={shown.evidence} rowKey={idOf} />
      )}
      <TableSection
        heading="Reports to authorities"
        columns={reportColumns}
        rows={shown.reports}
        rowKey={idOf}
        empty="None."
      />
      {may("register.checks") && (
        <Section heading="Checks">
          <PlayerChecks player={player} />
        </Section>
      )}
      <Notes notes={shown.notes} />
    </Stack>
  )
}

export default function CasePage() {
  const id = usePathPart("case")
  const query = useAnswer("case.show", { params: { case: Number(id) } })
  const shown = query.data?.data
  return shown === undefined || String(shown.id) !== id ? <Waiting query={query} /> : <Found key={id} shown={shown} />
}
