/** Exclusion registers by kind. No other file lists them. */
import type { ConnectionKind } from "../domain/register/Register.ts"
import { cruksRegister } from "./Cruks.ts"
import { gamstopRegister } from "./Gamstop.ts"
import { genericRegister } from "./Generic.ts"
import { oasisRegister } from "./Oasis.ts"
import type { AnyRegister } from "./Register.ts"
import { rofusRegister } from "./Rofus.ts"
import { screeningRegister } from "./Screening.ts"
import { spelpausRegister } from "./Spelpaus.ts"

export const registers: Readonly<Record<ConnectionKind, AnyRegister>> = {
  gamstop: gamstopRegister,
  spelpaus: spelpausRegister,
  rofus: rofusRegister,
  cruks: cruksRegister,
  oasis: oasisRegister,
  generic: genericRegister,
  screening: screeningRegister
}
