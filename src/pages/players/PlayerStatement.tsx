/** Account statement of a player: choice of the period, and download of its documents. */
import { Button, Group, Text, TextInput } from "@mantine/core"
import { useState } from "react"
import { maxStatementDays } from "../../domain/wallet/Statement.ts"
import { addressOf } from "../app/api.ts"
import { ExportLinks } from "../parts/ListPage.tsx"
import { Section } from "../parts/Section.tsx"
import type { Player } from "./player.ts"

const dayMs = 86_400_000

/** The month before this one, UTC. */
const lastMonth = () => {
  const now = new Date()
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))
  return { from: first.toISOString().slice(0, 10), to: last.toISOString().slice(0, 10) }
}

export function PlayerStatement({ player }: { readonly player: Player }) {
  const [period, setPeriod] = useState(lastMonth)
  const days = (Date.parse(period.to) - Date.parse(period.from)) / dayMs + 1
  const problem = Number.isNaN(days)
    ? "Both days are needed."
    : days < 1
    ? "The last day is before the first."
    : days > maxStatementDays
    ? `A statement has ${maxStatementDays} days at most.`
    : undefined
  const params = { player: player.id }
  return (
    <Section heading="Statement">
      <Group align="end" gap="xs">
        {(["from", "to"] as const).map((name) => (
          <TextInput
            key={name}
            size="xs"
            type="date"
            label={name === "from" ? "First day (UTC)" : "Last day (UTC)"}
            value={period[name]}
            onChange={({ currentTarget: { value } }) => setPeriod((before) => ({ ...before, [name]: value }))}
          />
        ))}
        {problem === undefined
          ? (
            <>
              <Button
                size="xs"
                variant="default"
                component="a"
                href={addressOf("player.statement", params, { ...period, format: "html" })}
                target="_blank"
                rel="noopener"
              >
                Page to print
              </Button>
              <ExportLinks action="player.statement" params={params} query={period} of="statement" />
            </>
          )
          : <Text size="sm">{problem}</Text>}
      </Group>
    </Section>
  )
}
