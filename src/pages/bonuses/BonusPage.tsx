/** One bonus: its terms as text, its liability, and its grants. */
import { Stack, Text } from "@mantine/core"
import { usePathPart } from "../app/address.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, ListSection } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Section, TableSection } from "../parts/Section.tsx"
import { columnsOf, columnsOfList, factsOf } from "../parts/shown.tsx"
import { Money, moneyText, PageLink, Status } from "../parts/Values.tsx"
import { BonusActions, TermsText } from "./Terms.tsx"

const liabilityColumns = columnsOfList(
  "bonus.show",
  "liability",
  ["currency", { label: "Currency of players" }],
  ["running", { label: "Grants that run or wait" }],
  ["amount", { label: "Bonus funds" }],
  ["at", { label: "As of", seconds: true }]
)

const filters = filtersOf("bonus.grants")

const grantColumns = columnsOf(
  "bonus.grants",
  "id",
  "player_id",
  ["state", { cell: ({ result, state }) => <Status of={result ?? state} /> }],
  "amount",
  ["wagered_amount", {
    label: "Wagered",
    cell: ({ currency, wagered_amount: wagered, wagering_progress: percent }) => (
      <>
        <Money amount={wagered} currency={currency} /> ({percent} %)
      </>
    )
  }],
  ["converted_amount", { label: "Converted" }],
  ["created_at", { label: "Granted" }],
  "expires_at",
  buttonColumn(({ amount, currency, id, player_id: player, state }) =>
    state !== "finished" && (
      <ActionButton
        action="bonus.cancel"
        label="Cancel grant"
        params={{ bonus: id }}
        fields={formOf("bonus.cancel")}
        explanation={`Takes the bonus of ${
          moneyText(amount, currency)
        } from player ${player}, with what is in the bonus wallet.`}
        danger
      />
    )
  )
)

function Found({ bonus }: { readonly bonus: Data<"bonus.show"> }) {
  const may = usePermission()
  const { slug } = useOperatorOf()(bonus.operator_id)
  return (
    <Stack>
      <PageHead heading={bonus.name}>
        <BonusActions bonus={bonus} />
      </PageHead>
      {bonus.description !== "" && <Text size="sm" style={{ whiteSpace: "pre-line" }}>{bonus.description}</Text>}
      <Facts
        facts={factsOf("bonus.show", bonus, "operator_id", "type", "is_active", "id", ["created_at", {
          label: "Added"
        }], "updated_at")}
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
        empty="Granted to nobody yet. Staff grant it on the page of a player; promo codes and operators do by themselves."
      />
    </Stack>
  )
}

export default function BonusPage() {
  const id = Number(usePathPart("bonus"))
  const query = useAnswer("bonus.show", { params: { bonus: id } })
  return query.data === undefined
    ? <Waiting query={query} />
    : <Found key={query.data.data.id} bonus={query.data.data} />
}
