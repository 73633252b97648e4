/** Builds transaction ids that include the scope within which a vendor's ids are unique. */

const escaped = (part: string): string => /[:%]/.test(part) ? part.replaceAll("%", "%25").replaceAll(":", "%3A") : part

/** Joins parts into one id, injectively. */
export const joinIds = (kind: string, ...parts: ReadonlyArray<string>): string => {
  let id = kind
  for (const part of parts) id += `:${escaped(part)}`
  return id
}
