import type { Provider } from "../../src/domain/state/Operator.ts"

/** A provider without addresses or an allow-list; its row is the test's own. */
export const acme: Provider = {
  id: 1,
  slug: "acme",
  name: "Acme",
  key: "pv",
  launchUrl: null,
  demoUrl: null,
  ipAllowlist: [],
  active: true
}
