/** Staff API endpoints for staff accounts. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { amountFrom, oneOf, pathId, text } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { id, money, timestamp } from "../common/Resource.ts"
import { roles } from "../../domain/staff/Staff.ts"

const optional = Schema.optionalKey

/** A password that an account is given: 12 to 128 characters. */
export const newPassword = Schema.String.check(
  Schema.isBetweenLength(12, 128, { message: "must be 12 to 128 characters" })
)

/** A sign-in link. */
export const SignInLink = Schema.Struct({
  url: Schema.String.annotate({ description: "Signs in once, within 15 minutes." }),
  expires_at: timestamp
})

/** A staff account. */
export const StaffAccount = Schema.Struct({
  id,
  name: Schema.String,
  role: Schema.Literals(roles),
  active: Schema.Boolean,
  operators: Schema.NullOr(Schema.Array(id)).annotate({
    description: "Ids of the operators whose data the account sees and changes; null: all."
  }),
  has_password: Schema.Boolean.annotate({ description: "Whether the account signs in by its name and a password." }),
  has_second_factor: Schema.Boolean,
  daily_budget: Schema.NullOr(money).annotate({
    description:
      "What the account may give away alone in a day by bonuses and corrections, in minor units of each operator's " +
      "currency; null: without a bound."
  }),
  created_at: timestamp,
  created_by: Schema.NullOr(Schema.String),
  token_issued_at: timestamp,
  token_issued_by: Schema.NullOr(Schema.String),
  token_expires_at: timestamp,
  last_used_at: Schema.NullOr(timestamp).annotate({ description: "To the minute." })
})

const named = { name: text(100, { description: "Name of the person." }) }

const StaffUpdate = Schema.Struct({
  ...named,
  role: oneOf(roles).annotate({ description: "Role (admin)." }),
  active: Schema.Boolean.annotate({ description: "Whether its token and its sessions open anything." }),
  operators: Schema.NullOr(
    Schema.Array(text(128)).check(
      Schema.isMinLength(1, { message: "must have at least 1 entry" }),
      Schema.isMaxLength(100, { message: "must have at most 100 entries" })
    )
  ).annotate({
    description: "Ids or slugs of the operators that the account is bound to (all).",
    flag: { nullWord: "all" }
  }),
  password: newPassword.annotate({
    description: "Password of the sign-in with a browser, 12 to 128 characters. Ends the account's sessions.",
    flag: { isSecret: true }
  }),
  reset_second_factor: Schema.Literal(true).annotate({
    message: "must be true",
    description: "Takes the second factor and its recovery codes away, and ends the account's sessions."
  }),
  daily_budget: Schema.NullOr(amountFrom(0)).annotate({
    description: "Largest sum that it may give away alone in a day, minor units (1000000)."
  })
}).mapFields(Struct.map(optional))

const StaffInput = Schema.Struct({ ...StaffUpdate.fields, ...named })
  .mapFields(
    Struct.omit(["active", "reset_second_factor"])
  )

/** As the service takes them: with the ids of operators. */
export type StaffInput = Omit<typeof StaffInput.Type, "operators"> & WithOperators
export type StaffUpdate = Omit<typeof StaffUpdate.Type, "operators"> & WithOperators

interface WithOperators {
  readonly operators?: ReadonlyArray<number> | null
}

export const StaffGroup = HttpApiGroup.make("staff").annotate(OpenApi.Description, "Staff accounts").add(
  HttpApiEndpoint.post("create", "/staff", {
    payload: StaffInput,
    success: created(Schema.Struct({ ...StaffAccount.fields, token: Schema.String }))
  }).annotateMerge(
    action("Open an account; prints its token once", { roles: [], concern: "installation", is: "authority" })
  ),
  HttpApiEndpoint.patch("update", "/staff/:staff", {
    params: { staff: pathId.annotate({ description: "Id of the account." }) },
    payload: StaffUpdate,
    success: single(StaffAccount)
  }).annotateMerge(action("Change an account", { roles: [], concern: "installation", is: "authority" })),
  HttpApiEndpoint.post("rotate", "/staff/:staff/rotate", {
    params: { staff: pathId.annotate({ description: "Id of the account." }) },
    success: single(Schema.Struct({ ...StaffAccount.fields, token: Schema.String }))
  }).annotateMerge(
    action("Give an account a new token; prints it once", { roles: [], concern: "installation", is: "authority" })
  ),
  HttpApiEndpoint.post("retire_bootstrap", "/staff/bootstrap/retirement", {
    success: single(Schema.Struct({ retired_at: timestamp, retired_by: Schema.String }))
  }).annotateMerge(
    action("End the bootstrap token for good; takes an admin account", {
      roles: [],
      concern: "installation",
      is: "authority"
    })
  ),
  HttpApiEndpoint.get("list", "/staff", { success: list(StaffAccount) }).annotateMerge(
    action("All accounts", { roles: [], concern: "installation" })
  ),
  HttpApiEndpoint.get("colleagues", "/colleagues", {
    success: list(
      Schema.Struct({ id, name: Schema.String, role: Schema.Literals(roles), active: Schema.Boolean }).annotate({
        identifier: "Colleague"
      })
    )
  }).annotateMerge(
    action("Names of the accounts that work for the same operators, former ones too", {
      roles: anyRole,
      concern: "catalogue"
    })
  ),
  HttpApiEndpoint.post("ticket", "/staff/tickets", {
    payload: Schema.Struct({
      staff: optional(
        Schema.Int.check(
          Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, { message: "must be an id" })
        ).annotate({
          description: "Id of another's account, by admins (one's own; the first admin's for the bootstrap token)."
        })
      )
    }),
    success: created(SignInLink)
  }).annotateMerge(action("Print a link that signs in once, within 15 minutes", {
    // of one's own account; of another's by admins, which its handler judges
    roles: anyRole,
    concern: "self",
    is: "authority"
  }))
)
