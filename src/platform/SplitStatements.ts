/**
 * Where the token that starts at `at` ends, when it may hide a semicolon: a quoted text or name, a dollar-quoted body,
 * a comment. `at + 1` for anything else. What is never closed runs to the end of the text.
 */
const endOfToken = (text: string, at: number): number => {
  const closing = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from)
    return found === -1 ? text.length : found + mark.length
  }
  const two = text.slice(at, at + 2)
  if (two === "--") return closing("\n", at)
  if (two === "/*") return endOfBlockComment(text, at)
  const first = text[at]
  if (first === "\"") return closing("\"", at + 1)
  if (first === "'") {
    // In E'…' a backslash escapes the quote; elsewhere only a doubled quote does, which reads as two literals here.
    const escapes = /(^|[^A-Za-z0-9_$])[eE]$/.test(text.slice(Math.max(0, at - 2), at))
    return escapes ? endOfEscapedText(text, at + 1) : closing("'", at + 1)
  }
  if (first === "$" && !/[A-Za-z0-9_$]/.test(text[at - 1] ?? " ")) {
    const tag = /^\$([A-Za-z_][A-Za-z0-9_]*)?\$/.exec(text.slice(at, at + 70))
    if (tag !== null) return closing(tag[0], at + tag[0].length)
  }
  return at + 1
}

const endOfEscapedText = (text: string, from: number): number => {
  let at = from
  while (at < text.length && text[at] !== "'") at += text[at] === "\\" ? 2 : 1
  return Math.min(at + 1, text.length)
}

/** Block comments nest in PostgreSQL. */
const endOfBlockComment = (text: string, from: number): number => {
  let depth = 0
  let at = from
  while (at < text.length) {
    const two = text.slice(at, at + 2)
    if (two === "/*") depth += 1
    if (two === "*/") depth -= 1
    at += two === "/*" || two === "*/" ? 2 : 1
    if (depth === 0) return at
  }
  return text.length
}

const isComment = (token: string): boolean => token.startsWith("--") || token.startsWith("/*")

/**
 * Splits an SQL script into its statements, without their semicolons, because the database client sends one statement
 * per call. Semicolons inside quotes, dollar quotes and comments do not split; pieces of nothing but comments are
 * dropped. (`BEGIN ATOMIC` bodies are not understood: write function bodies in dollar quotes.)
 */
export const splitStatements = (text: string): ReadonlyArray<string> => {
  const statements: Array<string> = []
  let start = 0
  let hasContent = false
  const finish = (end: number) => {
    if (hasContent) statements.push(text.slice(start, end).trim())
    hasContent = false
    start = end + 1
  }
  let at = 0
  while (at < text.length) {
    if (text[at] === ";") {
      finish(at)
      at += 1
      continue
    }
    const end = endOfToken(text, at)
    const token = text.slice(at, end)
    if (!isComment(token) && token.trim() !== "") hasContent = true
    at = end
  }
  finish(text.length)
  return statements
}
