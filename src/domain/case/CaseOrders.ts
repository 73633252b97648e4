/**
 * Changes to a player that a staff decision on a case orders: withdrawal holds, obligations (such as proving the source of funds), the cap on net
 * deposits. All are idempotent.
 */
import { Schema } from "effect"
import { acceptDuties, acceptSettings } from "../player/AccountStatus.ts"
import { answer, type Context, type Decision } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { imposedKinds } from "../state/Obligation.ts"
import { activeHoldIds, type Player } from "../state/Player.ts"

const obligation = Schema.Literals(imposedKinds)

/** An order of a case to a player's actor. */
export const CaseOrder = Schema.Union([
  /** No withdrawal of the player is requested or paid out. */
  Schema.TaggedStruct("Hold", {}),
  Schema.TaggedStruct("Release", {}),
  /** Holds of alerts that were closed with the case. */
  Schema.TaggedStruct("ReleaseAlerts", { alerts: Schema.Array(Schema.Number) }),
  Schema.TaggedStruct("Impose", {
    obligation,
    /** From when it stops what it gates, epoch milliseconds; null: at once. */
    dueAt: Schema.NullOr(Schema.Number),
    /** Whether operators and webhooks may learn of it. */
    isTold: Schema.Boolean,
    /** What the player is told. */
    text: Schema.NullOr(Schema.String)
  }),
  Schema.TaggedStruct("Settle", { obligation, state: Schema.Literals(["met", "waived"]) }),
  /** The player's own cap on net deposits, minor units; null: the jurisdiction's. */
  Schema.TaggedStruct("Cap", { amount: Schema.NullOr(Schema.Number) })
])

export type CaseOrder = typeof CaseOrder.Type

export interface Ordered {
  readonly caseId: number
  /** Audit log label of the actor. */
  readonly actor: string
  readonly order: CaseOrder
}

type Step = (player: Player, context: Context) => Decision<Player, never>

/** Does what a case orders; nothing where it has been done. */
export const caseOrderStep = ({ actor, caseId, order }: Ordered): Step => (player, context) => {
  const reason = `case ${caseId}`
  const holding = (withdrawalHolds: Player["withdrawalHolds"]) =>
    acceptSettings(new Draft(player, context), { withdrawalHolds }, {
      actor,
      action: "player.hold",
      before: { withdrawal_holds: activeHoldIds(player.withdrawalHolds) },
      after: { withdrawal_holds: activeHoldIds(withdrawalHolds) },
      reason
    })
  const without = (ids: ReadonlyArray<number>) => {
    const left = player.withdrawalHolds.filter(({ alertId }) => !ids.includes(alertId))
    return left.length === player.withdrawalHolds.length ? answer(player, player) : holding(left)
  }
  switch (order._tag) {
    case "Hold":
      return player.withdrawalHolds.some(({ alertId }) => alertId === caseId)
        ? answer(player, player)
        : holding([...player.withdrawalHolds, { alertId: caseId, isLifted: false, isCase: true }])
    case "Release":
      return without([caseId])
    case "ReleaseAlerts":
      return without(order.alerts)
    case "Impose": {
      const { dueAt, isTold, obligation: kind, text } = order
      if (player.obligations.some((one) => one.kind === kind)) return answer(player, player)
      const shown = { kind, due_at: dueAt === null ? null : new Date(dueAt).toISOString() }
      return acceptDuties(new Draft(player, context), {
        changed: {},
        records: [{ actor, action: "obligation.impose", before: null, after: shown, reason }],
        imposed: { kind, dueAt, caseId, isTold, details: text === null ? {} : { text } }
      })
    }
    case "Settle": {
      const { obligation: kind, state } = order
      // a screening is one obligation for all cases about sanctions: the last of them ends it, whichever imposed it
      const open = player.obligations.find((one) =>
        one.kind === kind && (kind === "screening" || one.caseId === caseId)
      )
      if (open === undefined) return answer(player, player)
      return acceptDuties(new Draft(player, context), {
        changed: {},
        records: [{
          actor,
          action: "obligation.settle",
          before: { obligation_id: open.id, kind, state: "open" },
          after: { obligation_id: open.id, kind, state },
          reason
        }],
        ended: { id: open.id, state }
      })
    }
    case "Cap":
      return player.netDepositCap === order.amount
        ? answer(player, player)
        : acceptSettings(new Draft(player, context), { netDepositCap: order.amount }, {
          actor,
          action: "player.net_deposit_cap",
          before: { net_deposit_cap: player.netDepositCap },
          after: { net_deposit_cap: order.amount },
          reason
        })
  }
}
