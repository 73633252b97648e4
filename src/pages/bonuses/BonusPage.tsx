/** One bonus: its terms as text, its liability, and its grants. */
import { Stack, Text } from "@mantine/core"
import { usePathPart } from "../app/address.ts"
import type { Data, Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { amounts, buttonColumn, playerColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { filtersOf, ListSection, PageHead } from "../parts/ListPage.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Section, TableSection } from "../parts/Section.tsx"
import { Instant, Money, moneyText, PageLink, Status, words } from "../parts/Values.tsx"
import { ChangeBonus, SwitchBonus, TermsText } from "./Terms.tsx"

type Grant = Row<"bonus.grants">
type Liability = NonNullable<Data<"bonus.show">["liability"]>[number]

const liabilityColumns: ReadonlyArray<Column<Liability>> = [
  { id: "currency", header: "Currency of players", cell: ({ currency }) => currency },
  { id: "running", header: "Grants that run or wait", align: "right", cell: ({ running }) => running },
  amounts("amount", "Bonus funds", ({ amount }) => amount),
  { id: "at", header: "As of", cell: ({ at }) => <Instant at={at} /> }
]

const filters = filtersOf("bonus.grants")

const grantColumns: ReadonlyArray<Column<Grant>> = [
  { id: "id", header: "Id", cell: ({ id }) => id },
  playerColumn,
  { id: "state", header: "State", cell: ({ result, state }) => <Status of={result ?? state} /> },
  amounts("amount", "Amount", ({ amount }) => amount),
  {
    id: "wagered",
    header: "Wagered",
    align: "right",
    cell: ({ currency, wagered_amount: wagered, wagering_progress: percent }) => (
      <>
        <Money amount={wagered} currency={currency} /> ({percent} %)
      </>
    )
  },
  amounts("converted", "Converted", ({ converted_amount: amount }) => amount),
  { id: "granted", header: "Granted", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
  { id: "expires", header: "Expires", cell: ({ expires_at: at }) => <Instant at={at} seconds={false} /> },
  buttonColumn(({ amount, currency, id, player_id: player, state }) =>
    state !== "finished" && (
      <ActionButton
        action="bonus.cancel"
        label="Cancel grant"
        params={{ bonus: id }}
        fields={[{ name: "reason", label: "Reason", kind: "text" }]}
        explanation={`Takes the bonus of ${
          moneyText(amount, currency)
        } from player ${player}, with what is in the bonus wallet.`}
        danger
      />
    )
  )
]

function Found({ bonus }: { readonly bonus: Data<"bonus.show"> }) {
  const may = usePermission()
  const { name: operator, slug } = useOperatorOf()(bonus.operator_id)
  return (
    <Stack>
      <PageHead heading={bonus.name}>
        <ChangeBonus bonus={bonus} />
        <SwitchBonus bonus={bonus} />
      </PageHead>
      {bonus.description !== "" && <Text size="sm" style={{ whiteSpace: "pre-line" }}>{bonus.description}</Text>}
      <Facts
        facts={[
          ["Operator", operator],
          ["Type", words(bonus.type)],
          ["State", <Status key="state" of={bonus.is_active ? "active" : "inactive"} />],
          ["Id", bonus.id],
          ["Added", <Instant key="created" at={bonus.created_at} seconds={false} />],
          ["Changed", <Instant key="updated" at={bonus.updated_at} seconds={false} />]
        ]}
      />
      <Section heading="What it means">
        <TermsText terms={bonus} currency={bonus.currency} />
      </Section>
      <TableSection
        heading="Liability"
        actions={may("report.bonuses") && (
          <PageLink to={`/reports/ggr?operator=${encodeURIComponent(slug)}`}>Cost of bonuses in the report</PageLink>
        )}
        columns={liabilityColumns}
        rows={bonus.liability ?? []}
        rowKey={({ currency }) => currency}
        empty={bonus.liability === null
          ? "More than 1,000 grants run or wait. What they may cost was not read yet: it is every five minutes."
          : "No grant runs or waits: it costs nothing more."}
      />
      <ListSection
        heading="Grants"
        action="bonus.grants"
        paging="walk"
        params={{ bonus: bonus.id }}
        filters={filters}
        columns={grantColumns}
        csv={false}
        empty="Granted to nobody yet. Staff grant it on the page of a player; promo codes and operators do by themselves."
      />
    </Stack>
  )
}

export default function BonusPage() {
  const id = Number(usePathPart("bonus"))
  const query = useAnswer("bonus.show", { params: { bonus: id } })
  return query.data === undefined ? <Waiting query={query} /> : <Found bonus={query.data.data} />
}
