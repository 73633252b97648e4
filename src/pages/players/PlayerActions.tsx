/** Staff actions on a player: daily ones as buttons, rare ones in a menu. */
import { Button, Menu, Text } from "@mantine/core"
import { useRef, useState } from "react"
import { documentExpiry, kycTransitions } from "../../domain/state/Player.ts"
import { type Action, changesBelow } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import type { RowAction } from "../parts/RowMenu.tsx"
import { asHeading, moneyText, PageLink } from "../parts/Values.tsx"
import { Erased } from "../privacy/Requests.tsx"
import { GrantBonus } from "./GrantBonus.tsx"
import { Exclude, SetLimit } from "./PlayerProtection.tsx"
import type { Player, PlayerStanding } from "./player.ts"

/** Corrects a balance: shows it, requires the username for confirmation, and a second person above the operator's threshold. */
function Correct({ player }: { readonly player: Player }) {
  const may = usePermission()
  const wallet = useAnswer("player.wallet", { params: { player: player.id } }, {
    enabled: may("player.correct") && may("player.wallet")
  }).data?.data
  const preview = ({ amount, wallet: kind }: Record<string, unknown>) => {
    const present = wallet?.wallets.find(({ type }) => type === kind)?.balance
    return present === undefined ? null : (
      <Text size="sm" aria-live="polite">
        Balance now {moneyText(present, player.currency)}
        {typeof amount === "number" && `, after it ${moneyText(present + amount, player.currency)}`}.
      </Text>
    )
  }
  return (
    <ActionButton
      action="player.correct"
      label="Correct balance"
      params={{ player: player.id }}
      fields={formOf("player.correct", {
        wallet: { required: true, description: "" },
        amount: { half: false, description: "With a minus: taken from the player." }
      }, { currency: player.currency })}
      explanation="Posts an entry to the ledger, which nothing takes back but a correction the other way. Above the operator's threshold it waits for a second person."
      preview={preview}
      typed={player.username}
      danger
      done="Correction taken in"
      result={({ data }) =>
        "requested_by" in data
          ? (
            <Text size="sm">
              It is above the operator's threshold and waits for a second person under{" "}
              <PageLink to="/payments?tab=corrections">Corrections</PageLink>. Nothing has moved yet.
            </Text>
          )
          : undefined}
    />
  )
}

function AddNote({ player }: { readonly player: Player }) {
  return (
    <ActionButton
      action="player.note"
      label="Add note"
      params={{ player: player.id }}
      fields={formOf("player.note", { text: { label: "Note", description: "" } })}
      explanation="Staff see it with the player, with who wrote it. It cannot be changed afterwards."
      done="Note added"
      button={{ variant: "filled" }}
    />
  )
}

function ChangeStatus({ player: { id, status, username } }: { readonly player: Player }) {
  const params = { player: id }
  return (
    <ActionButton
      action="player.status"
      label="Change status"
      params={params}
      fields={formOf("player.status", { status: { initial: status, description: "" } })}
      explanation="A locked or closed account neither signs in nor plays. Its money stays."
      done={`Status of ${username} changed`}
      undo={{ action: "player.status", request: { params, payload: { status, reason: "Taken back" } } }}
    />
  )
}

function ChangeKyc({ player: { id, kyc_status: kyc, username } }: { readonly player: Player }) {
  const params = { player: id }
  return (
    <ActionButton
      action="player.kyc"
      label="Change KYC"
      params={params}
      fields={formOf("player.kyc", {
        status: { label: "KYC status", options: kycTransitions[kyc], description: "" },
        document_expires_on: { half: false, description: `${asHeading(documentExpiry)}. Empty: not known.` }
      })}
      done={`KYC of ${username} changed`}
      undo={({ data }) =>
        // the expiry of the document is not known here
        kyc !== "verified" && kycTransitions[data.kyc_status].includes(kyc)
          ? { action: "player.kyc", request: { params, payload: { status: kyc, reason: "Taken back" } } }
          : undefined}
    />
  )
}

