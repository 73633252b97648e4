/** Compliance of a player: actions refused now, obligations not met yet (such as a limit review), register checks, data requests. */
import { Group, Stack, Text } from "@mantine/core"
import { durationText } from "../../domain/jurisdiction/Duration.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { DataTable } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Section } from "../parts/Section.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { Instant, PageLink, words } from "../parts/Values.tsx"
import { OpenCase, PlayerCases } from "../cases/CasesPage.tsx"
import { PlayerRequests } from "../privacy/Requests.tsx"
import { PlayerChecks } from "../registers/Checks.tsx"
import type { Player } from "./player.ts"

type Compliance = Data<"player.compliance">
type Obligation = Compliance["obligations"][number]

const stopped = (kinds: ReadonlyArray<string>): string => kinds.length === 0 ? "nothing" : kinds.map(words).join(", ")

/** Waives an obligation; required limits cannot be waived. */
function Waive({ obligation: { id, kind } }: { readonly obligation: Obligation }) {
  if (kind === "required_limits") return null
  return (
    <ActionButton
      action="obligation.waive"
      label="Waive"
      params={{ obligation: id }}
      fields={formOf("obligation.waive")}
      explanation="Opens its gate at once and for good, without the player's answer."
      danger
      done="Obligation waived"
    />
  )
}

const columns = columnsOfList(
  "player.compliance",
  "obligations",
  ["kind", { label: "Obligation" }],
  ["gates", { label: "Stops", cell: ({ gates }) => stopped(gates) }],
  ["created_at", { label: "Since" }],
  ["due_at", { label: "Due" }],
  buttonColumn((obligation) => <Waive obligation={obligation} />)
)

function Rules({ jurisdiction }: Pick<Compliance, "jurisdiction">) {
  const { code, looser_from: looser, moved_from: from, name, version } = jurisdiction
  return (
    <>
      <PageLink to={`/profiles/${code}`}>{name}</PageLink>, version {version}
      {from !== null && (
        <>
          ; the stricter rules of {from} count as well until <Instant at={looser} seconds={false} isBrief />
        </>
      )}
    </>
  )
}

function RealityCheck({ check }: { readonly check: Compliance["reality_check"] }) {
  const { due_at: dueAt, interval, own_interval: own } = check
  if (interval === null) return "none"
  return (
    <>
      every {durationText(interval)}, {own === null ? "by the jurisdiction" : "as the player set it"}
      {dueAt !== null && (
        <>
          ; due <Instant at={dueAt} isBrief />
        </>
      )}
    </>
  )
}

export function PlayerCompliance({ player }: { readonly player: Player }) {
  const may = usePermission()
  const operator = useOperators().find(({ id }) => id === player.operator_id)
  const query = useAnswer("player.compliance", { params: { player: player.id } })
  const found = query.data?.data
  if (found === undefined) return <Waiting query={query} />
  const codes = (operator?.profiles ?? []).filter((code) => code !== found.jurisdiction.code)
  const { gates, jurisdiction, obligations, reality_check: check, self_exclusion: exclusion, terms } = found
  return (
    <Stack>
      <Group justify="flex-end">
        <ActionButton
          action="player.jurisdiction"
          label="Move to another jurisdiction"
          params={{ player: player.id }}
          fields={formOf("player.jurisdiction", {
            to: {
              label: "Jurisdiction",
              description: "",
              ...(codes.length === 0 ? {} : { kind: "choice", options: codes })
            }
          })}
          explanation="What is stricter there counts at once; what is looser waits as a raise of a limit would. What runs goes on."
          done="Player moved"
        />
      </Group>
      <Facts
        columns={2}
        facts={[
          ["Jurisdiction", <Rules jurisdiction={jurisdiction} />],
          ["Play is stopped by", stopped(gates.play)],
          ["Deposits are stopped by", stopped(gates.deposit)],
          [
            "Terms accepted",
            terms.required === null
              ? terms.accepted ?? "–"
              : `${terms.accepted ?? "none"}, version ${terms.required} is needed`
          ],
          ["Reality check", <RealityCheck check={check} />],
          [
            "Exclusion",
            exclusion === null ? "none" : (
              <>
                {words(exclusion.type)} {exclusion.until === null
                  ? "without an end"
                  : (
                    <>
                      until <Instant at={exclusion.until} seconds={false} isBrief />
                    </>
                  )}
                {exclusion.ends === "on_request" && ", ends at the player's request only"}
              </>
            )
          ]
        ]}
      />
      <Section heading="Obligations">
        {obligations.length === 0
          ? <Text size="sm">Nothing is owed.</Text>
          : <DataTable label="Obligations" columns={columns} rows={obligations} rowKey={({ id }) => String(id)} />}
      </Section>
      {may("case.list") && (
        <Section heading="Cases" actions={<OpenCase player={player.id} />}>
          <PlayerCases player={player.id} />
        </Section>
      )}
      {may("register.checks") && (
        <Section heading="Registers">
          <PlayerChecks player={player.id} />
        </Section>
      )}
      {may("data.requests") && (
        <Section heading="Data requests">
          <PlayerRequests player={player.id} />
        </Section>
      )}
    </Stack>
  )
}
