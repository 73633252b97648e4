/** Wire schema of a provider's protocol settings: a JSON object, validated field by field by the protocol. */
import { Schema } from "effect"
import { fieldIssues } from "../common/FormErrors.ts"

/** Settings by the names that the protocol has for them. A null takes an optional setting away. */
export const SettingsInput = Schema.Record(Schema.String, Schema.Unknown).annotate({
  description: "By the names of the protocol; secrets are never shown again."
})

/** Validation errors of settings, by the request's field names. */
export const settingsIssues = (error: Schema.SchemaError): { readonly [field: string]: ReadonlyArray<string> } =>
  Object.fromEntries(
    Object.entries(fieldIssues(error.issue)).map((
      [name, messages]
    ) => [name === "_" ? "settings" : `settings.${name}`, messages])
  )
