/** Jurisdiction profiles that an operator offers, each in its current version. */
import { Clock, Context, Effect, Layer } from "effect"
import type { ProfileDocument, ProfileSummary } from "../../contract/profiles/ProfileResource.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { iso } from "../../platform/Time.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"

const notFound = refuse("NOT_FOUND", "There is no such profile.")

type Offer = Pick<Operator, "defaultProfile" | "profiles">

export class OperatorProfiles extends Context.Service<OperatorProfiles, {
  /** The profiles on offer, in the operator's order, each in the version that counts now. */
  readonly list: (operator: Offer) => Effect.Effect<ReadonlyArray<typeof ProfileSummary.Type>>
  /** The document that counts now of a code on offer. */
  readonly get: (operator: Offer, code: string) => Effect.Effect<typeof ProfileDocument.Type, Refusal<"NOT_FOUND">>
}>()("pitboss/profiles/OperatorProfiles") {
  static readonly layer = Layer.effect(
    OperatorProfiles,
    Effect.gen(function*() {
      const book = yield* ProfileBook
      const current = (code: string) => Effect.map(Clock.currentTimeMillis, (now) => book.current(code, now))
      return OperatorProfiles.of({
        list: Effect.fn("OperatorProfiles.list")(function*({ defaultProfile, profiles }) {
          const found = yield* Effect.forEach(profiles, current)
          return found.flatMap((counting) =>
            counting === undefined ? [] : [{
              code: counting.profile.code,
              name: counting.profile.name,
              version: counting.version,
              valid_from: iso(counting.validFrom),
              is_default: counting.profile.code === defaultProfile
            }]
          )
        }),
        get: Effect.fn("OperatorProfiles.get")(function*({ profiles }, code) {
          const counting = profiles.includes(code) ? yield* current(code) : undefined
          if (counting === undefined) return yield* Effect.fail(notFound)
          return { ...counting.profile, version: counting.version, valid_from: iso(counting.validFrom) }
        })
      })
    })
  )
}
