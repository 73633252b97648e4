/** Cases and screenings of an installation in which nothing opens or asks for one. */
import { Effect, Layer } from "effect"
import { Screenings } from "../../src/features/screenings/Screenings.ts"
import { Cases } from "../../src/features/cases/Cases.ts"

const none = Effect.die("there are no cases")

export const layerNoCases = Layer.succeed(Cases, {
  open: () => none,
  list: () => none,
  show: () => none,
  link: () => none,
  alertsOf: () => none,
  note: () => none,
  tell: () => none
})

export const layerNoScreenings = Layer.succeed(Screenings, { want: () => Effect.void, run: none, findKnown: none })
