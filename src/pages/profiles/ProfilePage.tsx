/** One jurisdiction profile: its rules in words with their legal sources, its versions, and what each version changes. */
import { Alert, Group, Stack, Text } from "@mantine/core"
import { confidenceWords, profileInWords } from "../../domain/jurisdiction/ProfileText.ts"
import { noneCode } from "../../domain/jurisdiction/Profile.ts"
import { useAddress, usePathPart } from "../app/address.ts"
import type { Data } from "../app/api.ts"
import { useColleagues } from "../app/colleagues.ts"
import { useAnswer } from "../app/queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Section, TableSection } from "../parts/Section.tsx"
import { columnsOfList, factsOf } from "../parts/shown.tsx"
import { moneyText, PageLink, Status } from "../parts/Values.tsx"
import { Differences } from "./Differences.tsx"
import { ImportProfile } from "./ImportProfile.tsx"
import { Since } from "./Since.tsx"

type Found = Data<"profile.show">
type Rule = ReturnType<typeof profileInWords>[number]["rules"][number]

const ruleColumns: ReadonlyArray<Column<Rule>> = [
  { id: "rule", header: "Rule", width: 260, cell: ({ label }) => label },
  {
    id: "text",
    header: "What it says",
    cell: ({ text }) => <div className="whole-text">{text}</div>
  },
  {
    id: "source",
    header: "Source",
    width: 380,
    cell: ({ source }) => <div className="whole-text">{source === undefined ? "–" : source.source}</div>
  },
  {
    id: "confidence",
    header: "How sure",
    width: 170,
    cell: ({ source }) => source === undefined ? "–" : `${source.confidence}: ${confidenceWords[source.confidence]}`
  }
]

const versionColumns = columnsOfList(
  "profile.show",
  "versions",
  ["version", {
    isLeft: true,
    cell: ({ code, version }) => <PageLink to={`/profiles/${code}?version=${version}`}>{`Version ${version}`}</PageLink>
  }],
  ["status", {
    cell: ({ is_current: isCurrent, status }) => (
      <Group gap={4}>
        <Status of={status} />
        {isCurrent && <Status of="counts now" />}
      </Group>
    )
  }],
  ["valid_from", { label: "Counts from", cell: ({ valid_from: from }) => <Since at={from} /> }]
)

/** Approves a version that waits; not offered to the person who added it. */
function Approval({ profile }: { readonly profile: Found }) {
  const { actorOf, own } = useColleagues()
  const { code, differences, imported_by: by, version } = profile
  const isOwn = own !== null && own !== undefined && by === `staff:${own}`
  const looser = differences.filter(({ effect }) => effect === "looser").length
  return (
    <Alert color="orange" variant="light" title={`Version ${version} waits for an approval`} role="note">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {isOwn
            ? "You added it: somebody else has to approve it."
            : `Added by ${by === null ? "nobody known" : actorOf(by)}. Nothing of it counts before it is approved.`}
        </Text>
        {!isOwn && (
          <ActionButton
            action="profile.approve"
            label="Approve version"
            params={{ code, version }}
            explanation={`What is stricter counts for every player at once.${
              looser === 0 ? "" : " What is looser counts after the time that a raise of a limit waits."
            } A version that was added earlier and waits cannot be approved afterwards.`}
            done={`Version ${version} of ${code} is approved`}
            button={{ variant: "filled" }}
          />
        )}
      </Stack>
    </Alert>
  )
}

function Profile({ profile }: { readonly profile: Found }) {
  const { actorOf } = useColleagues()
  const { approved_by: approver, code, differences, document, imported_by: importer, status, version, versions } =
    profile
  const current = versions.find(({ is_current: isCurrent }) => isCurrent)
  const newest = versions.findLast((one) => one.status === "proposed" && one.version > (current?.version ?? 0))
  const isLooserLater = profile.looser_from !== profile.valid_from
  return (
    <Stack>
      <PageHead heading={document.name}>
        {version === current?.version && code !== noneCode && <ImportProfile current={profile} />}
      </PageHead>
      <Facts
        facts={[
          ...factsOf(
            "profile.show",
            profile,
            "code",
            ["version", {
              cell: ({ version: shown }) => shown === current?.version ? `${shown}, which counts now` : `${shown}`
            }],
            "status",
            ["valid_from", { label: "Counts from", cell: ({ valid_from: from }) => <Since at={from} /> }]
          ),
          ...(isLooserLater
            ? factsOf("profile.show", profile, ["looser_from", { label: "What is looser counts from", seconds: true }])
            : []),
          ["Added by", importer === null ? "built in" : actorOf(importer)],
          approver !== null && ["Approved by", actorOf(approver)]
        ]}
      />
      {status === "proposed" && version > (current?.version ?? 0) && <Approval key={version} profile={profile} />}
      {newest !== undefined && newest.version !== version && (
        <Text size="sm">
          <PageLink to={`/profiles/${code}?version=${newest.version}`}>{`Version ${newest.version}`}</PageLink>{" "}
          waits for an approval.
        </Text>
      )}
      {differences.length > 0 && (
        <Section heading="What this version changes">
          <Text size="sm" c="dimmed">Against what counts without it when it begins.</Text>
          <Differences differences={differences} currency={document.currency} />
        </Section>
      )}
      {profileInWords(document, (amount) => moneyText(amount, document.currency)).map(({ heading, rules }) => (
        <TableSection
          key={heading}
          heading={heading}
          columns={ruleColumns}
          rows={rules}
          rowKey={({ path }) => path}
        />
      ))}
      <TableSection
        heading="Versions"
        columns={versionColumns}
        rows={versions.toReversed()}
        rowKey={({ version: one }) => one}
      />
    </Stack>
  )
}

export default function ProfilePage() {
  const code = usePathPart("code")
  const [search] = useAddress()
  const version = Number(search["version"])
  const query = useAnswer("profile.show", {
    params: { code },
    ...(Number.isInteger(version) && version > 0 ? { query: { version } } : {})
  })
  return query.data === undefined
    ? <Waiting query={query} />
    : <Profile key={query.data.data.code} profile={query.data.data} />
}
