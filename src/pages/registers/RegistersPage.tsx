/** National registers of excluded players: each operator's connection, whether the register answers, and the checks made. */
import { Group, Stack, Text } from "@mantine/core"
import { usePermission } from "../app/session.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Instant } from "../parts/Values.tsx"
import { Checks } from "./Checks.tsx"
import { kindNames } from "./kindNames.ts"
import { AddRegister, AddScreening, type Register, registerActions } from "./RegisterForm.tsx"

const filters = filtersOf("register.list")

/** What came of the newest question, in words. */
function LastCheck({ last_check: last }: Pick<Register, "last_check">) {
  if (last === null) return <>not asked yet</>
  const { answered_at: at, fault, verdict } = last
  return (
    <>
      {verdict === "unavailable"
        ? <Text span size="sm" c="red" fw={600}>{`does not answer: ${fault ?? "no reason"}`}</Text>
        : "answers"}, <Instant at={at} isBrief />
    </>
  )
}

const columns: ReadonlyArray<Column<Register>> = [
  ...columnsOf(
    "register.list",
    "operator_id",
    ["kind", { label: "Register", cell: ({ kind }) => kindNames[kind] }],
    "active"
  ),
  { id: "last_check", header: "Newest question", cell: (register) => <LastCheck {...register} /> },
  ...columnsOf("register.list", ["updated_at", { label: "Changed" }])
]

export default function RegistersPage() {
  const may = usePermission()
  return (
    <Stack>
      <ListPage
        heading="Registers"
        action="register.list"
        paging="whole"
        filters={filters}
        columns={columns}
        rowActions={registerActions}
        actions={
          <Group>
            <AddScreening />
            <AddRegister />
          </Group>
        }
        empty="No registers yet. An operator under a jurisdiction with a register needs a connection to it: without one nobody is let in."
      />
      {may("register.checks") && <Checks />}
    </Stack>
  )
}
