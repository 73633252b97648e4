/** Chart of an operator's gross gaming revenue (GGR) by hour, today beside the same weekday of last week. */
import { Select, Text } from "@mantine/core"
import { lazy, Suspense, useCallback, useMemo, useState } from "react"
import { useTimeZone } from "../app/preferences.tsx"
import { useAnswer } from "../app/queries.ts"
import { useOperators } from "../app/session.tsx"
import { operatorOptions } from "../parts/operatorOptions.ts"
import { Section } from "../parts/Section.tsx"
import { moneyText } from "../parts/Values.tsx"

const Chart = lazy(() => import("../parts/Chart.tsx"))

const dayMs = 86_400_000

/** GGR of an operator by hour of today (UTC), beside the same weekday of last week. */
export function GgrByHour({ at }: { readonly at: string }) {
  const operators = useOperators()
  const [chosen, setChosen] = useState<string>()
  const [timeZone] = useTimeZone()
  const operator = operators.find(({ slug }) => slug === chosen) ?? operators[0]
  const [today, before] = [at.slice(0, 10), new Date(Date.parse(at) - 7 * dayMs).toISOString().slice(0, 10)]
  const ofDay = (day: string) =>
    ({ query: { operator: operator?.slug ?? "", metric: "ggr", step: "hour", from: day, to: day } }) as const
  const options = { enabled: operator !== undefined, refetchMs: 300_000 }
  const now = useAnswer("report.series", ofDay(today), options).data?.data
  const then = useAnswer("report.series", ofDay(before), options).data?.data
  const currency = operator?.currency ?? "EUR"
  const format = useCallback((value: number) => moneyText(value, currency), [currency])
  const earlier = useMemo(
    () => then && { before: { unit: "Last week", values: then.points.map(({ value }) => value) } },
    [then]
  )
  if (operator === undefined || now === undefined) return null
  return (
    <Section
      heading="GGR by hour"
      actions={operators.length > 1 && (
        <Select
          size="xs"
          w={180}
          aria-label="Operator of the picture"
          data={operatorOptions(operators)}
          value={operator.slug}
          allowDeselect={false}
          onChange={(slug) => setChosen(slug ?? undefined)}
        />
      )}
    >
      <Suspense fallback={<Text size="sm">Loading …</Text>}>
        <Chart
          label={`GGR of ${operator.name} by hour, today and on the same weekday of last week`}
          unit="Today"
          points={now.points}
          {...earlier}
          format={format}
          timeZone={timeZone}
          height={180}
        />
      </Suspense>
    </Section>
  )
}
