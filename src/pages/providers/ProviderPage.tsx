/** One provider: health, connection data for its vendor, settings, recent calls, catalogue, and reconciliation. */
import { Group, Stack, Text } from "@mantine/core"
import { useMemo } from "react"
import { protocols } from "virtual:protocols"
import { percentile } from "../../domain/Figures.ts"
import { messageHref } from "../../domain/MessageHref.ts"
import { usePathPart } from "../app/address.ts"
import type { Data, Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { type Column, DataTable } from "../parts/DataTable.tsx"
import { type Fact, Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { CopyValue, OneTimeValue } from "../parts/OneTimeValue.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Section, TableSection } from "../parts/Section.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip, Count, Instant, PageLink, Status } from "../parts/Values.tsx"
import { settingLabel } from "../parts/SettingFields.ts"
import { ownProtocol, ProviderActions } from "./ProviderForm.tsx"
import { Reconciliation } from "./Reconciliation.tsx"

type Details = Data<"provider.show">
type Call = Row<"provider.calls">

/** Refetch interval of health and calls, in ms. */
const refetchMs = 10_000

const answerOf = ({ answer, refusal }: Call): string => refusal === null ? String(answer) : `${answer}, ${refusal}`

const callColumns = (provider: string) =>
  columnsOf(
    "provider.calls",
    ["at", { seconds: true }],
    ["method", { label: "Call" }],
    ["transaction_id", {
      label: "Message",
      cell: ({ transaction_id: id }) =>
        id === null ? "–" : (
          <PageLink to={messageHref(provider, id)}>
            <Clip width={160}>{id}</Clip>
          </PageLink>
        )
    }],
    ["player", { label: "Player's reference", width: 160 }],
    ["round", { width: 160 }],
    ["amount", { cell: ({ amount }) => amount ?? "–" }],
    { id: "answer", header: "Answer", value: answerOf, cell: (call) => <Clip width={220}>{answerOf(call)}</Clip> },
    ["latency_ms", { label: "Took", cell: ({ latency_ms: ms }) => `${ms.toFixed(1)} ms` }]
  )

type RefusalCount = readonly [reason: string, count: number]

const refusalColumns: ReadonlyArray<Column<RefusalCount>> = [
  { id: "reason", header: "Reason", value: ([reason]) => reason, cell: ([reason]) => reason },
  {
    id: "count",
    header: "Calls",
    align: "right",
    value: ([, count]) => count,
    cell: ([, count]) => <Count of={count} />
  }
]

function Health({ details }: { readonly details: Details }) {
  const { last_called_at: at, refusals } = details
  const counts = Object.entries(refusals).toSorted(([, a], [, b]) => b - a)
  const may = usePermission()
  const recent = useAnswer("provider.calls", { params: { provider: String(details.id) } }, {
    enabled: may("provider.calls"),
    refetchMs
  }).data?.data
  const took = recent && percentile(recent.map(({ latency_ms: ms }) => ms), 99)
  return (
    <Section heading="Health">
      <Facts
        facts={[
          ["State", <Status key="state" of={details.active ? "active" : "inactive"} />],
          ["Last called", at === null ? "not since the service was started" : <Instant key="at" at={at} />],
          recent !== undefined && ["Last calls", <Count key="calls" of={recent.length} />],
          recent !== undefined && ["99 % of them took at most", took === undefined ? "–" : `${took.toFixed(1)} ms`],
          ["Refused calls", <Count key="refused" of={counts.reduce((sum, [, count]) => sum + count, 0)} />]
        ]}
      />
      {counts.length > 0 && (
        <DataTable
          label="Refused calls by reason"
          columns={refusalColumns}
          rows={counts}
          rowKey={([reason]) => reason}
        />
      )}
    </Section>
  )
}

function VendorConnection(
  { details: { ip_allowlist: list, key, protocol, wallet_address: address } }: { readonly details: Details }
) {
  return (
    <Section heading="What the vendor is told">
      <Facts
        columns={2}
        facts={[
          ["Wallet address", <CopyValue key="address" label="wallet address" value={address} />],
          protocol === ownProtocol && ["Key", <CopyValue key="key" label="key" value={key} />],
          ["Calls are taken from", list.length === 0 ? "any address" : list.join(", ")]
        ]}
      />
    </Section>
  )
}

const textOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

function SettingsOf({ details }: { readonly details: Details }) {
  const { protocol, secret_settings: secrets, settings } = details
  const names = [
    ...new Set([
      ...(protocols.find(({ name }) => name === protocol)?.fields ?? []).map(({ name }) => name),
      ...Object.keys(settings),
      ...secrets
    ])
  ]
  const isOwn = protocol === ownProtocol
  const textOrDash = (text: string | null) => text === null ? "–" : <Clip width={320}>{text}</Clip>
  const shown = (name: string): React.ReactNode =>
    secrets.includes(name)
      ? <Status of="set" />
      : textOrDash(settings[name] === undefined ? null : textOf(settings[name]))
  return (
    <Section heading="Settings">
      <Facts
        facts={[
          ["Protocol", protocol],
          isOwn && ["Address of games", textOrDash(details.launch_url)],
          isOwn && ["Address of free play", textOrDash(details.demo_url)],
          !isOwn &&
          ["Catalogue is read", details.sync_hours === 0 ? "never by itself" : `every ${details.sync_hours} hours`],
          ...names.map((name): Fact => [settingLabel(name), shown(name)])
        ]}
      />
      {secrets.length > 0 && <Text size="sm">Secret settings are never shown: only whether they are set.</Text>}
    </Section>
  )
}

function Calls({ provider }: { readonly provider: string }) {
  const query = useAnswer("provider.calls", { params: { provider } }, { refetchMs })
  const columns = useMemo(() => callColumns(provider), [provider])
  return (
    <TableSection
      heading="Last calls"
      query={query}
      columns={columns}
      rows={query.data?.data}
      rowKey={(call) => `${call.at}-${call.method}-${call.round ?? ""}-${call.amount ?? ""}-${call.latency_ms}`}
      empty="No calls since the service was started. Give the vendor the wallet address above."
    />
  )
}

const listed = (ids: ReadonlyArray<string>): string =>
  ids.length === 0 ? "none" : ids.slice(0, 50).join(", ") + (ids.length > 50 ? ` and ${ids.length - 50} more` : "")

function Synced({ report }: { readonly report: Data<"provider.sync"> }) {
  return (
    <Facts
      columns={1}
      facts={[
        ["Games that the vendor has", <Count key="games" of={report.games} />],
        [`Added (${report.added.length})`, listed(report.added)],
        [`Changed (${report.changed.length})`, listed(report.changed)],
        [`Gone, and switched off (${report.gone.length})`, listed(report.gone)],
        [
          `Not taken (${report.not_taken.length})`,
          listed(report.not_taken.map(({ id, reason }) => `${id ?? "–"}: ${reason}`))
        ]
      ]}
    />
  )
}

function Found({ details }: { readonly details: Details }) {
  const may = usePermission()
  const provider = String(details.id)
  const hasVendor = details.protocol !== ownProtocol
  return (
    <Stack gap="lg">
      <PageHead heading={details.name}>
        <ProviderActions provider={details} />
        {hasVendor && (
          <ActionButton
            action="provider.sync"
            label="Read catalogue"
            params={{ provider }}
            fields={formOf("provider.sync", { activate: { label: "Offer new games at once", description: "" } })}
            explanation="Reads the vendor's games: new ones are added, others changed, those that are gone switched off."
            done="Catalogue read"
            result={({ data }) => <Synced report={data} />}
          />
        )}
        {!hasVendor && (
          <ActionButton
            action="provider.rotate"
            label="New secret"
            params={{ provider }}
            explanation={`The present secret signs nothing from then on: calls of ${details.name} are refused until it has the new one.`}
            typed={details.slug}
            danger
            done="The provider has a new secret"
            result={({ data }) => <OneTimeValue label="Secret" of={{ key: details.key }} value={data.secret} />}
          />
        )}
      </PageHead>
      <Health details={details} />
      <VendorConnection details={details} />
      <SettingsOf details={details} />
      <Group>
        <PageLink to={`/games?provider=${details.slug}`}>Its games</PageLink>
        <PageLink to={`/rounds?provider=${details.slug}`}>Its rounds</PageLink>
      </Group>
      {may("provider.calls") && <Calls provider={provider} />}
      {hasVendor && may("provider.reconcile") && <Reconciliation provider={provider} />}
    </Stack>
  )
}

export default function ProviderPage() {
  const provider = usePathPart("provider")
  const query = useAnswer("provider.show", { params: { provider } }, { refetchMs })
  return query.data === undefined
    ? <Waiting query={query} />
    : <Found key={query.data.data.id} details={query.data.data} />
}