/** Rare actions, in a menu. The focus returns to its button. */
function More({ items }: { readonly items: ReadonlyArray<RowAction> }) {
  const may = usePermission()
  const button = useRef<HTMLButtonElement>(null)
  const [chosen, setChosen] = useState<RowAction>()
  const offered = items.filter(({ action }) => action === undefined || may(action))
  if (offered.length === 0) return null
  return (
    <>
      <Menu
        position="bottom-start"
        menuItemTabIndex={0}
        transitionProps={{ duration: 0 }}
        withInitialFocusPlaceholder={false}
      >
        <Menu.Target>
          <Button ref={button} size="compact-sm" variant="default">More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {offered.map((item) => (
            <Menu.Item
              key={item.label}
              onClick={() => setChosen(item)}
              {...(item.danger === true ? { c: "var(--mantine-color-error)" } : {})}
            >
              {item.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {chosen?.dialog(() => {
        setChosen(undefined)
        button.current?.focus({ preventScroll: true })
      })}
    </>
  )
}

/** Actions that a role takes now and then, and those that nothing takes back. */
const rareActions = (
  { id, restrictions, username }: Player,
  mayLift: boolean,
  isHeld: boolean
): ReadonlyArray<RowAction> => {
  const params = { player: id }
  return [
    rowAction({
      action: "player.restrict",
      label: "Restrict",
      params,
      fields: formOf("player.restrict", {
        // a hold of an alert, which the role may not lift
        ...(mayLift ? {} : { can_withdraw: false }),
        reason: { required: true }
      }, { record: restrictions }),
      isUpdate: true,
      done: `Restrictions of ${username} changed`,
      // of what was sent alone: an alert's hold would become a restriction by staff. One that was lifted is not put back by restricting
      undo: (_, { reason: _reason, ...sent }) => {
        const before = Object.fromEntries(Object.entries(sent).map(([ability, value]) => [ability, value !== true]))
        return isHeld && sent["can_withdraw"] === true ? undefined : {
          action: "player.restrict",
          request: { params, payload: { ...before, reason: "Taken back" } }
        }
      }
    }),
    rowAction({
      action: "player.sign_out",
      label: "Sign out everywhere",
      params,
      fields: formOf("player.sign_out"),
      explanation: "Ends all sessions of the player at operators and games. Rounds that are open are still settled.",
      typed: username,
      danger: true,
      done: `${username} is signed out`
    }),
    rowAction({
      action: "player.retire_seeds",
      label: "Retire seeds",
      params,
      fields: formOf("player.retire_seeds"),
      explanation:
        "For server seeds of originals that no key opens any more. They are never shown, and the player gets new ones.",
      typed: username,
      danger: true,
      done: "Seeds retired",
      result: ({ data }) => (
        <Text size="sm">
          {data.retired.length === 0
            ? "No seed was lost: nothing was retired."
            : `Retired: ${data.retired.join(", ")}`}
        </Text>
      )
    }),
    rowAction({
      action: "data.erase",
      label: "Erase personal data",
      params,
      fixed: { dry_run: false },
      explanation:
        "Erases for good what has not to be kept. The account has to be closed, without money, open rounds, payments, cases and exclusions. The ledger stays.",
      typed: username,
      danger: true,
      done: "Personal data erased",
      result: ({ data }) => <Erased {...data} />
    })
  ]
}

/** Daily actions, each with the button of its own that the page has for it. */
const dailyActions: { readonly [action in Action]?: (props: { readonly player: Player }) => React.ReactNode } = {
  "player.note": AddNote,
  "bonus.grant": GrantBonus,
  "player.limit": SetLimit,
  "player.exclude": Exclude,
  "player.status": ChangeStatus,
  "player.kyc": ChangeKyc,
  "player.correct": Correct
}

/** Actions on a player that the page places nowhere else: the name of each, and the form that the contract declares. */
const otherActions = ({ currency, id }: Player, rare: ReadonlyArray<RowAction>): ReadonlyArray<RowAction> => {
  const placed = new Set<string | undefined>([...Object.keys(dailyActions), ...rare.map(({ action }) => action)])
  return changesBelow("/players/:player").filter((action) => !placed.has(action)).map((action) =>
    rowAction({
      action,
      label: asHeading(action.replace(/^\w+\./, "")),
      params: { player: id },
      fields: formOf(action, {}, { currency })
    })
  )
}

/** Daily actions first, the rest in a menu. */
export function PlayerActions({ player, standing }: {
  readonly player: Player
  readonly standing: PlayerStanding | undefined
}) {
  const may = usePermission()
  const isHeld = standing?.withdraw.cause === "compliance_hold"
  const rare = rareActions(player, may("alert.update") || !isHeld, isHeld)
  return (
    <>
      {Object.entries(dailyActions).map(([action, Daily]) => <Daily key={action} player={player} />)}
      <More items={[...rare, ...otherActions(player, rare)]} />
    </>
  )
}
