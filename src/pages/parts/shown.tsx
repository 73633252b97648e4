/**
 * Display of the contract's fields: values, and the columns and facts derived from them. A page names the fields that it shows, in its order:
 *
 *     columnsOf("payment.list", "id", "status", "amount", "player_id", ["created_at", { label: "Requested" }])
 *     factsOf("webhook.list", webhook, "url", "operator_id", "events")
 *
 * Label, form and alignment follow from the field's declaration: money in the currency beside it, instants in the user's zone, states as badges,
 * operators and players as links or names. A page overrides these defaults in an object after the
 * field's name, as for `created_at` above; it writes a column or fact of several fields itself.
 */
import { answers } from "virtual:staff-api"
import type { Action, Data, Row } from "../app/api.ts"
import { useOperatorOf } from "../app/session.tsx"
import type { Column } from "./DataTable.tsx"
import type { Fact } from "./Facts.tsx"
import { labelOf } from "./labels.ts"
import { Clip, Count, Instant, Money, PageLink, Status, words, YesNo } from "./Values.tsx"

type Paths<T> = {
  [Name in Extract<keyof T, string>]: NonNullable<T[Name]> extends ReadonlyArray<unknown> ? Name
    : NonNullable<T[Name]> extends object ? `${Name}.${Paths<NonNullable<T[Name]>>}`
    : Name
}[Extract<keyof T, string>]

/** Name of a field, with that of the object that it is in: `registration.ip`. */
type PathIn<T> = Extract<Paths<T>, string>

/** How a field is shown where it is not as its declaration says. */
interface Shown<R> {
  readonly label?: string
  /** Maximum width of a text, in pixels; width of the column in a long list. */
  readonly width?: number
  /** Lines of its text on a card of a long list, at most. */
  readonly lines?: number
  /** With the sign of an amount. */
  readonly signed?: boolean
  /** Currency of an amount that has none beside it, nor an operator. */
  readonly currency?: string
  /** Instants to the second. */
  readonly seconds?: boolean
  /** Word for what is absent, or for an empty list: a dash. */
  readonly absent?: string
  /** Word for a number that is 0. */
  readonly zero?: string
  /** Address of what it leads to. */
  readonly to?: (row: R) => string
  /** Not aligned as a number, though it is one. */
  readonly isLeft?: boolean
  /** Left out while the details of a row are open beside the list. */
  readonly isAside?: boolean
  /** By hand. */
  readonly cell?: (row: R) => React.ReactNode
}

type Item<R> = PathIn<R> | readonly [name: PathIn<R>, as: Shown<R>]

type AnyItem<R> = string | readonly [name: string, as: Shown<R>]

const valueAt = (row: object, path: string): unknown =>
  path.split(".").reduce<unknown>((part, name) => {
    const value: unknown = typeof part === "object" && part !== null ? Reflect.get(part, name) : undefined
    return value
  }, row)

const badges: ReadonlySet<string> = new Set(["status", "state", "result", "severity", "risk_level", "kyc_status"])

/** Codes of many kinds, which their declarations do not list. */
const codes: ReadonlySet<string> = new Set(["category", "kind", "source", "type"])

/** Whether a resource is in use: shown as its state. */
const switches: ReadonlySet<string> = new Set(["active", "is_active"])

const nameOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1)

const isId = (name: string): boolean => name === "id" || name.endsWith("_id")

/** Player, by name where the row has it: the whole name, or else what the player signs in by beside the id. */
function PlayerName({ id, name, whole, width = 140 }: {
  readonly id: string
  readonly name: unknown
  readonly whole: unknown
  readonly width: number | undefined
}) {
  if (typeof whole === "string") {
    return (
      <PageLink to={`/players/${id}`} title={`${whole}, player ${id}`}>
        <span className="cut" style={{ maxWidth: width }} data-copy={id}>{whole}</span>
      </PageLink>
    )
  }
  const link = <PageLink to={`/players/${id}`}>{id}</PageLink>
  return typeof name === "string"
    ? (
      <>
        {link} <Clip width={width}>{name}</Clip>
      </>
    )
    : link
}

function OperatorName({ id }: { readonly id: number }) {
  return <Clip width={140}>{useOperatorOf()(id).name}</Clip>
}

/** Amount in the currency of its operator. */
function OperatorMoney({ amount, id, signed }: {
  readonly amount: number
  readonly id: number
  readonly signed: boolean
}) {
  return <Money amount={amount} currency={useOperatorOf()(id).currency} signed={signed} />
}

const amountIn = <R extends object>(row: R, amount: number, { currency, signed = false }: Shown<R>) => {
  const own = valueAt(row, "currency")
  const operator = valueAt(row, "operator_id")
  return typeof own === "string" || typeof operator !== "number"
    ? <Money amount={amount} currency={typeof own === "string" ? own : currency ?? "EUR"} signed={signed} />
    : <OperatorMoney amount={amount} id={operator} signed={signed} />
}

const headingOf = (path: string): string => switches.has(nameOf(path)) ? "State" : labelOf(path)

/** Text of a value; of a list, of its items. */
const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(textOf).join(", ")
    : typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : JSON.stringify(value)

