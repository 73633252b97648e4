/** A provider whose vendor is the test's own. */
import { Effect } from "effect"
import { made } from "./Backoffice.ts"
import { fresh } from "./Casino.ts"
import { makeFakeVendor } from "./FakeVendor.ts"

/** A vendor, and the provider that stands for it. Needs a service that knows the protocol `fake`. */
export const openFakeProvider = Effect.gen(function*() {
  const vendor = yield* makeFakeVendor
  const settings = vendor.settings
  const provider = yield* made("/providers", { slug: fresh("vendor-"), name: "Vendor", protocol: "fake", settings })
  return { vendor, provider }
})
