/** Permissions of roles: one table, read by the middleware of the staff API. */
import type { Role } from "../domain/staff/Staff.ts"

/**
 * Subject of an action; decides its use by staff bound to operators:
 * - `operator`: records of one operator, or a list of them; limited to their operators;
 * - `one_operator`: work on the operator that the query names, or on all; they must name one of theirs;
 * - `catalogue`: reads of data that operators share; allowed;
 * - `installation`: the whole installation, or changes of shared data; never allowed;
 * - `self`: the actor's own account and session; allowed.
 */
export type Concern = "operator" | "one_operator" | "catalogue" | "installation" | "self"

interface Permission {
  /** Roles that may take it besides `admin`, which may take any. */
  readonly roles: ReadonlyArray<Role>
  readonly concern: Concern
  /**
   * - `money`: moves money towards a player or out of the operator; needs a named person once staff accounts exist;
   * - `authority`: changes permissions, or where money comes from.
   *
   * In a browser session both need the second factor within the last minutes, so that an unlocked screen does not suffice.
   */
  readonly is?: "money" | "authority"
}

const anyRole = ["support", "payments", "compliance"] as const

/** Every action (`docs/decisions/0048-staff-of-operators.md`). */
const permissions = {
  "staff.create": { roles: [], concern: "installation", is: "authority" },
  "staff.update": { roles: [], concern: "installation", is: "authority" },
  "staff.rotate": { roles: [], concern: "installation", is: "authority" },
  // of one's own account; of another's by admins, which its handler judges
  "staff.ticket": { roles: anyRole, concern: "self", is: "authority" },
  "staff.retire_bootstrap": { roles: [], concern: "installation", is: "authority" },
  "staff.list": { roles: [], concern: "installation" },
  // one's own account
  "session.show": { roles: anyRole, concern: "self" },
  "session.end": { roles: anyRole, concern: "self" },
  "session.list": { roles: anyRole, concern: "self" },
  "session.revoke": { roles: anyRole, concern: "self" },
  "session.revoke_all": { roles: anyRole, concern: "self" },
  "session.step_up": { roles: anyRole, concern: "self" },
  "session.second_factor": { roles: anyRole, concern: "self" },
  "session.confirm_second_factor": { roles: anyRole, concern: "self" },
  "session.password": { roles: anyRole, concern: "self" },
  "session.token": { roles: anyRole, concern: "self", is: "authority" },
  "operator.create": { roles: [], concern: "installation" },
  "operator.update": { roles: [], concern: "operator", is: "authority" },
  "operator.list": { roles: anyRole, concern: "operator" },
  "key.create": { roles: [], concern: "operator", is: "authority" },
  "key.rotate": { roles: [], concern: "operator", is: "authority" },
  "key.revoke": { roles: [], concern: "operator" },
  "key.list": { roles: ["support"], concern: "operator" },
  "provider.create": { roles: [], concern: "installation", is: "authority" },
  "provider.update": { roles: [], concern: "installation", is: "authority" },
  "provider.rotate": { roles: [], concern: "installation", is: "authority" },
  "provider.sync": { roles: [], concern: "installation" },
  // a vendor's day is of all operators' players
  "provider.reconcile": { roles: ["payments", "compliance"], concern: "installation" },
  "provider.show": { roles: anyRole, concern: "catalogue" },
  // of players of other operators only that there was a call
  "provider.calls": { roles: anyRole, concern: "catalogue" },
  "provider.list": { roles: anyRole, concern: "catalogue" },
  "game.create": { roles: [], concern: "installation" },
  "game.update": { roles: [], concern: "installation" },
  "game.list": { roles: anyRole, concern: "catalogue" },
  "payment_method.create": { roles: ["payments"], concern: "operator" },
  "payment_method.update": { roles: ["payments"], concern: "operator" },
  "payment_method.list": { roles: anyRole, concern: "operator" },
  // a bonus becomes money by wagering or at once, and its code grants it to any player, outside all budgets
  "bonus.create": { roles: [], concern: "operator", is: "authority" },
  "bonus.update": { roles: [], concern: "operator", is: "authority" },
  "bonus.list": { roles: anyRole, concern: "operator" },
  "bonus.show": { roles: anyRole, concern: "operator" },
  "bonus.grants": { roles: anyRole, concern: "operator" },
  // support grants offered bonuses at their offered amount
  "bonus.grant": { roles: ["support", "payments"], concern: "operator", is: "money" },
  "bonus.cancel": { roles: ["support", "compliance"], concern: "operator" },
  "free_rounds.issue": { roles: ["payments"], concern: "operator", is: "money" },
  "free_rounds.cancel": { roles: ["support", "payments"], concern: "operator" },
  "free_rounds.list": { roles: anyRole, concern: "operator" },
  "promo.create": { roles: [], concern: "operator", is: "authority" },
  "promo.update": { roles: [], concern: "operator", is: "authority" },
  "promo.list": { roles: anyRole, concern: "operator" },
  "player.show": { roles: anyRole, concern: "operator" },
  "player.list": { roles: anyRole, concern: "operator" },
  "player.wallet": { roles: anyRole, concern: "operator" },
  "player.transactions": { roles: anyRole, concern: "operator" },
  "player.bonuses": { roles: anyRole, concern: "operator" },
  "player.sessions": { roles: anyRole, concern: "operator" },
  // alerts and the audit log in it are for the roles that may list them
  "player.timeline": { roles: anyRole, concern: "operator" },
  "player.limits": { roles: anyRole, concern: "operator" },
  "player.status": { roles: ["support", "compliance"], concern: "operator" },
  "player.kyc": { roles: ["compliance"], concern: "operator", is: "authority" },
  "player.restrict": { roles: ["support", "compliance"], concern: "operator" },
  "player.sign_out": { roles: ["support", "compliance"], concern: "operator" },
  "player.correct": { roles: ["payments"], concern: "operator", is: "money" },
  "correction.list": { roles: ["payments", "compliance"], concern: "operator" },
  "correction.approve": { roles: ["payments"], concern: "operator", is: "money" },
  "correction.reject": { roles: ["payments"], concern: "operator" },
  "player.note": { roles: anyRole, concern: "operator" },
  "player.notes": { roles: anyRole, concern: "operator" },
  "player.retire_seeds": { roles: ["support"], concern: "operator" },
  "payment.show": { roles: anyRole, concern: "operator" },
  "payment.list": { roles: anyRole, concern: "operator" },
  "payment.approve": { roles: ["payments"], concern: "operator", is: "money" },
  "payment.pay": { roles: ["payments"], concern: "operator", is: "money" },
  "payment.reject": { roles: ["payments"], concern: "operator" },
  "payment.cancel": { roles: ["payments"], concern: "operator" },
  "payment.chargeback": { roles: ["payments"], concern: "operator" },
  "round.list": { roles: anyRole, concern: "operator" },
  "round.search": { roles: anyRole, concern: "operator" },
  "round.show": { roles: anyRole, concern: "operator" },
  "round.close": { roles: ["support", "payments"], concern: "operator" },
  // results of each kind need the role that may list that kind
  "search.find": { roles: anyRole, concern: "operator" },
  "job.list": { roles: anyRole, concern: "catalogue" },
  "node.list": { roles: anyRole, concern: "catalogue" },
  "node.drain": { roles: [], concern: "installation" },
  "webhook.create": { roles: [], concern: "operator", is: "authority" },
  "webhook.rotate": { roles: [], concern: "operator", is: "authority" },
  "webhook.update": { roles: [], concern: "operator", is: "authority" },
  "webhook.ping": { roles: ["support"], concern: "operator" },
  "webhook.list": { roles: ["support"], concern: "operator" },
  "webhook.redeliver": { roles: ["support"], concern: "operator" },
  "delivery.list": { roles: ["support"], concern: "operator" },
  "delivery.show": { roles: ["support"], concern: "operator" },
  "delivery.retry": { roles: ["support"], concern: "operator" },
  "alert.list": { roles: ["compliance"], concern: "operator" },
  "alert.show": { roles: ["compliance"], concern: "operator" },
  "alert.update": { roles: ["compliance"], concern: "operator" },
  "alert.assign": { roles: ["compliance"], concern: "operator" },
  "alert.hold": { roles: ["compliance"], concern: "operator" },
  "alert.release": { roles: ["compliance"], concern: "operator", is: "authority" },
  "alert.rules": { roles: ["compliance"], concern: "operator" },
  "alert.configure": { roles: ["compliance"], concern: "operator", is: "authority" },
  // not `payments`, which approves withdrawals: a rate decides which of them need two approvals
  "rate.set": { roles: ["compliance"], concern: "installation", is: "authority" },
  "rate.list": { roles: anyRole, concern: "catalogue" },
  "report.ggr": { roles: ["payments", "compliance"], concern: "operator" },
  "report.series": { roles: ["payments", "compliance"], concern: "operator" },
  "report.breakdown": { roles: ["payments", "compliance"], concern: "operator" },
  "report.funds": { roles: ["payments", "compliance"], concern: "operator" },
  "report.bonuses": { roles: ["payments", "compliance"], concern: "operator" },
  "figures.overview": { roles: anyRole, concern: "operator" },
  "figures.live": { roles: anyRole, concern: "operator" },
  "ledger.entries": { roles: anyRole, concern: "operator" },
  "ledger.verify": { roles: ["payments", "compliance"], concern: "one_operator" },
  "ledger.accept_restore": { roles: [], concern: "installation", is: "authority" },
  "ledger.export": { roles: ["compliance"], concern: "one_operator" },
  "secret.list": { roles: [], concern: "installation" },
  "secret.reseal": { roles: [], concern: "installation", is: "authority" },
  "audit.list": { roles: ["compliance"], concern: "operator" }
} as const satisfies { readonly [action: string]: Permission }

