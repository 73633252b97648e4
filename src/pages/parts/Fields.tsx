/**
 * Forms from a list of fields: inputs, and their conversion to payloads. A page names the action; its fields follow from the contract, and
 * deviations are given beside the name:
 *
 *     formOf("webhook.create", { url: { placeholder: "https://" } })
 *     formOf("webhook.update", {}, { record: webhook })
 */
import { MultiSelect, PasswordInput, Select, Switch, Textarea, TextInput } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { forms } from "virtual:staff-api"
import { instantOf, wallTime } from "../../domain/ZonedTime.ts"
import type { Action, Request } from "../app/api.ts"
import { labelOf } from "./labels.ts"
import { type Named, operatorOptions } from "./operatorOptions.ts"
import { moneyForm, NumberField, type NumberForm, numberProblem, typedNumber, unitsIn } from "./NumberField.tsx"
import { moneyText, words } from "./Values.tsx"

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
    | "operator"
    | "own"
  readonly required?: boolean
  /** A cleared field is sent as null instead of omitted. */
  readonly nullable?: boolean
  readonly options?: ReadonlyArray<Option>
  /** For a `money` field, entered in major units and sent in minor ones; absent: that of the form. */
  readonly currency?: string
  /** For an `instant` field, entered in this time zone and sent in UTC; absent: that of the user. */
  readonly zone?: string
  /** Smallest and largest number, or length of a text. */
  readonly minimum?: number
  readonly maximum?: number
  /** Line breaks of `lines` become spaces. */
  readonly isOneLine?: boolean
  /** Empty: none. */
  readonly description?: string
  readonly placeholder?: string
  /** In the service's form: minor units, ISO 8601, lists. */
  readonly initial?: unknown
  /** Half of the form's width. */
  readonly half?: boolean
  /** What is wrong with an input of an `own` field. */
  readonly problemOf?: (input: unknown) => string | undefined
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

/** Operator of a new resource; chosen already when there is only one. */
const operatorChoice = (operators: ReadonlyArray<Named>) => ({
  options: operatorOptions(operators),
  initial: operators.length === 1 ? operators[0]?.slug : ""
})

type FormField = (typeof forms)[string][number]

type BodyName<A extends Action> = Extract<keyof NonNullable<Request<A>["payload"]>, string>

/** A text up to this length is entered in one row. */
const rowLength = 255

const inputKinds: Readonly<Record<FormField["kind"], Field["kind"]>> = {
  amount: "money",
  choice: "choice",
  choices: "choices",
  date: "date",
  instant: "instant",
  integer: "integer",
  lines: "lines",
  list: "list",
  number: "number",
  other: "own",
  secret: "password",
  switch: "switch",
  text: "text"
}

/** Kinds of fields of which two fit in a row, unless their words would take several lines. */
const short: ReadonlySet<Field["kind"]> = new Set(["date", "instant", "integer", "money", "number"])

/** Kinds of fields that always have a value. */
const valued: ReadonlySet<Field["kind"]> = new Set(["choices", "list", "own", "switch"])

/** What a field begins with where the service has a default. */
const defaultOf = ({ default: otherwise, kind, options }: FormField): unknown => {
  if (otherwise === "") return undefined
  switch (kind) {
    case "switch":
      return otherwise === "true"
    case "choices":
      return otherwise === "all" ? options : undefined
    case "choice":
      return options.includes(otherwise) ? otherwise : undefined
    default:
      return Number.isNaN(Number(otherwise)) ? undefined : Number(otherwise)
  }
}

const oneLine = 40

const isValue = (value: unknown): boolean => value !== undefined && value !== null && value !== ""

const derived = (field: FormField, record: ReadonlyMap<string, unknown> | undefined): Field => {
  const { description, isRequired, maximum, mayBeNull, minimum, name, options } = field
  const isLong = field.kind === "text" && maximum !== undefined && maximum > rowLength && !name.endsWith("url")
  const kind = name === "operator" ? "operator" : isLong ? "lines" : inputKinds[field.kind]
  const label = labelOf(name)
  const initial = record === undefined ? defaultOf(field) : undefined
  const empty = field.default !== "" ? field.default : mayBeNull ? "none" : ""
  const otherwise = empty === "" || defaultOf(field) !== undefined ? [] : [`Empty: ${empty}`]
  const sentences = [description === label || kind === "operator" ? "" : description, ...otherwise].filter((part) =>
    part !== ""
  )
  return {
    name,
    label,
    kind,
    options,
    nullable: mayBeNull,
    isOneLine: isLong,
    // what can be neither null nor empty cannot be taken away again
    required: isRequired || (isValue(record?.get(name)) && !mayBeNull && !valued.has(kind) && field.kind !== "lines"),
    half: short.has(kind) && sentences.join(". ").length < oneLine,
    ...(sentences.length === 0 ? {} : { description: `${sentences.join(". ")}.` }),
    ...(minimum === undefined || valued.has(kind) ? {} : { minimum }),
    ...(maximum === undefined || valued.has(kind) ? {} : { maximum }),
    ...(initial === undefined ? {} : { initial })
  }
}

/**
 * Form of an action: every field of its body in the contract's order, those named `first` before. `changes`: what differs, or false for a field that the
 * page fixes. `record`: the resource that is changed. `currency` of amounts, where no field of the form decides it. A field without a single value shows only
 * where a change draws it.
 */
