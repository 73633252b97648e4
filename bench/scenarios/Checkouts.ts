/** The service of this checkout and, to compare both in the same rounds, of another one. */
import { Effect } from "effect"
import { showProgress } from "../report/Progress.ts"
import { revisionOf } from "../report/Result.ts"
import { Checkout } from "../targets/NodeFlags.ts"
import { type PitbossOptions, startPitboss } from "../targets/Pitboss.ts"
import type { Postgres } from "../targets/Postgres.ts"
import type { Provisioning } from "../targets/Target.ts"

/** `before` is the service of the other checkout. */
type CheckoutName = "pitboss" | "before"

/** Services that are measured; `before`: folder of the other checkout. */
export const checkoutsOf = (before: string | undefined): ReadonlyArray<CheckoutName> =>
  before === undefined ? ["pitboss"] : ["pitboss", "before"]

/** Starts the service of a checkout on a database of its own. */
export const startCheckout = (
  name: CheckoutName,
  postgres: Postgres,
  provisioning: Provisioning,
  before: string | undefined,
  options: Pick<PitbossOptions, "needs" | "profiled"> = {}
) =>
  startPitboss(postgres, provisioning, showProgress, {
    ...options,
    name,
    database: name,
    ...(name === "before" ? { profiled: false } : {})
  }).pipe(Effect.updateService(Checkout, (own) => name === "before" ? before ?? own : own))

/** Sentence about the other checkout; none without one. */
export const describeBefore = (before: string | undefined): ReadonlyArray<string> =>
  before === undefined ? [] : [
    `before is the service of another checkout, revision ${
      revisionOf(before) ?? "unknown"
    }; the two take turns in being first.`
  ]
