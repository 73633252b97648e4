/** The time at which tests begin. */
import { Layer } from "effect"
import { TestClock } from "effect/testing"

export const noon = "2026-11-20T12:00:00.000Z"

/** Sets the test clock to noon. */
export const layerNoon = Layer.effectDiscard(TestClock.setTime(Date.parse(noon)))
