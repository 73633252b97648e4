/** Permissions of roles: one table, read by the middleware of the staff API. */

export type Role = "admin" | "support" | "payments" | "compliance"

/** The roles that may take an action, besides `admin`, which may take any. */
export const rolesByAction = {
  "staff.create": [],
  "staff.update": [],
  "staff.rotate": [],
  // of one's own account; of another's by admins, which its handler judges
  "staff.ticket": ["support", "payments", "compliance"],
  "staff.retire_bootstrap": [],
  "staff.list": [],
  // one's own account
  "session.show": ["support", "payments", "compliance"],
  "session.end": ["support", "payments", "compliance"],
  "session.list": ["support", "payments", "compliance"],
  "session.revoke": ["support", "payments", "compliance"],
  "session.revoke_all": ["support", "payments", "compliance"],
  "session.step_up": ["support", "payments", "compliance"],
  "session.second_factor": ["support", "payments", "compliance"],
  "session.confirm_second_factor": ["support", "payments", "compliance"],
  "session.password": ["support", "payments", "compliance"],
  "operator.create": [],
  "operator.update": [],
  "operator.list": ["support", "payments", "compliance"],
  "key.create": [],
  "key.rotate": [],
  "key.revoke": [],
  "key.list": ["support"],
  "provider.create": [],
  "provider.update": [],
  "provider.rotate": [],
  "provider.sync": [],
  "provider.reconcile": ["payments", "compliance"],
  "provider.show": ["support", "payments", "compliance"],
  "provider.calls": ["support", "payments", "compliance"],
  "provider.list": ["support", "payments", "compliance"],
  "game.create": [],
  "game.update": [],
  "game.list": ["support", "payments", "compliance"],
  "payment_method.create": ["payments"],
  "payment_method.update": ["payments"],
  "payment_method.list": ["support", "payments", "compliance"],
  // a bonus is money once it is wagered, or at once, and a code gives it to every player who enters it, outside all budgets
  "bonus.create": [],
  "bonus.update": [],
  "bonus.list": ["support", "payments", "compliance"],
  "bonus.show": ["support", "payments", "compliance"],
  "bonus.grants": ["support", "payments", "compliance"],
  // support grants what is on offer, for the amount that it is on offer for
  "bonus.grant": ["support", "payments"],
  "bonus.cancel": ["support", "compliance"],
  "free_rounds.issue": ["payments"],
  "free_rounds.cancel": ["support", "payments"],
  "free_rounds.list": ["support", "payments", "compliance"],
  "promo.create": [],
  "promo.update": [],
  "promo.list": ["support", "payments", "compliance"],
  "player.show": ["support", "payments", "compliance"],
  "player.list": ["support", "payments", "compliance"],
  "player.wallet": ["support", "payments", "compliance"],
  "player.transactions": ["support", "payments", "compliance"],
  "player.bonuses": ["support", "payments", "compliance"],
  "player.sessions": ["support", "payments", "compliance"],
  // alerts and the audit log in it are for the roles that may list them
  "player.timeline": ["support", "payments", "compliance"],
  "player.limits": ["support", "payments", "compliance"],
  "player.status": ["support", "compliance"],
  "player.kyc": ["compliance"],
  "player.restrict": ["support", "compliance"],
  "player.sign_out": ["support", "compliance"],
  "player.correct": ["payments"],
  "correction.list": ["payments", "compliance"],
  "correction.approve": ["payments"],
  "correction.reject": ["payments"],
  "player.note": ["support", "payments", "compliance"],
  "player.notes": ["support", "payments", "compliance"],
  "player.retire_seeds": ["support"],
  "payment.show": ["support", "payments", "compliance"],
  "payment.list": ["support", "payments", "compliance"],
  "payment.approve": ["payments"],
  "payment.pay": ["payments"],
  "payment.reject": ["payments"],
  "payment.cancel": ["payments"],
  "payment.chargeback": ["payments"],
  "round.list": ["support", "payments", "compliance"],
  "round.search": ["support", "payments", "compliance"],
  "round.show": ["support", "payments", "compliance"],
  // each kind of what it finds is for the roles that may list it
  "search.find": ["support", "payments", "compliance"],
  "job.list": ["support", "payments", "compliance"],
  "node.list": ["support", "payments", "compliance"],
  "node.drain": [],
  "webhook.create": [],
  "webhook.rotate": [],
  "webhook.update": [],
  "webhook.ping": ["support"],
  "webhook.list": ["support"],
  "webhook.redeliver": ["support"],
  "delivery.list": ["support"],
  "delivery.show": ["support"],
  "delivery.retry": ["support"],
  "alert.list": ["compliance"],
  "alert.show": ["compliance"],
  "alert.update": ["compliance"],
  "alert.assign": ["compliance"],
  "alert.hold": ["compliance"],
  "alert.release": ["compliance"],
  "alert.rules": ["compliance"],
  "alert.configure": ["compliance"],
  // not who approves: a rate decides which withdrawals take two approvals
  "rate.set": ["compliance"],
  "rate.list": ["support", "payments", "compliance"],
  "report.ggr": ["payments", "compliance"],
  "report.series": ["payments", "compliance"],
  "report.breakdown": ["payments", "compliance"],
  "report.funds": ["payments", "compliance"],
  "report.bonuses": ["payments", "compliance"],
  "figures.overview": ["support", "payments", "compliance"],
  "figures.live": ["support", "payments", "compliance"],
  "ledger.entries": ["support", "payments", "compliance"],
  "ledger.verify": ["payments", "compliance"],
  "ledger.export": ["compliance"],
  "secret.list": [],
  "secret.reseal": [],
  "audit.list": ["compliance"]
} as const satisfies { readonly [action: string]: ReadonlyArray<Role> }

