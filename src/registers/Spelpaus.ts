/**
 * Spelpaus, the Swedish exclusion register: the sign-in and marketing APIs that the Swedish Gambling Authority publishes at
 * https://testapi.spelpaus.se/Documentation/Marketing.
 */
import { Schema } from "effect"
import { swedishNumber } from "../domain/register/PersonalNumbers.ts"
import { anotherRequest, answered, answerId, faultOf, jsonReader, missing, notTheForm, statusFault } from "./Answers.ts"
import {
  type Answer,
  anyRegister,
  type Person,
  type PersonProblems,
  type Question,
  type Register,
  type RegisterResponse
} from "./Register.ts"
import { baseOf, certificateHasKey, settingBaseUrl, settingWord, tlsFields } from "./SettingFields.ts"

const SpelpausSettings = Schema.Struct({
  url: settingBaseUrl,
  actor_id: settingWord,
  api_key: settingWord,
  ...tlsFields
}).check(certificateHasKey)

const ids = { requestId: Schema.String, responseId: answerId }
const readStatus = jsonReader(Schema.Struct({ isBlocked: Schema.Boolean, ...ids }), [
  "isBlocked",
  "requestId",
  "responseId"
])
const readAllowed = jsonReader(Schema.Struct({ allowedItemIds: Schema.Array(Schema.String), ...ids }), [
  "allowedItemIds",
  "requestId",
  "responseId"
])

/** Twelve digits: to a text that is no personal number, the register says *not blocked*. */
const subjectId = ({ personalId }: Person): string => swedishNumber(personalId ?? "")?.digits ?? ""

const problems = (person: Person): PersonProblems => {
  const lacking = missing(person, ["birthDate", "personalId"])
  if (person.birthDate === null || person.personalId === null) return lacking
  const number = swedishNumber(person.personalId)
  if (number === undefined) {
    return { personal_id: ["must be a Swedish personal number like YYYYMMDD-NNNN with its check digit"] }
  }
  return number.birthDate === person.birthDate ? {} : { personal_id: ["must begin with the birth date"] }
}

const read = ({ requestId }: Question, response: RegisterResponse): Answer => {
  const fault = statusFault(response)
  const status = readStatus(response.body)
  if (fault !== undefined) return fault
  if (status === undefined) return notTheForm
  return status.requestId === requestId
    ? answered(status.isBlocked ? "excluded" : "clear", status.responseId)
    : anotherRequest
}

/** One per question, in order. The register says who is allowed: whoever is missing is excluded. */
const readMarketing = (questions: ReadonlyArray<Question>, response: RegisterResponse): ReadonlyArray<Answer> => {
  const all = (answer: Answer) => questions.map(() => answer)
  const fault = statusFault(response)
  const list = readAllowed(response.body)
  if (fault !== undefined) return all(fault)
  if (list === undefined) return all(notTheForm)
  if (list.requestId !== questions[0]?.requestId) return all(anotherRequest)
  const { allowedItemIds, responseId } = list
  const asked = new Set(questions.map((_, index) => itemId(index)))
  const allowed = new Set(allowedItemIds)
  if (allowed.size !== allowedItemIds.length || !allowedItemIds.every((id) => asked.has(id))) {
    return all(faultOf("the response allows items that were not asked about, or one of them twice"))
  }
  return questions.map((_, index) => answered(allowed.has(itemId(index)) ? "clear" : "excluded", responseId))
}

/** Ids of items are short, so that the answer about ten thousand stays small. */
const itemId = (index: number): string => String(index)

const spelpaus: Register<typeof SpelpausSettings.Type> = {
  kind: "spelpaus",
  settings: SpelpausSettings,
  secrets: ["api_key", "client_key"],
  problems,
  bind: ({ actor_id, api_key, url }) => {
    const to = (path: string, body: object) => ({
      url: `${baseOf(url)}/api/${path}/${encodeURIComponent(actor_id)}`,
      headers: { "content-type": "application/json", authorization: api_key },
      body: JSON.stringify(body)
    })
    const marketing = (questions: ReadonlyArray<Question>) =>
      to("marketing-subjectid", {
        requestId: questions[0]?.requestId ?? "",
        items: questions.map(({ person }, index) => ({ itemId: itemId(index), subjectId: subjectId(person) }))
      })
    return {
      // the question of a sign-in may not be asked for marketing, nor the other way round
      request: (question) =>
        question.event === "marketing"
          ? marketing([question])
          : to("blocking-info", { requestId: question.requestId, subjectId: subjectId(question.person) }),
      read: (question, response) =>
        question.event === "marketing"
          ? readMarketing([question], response)[0] ?? notTheForm
          : read(question, response),
      batch: {
        events: ["marketing"],
        maxQuestions: 10_000,
        everyMs: 0,
        request: (questions) => ({ ...marketing(questions), isBatch: true }),
        read: readMarketing
      }
    }
  }
}

export const spelpausRegister = anyRegister(spelpaus)