export const formOf = <A extends Action>(
  action: A,
  changes: { readonly [name in BodyName<A>]?: Partial<Field> | false } = {},
  { currency, first = [], record }: {
    readonly record?: object | undefined
    readonly currency?: string
    readonly first?: ReadonlyArray<BodyName<A>>
  } = {}
): ReadonlyArray<Field> => {
  const changed = new Map<string, Partial<Field> | false>(Object.entries(changes))
  const values = record && new Map<string, unknown>(Object.entries(record))
  const places = new Map<string, number>(first.map((name, place) => [name, place]))
  const placeOf = ({ name }: Field) => places.get(name) ?? places.size
  return (forms[action] ?? []).flatMap((declared): ReadonlyArray<Field> => {
    const change = changed.get(declared.name) ?? {}
    if (change === false) return []
    const field = {
      ...derived(declared, values),
      ...change,
      ...(values?.has(declared.name) === true ? { initial: values.get(declared.name) } : {})
    }
    if (field.kind === "own" && field.draw === undefined) return []
    return [field.kind === "money" && currency !== undefined ? { currency, ...field } : field]
  }).toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Currency that is entered in the form itself. */
export const currencyTyped = ({ currency }: Inputs): string | undefined =>
  typeof currency === "string" && /^[A-Z]{3}$/.test(currency) ? currency : undefined

/** Fields with what the form knows: the choice of an operator, the currency of amounts, and the time zone of instants. */
export const settledFields = (
  fields: ReadonlyArray<Field>,
  inputs: Inputs,
  operators: ReadonlyArray<Named & { readonly currency: string }>,
  zone: string
): ReadonlyArray<Field> => {
  const chosen = operators.find(({ slug }) => slug === inputs["operator"]) ?? operators[0]
  const currency = currencyTyped(inputs) ?? chosen?.currency ?? "EUR"
  return fields.map((field) =>
    field.kind === "operator"
      ? { ...field, kind: "choice", ...operatorChoice(operators) }
      : field.kind === "money"
      ? { currency, ...field }
      : field.kind === "instant"
      ? { zone, ...field }
      : field
  )
}

/** Props of an `own` field. */
export interface OwnInput {
  readonly label: string
  readonly description: string | undefined
  /** What is wrong with the value, once it was to be sent. */
  readonly error: React.ReactNode
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
const wholes = ({ kind }: Pick<Field, "kind">): number => kind === "number" ? 100 : 1

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
      return typeof initial === "string" && initial !== "" ? wallTime(Date.parse(initial), field.zone ?? "UTC") : ""
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
      const at = instantOf(textOf(input), field.zone ?? "UTC")
      return at === undefined ? undefined : new Date(at).toISOString()
    }
    default: {
      const text = field.isOneLine === true ? textOf(input).trim().replaceAll(/\s*\n\s*/g, " ") : textOf(input)
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
    if (!onlyChanged) return []
    if (field.nullable === true) return [[field.name, null]]
    return field.kind === "lines" && field.isOneLine === false ? [[field.name, ""]] : []
  }))

/** What is wrong with a value outside the bounds of its field. */
const boundsProblem = (
  { currency, kind, maximum = Infinity, minimum = -Infinity }: Field,
  number: NumberForm | undefined,
  value: unknown
): string | undefined => {
  const size = typeof value === "string" ? value.length : value
  if (typeof size !== "number" || (size >= minimum && size <= maximum)) return undefined
  if (typeof value === "string") {
    return size < minimum
      ? `At least ${minimum} characters`
      : `At most ${maximum} characters`
  }
  if (number === undefined) return undefined
  const textOfBound = (bound: number) =>
    kind === "money" ? moneyText(bound, currency ?? "EUR") : typedNumber(bound * wholes({ kind }), number)
  return size < minimum ? `At least ${textOfBound(minimum)}` : `At most ${textOfBound(maximum)}`
}

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
      const problem = (isEmpty ? undefined : field.problemOf?.(input)) ??
        (number === undefined ? undefined : numberProblem(textOf(input), number)) ??
        (isEmpty ? undefined : boundsProblem(field, number, valueOf(field, input)))
      return problem === undefined ? [] : [[name, problem]]
    })
  )

export const optionsOf = (options: ReadonlyArray<Option> = []) =>
  options.map((option) => typeof option === "string" ? { value: option, label: words(option) } : option)

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
    ...(description ? { description } : {}),
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
          {...(description ? { description } : {})}
          {...form.getInputProps(name, { type: "checkbox" })}
        />
      )
    case "own":
      return draw?.({
        label,
        description,
        error: form.errors[name],
        value: standing(field, form.values),
        onChange: (value) => form.setFieldValue(name, value)
      })
    case "password":
      return <PasswordInput autoComplete="new-password" {...common} {...input} />
    case "instant":
      return <TextInput type="datetime-local" {...common} label={`${label} (${field.zone ?? "UTC"})`} {...input} />
    case "date":
      return <TextInput type="date" {...common} {...input} />
    default:
      return <TextInput {...common} {...input} />
  }
}

/** Fields as they stand in rows: one of half the width has another beside it. */
const placed = (fields: ReadonlyArray<Field>): ReadonlyArray<readonly [field: Field, isWhole: boolean]> => {
  let isBeside = false
  return fields.map((field, index) => {
    const isHalf = field.half === true && (isBeside || fields[index + 1]?.half === true)
    isBeside = isHalf && !isBeside
    return [field, !isHalf]
  })
}

/** Inputs of a form. */
export function Fields(
  { fields, form }: { readonly fields: ReadonlyArray<Field>; readonly form: UseFormReturnType<Inputs> }
) {
  return fields.length > 0 && (
    <div className="fields">
      {placed(fields).map(([field, isWhole], index) => (
        <div key={field.name} {...(isWhole ? { className: "whole" } : {})}>
          <Input field={field} form={form} isFirst={index === 0} />
        </div>
      ))}
    </div>
  )
}
