/**
 * Refuses undeclared query parameters by name, since a misspelt filter would otherwise return everybody's rows (SPEC lets clients ignore unknown
 * fields, but not the service ignore unknown parameters).
 */
import type { Schema } from "effect"

/** Values of `format`, known to every read: a list of the staff API is CSV, any other answer JSON. */
const formats: ReadonlyArray<string> = ["csv", "spreadsheet", "json"]

/** Marks that proxies, trackers and browsers add to an address. */
const foreign = /^(utm_|x-|_)/i

/** Common names elsewhere for the same thing, as {@link compact} writes them. */
const aliases: { readonly [name: string]: ReadonlyArray<string> } = {
  page_size: ["pagesize", "size", "limit", "perpage", "count", "take"],
  search: ["q", "query", "term", "filter"],
  cursor: ["next", "nextcursor", "after", "startingafter"],
  from: ["createdafter", "createdsince", "createdfrom", "since", "after", "start", "startdate", "datefrom", "from"],
  to: ["createdbefore", "createduntil", "createdto", "until", "before", "end", "enddate", "dateto", "to"]
}

/** Groups of {@link aliases} that a declared name belongs to. */
const aliasGroups: { readonly [name: string]: keyof typeof aliases } = {
  per_page: "page_size",
  limit: "page_size",
  search: "search",
  cursor: "cursor",
  from: "from",
  created_from: "from",
  to: "to",
  created_to: "to"
}

/** A name without case, separators and the brackets of a list. */
const compact = (name: string): string => name.replace(/\[.*$/, "").replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase()

/** Edits between two texts: letters added, left out, replaced, or two of them swapped. */
const editsBetween = (left: string, right: string): number => {
  let before: ReadonlyArray<number> = []
  let above: ReadonlyArray<number> = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const line = [row]
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      line.push(Math.min(
        (line[column - 1] ?? 0) + 1,
        (above[column] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity
      ))
    }
    before = above
    above = line
  }
  return above[right.length] ?? 0
}

/** Longest name that is compared: none that is declared is longer. */
const maxCompared = 40

/** Declared name that a caller probably meant; undefined when none is near. */
export const nearestParameter = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const sent = compact(name.slice(0, maxCompared))
  if (sent === "") return undefined
  const spelled = known.find((each) => compact(each) === sent)
  // `operator_id` for `operator`, and the other way round
  const owned = spelled ?? known.find((each) => `${compact(each)}id` === sent || compact(each) === `${sent}id`)
  const called = owned ?? known.find((each) => aliases[aliasGroups[each] ?? ""]?.includes(sent) === true)
  if (called !== undefined) return called
  const most = Math.min(2, Math.floor(sent.length / 3))
  const [nearest] = known.map((each) => ({ each, edits: editsBetween(sent, compact(each)) }))
    .filter(({ edits }) => edits <= most)
    .toSorted((one, other) => one.edits - other.edits)
  return nearest?.each
}

/** Field names of a query. */
export const fieldsOfQuery = (query: Schema.Top | undefined): ReadonlyArray<string> =>
  query?.ast._tag === "Objects" ? query.ast.propertySignatures.map(({ name }) => String(name)) : []

type Sent = { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** Names of one request that are compared with the declared ones. */
const maxSuggested = 20

const formatIssue = (value: Sent[string]): string | undefined =>
  typeof value !== "string"
    ? "must be sent once"
    : formats.includes(value)
    ? undefined
    : `must be one of: ${formats.join(", ")}`

/** Validation errors of the names sent, and of `format`, by name; undefined when there are none. */
export const parameterIssues = (
  known: ReadonlyArray<string>,
  sent: Sent,
  ignored: ReadonlyArray<string> = []
): { readonly [name: string]: ReadonlyArray<string> } | undefined => {
  const issues = new Map<string, string>()
  for (const [name, value] of Object.entries(sent)) {
    if (known.includes(name) || ignored.includes(name) || foreign.test(name) || (name === "" && value === "")) continue
    if (name === "format") {
      const issue = formatIssue(value)
      if (issue !== undefined) issues.set(name, issue)
      continue
    }
    const meant = issues.size < maxSuggested ? nearestParameter(name, [...known, "format"]) : undefined
    issues.set(
      name,
      meant === undefined ? "is not a known parameter" : `is not a known parameter: do you mean ${meant}?`
    )
  }
  return issues.size === 0
    ? undefined
    : Object.fromEntries([...issues].map(([name, message]) => [name, [message]]))
}
