/** A provider with a fake vendor. */
import { Effect } from "effect"
import { fresh, made } from "./Casino.ts"
import { makeFakeVendor } from "./FakeVendor.ts"

/** Opens a vendor and its provider. Requires a service with the protocol `fake`. */
export const openFakeProvider = Effect.gen(function*() {
  const vendor = yield* makeFakeVendor
  const settings = vendor.settings
  const provider = yield* made("/providers", { slug: fresh("vendor-"), name: "Vendor", protocol: "fake", settings })
  return { vendor, provider }
})
