/**
 * XML of exclusion registers. Written by a serializer that escapes every value; read along exact paths of names and namespaces. Documents with a
 * document type are refused, so that only the five predefined entities exist.
 */
import { Document, type Element, parseXmlDocument, serializeToWellFormedString } from "slimdom"

/** Element to be written; `name` with its prefix. */
export interface XmlTree {
  readonly name: string
  readonly namespace: string | null
  readonly attributes: { readonly [name: string]: string }
  readonly content: string | ReadonlyArray<XmlTree>
}

/** An element without a namespace unless one is given. */
export const tree = (
  name: string,
  content: XmlTree["content"],
  { attributes = {}, namespace = null }: Partial<Pick<XmlTree, "attributes" | "namespace">> = {}
): XmlTree => ({ name, namespace, attributes, content })

/** Characters that no XML document can hold. */
const impossible = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

const possible = (text: string): string => text.replaceAll(impossible, "\u{FFFD}")

/** The document as text, with its declaration. A character that XML cannot hold is replaced by U+FFFD. */
export const writeXml = (root: XmlTree): string => {
  const document = new Document()
  const make = ({ attributes, content, name, namespace }: XmlTree): Element => {
    const element = document.createElementNS(namespace, name)
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, possible(value))
    if (typeof content === "string") element.append(possible(content))
    else element.append(...content.map(make))
    return element
  }
  document.append(make(root))
  return `<?xml version="1.0" encoding="UTF-8"?>${serializeToWellFormedString(document)}`
}

/** An answer about one person has one or two thousand characters. A longer one is not read: nesting and attributes make reading slow. */
const maxCharacters = 16_384

/** The root of a well-formed document; undefined for any other text, one with a document type, and one that is too long. */
export const readXml = (body: string): Element | undefined => {
  if (body.length > maxCharacters || body.includes("<!DOCTYPE")) return undefined
  try {
    return parseXmlDocument(body).documentElement ?? undefined
  } catch {
    return undefined
  }
}

/** Name of an element within its namespace, null for none. */
export type XmlName = readonly [namespace: string | null, name: string]

const isNamed = (element: Element, [namespace, name]: XmlName): boolean =>
  element.namespaceURI === namespace && element.localName === name

/** The only element at a path that begins with the root's own name; undefined where a step is missing or stands more than once. */
export const elementAt = (
  root: Element,
  [own, ...steps]: readonly [XmlName, ...Array<XmlName>]
): Element | undefined => {
  let found: Element | undefined = isNamed(root, own) ? root : undefined
  for (const step of steps) {
    const next: ReadonlyArray<Element> = found?.children.filter((child) => isNamed(child, step)) ?? []
    found = next.length === 1 ? next[0] : undefined
  }
  return found
}

/** All elements of a local name below an element, in any namespace. */
export const elementsNamed = (root: Element, name: string): ReadonlyArray<Element> =>
  root.getElementsByTagNameNS("*", name)

/** Text of an element that has nothing else in it, without the white space around; undefined for another one. */
export const textOf = (element: Element | undefined): string | undefined =>
  element !== undefined && element.childNodes.every(({ nodeType }) => nodeType === 3 || nodeType === 4)
    ? element.textContent?.trim()
    : undefined
