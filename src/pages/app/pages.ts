/** Pages: address, heading, navigation group, and the action that a role must be allowed to see the page. */
import type { Action } from "./api.ts"

export interface PageEntry {
  readonly path: string
  readonly heading: string
  readonly group: "Play" | "Money" | "Offers" | "Setup" | "Watch"
  readonly action?: Action
  readonly load: () => Promise<{ readonly default: React.ComponentType }>
}

const page = (
  group: PageEntry["group"],
  path: string,
  heading: string,
  action: Action,
  load: PageEntry["load"]
): PageEntry => ({ path, heading, group, action, load })

/** In the order of the navigation. */
export const pages: ReadonlyArray<PageEntry> = [
  { path: "/", heading: "Home", group: "Play", load: () => import("../home/HomePage.tsx") },
  page("Play", "/players", "Players", "player.list", () => import("../players/PlayersPage.tsx")),
  page("Play", "/rounds", "Rounds", "round.search", () => import("../rounds/RoundsPage.tsx")),
  page("Money", "/ledger", "Ledger", "ledger.entries", () => import("../ledger/LedgerPage.tsx")),
  page("Money", "/payments", "Payments", "payment.list", () => import("../payments/PaymentsPage.tsx")),
  page("Watch", "/alerts", "Alerts", "alert.list", () => import("../alerts/AlertsPage.tsx")),
  page("Watch", "/cases", "Cases", "case.list", () => import("../cases/CasesPage.tsx")),
  page("Watch", "/retention", "Retention", "data.retention", () => import("../privacy/RetentionPage.tsx")),
  page("Watch", "/reports/ggr", "GGR report", "report.ggr", () => import("../reports/GgrPage.tsx")),
  page("Watch", "/audit", "Audit log", "audit.list", () => import("../audit/AuditPage.tsx")),
  page("Watch", "/jobs", "Jobs", "job.list", () => import("../jobs/JobsPage.tsx")),
  page("Offers", "/bonuses", "Bonuses", "bonus.list", () => import("../bonuses/BonusesPage.tsx")),
  page("Offers", "/promo-codes", "Promo codes", "promo.list", () => import("../bonuses/PromoCodesPage.tsx")),
  page("Offers", "/games", "Games", "game.list", () => import("../games/GamesPage.tsx")),
  page("Offers", "/providers", "Providers", "provider.list", () => import("../providers/ProvidersPage.tsx")),
  page("Setup", "/operators", "Operators", "operator.list", () => import("../operators/OperatorsPage.tsx")),
  page("Setup", "/profiles", "Profiles", "profile.list", () => import("../profiles/ProfilesPage.tsx")),
  page("Setup", "/registers", "Registers", "register.list", () => import("../registers/RegistersPage.tsx")),
  page("Setup", "/webhooks", "Webhooks", "webhook.list", () => import("../webhooks/WebhooksPage.tsx")),
  page("Setup", "/staff", "Staff", "staff.list", () => import("../staff/StaffPage.tsx"))
]

/** Pages of a single resource, and others outside the navigation. */
export const innerPages: ReadonlyArray<Pick<PageEntry, "path" | "load">> = [
  { path: "/players/$player", load: () => import("../players/PlayerPage.tsx") },
  { path: "/rounds/$provider/$game/$round", load: () => import("../rounds/RoundPage.tsx") },
  { path: "/messages/$provider/$transaction", load: () => import("../rounds/MessagePage.tsx") },
  { path: "/bonuses/$bonus", load: () => import("../bonuses/BonusPage.tsx") },
  { path: "/operators/$operator", load: () => import("../operators/OperatorPage.tsx") },
  { path: "/profiles/$code", load: () => import("../profiles/ProfilePage.tsx") },
  { path: "/cases/$case", load: () => import("../cases/CasePage.tsx") },
  { path: "/providers/$provider", load: () => import("../providers/ProviderPage.tsx") },
  { path: "/account", load: () => import("../session/AccountPage.tsx") }
]
