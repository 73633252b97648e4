/** Registers of an installation that has none. */
import { Effect, Layer } from "effect"
import { nobodyAsked } from "../../src/domain/player/RegisterAdmission.ts"
import { Registers } from "../../src/features/registers/Registers.ts"

export const layerNoRegisters = Layer.succeed(Registers, {
  through: (_playerId, _event, run) => run(nobodyAsked),
  mayAsk: () => false,
  askAnywhere: () => Effect.void,
  answerOf: () => Effect.die("there is no register"),
  keepMarketing: () => Effect.void,
  note: () => Effect.void,
  beforeRegistration: () => Effect.succeed({ standings: [], write: () => Effect.void, writeAlone: Effect.void })
})
