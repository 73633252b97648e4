// Generated from src/contract by scripts/package/ClientContract.ts; `npx vitest run test/api -u` writes it anew.
import type { Endpoint } from "../Calls.ts"

export const playerEndpoints: ReadonlyArray<Endpoint> = [
  ["me", "GET", "/player/me", "", ""],
  ["endSessions", "DELETE", "/player/session-tokens", "", ""],
  ["wallet.get", "GET", "/player/wallet", "", ""],
  ["transactions", "GET", "/player/transactions", "query", "cursor"],
  ["statements.get", "GET", "/player/statement", "query", ""],
  ["consents.list", "GET", "/player/consents", "", "list"],
  ["consents.change", "PUT", "/player/consents", "body", ""],
  ["launch", "POST", "/player/games/{game}/launch", "body", ""],
  ["play", "POST", "/player/games/{game}/play", "body", ""],
  ["fairness.get", "GET", "/player/fairness", "", ""],
  ["fairness.rotate", "POST", "/player/fairness/rotate", "body", ""],
  ["limits.get", "GET", "/player/limits", "", ""],
  ["limits.set", "PUT", "/player/limits", "body", ""],
  ["limits.selfExclude", "POST", "/player/self-exclusion", "body", ""],
  ["position.get", "GET", "/player/position", "", ""],
  ["position.realityCheck", "GET", "/player/reality-check", "", ""],
  ["position.setRealityCheck", "PUT", "/player/reality-check", "body", ""],
  ["obligations.list", "GET", "/player/obligations", "query", "list"],
  ["obligations.acknowledge", "POST", "/player/acknowledgements", "body", ""],
  ["rounds.get", "GET", "/player/rounds/{round}", "", ""]
]