export type Action = keyof typeof rolesByAction

/**
 * What an action concerns, which decides what staff bound to operators may do:
 * - `operator`: records of one operator, or a list of such: theirs, as if there were no others;
 * - `one_operator`: work on the operator that the query names, or on all: they name one of theirs;
 * - `catalogue`: reading what operators share: as everyone;
 * - `installation`: the whole installation, or changes of what operators share: never;
 * - `self`: the actor's own account and session: as everyone.
 */
export type Concern = "operator" | "one_operator" | "catalogue" | "installation" | "self"

/** What each action concerns (`docs/decisions/0048-staff-of-operators.md`). */
export const concernByAction: { readonly [action in Action]: Concern } = {
  "staff.create": "installation",
  "staff.update": "installation",
  "staff.rotate": "installation",
  "staff.ticket": "self",
  "staff.retire_bootstrap": "installation",
  "staff.list": "installation",
  "session.show": "self",
  "session.end": "self",
  "session.list": "self",
  "session.revoke": "self",
  "session.revoke_all": "self",
  "session.step_up": "self",
  "session.second_factor": "self",
  "session.confirm_second_factor": "self",
  "session.password": "self",
  "operator.create": "installation",
  "operator.update": "operator",
  "operator.list": "operator",
  "key.create": "operator",
  "key.rotate": "operator",
  "key.revoke": "operator",
  "key.list": "operator",
  "provider.create": "installation",
  "provider.update": "installation",
  "provider.rotate": "installation",
  "provider.sync": "installation",
  // a vendor's day is of all operators' players
  "provider.reconcile": "installation",
  "provider.show": "catalogue",
  // of players of other operators only that there was a call
  "provider.calls": "catalogue",
  "provider.list": "catalogue",
  "game.create": "installation",
  "game.update": "installation",
  "game.list": "catalogue",
  "payment_method.create": "operator",
  "payment_method.update": "operator",
  "payment_method.list": "operator",
  "bonus.create": "operator",
  "bonus.update": "operator",
  "bonus.list": "operator",
  "bonus.show": "operator",
  "bonus.grants": "operator",
  "bonus.grant": "operator",
  "bonus.cancel": "operator",
  "free_rounds.issue": "operator",
  "free_rounds.cancel": "operator",
  "free_rounds.list": "operator",
  "promo.create": "operator",
  "promo.update": "operator",
  "promo.list": "operator",
  "player.show": "operator",
  "player.list": "operator",
  "player.wallet": "operator",
  "player.transactions": "operator",
  "player.bonuses": "operator",
  "player.limits": "operator",
  "player.sessions": "operator",
  "player.timeline": "operator",
  "player.status": "operator",
  "player.kyc": "operator",
  "player.restrict": "operator",
  "player.sign_out": "operator",
  "player.correct": "operator",
  "correction.list": "operator",
  "correction.approve": "operator",
  "correction.reject": "operator",
  "player.note": "operator",
  "player.notes": "operator",
  "player.retire_seeds": "operator",
  "payment.show": "operator",
  "payment.list": "operator",
  "payment.approve": "operator",
  "payment.pay": "operator",
  "payment.reject": "operator",
  "payment.cancel": "operator",
  "payment.chargeback": "operator",
  "round.list": "operator",
  "round.search": "operator",
  "round.show": "operator",
  "search.find": "operator",
  "job.list": "catalogue",
  "node.list": "catalogue",
  "node.drain": "installation",
  "webhook.create": "operator",
  "webhook.rotate": "operator",
  "webhook.update": "operator",
  "webhook.ping": "operator",
  "webhook.list": "operator",
  "webhook.redeliver": "operator",
  "delivery.list": "operator",
  "delivery.show": "operator",
  "delivery.retry": "operator",
  "alert.list": "operator",
  "alert.show": "operator",
  "alert.update": "operator",
  "alert.assign": "operator",
  "alert.hold": "operator",
  "alert.release": "operator",
  "alert.rules": "operator",
  "alert.configure": "operator",
  "rate.set": "installation",
  "rate.list": "catalogue",
  "report.ggr": "operator",
  "report.series": "operator",
  "report.breakdown": "operator",
  "report.funds": "operator",
  "report.bonuses": "operator",
  "figures.overview": "operator",
  "figures.live": "operator",
  "ledger.entries": "operator",
  "ledger.verify": "one_operator",
  "ledger.export": "one_operator",
  "secret.list": "installation",
  "secret.reseal": "installation",
  "audit.list": "operator"
}

