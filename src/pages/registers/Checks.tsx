/** Tables of register checks, which prove that registers were asked. */
import { filtersOf, List, ListSection } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip, PageLink } from "../parts/Values.tsx"
import type { Row } from "../app/api.ts"
import { kindNames } from "./kindNames.ts"

type Check = Row<"register.checks">

const columnsAfter = [
  ["kind", { label: "Register", cell: ({ kind }: Check) => kindNames[kind] }],
  "event",
  "verdict",
  ["fault", { label: "Why not", cell: ({ fault }: Check) => fault === null ? "–" : <Clip width={240}>{fault}</Clip> }],
  ["request_id", { label: "Our id", cell: ({ request_id: id }: Check) => <Clip width={140}>{id}</Clip> }],
  ["response_id", {
    label: "Its id",
    cell: ({ response_id: id }: Check) => id === null ? "–" : <Clip width={140}>{id}</Clip>
  }],
  ["profile", {
    label: "Rule of",
    cell: ({ profile, profile_version: version }: Check) => `${profile}, version ${version}`
  }]
] as const

const ofOne = columnsOf("register.checks", ["asked_at", { seconds: true }], ...columnsAfter)

const ofAll = columnsOf(
  "register.checks",
  ["asked_at", { seconds: true }],
  ["player_id", {
    label: "Player",
    cell: ({ player_id: id }) =>
      id === null ? "refused registration" : <PageLink to={`/players/${id}?tab=compliance`}>{String(id)}</PageLink>
  }],
  ...columnsAfter
)

const filters = filtersOf("register.checks")

/** Those of all operators that may be seen. */
export function Checks() {
  return (
    <ListSection
      heading="Questions"
      action="register.checks"
      paging="walk"
      filters={filters}
      columns={ofAll}
      empty="No register was asked."
    />
  )
}

/** Those about one player. */
export function PlayerChecks({ player }: { readonly player: number }) {
  return (
    <List
      heading="Questions to registers"
      action="register.checks"
      query={{ player }}
      paging="walk"
      columns={ofOne}
      empty="No register was asked about the player."
    />
  )
}
