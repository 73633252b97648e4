/** Alert rules of an operator, and their settings. */
import { Select, Stack, Text } from "@mantine/core"
import { useMemo } from "react"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useOperators } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { type FieldList, formOf } from "../parts/Fields.tsx"
import { operatorOptions } from "../parts/operatorOptions.ts"
import { List } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { asHeading, Status } from "../parts/Values.tsx"
import { ruleDescriptions } from "./findings.ts"

type Rule = Row<"alert.rules">

/** Fields used by a rule. */
const fieldsOf = (rule: Rule): FieldList => {
  const unlessNull = (value: number | null) => value === null ? false : {}
  return formOf("alert.configure", {
    operator: false,
    enabled: { label: "On", description: "" },
    severity: { description: "Of what just meets the rule." },
    stop_withdrawals: { label: "Its alerts stop the player's withdrawals", description: "" },
    threshold: unlessNull(rule.threshold),
    percent: unlessNull(rule.percent),
    count: unlessNull(rule.count),
    window_hours: unlessNull(rule.window_hours)
  }, { record: rule, currency: rule.currency })
}

const termsOf = ({ count, percent, window_hours: hours }: Rule): string =>
  [
    ...(count === null ? [] : [`${count} or more`]),
    ...(percent === null ? [] : [`${percent} %`]),
    ...(hours === null ? [] : [`${hours} hours`])
  ].join(", ")

const ruleColumns = (operator: string) =>
  columnsOf(
    "alert.rules",
    ["rule", {
      cell: ({ rule }) => (
        <>
          <Text size="sm" fw={600}>{asHeading(rule)}</Text>
          <Text size="xs" c="dimmed">{ruleDescriptions[rule]}</Text>
        </>
      )
    }],
    ["enabled", { label: "State", cell: ({ enabled }) => <Status of={enabled ? "on" : "off"} /> }],
    "severity",
    ["stop_withdrawals", {
      label: "Withdrawals",
      cell: ({ stop_withdrawals: stops }) => stops ? "stopped" : "go on"
    }],
    "threshold",
    { id: "terms", header: "Terms", cell: (rule) => termsOf(rule) || "–" },
    buttonColumn((rule) => (
      <ActionButton
        action="alert.configure"
        label="Change rule"
        params={{ rule: rule.rule }}
        fields={fieldsOf(rule)}
        toPayload={(values) => ({ ...values, operator })}
        isUpdate
        explanation={`${asHeading(rule.rule)}: ${ruleDescriptions[rule.rule]} Holds for what happens from now on.`}
        done={`${asHeading(rule.rule)} changed`}
      />
    ))
  )

export function AlertRules() {
  const [search, setSearch] = useAddress()
  const operators = useOperators()
  const chosen = operators.find(({ slug }) => slug === search["operator"]) ?? operators[0]
  const slug = chosen?.slug ?? ""
  const columns = useMemo(() => ruleColumns(slug), [slug])
  const query = useMemo(() => ({ operator: slug }), [slug])
  if (chosen === undefined) return <Text size="sm">No operator yet. Each has rules of its own.</Text>
  return (
    <Stack gap="sm">
      {operators.length > 1 && (
        <Select
          size="xs"
          w={220}
          label="Operator"
          data={operatorOptions(operators)}
          value={slug}
          allowDeselect={false}
          onChange={(operator) => setSearch({ operator: operator ?? undefined })}
        />
      )}
      <List
        key={slug}
        heading="Alert rules"
        action="alert.rules"
        paging="whole"
        query={query}
        columns={columns}
        rowKey={ruleKey}
        empty="No rules."
      />
    </Stack>
  )
}

const ruleKey = ({ rule }: Rule): string => rule
