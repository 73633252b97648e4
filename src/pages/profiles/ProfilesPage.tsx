/** Jurisdiction profiles, each with the version in force. */
import { ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { PageLink } from "../parts/Values.tsx"
import { ImportProfile } from "./ImportProfile.tsx"
import { Since } from "./Since.tsx"

const columns = columnsOf(
  "profile.list",
  ["name", { to: ({ code }) => `/profiles/${code}` }],
  "code",
  ["version", { label: "Version that counts" }],
  ["valid_from", { label: "Since", cell: ({ valid_from: from }) => <Since at={from} /> }],
  ["proposed", {
    label: "Waits for approval",
    isLeft: true,
    cell: ({ code, proposed }) =>
      proposed === null
        ? "–"
        : <PageLink to={`/profiles/${code}?version=${proposed}`}>{`Version ${proposed}`}</PageLink>
  }],
  ["operators", { label: "Operators that offer it" }]
)

export default function ProfilesPage() {
  return (
    <ListPage
      heading="Profiles"
      action="profile.list"
      paging="whole"
      columns={columns}
      actions={<ImportProfile />}
      empty="No profiles."
    />
  )
}
