/** Display names of the kinds of registers. */
import type { Row } from "../app/api.ts"

export const kindNames: { readonly [kind in Row<"register.list">["kind"]]: string } = {
  gamstop: "GAMSTOP",
  spelpaus: "Spelpaus",
  rofus: "ROFUS",
  cruks: "CRUKS",
  oasis: "OASIS",
  generic: "Another register",
  screening: "Screening"
}
