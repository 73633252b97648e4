/** Permissions of roles: one table, read by the middleware of the staff API. */

export type Role = "admin" | "support" | "payments" | "compliance"

/** The roles that may take an action, besides `admin`, which may take any. */
export const rolesByAction = {
  "staff.create": [],
  "staff.update": [],
  "staff.rotate": [],
  "staff.retire_bootstrap": [],
  "staff.list": [],
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
  "job.list": ["support", "payments", "compliance"],
  "node.list": ["support", "payments", "compliance"],
  "node.drain": [],
  "webhook.create": [],
  "webhook.rotate": [],
  "webhook.update": [],
  "webhook.ping": ["support"],
  "webhook.list": ["support"],
  "delivery.list": ["support"],
  "delivery.retry": ["support"],
  "alert.list": ["compliance"],
  "alert.show": ["compliance"],
  "alert.update": ["compliance"],
  "alert.rules": ["compliance"],
  "alert.configure": ["compliance"],
  // not who approves: a rate decides which withdrawals take two approvals
  "rate.set": ["compliance"],
  "rate.list": ["support", "payments", "compliance"],
  "report.ggr": ["payments", "compliance"],
  "ledger.verify": ["payments", "compliance"],
  "ledger.export": ["compliance"],
  "secret.list": [],
  "secret.reseal": [],
  "audit.list": ["compliance"]
} as const satisfies { readonly [action: string]: ReadonlyArray<Role> }

export type Action = keyof typeof rolesByAction

const isAction = (name: string): name is Action => Object.hasOwn(rolesByAction, name)

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
