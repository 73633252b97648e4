/** Wire schemas of jurisdiction profiles; the document itself is declared in `domain/jurisdiction`. */
import { Schema, Struct } from "effect"
import { effects } from "../../domain/jurisdiction/Differences.ts"
import { Profile } from "../../domain/jurisdiction/Profile.ts"
import { timestamp } from "../common/Resource.ts"

const versionOf = {
  version: Schema.Int.annotate({
    description: "Versions of a code are numbered from 1 and never change.",
    examples: [1]
  }),
  valid_from: timestamp.annotate({ description: "From then on it counts." })
}

/** A profile that an operator may use. */
export const ProfileSummary = Schema.Struct({
  code: Schema.String.annotate({ examples: ["se"] }),
  name: Schema.String.annotate({ examples: ["Sweden"] }),
  ...versionOf,
  is_default: Schema.Boolean.annotate({ description: "Whether a registration without a jurisdiction gets it." })
}).annotate({
  identifier: "ProfileSummary",
  examples: [{ code: "se", name: "Sweden", version: 1, valid_from: "1970-01-01T00:00:00.000Z", is_default: true }]
})

const standing = Schema.decodeSync(Profile)({ code: "none", name: "No jurisdiction" })

/** The whole document of a version. */
export const ProfileDocument = Schema.Struct({ ...Struct.map(Profile.fields, Schema.toType), ...versionOf }).annotate({
  identifier: "Profile",
  examples: [{ ...standing, version: 1, valid_from: "1970-01-01T00:00:00.000Z" }]
})

export const versionStatuses = ["proposed", "approved"] as const

/** What a version changes. */
export const ProfileDifference = Schema.Struct({
  path: Schema.String,
  before: Schema.Unknown,
  after: Schema.Unknown,
  effect: Schema.Literals(effects)
})
