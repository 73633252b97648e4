/** Staff actions on a player, with the reason for the audit log. */
import { Text } from "@mantine/core"
import { documentExpiry, kycTransitions } from "../../domain/state/Player.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import { asHeading, moneyText, PageLink } from "../parts/Values.tsx"
import type { Player } from "./player.ts"

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

export function PlayerActions({ player }: { readonly player: Player }) {
  const { id, kyc_status: kyc, status, username } = player
  const params = { player: id }
  return (
    <>
      <ActionButton
        action="player.status"
        label="Change status"
        params={params}
        fields={formOf("player.status", { status: { initial: status, description: "" } })}
        explanation="A locked or closed account neither signs in nor plays. Its money stays."
        done={`Status of ${username} changed`}
        undo={{ action: "player.status", request: { params, payload: { status, reason: "Taken back" } } }}
      />
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
      <ActionButton
        action="player.restrict"
        label="Restrict"
        params={params}
        fields={formOf("player.restrict", {}, { record: player.restrictions })}
        isUpdate
        done={`Restrictions of ${username} changed`}
        undo={{ action: "player.restrict", request: { params, payload: player.restrictions } }}
      />
      <ActionButton
        action="player.note"
        label="Add note"
        params={params}
        fields={formOf("player.note", { text: { label: "Note", description: "" } })}
        explanation="Staff see it with the player, with who wrote it. It cannot be changed afterwards."
        done="Note added"
      />
      <Correct player={player} />
      <ActionButton
        action="player.sign_out"
        label="Sign out everywhere"
        params={params}
        fields={formOf("player.sign_out")}
        explanation="Ends all sessions of the player at operators and games. Rounds that are open are still settled."
        typed={username}
        danger
        done={`${username} is signed out`}
      />
      <ActionButton
        action="player.retire_seeds"
        label="Retire seeds"
        params={params}
        fields={formOf("player.retire_seeds")}
        explanation="For server seeds of originals that no key opens any more. They are never shown, and the player gets new ones."
        typed={username}
        danger
        done="Seeds retired"
        result={({ data }) => (
          <Text size="sm">
            {data.retired.length === 0
              ? "No seed was lost: nothing was retired."
              : `Retired: ${data.retired.join(", ")}`}
          </Text>
        )}
      />
    </>
  )
}