/** A field's value. `clips`: long texts are cut. */
const drawn = <R extends object>(
  row: R,
  [path, kind]: readonly [string, string],
  as: Shown<R>,
  clips: boolean
): React.ReactNode => {
  const name = nameOf(path)
  const value = valueAt(row, path)
  if (value === 0 && as.zero !== undefined) return as.zero
  if (as.cell !== undefined) return as.cell(row)
  const absent = as.absent ?? "–"
  if (value === null || value === undefined) return absent
  const text = textOf(value)
  if (as.to !== undefined) return <PageLink to={as.to(row)}>{text}</PageLink>
  if (text === "") return absent
  if (typeof value === "number") {
    if (kind === "amount") return amountIn(row, value, as)
    if (name === "player_id") {
      return (
        <PlayerName id={text} name={valueAt(row, "username")} whole={valueAt(row, "player_name")} width={as.width} />
      )
    }
    if (name === "operator_id") return <OperatorName id={value} />
    return isId(name) ? text : <Count of={value} />
  }
  if (typeof value === "boolean") {
    return switches.has(name) ? <Status of={value ? "active" : "inactive"} /> : <YesNo of={value} />
  }
  if (kind === "instant") return <Instant at={text} seconds={as.seconds ?? false} isBrief={clips} />
  if (badges.has(name)) return <Status of={text} />
  if (kind === "choice" || codes.has(name)) return words(text)
  return clips && kind !== "date" ? <Clip width={as.width ?? 220}>{text}</Clip> : text
}

const sortKey = (value: unknown): string | number =>
  typeof value === "number" || typeof value === "string"
    ? value
    : typeof value === "boolean"
    ? Number(!value)
    : ""

const fieldIn = (list: string, path: string): readonly [string, string] =>
  answers[list]?.find(([name]) => name === path) ?? [path, "text"]

const isMade = <R extends object>(item: AnyItem<R> | Column<R>): item is Column<R> =>
  typeof item === "object" && "header" in item

const columnsIn = <R extends object>(
  list: string,
  items: ReadonlyArray<AnyItem<R> | Column<R>>
): ReadonlyArray<Column<R>> =>
  items.map((item): Column<R> => {
    if (isMade(item)) return item
    const [path, as]: readonly [string, Shown<R>] = typeof item === "string" ? [item, {}] : item
    const field = fieldIn(list, path)
    const isRight = as.isLeft !== true && (field[1] === "amount" || (field[1] === "number" && !isId(nameOf(path))))
    return {
      id: path,
      header: as.label ?? headingOf(path),
      value: (row) => sortKey(valueAt(row, path)),
      cell: (row) => drawn(row, field, as, true),
      ...(isRight ? { align: "right" } : {}),
      ...(as.width === undefined ? {} : { width: as.width }),
      ...(as.lines === undefined ? {} : { lines: as.lines }),
      ...(path === "operator_id" ? { isOfOperator: true } : {}),
      ...(as.isAside === true ? { isAside: true } : {})
    }
  })

/** Columns of a list. */
export const columnsOf = <A extends Action>(
  action: A,
  ...items: ReadonlyArray<Item<Row<A>> | Column<Row<A>>>
): ReadonlyArray<Column<Row<A>>> => columnsIn(action, items)

/** Row of a list in an answer. */
type Listed<A extends Action, List extends keyof Data<A>> = NonNullable<Data<A>[List]> extends
  ReadonlyArray<infer R extends object> ? R : never

/** Columns of a list in an answer. */
export const columnsOfList = <A extends Action, List extends Extract<keyof Data<A>, string>>(
  action: A,
  list: List,
  ...items: ReadonlyArray<Item<Listed<A, List>> | Column<Listed<A, List>>>
): ReadonlyArray<Column<Listed<A, List>>> => columnsIn(`${action}/${list}`, items)

/** What an answer tells: its data, or a row of them. */
type Told<A extends Action> = Data<A> extends ReadonlyArray<unknown> ? Row<A> : Extract<Data<A>, object>

/** Facts of what an answer tells, or of a row of one. */
export const factsOf = <A extends Action>(
  action: A,
  told: Told<A>,
  ...items: ReadonlyArray<Item<Told<A>>>
): ReadonlyArray<Fact> =>
  items.map((item: AnyItem<Told<A>>): Fact => {
    const [path, as]: readonly [string, Shown<Told<A>>] = typeof item === "string" ? [item, {}] : item
    return [as.label ?? headingOf(path), drawn(told, fieldIn(action, path), as, false)]
  })

/** Facts of every field but those that stand elsewhere: `but` names a field, or an object whose fields all do. */
export const otherFactsOf = <A extends Action>(
  action: A,
  told: Told<A>,
  but: ReadonlyArray<Extract<keyof Told<A>, string>>
): ReadonlyArray<Fact> => {
  const elsewhere: ReadonlySet<string> = new Set(but)
  return (answers[action] ?? []).filter(([path]) => !elsewhere.has(path.split(".")[0] ?? "")).map((field): Fact => [
    headingOf(field[0]),
    drawn(told, field, {}, false)
  ])
}
