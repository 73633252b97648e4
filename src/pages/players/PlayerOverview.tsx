/** Overview of a player: identity, balances and restrictions. */
import { Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import { useMemo } from "react"
import { useColleagues } from "../app/colleagues.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { DataTable } from "../parts/DataTable.tsx"
import { type Fact, Facts } from "../parts/Facts.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { columnsOf, columnsOfList, factsOf, otherFactsOf } from "../parts/shown.tsx"
import { Money, Status } from "../parts/Values.tsx"
import { PlayerConsents } from "./PlayerConsents.tsx"
import type { Player } from "./player.ts"

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

const unsorted = {}

const walletColumns = columnsOfList("player.wallet", "wallets", ["type", { label: "Wallet" }], "balance", [
  "updated_at",
  { label: "Last entry", seconds: true }
])

function Wallets({ player }: { readonly player: Player }) {
  const query = useAnswer("player.wallet", { params: { player: player.id } })
  const wallet = query.data?.data
  if (wallet === undefined) return <Waiting query={query} />
  const allowance = wallet.unverified_withdrawal_allowance
  return (
    <Stack gap="xs">
      <DataTable
        label="Wallets"
        sorts={unsorted}
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

const noteColumns = (actorOf: (label: string) => string) =>
  columnsOf(
    "player.notes",
    ["created_at", { label: "At" }],
    ["author", { label: "By", cell: ({ author }) => actorOf(author) }],
    ["text", {
      label: "Note",
      cell: ({ text }) => (
        <Text size="sm" lineClamp={3} title={text} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {text}
        </Text>
      )
    }]
  )

function LatestNotes({ player }: { readonly player: Player }) {
  const { actorOf } = useColleagues()
  const columns = useMemo(() => noteColumns(actorOf), [actorOf])
  const notes = useAnswer("player.notes", { params: { player: player.id }, query: { per_page: 3 } }).data?.data ?? []
  return notes.length === 0 ?
    <Text size="sm">No notes yet.</Text> :
    (
      <DataTable
        label="Latest notes"
        sorts={unsorted}
        minWidth={narrow}
        columns={columns}
        rows={notes}
        rowKey={({ id }) => id}
      />
    )
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

/** Fields in words of their own, in the account, in another section or in the head of the page. */
const elsewhere = [
  ...["id", "operator_id", "external_id", "category", "risk_level", "language", "created_at", "last_login_at"] as const,
  ...[
    "first_name",
    "middle_name",
    "last_name",
    "email",
    "address",
    "zip_code",
    "city",
    "country",
    "kyc_status"
  ] as const,
  ...["username", "currency", "status", "is_verified", "is_test", "updated_at"] as const,
  ...["restrictions", "self_exclusion", "marketing", "registration"] as const
] as const

/** Identity: what has words of its own, then every other field of a person. */
const identityOf = (player: Player): ReadonlyArray<Fact> => [
  ["Name", [player.first_name, player.middle_name, player.last_name].filter((name) => name).join(" ")],
  ["E-mail", <Email key="email" address={player.email} />],
  ["Address", [player.address, player.zip_code, player.city, player.country].filter((line) => line).join(", ")],
  ...otherFactsOf("player.show", player, elsewhere),
  ...factsOf("player.show", player, "kyc_status")
]

const accountOf = (player: Player): ReadonlyArray<Fact> => {
  const { marketing, registration } = player
  const consents = (["email", "sms", "newsletter"] as const).filter((name) => marketing[name])
  return [
    ...factsOf(
      "player.show",
      player,
      "id",
      "operator_id",
      "external_id",
      "category",
      "risk_level",
      "language",
      ["created_at", { label: "Registered" }],
      "last_login_at",
      "registration.ip",
      "registration.source",
      "registration.promo_code"
    ),
    ["Affiliate", [registration.affiliate_id, registration.btag].filter((part) => part).join(", ") || "–"],
    ["Agreed to", consents.length === 0 ? "no marketing" : consents.join(", ")]
  ]
}

/** Restriction of an ability: one that is not restricted may be refused all the same, which the head of the page tells. */
const switched = <Path extends string>(
  path: Path,
  label: string,
  isAllowed: (restrictions: Player["restrictions"]) => boolean
) =>
  [path, {
    label,
    cell: ({ restrictions }: Player) => isAllowed(restrictions) ? "not restricted" : <Status of="restricted" />
  }] as const

/** Exclusion in force, if any, and all restrictions. */
const closedOf = (player: Player): ReadonlyArray<Fact> => [
  ...(player.self_exclusion === null ? [] : factsOf(
    "player.show",
    player,
    ["self_exclusion.type", { label: "Exclusion", cell: (it) => <Status of={it.self_exclusion?.type} /> }],
    ["self_exclusion.since", { seconds: true }],
    ["self_exclusion.until", { seconds: true, absent: "without end" }],
    ["self_exclusion.ends", {
      label: "Ends",
      cell: (it) => it.self_exclusion?.ends === "on_request" ? "when the player asks to return" : "by itself"
    }]
  )),
  ...factsOf(
    "player.show",
    player,
    switched("restrictions.can_login", "Signing in", ({ can_login: may }) => may),
    switched("restrictions.can_deposit", "Deposits", ({ can_deposit: may }) => may),
    switched("restrictions.can_withdraw", "Withdrawals", ({ can_withdraw: may }) => may),
    switched("restrictions.can_bet", "Betting", ({ can_bet: may }) => may),
    switched("restrictions.excluded_from_bonuses", "Bonuses", ({ excluded_from_bonuses: without }) => !without)
  )
]

export function PlayerOverview({ player }: { readonly player: Player }) {
  const may = usePermission()
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack>
        <Part heading="Identity">
          <Facts facts={identityOf(player)} />
        </Part>
        <Part heading="Account">
          <Facts facts={accountOf(player)} />
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
        {may("player.consents") && (
          <Part heading="Consents to marketing">
            <PlayerConsents player={player} />
          </Part>
        )}
        {may("player.notes") && (
          <Part heading="Latest notes">
            <LatestNotes player={player} />
          </Part>
        )}
      </Stack>
    </SimpleGrid>
  )
}
