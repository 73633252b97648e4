/** Compliance alert rules: their settings, findings and status transitions (`docs/alerts.md`). */

export const alertRules = [
  "structuring",
  "rapid_in_out",
  "deposit_velocity",
  "large_deposit",
  "large_withdrawal",
  "low_play_withdrawal",
  "multi_account",
  "country_mismatch",
  "identity_change",
  "large_credit",
  "net_deposits"
] as const

export type AlertRule = (typeof alertRules)[number]

/** In ascending order. */
export const severities = ["low", "medium", "high", "critical"] as const

export type Severity = (typeof severities)[number]

export const alertStatuses = ["open", "in_review", "escalated", "closed"] as const

export type AlertStatus = (typeof alertStatuses)[number]

/** Allowed status transitions. Closed alerts stay closed: a later event is a new occurrence. */
const moves: { readonly [from in AlertStatus]: ReadonlyArray<AlertStatus> } = {
  open: ["in_review", "escalated", "closed"],
  in_review: ["escalated", "closed"],
  escalated: ["in_review", "closed"],
  closed: []
}

/** Possible next statuses of an alert, excluding its current one. */
export const alertTransitions = (from: AlertStatus): ReadonlyArray<AlertStatus> => moves[from]

/** Terms common to all rules. */
interface RuleTerms {
  readonly enabled: boolean
  /** Severity at the threshold; findings far beyond it are raised. */
  readonly severity: Severity
  /** Whether its alerts hold the player's withdrawals until they are closed. */
  readonly stopWithdrawals: boolean
}

interface WithThreshold {
  /** Minor units of the operator's currency. */
  readonly threshold: number
}

interface WithPercent {
  readonly percent: number
}

interface WithCount {
  readonly count: number
}

interface WithWindow {
  readonly windowHours: number
}

/** The terms of every rule for one operator. */
export interface RuleSettings {
  /** `count` deposits up to `percent` below `threshold` within the window. */
  readonly structuring: RuleTerms & WithThreshold & WithPercent & WithCount & WithWindow
  /** A withdrawal that differs by at most `percent` from deposits of at least `threshold` within the preceding window. */
  readonly rapid_in_out: RuleTerms & WithThreshold & WithPercent & WithWindow
  /** `count` deposits, or deposits totalling `threshold`, within the window. */
  readonly deposit_velocity: RuleTerms & WithThreshold & WithCount & WithWindow
  readonly large_deposit: RuleTerms & WithThreshold
  readonly large_withdrawal: RuleTerms & WithThreshold
  /** Stakes below `percent` of deposits of at least `threshold` within the preceding window. */
  readonly low_play_withdrawal: RuleTerms & WithThreshold & WithPercent & WithWindow
  /** Players who share an identifying fact; for an IP address, at least `count` of them. */
  readonly multi_account: RuleTerms & WithCount
  readonly country_mismatch: RuleTerms
  /** After verification, or within the window before a withdrawal. */
  readonly identity_change: RuleTerms & WithWindow
  /** A single credit of a game provider above `threshold`. Evaluated at settlement, not asynchronously. */
  readonly large_credit: RuleTerms & WithThreshold
  /** Net deposits above what the player's jurisdiction names (`vulnerability`); no threshold of the operator's. */
  readonly net_deposits: RuleTerms
}

/** Staff overrides of a rule; absent fields keep the default. Fields that the rule does not use are ignored. */
export type RuleOverrides = Partial<RuleTerms & WithThreshold & WithPercent & WithCount & WithWindow>

export const defaultSettings: RuleSettings = {
  structuring: {
    enabled: true,
    severity: "high",
    stopWithdrawals: false,
    threshold: 200_000,
    percent: 20,
    count: 3,
    windowHours: 72
  },
  rapid_in_out: {
    enabled: true,
    severity: "high",
    stopWithdrawals: false,
    threshold: 50_000,
    percent: 20,
    windowHours: 24
  },
  deposit_velocity: {
    enabled: true,
    severity: "medium",
    stopWithdrawals: false,
    threshold: 500_000,
    count: 10,
    windowHours: 24
  },
  large_deposit: { enabled: true, severity: "medium", stopWithdrawals: false, threshold: 200_000 },
  large_withdrawal: { enabled: true, severity: "medium", stopWithdrawals: false, threshold: 500_000 },
  low_play_withdrawal: {
    enabled: true,
    severity: "medium",
    stopWithdrawals: false,
    threshold: 50_000,
    percent: 50,
    windowHours: 720
  },
  multi_account: { enabled: true, severity: "high", stopWithdrawals: false, count: 3 },
  country_mismatch: { enabled: true, severity: "low", stopWithdrawals: false },
  identity_change: { enabled: true, severity: "medium", stopWithdrawals: false, windowHours: 72 },
  large_credit: { enabled: true, severity: "critical", stopWithdrawals: true, threshold: 10_000_000 },
  net_deposits: { enabled: true, severity: "medium", stopWithdrawals: false }
}

/** Longest window: a year. Rules look no further back. */
export const longestWindowHours = 8760

/** A rule's terms with the overrides applied; fields the rule does not use are dropped. */
const withOverrides = <Terms extends RuleTerms>(terms: Terms, overrides: RuleOverrides | undefined): Terms => ({
  ...terms,
  ...Object.fromEntries(
    Object.entries(overrides ?? {}).filter(([name, value]) => value !== undefined && Object.hasOwn(terms, name))
  )
})

/** Rule settings of an operator. */
export const settingsWith = (overrides: { readonly [rule in AlertRule]?: RuleOverrides }): RuleSettings => ({
  structuring: withOverrides(defaultSettings.structuring, overrides.structuring),
  rapid_in_out: withOverrides(defaultSettings.rapid_in_out, overrides.rapid_in_out),
  deposit_velocity: withOverrides(defaultSettings.deposit_velocity, overrides.deposit_velocity),
  large_deposit: withOverrides(defaultSettings.large_deposit, overrides.large_deposit),
  large_withdrawal: withOverrides(defaultSettings.large_withdrawal, overrides.large_withdrawal),
  low_play_withdrawal: withOverrides(defaultSettings.low_play_withdrawal, overrides.low_play_withdrawal),
  multi_account: withOverrides(defaultSettings.multi_account, overrides.multi_account),
  country_mismatch: withOverrides(defaultSettings.country_mismatch, overrides.country_mismatch),
  identity_change: withOverrides(defaultSettings.identity_change, overrides.identity_change),
  large_credit: withOverrides(defaultSettings.large_credit, overrides.large_credit),
  net_deposits: withOverrides(defaultSettings.net_deposits, overrides.net_deposits)
})

/** Finding of a rule. */
export interface Finding {
  readonly rule: AlertRule
  readonly severity: Severity
  /** Identifies the occurrence within the rule: one alert per player and occurrence. */
  readonly occurrence: string
  readonly paymentId: number | null
  /** For staff: ids and numbers, no personal data. */
  readonly details: { readonly [name: string]: unknown }
  readonly stopsWithdrawals: boolean
}

/** Severity raised or lowered by `steps`, within the range. */
export const shiftSeverity = (severity: Severity, steps: number): Severity => {
  const index = Math.min(Math.max(severities.indexOf(severity) + steps, 0), severities.length - 1)
  return severities[index] ?? severity
}
