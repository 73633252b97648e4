/** The people that a fake register knows. */
import { Schema } from "effect"
import { Hit } from "../../src/domain/register/Register.ts"

const text = Schema.String.check(Schema.isBetweenLength(1, 255))

/** Somebody by personal number, by names and birth date, or both. */
export const People = Schema.Array(Schema.Struct({
  personal_id: Schema.optionalKey(text),
  first_name: Schema.optionalKey(text),
  last_name: Schema.optionalKey(text),
  birth_date: Schema.optionalKey(text),
  verdict: Schema.Literals(["excluded", "previous", "clear"]),
  /** Of a screening: whom it finds. */
  hits: Schema.optionalKey(Schema.Array(Hit))
}))

export type People = typeof People.Type

type Person = People[number]

export type Verdict = Person["verdict"]

/** Whom a question is about, as the wire says it. */
export type Subject = Omit<Person, "verdict" | "hits">

const fold = (text: string | undefined): string => (text ?? "").trim().toLowerCase()

const nameOf = ({ birth_date, first_name, last_name }: Subject): string | undefined =>
  last_name === undefined || birth_date === undefined
    ? undefined
    : [first_name, last_name, birth_date].map(fold).join("\n")

const digitsOf = ({ personal_id }: Subject): string | undefined => personal_id?.replaceAll(/\D/g, "")

/** Finds somebody among people. */
const findIn = (people: People) => {
  const known = new Map<string | undefined, Person>(
    people.flatMap((person) => [digitsOf(person), nameOf(person)].map((key) => [key, person] as const))
  )
  known.delete(undefined)
  return (subject: Subject): Person | undefined => known.get(digitsOf(subject)) ?? known.get(nameOf(subject))
}

/** Says what the register knows of somebody; whom it does not know is clear. */
export const lookUpIn = (people: People) => {
  const find = findIn(people)
  return {
    verdictOf: (subject: Subject): Verdict => find(subject)?.verdict ?? "clear",
    hitsOf: (subject: Subject): ReadonlyArray<Hit> => find(subject)?.hits ?? []
  }
}
