/** Operator API handler for a player's account statement, and the streamed response that the other APIs share. */
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import type { statementFormats } from "../../contract/statements/StatementResource.ts"
import { type Statement, type StatementPeriod, Statements } from "../../features/statements/Statements.ts"
import { languageOf } from "../../http/CsvForms.ts"
import { csvDocument, jsonDocument, pageDocument, pagePolicy, spreadsheetDocument } from "./Documents.ts"

type Format = (typeof statementFormats)[number]

const textsOf = (format: Format, statement: Statement, language: string) =>
  format === "json"
    ? jsonDocument(statement)
    : format === "html"
    ? pageDocument(statement)
    : format === "csv"
    ? csvDocument(statement)
    : spreadsheetDocument(statement, language)

const contentTypes: { readonly [format in Format]: string } = {
  json: "application/json",
  csv: "text/csv; charset=utf-8",
  spreadsheet: "text/csv; charset=utf-8",
  html: "text/html; charset=utf-8"
}

/** The answer with a statement, streamed: an answer that cannot be read to its end is broken off, and so is none for its reader. */
export const statementAnswer = Effect.fnUntraced(function*(
  statements: Statements["Service"],
  operatorId: number,
  playerId: number,
  { format = "json", from, to }: StatementPeriod & { readonly format?: Format }
) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const statement = yield* statements.open(operatorId, playerId, { from, to })
  const texts = textsOf(format, statement, languageOf(headers["accept-language"]))
  const more = format === "html"
    ? { "content-security-policy": pagePolicy }
    : format === "json"
    ? {}
    : { "content-disposition": `attachment; filename="statement-${playerId}-${from}-${to}.csv"` }
  return HttpServerResponse.stream(Stream.encodeText(texts), { contentType: contentTypes[format], headers: more })
})

export const StatementsHandlers = HttpApiBuilder.group(
  Api,
  "statements",
  Effect.fnUntraced(function*(handlers) {
    const statements = yield* Statements
    return handlers.handle("get", ({ params, query }) =>
      Effect.gen(function*() {
        const { operator } = yield* CurrentOperator
        return yield* statementAnswer(statements, operator.id, params.player, query)
      }))
  })
)
