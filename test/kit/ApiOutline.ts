/** Outline of the OpenAPI document without descriptions and examples: the parts that callers' code depends on. */

// oxlint-disable-next-line typescript/no-explicit-any -- a document is read the way tools read it
type Json = any

const nameOf = ($ref: string): string => $ref.split("/").at(-1) ?? ""

const bounds = (schema: Json): string =>
  ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"]
    .flatMap((key) => schema[key] === undefined ? [] : [` ${key}=${schema[key]}`])
    .join("") + (schema.allOf ?? []).map(bounds).join("")

/** A schema on one line; named schemas by name. */
const form = (schema: Json): string => {
  if (schema === undefined) return "anything"
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.anyOf !== undefined) return schema.anyOf.map(form).join(" | ")
  if (schema.enum !== undefined) return schema.enum.map((value: unknown) => JSON.stringify(value)).join(" | ")
  if (schema.type === "array") return `[${form(schema.items)}]${bounds(schema)}`
  if (schema.properties !== undefined) return `{ ${fields(schema).join(", ")} }`
  return `${schema.type ?? "anything"}${bounds(schema)}`
}

const fields = (schema: Json): ReadonlyArray<string> =>
  Object.entries(schema.properties ?? {}).map(([name, field]) =>
    `${name}${(schema.required ?? []).includes(name) ? "" : "?"}: ${form(field)}`
  )

const operationLines = (path: string, method: string, operation: Json, document: Json): ReadonlyArray<string> => {
  const parameters = operation.parameters.map((each: Json) =>
    each.$ref === undefined ? each : document.components.parameters[nameOf(each.$ref)]
  )
  const { requestBody: body } = operation
  return [
    "",
    `${method.toUpperCase()} ${path} (${operation.operationId})`,
    `  security: ${Object.keys(operation.security[0]).join(", ")}`,
    ...["x-required-scope", "x-required-feature"].filter((name) => operation[name] !== undefined).map((name) =>
      `  ${name.slice("x-required-".length)}: ${operation[name]}`
    ),
    ...parameters.map((each: Json) => `  ${each.in} ${each.name}${each.required ? "" : "?"}: ${form(each.schema)}`),
    ...(body === undefined
      ? []
      : [`  body${body.required ? "" : "?"}: ${form(body.content["application/json"].schema)}`]),
    ...Object.entries(operation.responses).map(([status, response]: [string, Json]) =>
      `  ${status}: ${form(response.content["application/json"].schema).replaceAll("Error_", "")} (${
        Object.keys(response.headers).join(", ")
      })`
    )
  ]
}

export const outlineOf = (document: Json): string =>
  [
    `${document.info.title} ${document.info.version}`,
    ...Object.entries(document.paths).flatMap(([path, item]: [string, Json]) =>
      Object.entries(item).flatMap(([method, operation]) => operationLines(path, method, operation, document))
    ),
    "",
    ...Object.entries(document.components.schemas)
      .filter(([name]) => !name.startsWith("Error_"))
      .sort(([a], [b]) => a < b ? -1 : 1)
      .flatMap(([name, schema]: [string, Json]) =>
        schema.properties === undefined
          ? [`${name}: ${form(schema)}`]
          : [name, ...fields(schema).map((field) => `  ${field}`)]
      ),
    ""
  ].join("\n")
