/** Staff API endpoints for exclusion registers, their checks, and screenings. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { connectionKinds, keptEvents, keptVerdicts, registerKinds } from "../../domain/register/Register.ts"
import { integer, lines, oneOf, pathId, text, webAddress } from "../common/Fields.ts"
import { created, list, part, partQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { action } from "../common/StaffAction.ts"
import { ofOperator, ofPlayer, operatorReference } from "../common/StaffFields.ts"
import { SettingsInput } from "../providers/SettingsResource.ts"
import { RegisterCheck } from "./RegisterResource.ts"

const optional = Schema.optionalKey

const kind = oneOf(registerKinds).annotate({ description: "Wire format of the register." })

const settings = SettingsInput.annotate({
  description:
    "How it is reached, by the names of its kind; an update replaces those that it names. Secrets are never shown again."
})

/** How an operator's register of a kind is reached. */
export const StaffRegister = Schema.Struct({
  id,
  operator_id: id,
  kind: Schema.Literals(connectionKinds),
  active: Schema.Boolean,
  settings: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "Without the secret ones." }),
  created_at: timestamp,
  updated_at: timestamp
})

export type StaffRegister = typeof StaffRegister.Type

const LastCheck = Schema.NullOr(Schema.Struct(Struct.pick(RegisterCheck.fields, ["verdict", "answered_at", "fault"])))

const RegisterDetails = Schema.Struct({
  ...StaffRegister.fields,
  secret_settings: Schema.Array(Schema.String).annotate({ description: "Names of the secret settings that it has." }),
  last_check: LastCheck.annotate({ description: "What came of the newest question; null before the first." })
})

export type RegisterDetails = typeof RegisterDetails.Type

/** A check, and whom it was about. */
export const StaffRegisterCheck = Schema.Struct({
  ...RegisterCheck.fields,
  operator_id: id,
  player_id: Schema.NullOr(id).annotate({ description: "Null: a registration that was refused." })
})

export type StaffRegisterCheck = typeof StaffRegisterCheck.Type

const RegisterInput = Schema.Struct({ operator: operatorReference, kind, settings })

const RegisterUpdate = Schema.Struct({
  active: Schema.Boolean.annotate({
    description: "Whether it is asked (true); what needs it is refused while it is not."
  }),
  settings
}).mapFields(Struct.map(Schema.optionalKey))

export type RegisterInput = typeof RegisterInput.Type
export type RegisterUpdate = typeof RegisterUpdate.Type

const pem = (description: string) => optional(lines(65_536, { description }))

/** How a screening is reached. */
const screeningFields = {
  url: webAddress.annotate({ description: "Address that is asked." }),
  api_key: text(512, { description: "Key that it is asked with; never shown again.", flag: { isSecret: true } }),
  ca: pem("Authority that signed its certificate, in PEM."),
  client_certificate: pem("Certificate to show it, in PEM."),
  client_key: pem("Key of the certificate, in PEM.")
}

const ScreeningInput = Schema.Struct({ operator: operatorReference, ...screeningFields })

const ScreeningUpdate = Schema.Struct({
  active: optional(Schema.Boolean.annotate({ description: "Whether it is asked (true)." })),
  ...screeningFields,
  url: optional(screeningFields.url),
  api_key: optional(screeningFields.api_key)
})

const RefreshReport = Schema.Struct({
  asked: Schema.Int.annotate({ description: "Players whose answer was older than a day." }),
  excluded: Schema.Int,
  unavailable: Schema.Int,
  has_more: Schema.Boolean.annotate({ description: "There are more than one run asks about: run it again." })
})

export type RefreshReport = typeof RefreshReport.Type

const register = pathId.annotate({ description: "Id of the register." })

export const RegisterGroup = HttpApiGroup.make("register").annotate(
  OpenApi.Description,
  "National registers of excluded players"
).add(
  HttpApiEndpoint.post("create", "/registers", { payload: RegisterInput, success: created(StaffRegister) })
    .annotateMerge(
      action("Connect an operator to a register", { roles: ["compliance"], concern: "operator", is: "authority" })
    ),
  HttpApiEndpoint.patch("update", "/registers/:register", {
    params: { register },
    payload: RegisterUpdate,
    success: single(StaffRegister)
  }).annotateMerge(
    action("Change a register", { roles: ["compliance"], concern: "operator", is: "authority" })
  ),
  HttpApiEndpoint.get("show", "/registers/:register", { params: { register }, success: single(RegisterDetails) })
    .annotateMerge(
      action("A register: settings, and what came of the newest question", {
        roles: ["compliance"],
        concern: "operator"
      })
    ),
  HttpApiEndpoint.get("list", "/registers", {
    query: ofOperator,
    success: list(RegisterDetails)
  }).annotateMerge(
    action("All registers, each with what came of the newest question", { roles: ["compliance"], concern: "operator" })
  ),
  HttpApiEndpoint.post("test", "/registers/:register/test", {
    params: { register },
    payload: Schema.Struct({
      player: integer(1, Number.MAX_SAFE_INTEGER).annotate({
        description: "Id of a player of the operator. The answer counts like any other."
      })
    }),
    success: single(StaffRegisterCheck)
  }).annotateMerge(
    action("Ask a register about a player", {
      roles: ["compliance"],
      concern: "operator",
      waiting: "Asking the register"
    })
  ),
  HttpApiEndpoint.post("refresh", "/registers/refresh", {
    payload: Schema.Struct({
      kind: kind.annotate({ flag: { kind: "argument" } }),
      operator: operatorReference
    }),
    success: single(RefreshReport)
  }).annotateMerge(
    action("Ask anew about the players of the last 30 days whose answer is older than a day", {
      roles: ["compliance"],
      concern: "operator",
      waiting: "Asking the register"
    })
  ),
  HttpApiEndpoint.get("checks", "/register-checks", {
    query: {
      ...partQuery,
      ...ofOperator,
      ...ofPlayer,
      verdict: Schema.optionalKey(oneOf(keptVerdicts).annotate({ description: "Filter by verdict." })),
      event: Schema.optionalKey(oneOf(keptEvents).annotate({ description: "Filter by event." }))
    },
    success: part(StaffRegisterCheck)
  }).annotateMerge(
    action("Questions to registers, newest first", { roles: ["compliance"], concern: "operator" })
  )
)

export const ScreeningGroup = HttpApiGroup.make("screening").annotate(
  OpenApi.Description,
  "Screening of players against lists of sanctions and of politically exposed persons"
).add(
  HttpApiEndpoint.post("create", "/screenings", { payload: ScreeningInput, success: created(StaffRegister) })
    .annotateMerge(
      action("Connect an operator to a screening", { roles: ["compliance"], concern: "operator", is: "authority" })
    ),
  HttpApiEndpoint.patch("update", "/screenings/:screening", {
    params: { screening: pathId.annotate({ description: "Id of the screening." }) },
    payload: ScreeningUpdate,
    success: single(StaffRegister)
  }).annotateMerge(
    action("Change a screening", { roles: ["compliance"], concern: "operator", is: "authority" })
  )
)
