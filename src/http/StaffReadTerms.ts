/** Reads of the staff API that leave a line in the audit log, derived from their declared answers. */
import { type Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { tellsOfPlayers } from "../contract/Annotations.ts"
import { BackofficeApi } from "../contract/StaffApi.ts"
import type { StaffRead } from "../domain/Staff.ts"
import { fieldsOfQuery } from "./CsvExport.ts"

/** Fields of an answer that name a player or tell who a player is. */
const playerFields = new Set([
  "player_id",
  "player",
  "username",
  "first_name",
  "last_name",
  "email",
  "phone",
  "birth_date",
  "personal_id",
  "document_number",
  "ip"
])

/** Whether an answer tells of players: it has one of these fields, or an annotated one, however deep. */
const isOfPlayers = (ast: SchemaAST.AST): boolean => {
  if (SchemaAST.resolve(ast)?.[tellsOfPlayers] === true) return true
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.some(({ name, type }) => playerFields.has(String(name)) || isOfPlayers(type))
    case "Arrays":
      return [...ast.elements, ...ast.rest].some(isOfPlayers)
    case "Union":
      return ast.types.some(isOfPlayers)
    default:
      return false
  }
}

const kindOf = (success: ReadonlySet<Schema.Top>): StaffRead["kind"] | undefined => {
  for (const answer of success) {
    // streams alone are declared by what they are made of
    if ("contentType" in answer) return answer.contentType === "text/event-stream" ? "events" : "document"
  }
  return [...success].some(({ ast }) => isOfPlayers(ast)) ? "personal" : undefined
}

/** Fields of a query that say where in a list it is. */
const positions = ["page", "per_page", "cursor", "limit"]

const collect = (): ReadonlyMap<string, StaffRead> => {
  const reads = new Map<string, StaffRead>()
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const kind = endpoint.method === "GET" ? kindOf(endpoint.success) : undefined
      if (kind === undefined) return
      const action = `${group.identifier}.${endpoint.identifier}`
      const filters = fieldsOfQuery(endpoint.query).filter((name) => !positions.includes(name))
      reads.set(action, { action, kind, filters })
    }
  })
  return reads
}

/** The terms of each, by its action. */
export const staffReadTerms = collect()