export type Action = keyof typeof permissions

/** Whether there is an action of this name. */
export const isAction = (name: string): name is Action => Object.hasOwn(permissions, name)

/** Every action there is. */
export const actions: ReadonlyArray<Action> = Object.keys(permissions).filter(isAction)

const permissionOf = (name: string): Permission | undefined => isAction(name) ? permissions[name] : undefined

/** Subject of an action; `installation` for an unknown name. */
export const concernOf = (name: string): Concern => permissionOf(name)?.concern ?? "installation"

export const isMoneyAction = (name: string): name is Action => permissionOf(name)?.is === "money"

/** Every role that may take the action of this name; none for a name that is no action. */
export const rolesFor = (name: string): ReadonlyArray<Role> => {
  const permission = permissionOf(name)
  return permission === undefined ? [] : ["admin", ...permission.roles]
}

/** Every action that an actor may take: of the role, and open to staff bound to operators where the actor is. */
export const actionsOf = (
  { operators, role }: { readonly operators: ReadonlyArray<number> | null; readonly role: Role }
): ReadonlyArray<Action> =>
  actions.filter((action) =>
    rolesFor(action).includes(role) && (operators === null || concernOf(action) !== "installation")
  )

/** Whether the action of this name takes the second factor again. */
export const needsStepUp = (name: string): boolean => permissionOf(name)?.is !== undefined
