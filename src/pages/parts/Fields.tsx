/** Forms from a list of fields: inputs, and their conversion to payloads. */
import { MultiSelect, PasswordInput, Select, Switch, Textarea, TextInput } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { moneyForm, NumberField, type NumberForm, numberProblem, typedNumber, unitsIn } from "./NumberField.tsx"

export type Option = string | { readonly value: string; readonly label: string }

/** Field of a form. `name` is that of the payload. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly kind:
    | "text"
    | "lines"
    | "integer"
    | "number"
    | "money"
    | "choice"
    | "choices"
    | "switch"
    | "password"
    | "instant"
    | "date"
    | "list"
    | "own"
  readonly required?: boolean
  /** A cleared field is sent as null instead of omitted. */
  readonly nullable?: boolean
  readonly options?: ReadonlyArray<Option>
  /** For a `money` field, entered in major units and sent in minor ones. */
  readonly currency?: string
  readonly description?: string
  readonly placeholder?: string
  /** In the service's form: minor units, ISO 8601, lists. */
  readonly initial?: unknown
  /** Half of the form's width. */
  readonly half?: boolean
  /** Renders an `own` field, whose input is its value. */
  readonly draw?: (input: OwnInput) => React.ReactNode
}

/** Fields of a form; `false` is left out. */
export type FieldList = ReadonlyArray<Field | false>

/** Fields with the values of a record, as far as it has them. */
export const filledFrom = (record: object | undefined, fields: FieldList): ReadonlyArray<Field> => {
  const values = new Map<string, unknown>(Object.entries(record ?? {}))
  return fields.filter((field) => field !== false).map((field) =>
    values.has(field.name) ? { ...field, initial: values.get(field.name) } : field
  )
}

interface Named {
  readonly name: string
  readonly slug: string
}

/** Operators as options, by slug. */
export const operatorOptions = (operators: ReadonlyArray<Named>) =>
  operators.map(({ name, slug: value }) => ({ value, label: name }))

/** Operator of a new resource; preselected when there is only one. */
export const operatorField = (operators: ReadonlyArray<Named>): Field => ({
  name: "operator",
  label: "Operator",
  kind: "choice",
  required: true,
  options: operatorOptions(operators),
  initial: operators.length === 1 ? operators[0]?.slug : ""
})

/** Props of an `own` field. */
export interface OwnInput {
  readonly label: string
  readonly description: string | undefined
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** How a field counts; undefined for one that is no number. A `number` has two decimals. */
const numberFormOf = ({ currency = "EUR", kind }: Field): NumberForm | undefined =>
  kind === "money"
    ? moneyForm(currency)
    : kind === "integer"
    ? { decimals: 0 }
    : kind === "number"
    ? { decimals: 2 }
    : undefined

/** Whole units of a `number` field in one. */
const wholes = ({ kind }: Field): number => kind === "number" ? 100 : 1

/** Current values of the inputs. */
export type Inputs = Record<string, unknown>

const inputOf = (field: Field): unknown => {
  const { initial, kind } = field
  const number = numberFormOf(field)
  if (number !== undefined) {
    return typeof initial === "number"
      ? typedNumber(Math.round(initial * wholes(field)), number)
      : ""
  }
  switch (kind) {
    case "switch":
      return initial === true
    case "choices":
      return Array.isArray(initial) ? initial : []
    case "list":
      return Array.isArray(initial) ? initial.join("\n") : ""
    case "instant":
      return typeof initial === "string" ? initial.slice(0, 16) : ""
    default:
      return initial ?? ""
  }
}

const textOf = (input: unknown): string => typeof input === "string" ? input : ""

const valueOf = (field: Field, input: unknown): unknown => {
  const number = numberFormOf(field)
  if (number !== undefined) {
    const units = unitsIn(textOf(input), number)
    return units === undefined ? undefined : units / wholes(field)
  }
  switch (field.kind) {
    case "switch":
      return input === true
    case "choices":
    case "own":
      return input
    case "list":
      return textOf(input).split(/[\n,]/).map((text) => text.trim()).filter((text) => text !== "")
    case "instant": {
      const text = textOf(input)
      return text === "" ? undefined : new Date(`${text}Z`).toISOString()
    }
    default: {
      const text = textOf(input)
      return text === "" ? undefined : text
    }
  }
}

/** Current input of a field; a field added later by another choice starts with its initial value. */
const standing = (field: Field, inputs: Inputs): unknown => field.name in inputs ? inputs[field.name] : inputOf(field)

/** Initial inputs. */
export const inputsOf = (fields: ReadonlyArray<Field>): Inputs =>
  Object.fromEntries(fields.map((field) => [field.name, inputOf(field)]))

/** Payload of the form; with `onlyChanged`, only the fields that differ from their initial values. */
export const payloadOf = (fields: ReadonlyArray<Field>, inputs: Inputs, onlyChanged = false): Record<string, unknown> =>
  Object.fromEntries(fields.flatMap((field) => {
    const input = standing(field, inputs)
    if (onlyChanged && JSON.stringify(input) === JSON.stringify(inputOf(field))) return []
    const value = valueOf(field, input)
    if (value !== undefined) {
      return field.kind === "list" && !field.required && !onlyChanged && Array.isArray(value) && value.length === 0
        ? []
        : [[field.name, value]]
    }
    return field.nullable === true && onlyChanged ? [[field.name, null]] : []
  }))

/** Errors of missing required fields and of texts that are no numbers, by field. */
export const problemsIn = (fields: ReadonlyArray<Field>, inputs: Inputs): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const { label, name, required } = field
      const input = standing(field, inputs)
      const isEmpty = input === "" || input === null || input === undefined ||
        (Array.isArray(input) && input.length === 0)
      if (required === true && isEmpty) return [[name, `${label} is needed`]]
      const number = numberFormOf(field)
      const problem = number === undefined ? undefined : numberProblem(textOf(input), number)
      return problem === undefined ? [] : [[name, problem]]
    })
  )

