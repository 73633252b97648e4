/** The pages: address, heading, group in the navigation, and the action that a role must be allowed to be offered it. */
import type { Action } from "./api.ts"

export interface PageEntry {
  readonly path: string
  readonly heading: string
  readonly group: "Play" | "Money" | "Offers" | "Setup" | "Watch"
  readonly action?: Action
  readonly load: () => Promise<{ readonly default: React.ComponentType }>
}

/** In the order of the navigation. */
export const pages: ReadonlyArray<PageEntry> = [
  { path: "/", heading: "Home", group: "Play", load: () => import("../home/HomePage.tsx") },
  {
    path: "/players",
    heading: "Players",
    group: "Play",
    action: "player.list",
    load: () => import("../players/PlayersPage.tsx")
  },
  {
    path: "/rounds",
    heading: "Rounds",
    group: "Play",
    action: "round.search",
    load: () => import("../rounds/RoundsPage.tsx")
  },
  {
    path: "/ledger",
    heading: "Ledger",
    group: "Money",
    action: "ledger.entries",
    load: () => import("../ledger/LedgerPage.tsx")
  },
  {
    path: "/payments",
    heading: "Payments",
    group: "Money",
    action: "payment.list",
    load: () => import("../payments/PaymentsPage.tsx")
  },
  {
    path: "/alerts",
    heading: "Alerts",
    group: "Watch",
    action: "alert.list",
    load: () => import("../alerts/AlertsPage.tsx")
  },
  {
    path: "/reports/ggr",
    heading: "GGR report",
    group: "Watch",
    action: "report.ggr",
    load: () => import("../reports/GgrPage.tsx")
  },
  {
    path: "/audit",
    heading: "Audit log",
    group: "Watch",
    action: "audit.list",
    load: () => import("../audit/AuditPage.tsx")
  },
  { path: "/jobs", heading: "Jobs", group: "Watch", action: "job.list", load: () => import("../jobs/JobsPage.tsx") },
  {
    path: "/bonuses",
    heading: "Bonuses",
    group: "Offers",
    action: "bonus.list",
    load: () => import("../bonuses/BonusesPage.tsx")
  },
  {
    path: "/promo-codes",
    heading: "Promo codes",
    group: "Offers",
    action: "promo.list",
    load: () => import("../bonuses/PromoCodesPage.tsx")
  },
  {
    path: "/games",
    heading: "Games",
    group: "Offers",
    action: "game.list",
    load: () => import("../games/GamesPage.tsx")
  },
  {
    path: "/providers",
    heading: "Providers",
    group: "Offers",
    action: "provider.list",
    load: () => import("../providers/ProvidersPage.tsx")
  },
  {
    path: "/operators",
    heading: "Operators",
    group: "Setup",
    action: "operator.list",
    load: () => import("../operators/OperatorsPage.tsx")
  },
  {
    path: "/webhooks",
    heading: "Webhooks",
    group: "Setup",
    action: "webhook.list",
    load: () => import("../webhooks/WebhooksPage.tsx")
  },
  {
    path: "/staff",
    heading: "Staff",
    group: "Setup",
    action: "staff.list",
    load: () => import("../staff/StaffPage.tsx")
  }
]

/** Pages of one thing, and those that are no entry of the navigation. */
export const innerPages: ReadonlyArray<Pick<PageEntry, "path" | "load">> = [
  { path: "/players/$player", load: () => import("../players/PlayerPage.tsx") },
  { path: "/rounds/$provider/$game/$round", load: () => import("../rounds/RoundPage.tsx") },
  { path: "/bonuses/$bonus", load: () => import("../bonuses/BonusPage.tsx") },
  { path: "/providers/$provider", load: () => import("../providers/ProviderPage.tsx") },
  { path: "/account", load: () => import("../session/AccountPage.tsx") }
]
