/**
 * Alerts on suspicious behaviour: which rules there are, what can be set about each, and what staff do with what they raise
 * (`docs/compliance.md`).
 */

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
  "large_credit"
] as const

export type AlertRule = (typeof alertRules)[number]

/** From the least to the most severe. */
export const severities = ["low", "medium", "high", "critical"] as const

export type Severity = (typeof severities)[number]

export const alertStatuses = ["open", "in_review", "escalated", "closed"] as const

export type AlertStatus = (typeof alertStatuses)[number]

/** Where staff may move an alert. What was closed stays closed: what comes later is another occurrence. */
const moves: { readonly [from in AlertStatus]: ReadonlyArray<AlertStatus> } = {
  open: ["in_review", "escalated", "closed"],
  in_review: ["escalated", "closed"],
  escalated: ["in_review", "closed"],
  closed: []
}

/** The statuses an alert may have next; its own is no move. */
export const alertMoves = (from: AlertStatus): ReadonlyArray<AlertStatus> => moves[from]

/** What every rule has. */
interface RuleTerms {
  readonly enabled: boolean
  /** Of what just meets the rule; what goes far beyond is more severe. */
  readonly severity: Severity
  /** Whether its alerts stop the player's withdrawals until they are closed. */
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
  /** A withdrawal that differs by at most `percent` from deposits of at least `threshold` within the window before. */
  readonly rapid_in_out: RuleTerms & WithThreshold & WithPercent & WithWindow
  /** `count` deposits, or deposits of `threshold` in all, within the window. */
  readonly deposit_velocity: RuleTerms & WithThreshold & WithCount & WithWindow
  readonly large_deposit: RuleTerms & WithThreshold
  readonly large_withdrawal: RuleTerms & WithThreshold
  /** Stakes below `percent` of deposits of at least `threshold` within the window before. */
  readonly low_play_withdrawal: RuleTerms & WithThreshold & WithPercent & WithWindow
  /** Players who share what one person has; of an internet address, `count` of them. */
  readonly multi_account: RuleTerms & WithCount
  readonly country_mismatch: RuleTerms
  /** After verification, or within the window before a withdrawal. */
  readonly identity_change: RuleTerms & WithWindow
  /** A single credit of a game provider above `threshold`. Judged where it is settled, not afterwards. */
  readonly large_credit: RuleTerms & WithThreshold
}

/** What staff may have set about a rule; absent is the default. What the rule has no use for says nothing. */
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
  large_credit: { enabled: true, severity: "critical", stopWithdrawals: true, threshold: 10_000_000 }
}

/** The longest window that can be set: a year. Rules look no further back. */
export const longestWindowHours = 8760

/** A rule's terms with what staff have set; what the rule has no use for is left out. */
const withOverrides = <Terms extends RuleTerms>(terms: Terms, overrides: RuleOverrides | undefined): Terms => ({
  ...terms,
  ...Object.fromEntries(
    Object.entries(overrides ?? {}).filter(([name, value]) => value !== undefined && Object.hasOwn(terms, name))
  )
})

/** The settings of an operator. */
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
  large_credit: withOverrides(defaultSettings.large_credit, overrides.large_credit)
})

/** What a rule has found. */
export interface Finding {
  readonly rule: AlertRule
  readonly severity: Severity
  /** What it is about within the rule: the same occurrence of the same player is one alert. */
  readonly occurrence: string
  readonly paymentId: number | null
  /** For staff: ids and numbers, no personal data. */
  readonly details: { readonly [name: string]: unknown }
  readonly stopsWithdrawals: boolean
}

/** A severity moved by so many steps, up or down, as far as there are any. */
export const shifted = (severity: Severity, steps: number): Severity => {
  const place = Math.min(Math.max(severities.indexOf(severity) + steps, 0), severities.length - 1)
  return severities[place] ?? severity
}