/** Whether there is an action of this name. */
export const isAction = (name: string): name is Action => Object.hasOwn(rolesByAction, name)

/** What the action of this name concerns; `installation` for a name that is no action. */
export const concernOf = (name: string): Concern => isAction(name) ? concernByAction[name] : "installation"

/** Actions that move money towards a player or out of the house: by people with a name, as soon as there are some. */
const moneyActions: ReadonlySet<string> = new Set<Action>([
  "player.correct",
  "correction.approve",
  "payment.approve",
  "payment.pay",
  "bonus.grant",
  "free_rounds.issue"
])

export const isMoneyAction = (name: string): name is Action => moneyActions.has(name)

/** Every role that may take the action of this name; none for a name that is no action. */
export const rolesFor = (name: string): ReadonlyArray<Role> => isAction(name) ? ["admin", ...rolesByAction[name]] : []

/** Every action that an actor may take: of the role, and open to staff bound to operators where the actor is. */
export const actionsOf = (
  { operators, role }: { readonly operators: ReadonlyArray<number> | null; readonly role: Role }
): ReadonlyArray<Action> =>
  Object.keys(rolesByAction).filter(isAction).filter((action) =>
    rolesFor(action).includes(role) && (operators === null || concernByAction[action] !== "installation")
  )

/**
 * Actions that change who may do what, or where money comes from. Like those that move money they take the second factor within the last
 * minutes, from a session in a browser: a screen that was left unlocked does not do them.
 */
const authorityActions: ReadonlySet<string> = new Set<Action>([
  "staff.create",
  "staff.update",
  "staff.rotate",
  "staff.ticket",
  "staff.retire_bootstrap",
  "operator.update",
  "key.create",
  "key.rotate",
  "provider.create",
  "provider.update",
  "provider.rotate",
  "bonus.create",
  "bonus.update",
  "promo.create",
  "promo.update",
  "rate.set",
  "player.kyc",
  "webhook.create",
  "webhook.update",
  "webhook.rotate",
  "alert.release",
  "alert.configure",
  "secret.reseal"
])

/** Whether the action of this name takes the second factor again. */
export const takesStepUp = (name: string): boolean => moneyActions.has(name) || authorityActions.has(name)
