/** CTEs of the commit statement that write obligations (what a player has to do first, such as a limit review) and acknowledgements. */
import type { NewAcknowledgement, ObligationChange } from "../../domain/state/Obligation.ts"
import { flag, insertInto, number, text, time, update } from "./StatementSections.ts"

const columns = [
  number("id", ({ obligation }: ObligationChange) => obligation.id),
  number("operator_id", ({ operatorId }: ObligationChange) => operatorId),
  number("player_id", ({ playerId }: ObligationChange) => playerId),
  text("kind", ({ obligation }: ObligationChange) => obligation.kind),
  text("gates", ({ obligation }: ObligationChange) => `{${obligation.gates.join(",")}}`, "text[]"),
  text("state", ({ obligation }: ObligationChange) => obligation.state),
  time("due_at", ({ obligation }: ObligationChange) => obligation.dueAt),
  time("created_at", ({ obligation }: ObligationChange) => obligation.createdAt),
  time("met_at", ({ obligation }: ObligationChange) => obligation.metAt),
  number("case_id", ({ obligation }: ObligationChange) => obligation.caseId ?? null),
  flag("is_told", ({ obligation }: ObligationChange) => obligation.isTold !== false),
  text("details", ({ details = {} }: ObligationChange) => JSON.stringify(details), "jsonb")
]

export const newObligations = insertInto("obligations", columns)

export const changedObligations = update("obligations", columns, { keys: ["id"], set: ["state", "met_at"] })

export const acknowledgements = insertInto<NewAcknowledgement>("acknowledgements", [
  number("id", ({ id }) => id),
  number("operator_id", ({ operatorId }) => operatorId),
  number("player_id", ({ playerId }) => playerId),
  text("kind", ({ kind }) => kind),
  text("answer", ({ answer }) => answer),
  text("field", ({ field }) => field),
  number("obligation_id", ({ obligationId }) => obligationId),
  text("text_version", ({ textVersion }) => textVersion),
  text("channel", ({ channel }) => channel),
  text("by", ({ by }) => by),
  time("at", ({ at }) => at)
])
