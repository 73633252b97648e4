/** Form fields of settings that differ by protocol or kind; collects their values into the `settings` of the request. */
import type { SettingsForm } from "virtual:protocols"
import type { Field } from "./Fields.tsx"
import { asHeading } from "./Values.tsx"

/** Label of a setting: `games_url` → `Games URL`. */
export const settingLabel = (name: string): string => asHeading(name).replace(/\burl\b/i, "URL")

/** Fields of the settings of a form. `isKept`: they are set already, and an empty secret leaves it as it is. */
export const settingFields = (form: SettingsForm | undefined, isKept: boolean): ReadonlyArray<Field> =>
  (form?.fields ?? []).map(({ isRequired, isSecret, kind, name, options }) => ({
    name,
    label: settingLabel(name),
    kind: kind === "block" ? "lines" : kind === "text" ? isSecret ? "password" : "text" : kind,
    required: isRequired && !(isSecret && isKept),
    nullable: !isRequired,
    options,
    half: kind !== "block",
    ...(kind === "block" ? { placeholder: "-----BEGIN …" } : {}),
    ...(isSecret && isKept ? { description: "Secret. Empty: as it is." } : {})
  }))

/** Collects the settings of a form into an object of their own. */
export const gatheredSettings = (
  form: SettingsForm | undefined,
  values: Record<string, unknown>
): Record<string, unknown> => {
  const names = new Set(form?.fields.map(({ name }) => name))
  const entries = Object.entries(values)
  const settings = entries.filter(([name]) => names.has(name))
  return {
    ...Object.fromEntries(entries.filter(([name]) => !names.has(name))),
    ...(settings.length === 0 ? {} : { settings: Object.fromEntries(settings) })
  }
}
