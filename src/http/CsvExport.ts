/**
 * CSV export of any endpoint whose response is a list: the endpoint itself is called page by page, so that an export has the rows and the access
 * rules of the list.
 */
import { Effect, Option, type Schema, type SchemaAST, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { fieldKindOf } from "../contract/common/FieldKind.ts"
import { type ExportColumn, type ExportForm, languageOf, machineForm, spreadsheetForm } from "./CsvForms.ts"
import { bodyText } from "./Refusals.ts"
import { splitTarget } from "./RequestTarget.ts"

/** Maximum lines of an export. A truncated export ends in a line that says so. */
const maxLines = 100_000

const perPage = 100

type Fields = { readonly [name: string]: unknown }
type Handler<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (ast: SchemaAST.AST | undefined, field: string): SchemaAST.AST | undefined =>
  ast?._tag === "Objects" ? ast.propertySignatures.find(({ name }) => name === field)?.type : undefined

const columnsIn = (ast: SchemaAST.AST | undefined): ReadonlyArray<ExportColumn> | undefined =>
  ast?._tag === "Objects"
    ? ast.propertySignatures.map(({ name, type }) => ({ name: String(name), kind: fieldKindOf(type).kind }))
    : undefined

const itemOf = (ast: SchemaAST.AST | undefined): SchemaAST.AST | undefined =>
  ast?._tag === "Arrays" ? ast.rest[0] : undefined

/**
 * Columns of a list, in the order of the fields of its items; undefined for an endpoint that returns no list of records. A table (`data.rows`)
 * repeats the fields beside its rows, such as the currency, in each line.
 */
export const columnsOfList = (success: ReadonlySet<Schema.Top>): ReadonlyArray<ExportColumn> | undefined => {
  for (const { ast } of success) {
    const data = fieldOf(ast, "data")
    const list = columnsIn(itemOf(data))
    if (list !== undefined) return list
    const table = columnsIn(itemOf(fieldOf(data, "rows")))
    if (table !== undefined) return [...(columnsIn(data) ?? []).filter(({ name }) => name !== "rows"), ...table]
  }
  return undefined
}

/** Form that a request asks for, by `format`, or without one by its `Accept` header; undefined for JSON. */
export const exportFormOf = ({ headers, url }: HttpServerRequest.HttpServerRequest): ExportForm | undefined => {
  const formats = new URLSearchParams(splitTarget(url).query).getAll("format")
  const accepted = headers["accept"]?.split(",")[0]?.split(";")[0]?.trim().toLowerCase()
  const [format = accepted === "text/csv" ? "csv" : "json"] = formats
  return format === "csv"
    ? machineForm
    : format === "spreadsheet"
    ? spreadsheetForm(languageOf(headers["accept-language"]))
    : undefined
}

/** Query of the next page; undefined on the last one. */
const following = (asked: Fields, meta: unknown): Fields | undefined => {
  if (!isFields(meta)) return undefined
  const { current_page: page, last_page: last, next_cursor: cursor } = meta
  if (typeof cursor === "string") return { ...asked, cursor }
  if (cursor === undefined && typeof page === "number" && typeof last === "number" && page < last) {
    return { ...asked, page: String(page + 1) }
  }
  return undefined
}

const exportFailed: Refusal = refuse(
  "TRY_AGAIN",
  "The export failed before its end: the file is incomplete. Export again."
)

interface Page {
  readonly rows: ReadonlyArray<Fields>
  readonly next: Fields | undefined
}

/** Records of a list, or rows of a table merged with the fields beside them. */
const recordsOf = (data: unknown): ReadonlyArray<Fields> => {
  if (Array.isArray(data)) return data.filter(isFields)
  if (!isFields(data)) return []
  const { rows, ...common } = data
  return Array.isArray(rows) ? rows.filter(isFields).map((row) => ({ ...common, ...row })) : []
}

/** Rows of an answer and the query of the next page. */
const pageOf = (response: HttpServerResponse.HttpServerResponse, asked: Fields): Page => {
  const parsed: unknown = JSON.parse(bodyText(response))
  const { data, meta } = isFields(parsed) ? parsed : {}
  return { rows: recordsOf(data), next: following(asked, meta) }
}

/**
 * Answers with a list as CSV, streamed: refusals are those of the list. A later page that cannot be read aborts the answer. `ended` receives
 * the number of lines and the names of the filters, also when the caller has disconnected.
 */
export const asCsv = <E, R>(
  handler: Handler<E, R>,
  form: ExportForm,
  list: { readonly columns: ReadonlyArray<ExportColumn>; readonly query: ReadonlyArray<string>; readonly name: string },
  ended: (lines: number, filters: ReadonlyArray<string>) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const context = yield* Effect.context<R>()
    const { path, query } = splitTarget(request.url)
    const parameters = new URLSearchParams(query)
    for (const name of ["format", "page", "per_page", "limit", "cursor"]) parameters.delete(name)
    const filters = [...new Set(parameters.keys())].slice(0, 20)
    const size = list.query.find((name) => name === "per_page" || name === "limit")
    const sent: { [name: string]: string | Array<string> } = {}
    for (const name of parameters.keys()) {
      const [first = "", ...others] = parameters.getAll(name)
      sent[name] = others.length === 0 ? first : [first, ...others]
    }

    const ask = (asked: Fields) => {
      const query = new URLSearchParams(parameters)
      const more = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, String(value)]))
      for (const [name, value] of Object.entries(more)) query.set(name, value)
      return handler.pipe(
        Effect.provideService(HttpServerRequest.ParsedSearchParams, { ...sent, ...more }),
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          request.modify({ url: `${path}?${query.toString()}` })
        )
      )
    }

    const begin: Fields = size === undefined ? {} : { [size]: String(perPage) }
    const response = yield* ask(begin)
    if (response.status !== 200) return response
    let lines = 0
    /** Lines of a page, up to the remaining maximum. */
    const linesOf = ({ next, rows }: Page): readonly [text: string, next: Fields | undefined] => {
      const shown = rows.slice(0, maxLines - lines)
      lines += shown.length
      const text = shown.map((row) => form.line(list.columns, row)).join("")
      const isCut = lines >= maxLines && (shown.length < rows.length || next !== undefined)
      return isCut ? [text + form.note(`cut after ${maxLines} lines`), undefined] : [text, next]
    }
    const pages = Stream.paginate(linesOf(pageOf(response, begin)), ([text, next]) =>
      next === undefined
        ? Effect.succeed([[text], Option.none()] as const)
        : Effect.flatMap(ask(next), (answer) =>
          answer.status === 200
            ? Effect.succeed([[text], Option.some(linesOf(pageOf(answer, next)))] as const)
            : Effect.fail(exportFailed)))
    return HttpServerResponse.stream(
      Stream.concat(Stream.make(form.mark + form.header(list.columns)), pages).pipe(
        Stream.encodeText,
        Stream.ensuring(Effect.suspend(() => ended(lines, filters))),
        Stream.provideContext(context)
      ),
      {
        contentType: "text/csv; charset=utf-8",
        headers: { "content-disposition": `attachment; filename="${list.name}.csv"` }
      }
    )
  })