export const optionsOf = (options: ReadonlyArray<Option> = []) =>
  options.map((option) => typeof option === "string" ? { value: option, label: option.replaceAll("_", " ") } : option)

function Input(
  { field, form, isFirst }: {
    readonly field: Field
    readonly form: UseFormReturnType<Inputs>
    readonly isFirst: boolean
  }
) {
  const { description, draw, kind, label, name, options, placeholder, required } = field
  const common = {
    label,
    ...(description === undefined ? {} : { description }),
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(required === true ? { withAsterisk: true } : {}),
    ...(isFirst ? { "data-autofocus": true } : {})
  }
  const { key: _key, ...input } = {
    key: undefined,
    ...form.getInputProps(name),
    ...(name in form.values ? {} : { value: inputOf(field) })
  }
  const number = numberFormOf(field)
  if (number !== undefined) {
    return (
      <NumberField
        form={number}
        {...common}
        label={number.currency === undefined ? label : `${label} (${number.currency})`}
        {...input}
        value={textOf(standing(field, form.values))}
        onChange={(text) => form.setFieldValue(name, text)}
      />
    )
  }
  switch (kind) {
    case "lines":
    case "list":
      return <Textarea autosize minRows={2} maxRows={10} {...common} {...input} />
    case "choice":
      return (
        <Select
          data={optionsOf(options)}
          searchable={(options?.length ?? 0) > 8}
          clearable={required !== true}
          allowDeselect={required !== true}
          {...common}
          {...input}
        />
      )
    case "choices":
      return <MultiSelect data={optionsOf(options)} searchable {...common} {...input} />
    case "switch":
      return (
        <Switch
          label={label}
          {...(description === undefined ? {} : { description })}
          {...form.getInputProps(name, { type: "checkbox" })}
        />
      )
    case "own":
      return draw?.({
        label,
        description,
        value: standing(field, form.values),
        onChange: (value) => form.setFieldValue(name, value)
      })
    case "password":
      return <PasswordInput autoComplete="new-password" {...common} {...input} />
    case "instant":
      return <TextInput type="datetime-local" {...common} label={`${label} (UTC)`} {...input} />
    case "date":
      return <TextInput type="date" {...common} {...input} />
    default:
      return <TextInput {...common} {...input} />
  }
}

/** Inputs of a form. */
export function Fields(
  { fields, form }: { readonly fields: ReadonlyArray<Field>; readonly form: UseFormReturnType<Inputs> }
) {
  return fields.length > 0 && (
    <div className="fields">
      {fields.map((field, index) => (
        <div key={field.name} {...(field.half === true ? {} : { className: "whole" })}>
          <Input field={field} form={form} isFirst={index === 0} />
        </div>
      ))}
    </div>
  )
}
