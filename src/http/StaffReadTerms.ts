/** Audited reads of the staff API: the calls that disclose player data, derived from their declared responses. */
import { type Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { tellsOfPlayers } from "../contract/common/Annotations.ts"
import { BackofficeApi } from "../contract/StaffApi.ts"
import type { StaffRead } from "../domain/staff/Staff.ts"
import { fieldsOfQuery } from "./QueryParameters.ts"

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

/** Record that an answer holds. */
const recordOf = (success: ReadonlySet<Schema.Top>): SchemaAST.AST | undefined => {
  for (const { ast } of success) {
    if (ast._tag === "Objects") return ast.propertySignatures.find(({ name }) => name === "data")?.type
  }
  return undefined
}

/** Fields of a query that say where in a list it is. */
const positions = ["page", "per_page", "cursor", "limit"]

const collect = () => {
  const reads = new Map<string, StaffRead>()
  const shown = new Map<SchemaAST.AST, StaffRead>()
  const changes: Array<readonly [action: string, record: SchemaAST.AST]> = []
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const action = `${group.identifier}.${endpoint.identifier}`
      const record = recordOf(endpoint.success)
      if (endpoint.method !== "GET") {
        if (record !== undefined) changes.push([action, record])
        return
      }
      const kind = kindOf(endpoint.success)
      if (kind === undefined) return
      const filters = fieldsOfQuery(endpoint.query).filter((name) => !positions.includes(name))
      const read = { action, kind, filters }
      reads.set(action, read)
      if (endpoint.identifier === "show" && record !== undefined) shown.set(record, read)
    }
  })
  const ofChanges = changes.flatMap(([action, record]) => {
    const read = shown.get(record)
    return read === undefined ? [] : [[action, read] as const]
  })
  return { reads, ofChanges: new Map(ofChanges) }
}

const { ofChanges, reads } = collect()

/** The terms of each read, by its action. */
export const staffReadTerms: ReadonlyMap<string, StaffRead> = reads

/** Reads that changes are, by the action of the change: it answers with the whole record, also where it leaves all as it was, and no line of its own. */
export const readsOfChanges: ReadonlyMap<string, StaffRead> = ofChanges
