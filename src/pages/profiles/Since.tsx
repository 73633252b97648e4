/** Date from which a version of a jurisdiction profile applies. Built-in versions have applied from the beginning. */
import { Instant } from "../parts/Values.tsx"

/** From when a version counts; a built-in one always has. */
export function Since({ at }: { readonly at: string }) {
  return Date.parse(at) === 0 ? <>the beginning</> : <Instant at={at} />
}
