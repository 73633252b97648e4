/** Tables of data subject requests, and the outcome of an erasure. */
import { Stack, Text } from "@mantine/core"
import type { Data, Row } from "../app/api.ts"
import { filtersOf, List, ListSection } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Instant, words } from "../parts/Values.tsx"

type Kept = Data<"data.erase">["kept"]

/** Classes that are kept, each with its time. */
function KeptClasses({ kept }: { readonly kept: Kept }) {
  if (kept.length === 0) return <>nothing</>
  return (
    <>
      {kept.map(({ class: name, until }, place) => (
        <Text span size="sm" key={name}>
          {place === 0 ? "" : "; "}
          {words(name)} {until === null ? "until its period begins" : (
            <>
              until <Instant at={until} seconds={false} isBrief />
            </>
          )}
        </Text>
      ))}
    </>
  )
}

const shownOf = [
  "type",
  "status",
  "due_at",
  "completed_at",
  {
    id: "kept",
    header: "Kept",
    cell: ({ result }: Row<"data.requests">) => result === null ? "–" : <KeptClasses kept={result.kept} />
  },
  ["created_by", { label: "By" }]
] as const

const ofAll = columnsOf("data.requests", "created_at", "player_id", "operator_id", ...shownOf)

const ofOne = columnsOf("data.requests", "created_at", ...shownOf)

const filters = filtersOf("data.requests")

/** Those of all operators that may be seen. */
export function Requests() {
  return (
    <ListSection
      heading="Data requests"
      action="data.requests"
      paging="walk"
      filters={filters}
      columns={ofAll}
      empty="Nobody has asked for their data, or for its erasure."
    />
  )
}

/** Those of one player. */
export function PlayerRequests({ player }: { readonly player: number }) {
  return (
    <List
      heading="Data requests"
      action="data.requests"
      query={{ player }}
      paging="walk"
      columns={ofOne}
      empty="The player has not asked for their data, or for its erasure."
    />
  )
}

/** What an erasure did. */
export function Erased({ erased, kept }: Pick<Data<"data.erase">, "erased" | "kept">) {
  return (
    <Stack gap="xs">
      <Text size="sm">Erased: {erased.map(words).join(", ") || "nothing"}.</Text>
      <Text size="sm">
        Kept: <KeptClasses kept={kept} />.
      </Text>
    </Stack>
  )
}
