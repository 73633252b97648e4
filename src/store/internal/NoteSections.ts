/** CTEs of the commit statement that write player notes. */
import type { PlayerNote } from "../../domain/state/Change.ts"
import { insertInto, number, text, time } from "./StatementSections.ts"

export const notes = insertInto<PlayerNote>("player_notes", [
  number("id", (note) => note.id),
  number("operator_id", (note) => note.operatorId),
  number("player_id", (note) => note.playerId),
  text("author", (note) => note.author),
  text("text", (note) => note.text),
  time("created_at", (note) => note.createdAt)
])
