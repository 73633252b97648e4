/** Expected settlement policies of the service's protocols, compared by a test of each protocol. */
import { ownPolicy, type SettlementPolicy } from "../../src/domain/settlement/Settlement.ts"

const vendor: SettlementPolicy = { ...ownPolicy, settledBets: "roll_back", closedRounds: "accept" }

export const policies = {
  pitboss: ownPolicy,
  hub88: vendor,
  caleta: { ...vendor, sameMessage: "round" },
  evolution: vendor,
  pragmatic: vendor,
  slotegrator: { ...vendor, winsBeforeBets: "pay" },
  a8r: { ...vendor, winsBeforeBets: "pay", afterTombstone: "ignore", sameMessage: "kind" },
  gcp: { ...vendor, winsBeforeBets: "pay", sameMessage: "kind" },
  spribe: { ...vendor, settledBets: "refuse", wonWithinMs: 10 * 60_000 }
} satisfies { readonly [protocol: string]: SettlementPolicy }
