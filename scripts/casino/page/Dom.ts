/** Elements of the page. */

type Child = Node | string | undefined

type Attributes = { readonly [name: string]: string | number | boolean | (() => void) | undefined }

const filled = <E extends Element>(element: E, attributes: Attributes, children: ReadonlyArray<Child>): E => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value))
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/** An element; a function among the attributes listens. */
export const h = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: ReadonlyArray<Child>
): HTMLElementTagNameMap[Name] => filled(document.createElement(name), attributes, children)

/** An element of a picture. */
export const s = (name: string, attributes: Attributes = {}, ...children: ReadonlyArray<Child>): SVGElement =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children)

export const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`there is no ${id}`)
  return found
}

/** A field with its label around it. */
export const field = (label: string, control: HTMLElement): HTMLLabelElement => h("label", {}, label, control)

export const select = (
  name: string,
  choices: ReadonlyArray<readonly [value: string, text: string]>
): HTMLSelectElement => h("select", { name }, ...choices.map(([value, text]) => h("option", { value }, text)))

export interface Column {
  readonly name: string
  readonly isNumber?: boolean
}

/** A table in a part of its own, which scrolls where the window is narrow. */
export const table = (
  label: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): HTMLElement => {
  const classOf = (at: number) => columns[at]?.isNumber === true ? "number" : undefined
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, ...columns.map(({ name }, at) => h("th", { scope: "col", class: classOf(at) }, name)))
      ),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((text, at) => h("td", { class: classOf(at) }, text)))))
    )
  )
}

export const money = (minor: number, currency = "EUR"): string =>
  new Intl.NumberFormat("en", { style: "currency", currency }).format(minor / 100)
