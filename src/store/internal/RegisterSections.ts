/** CTEs of the commit statement that write register checks. */
import type { KeptCheck } from "../../domain/state/RegisterCheck.ts"
import { bytes, columnsOf, flag, insertInto, number, text, time } from "./StatementSections.ts"

export const registerChecks = insertInto(
  "register_checks",
  columnsOf<KeptCheck, KeptCheck>({
    id: number("id", ({ id }) => id),
    operatorId: number("operator_id", ({ operatorId }) => operatorId),
    playerId: number("player_id", ({ playerId }) => playerId),
    kind: text("kind", ({ kind }) => kind),
    event: text("event", ({ event }) => event),
    verdict: text("verdict", ({ verdict }) => verdict),
    askedAt: time("asked_at", ({ askedAt }) => askedAt),
    answeredAt: time("answered_at", ({ answeredAt }) => answeredAt),
    requestId: text("request_id", ({ requestId }) => requestId),
    responseId: text("response_id", ({ responseId }) => responseId),
    status: { ...number("status", ({ status }: KeptCheck) => status), type: "integer" },
    fault: text("fault", ({ fault }) => fault),
    profile: text("profile", ({ profile }) => profile),
    profileVersion: {
      ...number("profile_version", ({ profileVersion }: KeptCheck) => profileVersion),
      type: "integer"
    },
    personDigest: bytes("person_digest", ({ personDigest }) => personDigest),
    askAgain: flag("ask_again", ({ askAgain }) => askAgain)
  })
)
