/**
 * Base of the generic register protocol and the screening protocol, which services between Pitboss and the authorities speak: JSON with a bearer
 * token. Each protocol adds its own request and response fields to the request id, the name and the birth date.
 */
import { Schema } from "effect"
import type { ConnectionKind } from "../domain/register/Register.ts"
import { anotherRequest, jsonReader, missing, notTheForm, statusFault } from "./Answers.ts"
import { type Answer, type AnyRegister, anyRegister, type Question } from "./Register.ts"
import { certificateHasKey, settingUrl, settingWord, tlsFields } from "./SettingFields.ts"

const Settings = Schema.Struct({ url: settingUrl, api_key: settingWord, ...tlsFields }).check(certificateHasKey)

interface BearerJson<Result extends { readonly request_id: string }> {
  readonly kind: ConnectionKind
  /** What is told of a question beside its id and the name and birth date of the person. */
  readonly write: (question: Question) => object
  /** Form of an answer's body, with its members: each once. */
  readonly form: Schema.Codec<Result, unknown>
  readonly members: ReadonlyArray<string & keyof Result>
  readonly answer: (result: Result) => Answer
}

export const bearerJsonRegister = <Result extends { readonly request_id: string }>(
  { answer, form, kind, members, write }: BearerJson<Result>
): AnyRegister => {
  const read = jsonReader(form, members)
  return anyRegister<typeof Settings.Type>({
    kind,
    settings: Settings,
    secrets: ["api_key", "client_key"],
    problems: (person) => missing(person, ["firstName", "lastName", "birthDate"]),
    bind: ({ api_key, url }) => ({
      request: (question) => ({
        url,
        headers: { "content-type": "application/json", authorization: `Bearer ${api_key}` },
        body: JSON.stringify({
          request_id: question.requestId,
          first_name: question.person.firstName,
          last_name: question.person.lastName,
          birth_date: question.person.birthDate,
          ...write(question)
        })
      }),
      read: ({ requestId }, response) => {
        const fault = statusFault(response)
        if (fault !== undefined) return fault
        const result = read(response.body)
        if (result === undefined) return notTheForm
        return result.request_id === requestId ? answer(result) : anotherRequest
      }
    })
  })
}
