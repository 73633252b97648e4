/** Overview of a player: identity, balances and restrictions. */
import { Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import type { Data, Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { amounts } from "../parts/columns.tsx"
import { type Column, DataTable } from "../parts/DataTable.tsx"
import { type Fact, Facts } from "../parts/Facts.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Instant, Money, Status, words, YesNo } from "../parts/Values.tsx"
import type { Player } from "./player.ts"

type WalletLine = Data<"player.wallet">["wallets"][number]

/** Section of the overview with its heading. */
function Part({ children, heading }: { readonly heading: string; readonly children: React.ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={heading}>
      <Title order={2} size="h4" mb="sm">{heading}</Title>
      {children}
    </Paper>
  )
}

/** Minimum width of a table in a section, in pixels. */
const narrow = 280

const walletColumns: ReadonlyArray<Column<WalletLine>> = [
  { id: "wallet", header: "Wallet", cell: ({ type }) => type },
  amounts("balance", "Balance", ({ balance }) => balance),
  { id: "updated", header: "Last entry", cell: ({ updated_at: at }) => <Instant at={at} /> }
]

function Wallets({ player }: { readonly player: Player }) {
  const query = useAnswer("player.wallet", { params: { player: player.id } })
  const wallet = query.data?.data
  if (wallet === undefined) return <Waiting query={query} />
  const allowance = wallet.unverified_withdrawal_allowance
  return (
    <Stack gap="xs">
      <DataTable
        label="Wallets"
        minWidth={narrow}
        columns={walletColumns}
        rows={wallet.wallets}
        rowKey={({ type }) => type}
      />
      {allowance !== null && (
        <Text size="sm">
          Without verification, <Money amount={allowance} currency={wallet.currency} /> may still be withdrawn.
        </Text>
      )}
    </Stack>
  )
}

const noteColumns: ReadonlyArray<Column<Row<"player.notes">>> = [
  { id: "at", header: "At", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
  { id: "author", header: "By", cell: ({ author }) => author },
  {
    id: "text",
    header: "Note",
    cell: ({ text }) => <Text size="sm" lineClamp={3} style={{ whiteSpace: "pre-wrap" }}>{text}</Text>
  }
]

function LatestNotes({ player }: { readonly player: Player }) {
  const notes = useAnswer("player.notes", { params: { player: player.id }, query: { per_page: 3 } }).data?.data ?? []
  return notes.length === 0 ?
    <Text size="sm">No notes yet.</Text> :
    <DataTable label="Latest notes" minWidth={narrow} columns={noteColumns} rows={notes} rowKey={({ id }) => id} />
}

/** Allows a line break before the host only. */
function Email({ address }: { readonly address: string }) {
  const at = address.lastIndexOf("@")
  return at < 0 ? <>{address}</> : (
    <>
      {address.slice(0, at)}
      <wbr />
      {address.slice(at)}
    </>
  )
}

/** Exclusion in force, if any, and all restrictions. */
const closedOf = ({ restrictions, self_exclusion: exclusion }: Player): ReadonlyArray<Fact | false> => [
  exclusion !== null && ["Exclusion", <Status key="exclusion" of={exclusion.type} />],
  exclusion !== null && ["Since", <Instant key="since" at={exclusion.since} />],
  exclusion !== null &&
  ["Until", exclusion.until === null ? "without end" : <Instant key="until" at={exclusion.until} />],
  ["May sign in", <YesNo key="login" of={restrictions.can_login} />],
  ["May deposit", <YesNo key="deposit" of={restrictions.can_deposit} />],
  ["May withdraw", <YesNo key="withdraw" of={restrictions.can_withdraw} />],
  ["May bet", <YesNo key="bet" of={restrictions.can_bet} />],
  ["Gets bonuses", <YesNo key="bonuses" of={!restrictions.excluded_from_bonuses} />]
]

export function PlayerOverview({ player }: { readonly player: Player }) {
  const may = usePermission()
  const operatorOf = useOperatorOf()
  const { marketing, registration } = player
  const text = (value: string | null) => value ?? "–"
  const consents = (["email", "sms", "newsletter"] as const).filter((name) => marketing[name])
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack>
        <Part heading="Identity">
          <Facts
            facts={[
              ["Name", [player.first_name, player.middle_name, player.last_name].filter((name) => name).join(" ")],
              ["E-mail", <Email key="email" address={player.email} />],
              ["Phone", text(player.phone)],
              ["Born", player.birth_date],
              ["Gender", text(player.gender)],
              [
                "Address",
                [player.address, player.zip_code, player.city, player.country].filter((line) => line).join(", ")
              ],
              ["Personal id", text(player.personal_id)],
              ["Document", text(player.document_number)],
              ["KYC", <Status key="kyc" of={player.kyc_status} />]
            ]}
          />
        </Part>
        <Part heading="Account">
          <Facts
            facts={[
              ["Id", String(player.id)],
              ["Operator", operatorOf(player.operator_id).name],
              ["External id", text(player.external_id)],
              ["Category", words(player.category)],
              ["Risk", <Status key="risk" of={player.risk_level} />],
              ["Language", player.language],
              ["Registered", <Instant key="created" at={player.created_at} seconds={false} />],
              ["Last sign-in", <Instant key="login" at={player.last_login_at} seconds={false} />],
              ["From address", text(registration.ip)],
              ["Source", words(registration.source)],
              ["Promo code", text(registration.promo_code)],
              ["Affiliate", [registration.affiliate_id, registration.btag].filter((part) => part).join(", ") || "–"],
              ["Agreed to", consents.length === 0 ? "no marketing" : consents.join(", ")]
            ]}
          />
        </Part>
      </Stack>
      <Stack>
        {may("player.wallet") && (
          <Part heading="Wallets">
            <Wallets player={player} />
          </Part>
        )}
        <Part heading="Exclusions and restrictions">
          <Facts facts={closedOf(player)} />
        </Part>
        {may("player.notes") && (
          <Part heading="Latest notes">
            <LatestNotes player={player} />
          </Part>
        )}
      </Stack>
    </SimpleGrid>
  )
}
