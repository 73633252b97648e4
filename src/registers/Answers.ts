/** Shared helpers for exclusion register clients: answers, faults, JSON readers, and missing-field checks. */
import { Option, Schema } from "effect"
import type { RegisterVerdict } from "../domain/register/Register.ts"
import type { Answer, Person, PersonProblems, RegisterResponse } from "./Register.ts"

export const faultOf = (fault: string): Answer => ({ _tag: "Fault", fault: fault.slice(0, 200) })

export const answered = (
  verdict: RegisterVerdict,
  responseId: string | null = null,
  registerCode: string | null = null
): Answer => ({ _tag: "Answered", verdict, responseId, registerCode })

/** A status other than 200 is no answer, whatever the body says. */
export const statusFault = ({ status }: RegisterResponse): Answer | undefined =>
  status === 200 ? undefined : faultOf(`HTTP ${status}`)

export const notTheForm = faultOf("the response body cannot be decoded")
export const anotherRequest = faultOf("the response belongs to another request")

/** Id of an answer, as it is kept. */
export const answerId = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,128}$/))

const isAnswerId = Schema.is(answerId)

/** The text as an id of an answer; null where it is missing or none. */
export const idOrNull = (text: string | null | undefined): string | null => isAnswerId(text) ? text : null

export const idInHeader = (name: string, { header }: RegisterResponse): string | null => idOrNull(header(name))

/** Times that a member of this name stands in a JSON text: `JSON.parse` would take the last of several. */
export const occurrences = (name: string, body: string): number => body.split(`"${name}"`).length - 1

/** Reads a JSON object of a schema, with each of these members once; undefined for anything else. */
export const jsonReader = <A>(schema: Schema.Codec<A, unknown>, members: ReadonlyArray<string & keyof A>) => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return (body: string): A | undefined =>
    members.every((name) => occurrences(name, body) === 1) ? Option.getOrUndefined(decode(body)) : undefined
}

const required: ReadonlyArray<string> = ["is required: the register of excluded players asks for it"]

/** Fields of a registration by what a register needs to know of a person. */
const fields = {
  firstName: "first_name",
  lastName: "last_name",
  birthDate: "birth_date",
  email: "email",
  postcode: "zip_code",
  personalId: "personal_id"
} as const

export const missing = (person: Person, needed: ReadonlyArray<keyof typeof fields>): PersonProblems =>
  Object.fromEntries(
    needed.flatMap((name) => person[name] === null || person[name] === "" ? [[fields[name], required]] : [])
  )
