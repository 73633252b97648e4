/** Derives the kind of a field (amount, date, choice and the like) from its schema, for page filters and export columns. */
import { SchemaAST } from "effect"

export interface FieldKind {
  readonly kind: "amount" | "instant" | "date" | "choice" | "number" | "text"
  /** Values of a choice, in the contract's order. */
  readonly options: ReadonlyArray<string>
}

/** An annotation of a field, before or after its checks. */
const annotated = ({ annotations, checks }: SchemaAST.AST, name: string): unknown =>
  [annotations, ...(checks ?? []).map((check) => check.annotations)].map((each) => each?.[name]).findLast((value) =>
    value !== undefined
  )

/** Kind of a field; of one that may be null, that of its other form. */
export const fieldKindOf = (ast: SchemaAST.AST): FieldKind => {
  if (SchemaAST.isUnion(ast)) {
    const types = ast.types.filter((type) => !SchemaAST.isNull(type))
    const options = types.flatMap((type) => SchemaAST.isLiteral(type) ? [String(type.literal)] : [])
    const [only] = types
    if (options.length === types.length) return { kind: "choice", options }
    return types.length === 1 && only !== undefined ? fieldKindOf(only) : { kind: "text", options: [] }
  }
  const format = annotated(ast, "format")
  const kind = annotated(ast, "amount") === true
    ? "amount"
    : format === "date-time"
    ? "instant"
    : format === "date"
    ? "date"
    : SchemaAST.isNumber(ast)
    ? "number"
    : "text"
  return { kind, options: [] }
}
