/** Test cases of every command of the back office. */
import { accountCases } from "./Accounts.ts"
import { alertCases } from "./Alerts.ts"
import { bonusCases } from "./Bonuses.ts"
import { caseCases } from "./CasesOfPlayers.ts"
import { bookCases } from "./Books.ts"
import { catalogueCases } from "./Catalogue.ts"
import { dataCases } from "./Data.ts"
import { correctionCases } from "./Corrections.ts"
import { importCases } from "./Imports.ts"
import { figureCases } from "./Figures.ts"
import { freeRoundsCases } from "./FreeRounds.ts"
import { nodeCases } from "./Nodes.ts"
import { obligationCases } from "./Obligations.ts"
import { paymentCases } from "./Payments.ts"
import { playerCases } from "./Players.ts"
import { profileCases } from "./Profiles.ts"
import { registerCases } from "./Registers.ts"
import { readingCases } from "./Reading.ts"
import type { CommandCase } from "./Scene.ts"
import { secretCases } from "./Secrets.ts"
import { shownCasesBeside } from "./Shown.ts"

const ownCases: ReadonlyArray<CommandCase> = [
  ...accountCases,
  ...catalogueCases,
  ...bonusCases,
  ...freeRoundsCases,
  ...playerCases,
  ...correctionCases,
  ...importCases,
  ...paymentCases,
  ...bookCases,
  ...readingCases,
  ...secretCases,
  ...nodeCases,
  ...profileCases,
  ...registerCases,
  ...obligationCases,
  ...alertCases,
  ...caseCases,
  ...dataCases,
  ...figureCases
]

export const cases: ReadonlyArray<CommandCase> = [...ownCases, ...shownCasesBeside(ownCases)]
