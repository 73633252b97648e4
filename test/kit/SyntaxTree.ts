/** Syntax trees of the project's files, for tests of the source. */
import { parseAst } from "vitest/node"

/** A node of a syntax tree, as far as it is looked at. */
export interface SyntaxNode {
  readonly type: string
  readonly [field: string]: unknown
}

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

export const childrenOf = (node: SyntaxNode): ReadonlyArray<SyntaxNode> => {
  const children: Array<SyntaxNode> = []
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) children.push(item)
  }
  return children
}

/** The dotted name of an expression; empty when it has none. */
export const nameOf = (value: unknown): string => {
  if (!isNode(value)) return ""
  if (value.type === "Identifier" || value.type === "PrivateIdentifier") return String(value["name"])
  return value.type === "MemberExpression" ? `${nameOf(value["object"])}.${nameOf(value["property"])}` : ""
}

export const parse = (text: string): SyntaxNode => {
  const program: unknown = parseAst(text, { lang: "ts" })
  if (!isNode(program)) throw new Error("the parser gives no tree")
  return program
}
