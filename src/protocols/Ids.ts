/** Ids of transactions, made of what a vendor's ids are unique within. */

const escaped = (part: string): string => /[:%]/.test(part) ? part.replaceAll("%", "%25").replaceAll(":", "%3A") : part

/** One id of several parts; no two lists of parts give the same. */
export const joinIds = (kind: string, ...parts: ReadonlyArray<string>): string => {
  let id = kind
  for (const part of parts) id += `:${escaped(part)}`
  return id
}
