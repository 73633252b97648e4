/**
 * Builds the OpenAPI document of the staff API: its description and server, and for each action the roles that may take it, read from the annotations
 * that authorise it.
 */
import { Context } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { type Concern, StaffAction } from "../common/StaffAction.ts"
import { membersOf } from "./Examples.ts"
import { info, servers, staffDescription } from "./Words.ts"

const concerns: { readonly [concern in Concern]: string } = {
  operator: "Staff bound to operators: of theirs.",
  one_operator: "Staff bound to operators name one of theirs.",
  catalogue: "Data that operators share: also for staff bound to operators.",
  installation: "Not for staff bound to operators.",
  self: "Of the acting account."
}

const permissionOf = ({ concern, is, roles }: StaffAction["Service"]): string =>
  [
    `For ${["admin", ...roles].join(", ")}.`,
    concerns[concern],
    ...(is === undefined ? [] : ["In a session it takes the second factor within the last minutes."])
  ].join(" ")

/** Answer to a request under another host or port, which is refused before it is read. */
const misdirected = {
  description:
    "Misdirected: the back office answers under its own host and port, and under `BACKOFFICE_URL`. A forwarded port has to have the same number " +
    "on both sides, or its address in that setting.",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error_INVALID_REQUEST" } } }
}

const describe = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  document: Record<string, unknown>
): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = { ...Object(document["paths"]) }
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
      const method = endpoint.method.toLowerCase()
      const action = Context.getOrUndefined(mergedAnnotations, StaffAction)
      const operation = membersOf(paths[path]?.[method])
      const description = action === undefined ? "For everybody: without a session." : permissionOf(action)
      const responses = { ...membersOf(operation["responses"]), 421: misdirected }
      paths[path] = { ...paths[path], [method]: { ...operation, description, responses } }
    }
  })
  return { ...document, info: { ...membersOf(document["info"]), ...info }, servers, paths }
}

/** Adds the document of the staff API. */
export const staffDocumented = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  api.annotateMerge(OpenApi.annotations({
    title: "Pitboss back office",
    version: "1.0.0",
    description: staffDescription,
    transform: (document) => describe(api, document)
  }))
