/** Staff API endpoints for jurisdiction profiles. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { integer, text } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { timestamp } from "../common/Resource.ts"
import { action } from "../common/StaffAction.ts"
import { ProfileDifference, ProfileDocument, versionStatuses } from "./ProfileResource.ts"

const version = {
  code: Schema.String,
  version: Schema.Int,
  status: Schema.Literals(versionStatuses),
  valid_from: timestamp
}

const code = text(64, { description: "Code of the profile." })

/** A version, and what it changes. */
const StaffProfileVersion = Schema.Struct({
  ...version,
  looser_from: timestamp.annotate({ description: "From then on what is looser than before counts as well." }),
  imported_by: Schema.NullOr(Schema.String),
  approved_by: Schema.NullOr(Schema.String),
  differences: Schema.Array(ProfileDifference).annotate({ description: "From what counts when it begins." })
})

export type StaffProfileVersion = typeof StaffProfileVersion.Type

const StaffProfile = Schema.Struct({
  ...StaffProfileVersion.fields,
  document: ProfileDocument,
  versions: Schema.Array(Schema.Struct({
    ...version,
    is_current: Schema.Boolean.annotate({ description: "Whether it counts now." })
  }))
})

export type StaffProfile = typeof StaffProfile.Type

const StaffProfileSummary = Schema.Struct({
  ...version,
  name: Schema.String,
  proposed: Schema.NullOr(Schema.Int).annotate({ description: "The version that waits for an approval." }),
  operators: Schema.Int.annotate({ description: "Operators that offer it." })
})

export type StaffProfileSummary = typeof StaffProfileSummary.Type

export const ProfileGroup = HttpApiGroup.make("profile").annotate(OpenApi.Description, "Profiles of jurisdictions").add(
  HttpApiEndpoint.get("list", "/profiles", { success: list(StaffProfileSummary) }).annotateMerge(
    action("All profiles, with the version that counts", { roles: ["compliance"], concern: "catalogue" })
  ),
  HttpApiEndpoint.get("show", "/profiles/:code", {
    params: { code },
    query: {
      version: Schema.optionalKey(integer(1, 1_000_000).annotate({ description: "Version (the one that counts)." }))
    },
    success: single(StaffProfile)
  }).annotateMerge(
    action("A profile's rules, and what a version changes", { roles: ["compliance"], concern: "catalogue" })
  ),
  HttpApiEndpoint.post("import", "/profiles", {
    payload: Schema.Record(Schema.String, Schema.Unknown).annotate({
      description: "The document of a version, as profile.show has it."
    }),
    success: created(StaffProfileVersion)
  }).annotateMerge(
    action("Add a version of a profile", { roles: [], concern: "installation", is: "authority" })
  ),
  HttpApiEndpoint.post("approve", "/profiles/:code/versions/:version/approve", {
    params: { code, version: integer(1, 1_000_000).annotate({ description: "Version that waits." }) },
    success: single(StaffProfileVersion)
  }).annotateMerge(action("Approve a version that another person added", {
    roles: ["compliance"],
    concern: "installation",
    is: "authority"
  }))
)
