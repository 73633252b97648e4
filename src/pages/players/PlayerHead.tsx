/** Header of the player page, the same on every tab: identity, money, and what the player may do now. */
import { Alert, Box, Button, CopyButton, Group, Stack } from "@mantine/core"
import { abilityInWords, abilityWords, closuresInWords } from "../../domain/standing/StandingText.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission, useSeveralOperators } from "../app/session.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Instant, Money, PageLink, Status, useInstantText } from "../parts/Values.tsx"
import { PlayerActions } from "./PlayerActions.tsx"
import type { Player, PlayerStanding } from "./player.ts"

/** Alerts that are counted. */
const maxAlerts = 100

/** Alerts that are not closed, as a link to them. */
function OpenAlerts({ player }: { readonly player: Player }) {
  const alerts = useAnswer("alert.list", { query: { player: player.id, limit: maxAlerts } }).data
  const open = (alerts?.data ?? []).filter(({ status }) => status !== "closed").length
  const more = alerts?.meta.next_cursor === null || alerts === undefined ? "" : "+"
  if (alerts === undefined) return <>…</>
  return open === 0 && more === ""
    ? <>none</>
    : <PageLink to={`/players/${player.id}?tab=alerts`}>{`${open}${more}`}</PageLink>
}

/** The last sign-in or launch of a game, whichever was later. */
function LastSeen({ player }: { readonly player: Player }) {
  const [launch] = useAnswer("player.sessions", { params: { player: player.id }, query: { limit: 1 } }).data?.data ?? []
  const moments = [player.last_login_at, launch?.opened_at].filter((at) => at !== null && at !== undefined)
  const last = moments.toSorted().at(-1)
  return last === undefined ? <>never</> : <Instant at={last} seconds={false} />
}

function Fact({ children, name }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <Box component="dt" fz="xs" c="dimmed">{name}</Box>
      <Box component="dd" fz="sm" m={0}>{children}</Box>
    </div>
  )
}

function HeadFacts({ player }: { readonly player: Player }) {
  const may = usePermission()
  const hasSeveral = useSeveralOperators()
  const operator = useOperatorOf()(player.operator_id)
  const wallet = useAnswer("player.wallet", { params: { player: player.id } }, { enabled: may("player.wallet") }).data
  const { currency, id } = player
  return (
    <Group component="dl" gap="lg" m={0} align="flex-start" style={{ rowGap: "var(--mantine-spacing-xs)" }}>
      <Fact name="Name">{`${player.first_name} ${player.last_name}`}</Fact>
      <Fact name="Id">
        <Group gap={6} wrap="nowrap">
          <span className="figure">{id}</span>
          <CopyButton value={String(id)}>
            {({ copied, copy }) => (
              <Button size="compact-sm" variant="default" onClick={copy} aria-label="Copy the id">
                {copied ? "Copied" : "Copy"}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Fact>
      {hasSeveral && <Fact name="Operator">{operator.name}</Fact>}
      {may("player.wallet") && (
        <>
          <Fact name="Balance">
            {wallet === undefined ? "…" : <Money amount={wallet.data.balance} currency={currency} />}
          </Fact>
          <Fact name="Bonus money">
            {wallet === undefined ? "…" : <Money amount={wallet.data.bonus_balance} currency={currency} />}
          </Fact>
        </>
      )}
      <Fact name="KYC">
        <Status of={player.kyc_status} />
      </Fact>
      {may("alert.list") && (
        <Fact name="Open alerts">
          <OpenAlerts player={player} />
        </Fact>
      )}
      <Fact name="Last seen">
        <LastSeen player={player} />
      </Fact>
    </Group>
  )
}

/** What the player may do, each answer with its cause. */
function Abilities({ standing }: { readonly standing: PlayerStanding }) {
  const date = useInstantText()
  return (
    <Group component="ul" aria-label="What the player may do now" gap={6} m={0} p={0} style={{ listStyle: "none" }}>
      {abilityWords.map(([name, words]) => {
        const ability = standing[name]
        const tint = `var(--mantine-color-${ability.is_allowed ? "green" : "red"}-light`
        return (
          <li
            key={name}
            className="status"
            style={{ background: `${tint})`, color: `${tint}-color)`, whiteSpace: "normal" }}
            {...(ability.message === null ? {} : { title: ability.message })}
          >
            {`${words}: ${abilityInWords(ability, date)}`}
          </li>
        )
      })}
    </Group>
  )
}

/** Whether the account is closed to its player, wholly or in part, so that `active` says too much. */
const useClosures = (player: Player, standing: PlayerStanding | undefined): ReadonlyArray<string> => {
  const date = useInstantText()
  return standing === undefined ? [] : closuresInWords(standing, player.status, player.self_exclusion, date)
}

export function PlayerHead({ player, standing }: {
  readonly player: Player
  readonly standing: PlayerStanding | undefined
}) {
  const closures = useClosures(player, standing)
  const isHeld = standing?.withdraw.cause === "compliance_hold"
  return (
    <Stack gap="sm">
      <PageHead heading={player.username}>
        <Status of={player.status} isMuted={closures.length > 0 && player.status === "active"} />
        {player.self_exclusion !== null && <Status of={player.self_exclusion.type} />}
        {isHeld && <Status of="held" />}
        {player.is_test && <Status of="test" />}
      </PageHead>
      {closures.length > 0 && (
        <Alert color="red" variant="light" role="note" aria-label="Standing" p="xs">
          {closures.map((sentence) => <div key={sentence}>{sentence}</div>)}
        </Alert>
      )}
      <HeadFacts player={player} />
      {standing !== undefined && <Abilities standing={standing} />}
      <Group gap="xs">
        <PlayerActions player={player} standing={standing} />
      </Group>
    </Stack>
  )
}
