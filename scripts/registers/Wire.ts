/** What the wires of fake registers have in common. */
import type { Hit } from "../../src/domain/register/Register.ts"
import type { Subject, Verdict } from "./People.ts"

export interface Asked {
  readonly path: string
  readonly query: URLSearchParams
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** How an answer is wrong in its words: a value of another type, or the answer to another request. */
type Twist = "none" | "wrong_type" | "wrong_request"

export interface Given {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string
}

interface Register {
  readonly lookUp: (subject: Subject) => Verdict
  readonly hitsOf: (subject: Subject) => ReadonlyArray<Hit>
  readonly twist: Twist
  readonly newId: () => string
}

export interface Wire {
  /** Settings of a connection to an address, without those for TLS. */
  readonly settings: (url: string) => { readonly [name: string]: string }
  /** Knows its callers by their certificates. */
  readonly needsCertificate: boolean
  /** The answer to a POST; undefined for a path that the register does not have. */
  readonly answer: (asked: Asked, register: Register) => Given | undefined
}

/** The key or password of every fake. */
export const secret = "fake-register-secret"

export const json = (status: number, body: unknown): Given => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify(body)
})

/** Members of a JSON object; none of another text. */
export const membersOf = (body: unknown): { readonly [name: string]: unknown } =>
  typeof body === "object" && body !== null ? { ...body } : {}

export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text, and undefined for anything else. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Members of a subject that have a text. */
export const subjectOf = (members: { readonly [name in keyof Subject]: unknown }): Subject =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => textIn(value) === undefined ? [] : [[name, textIn(value)]])
  )
