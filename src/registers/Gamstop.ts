/**
 * GAMSTOP, the exclusion register of Great Britain. The form, the verdict header and the batch request follow publicly available clients, since the
 * documentation requires a registration.
 */
import { Option, Schema } from "effect"
import { answered, faultOf, idInHeader, missing, notTheForm, occurrences, statusFault } from "./Answers.ts"
import {
  type Answer,
  anyRegister,
  type Person,
  type Question,
  type Register,
  type RegisterResponse
} from "./Register.ts"
import { certificateHasKey, settingUrl, settingWord, tlsFields } from "./SettingFields.ts"

const GamstopSettings = Schema.Struct({
  url: settingUrl,
  batch_url: settingUrl,
  api_key: settingWord,
  ...tlsFields
}).check(certificateHasKey)

const verdicts = { Y: "excluded", N: "clear", P: "previous" } as const

const isVerdict = (text: string | undefined): text is keyof typeof verdicts =>
  text !== undefined && Object.hasOwn(verdicts, text)

/** The register refuses a question that lacks one of the six; unknown ones are empty. */
const fieldsOf = ({ birthDate, email, firstName, lastName, phone, postcode }: Person) => ({
  firstName: firstName ?? "",
  lastName: lastName ?? "",
  dateOfBirth: birthDate ?? "",
  email: email ?? "",
  postcode: postcode ?? "",
  mobile: phone ?? ""
})

const read = (response: RegisterResponse): Answer => {
  const verdict = response.header("x-exclusion")
  return statusFault(response) ??
    (isVerdict(verdict)
      ? answered(verdicts[verdict], idInHeader("x-unique-id", response))
      : faultOf("no X-Exclusion of Y, N or P"))
}

const status = "exclusionStatus"

const decodeBatch = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ [status]: Schema.Literals(["Y", "N", "P"]) })))
)

const readBatch = (questions: ReadonlyArray<Question>, response: RegisterResponse): ReadonlyArray<Answer> => {
  const list = Option.getOrElse(decodeBatch(response.body), () => [])
  // the answers have nothing but their order to say whom they are about
  const fault = statusFault(response) ??
    (list.length === questions.length && occurrences(status, response.body) === list.length ? undefined : notTheForm)
  const responseId = idInHeader("x-unique-id", response)
  return fault === undefined
    ? list.map((item) => answered(verdicts[item[status]], responseId))
    : questions.map(() => fault)
}

const gamstop: Register<typeof GamstopSettings.Type> = {
  kind: "gamstop",
  settings: GamstopSettings,
  secrets: ["api_key", "client_key"],
  problems: (person) => missing(person, ["firstName", "lastName", "birthDate", "email", "postcode"]),
  bind: ({ api_key, batch_url, url }) => ({
    request: ({ person, requestId }) => ({
      url,
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-api-key": api_key,
        "x-trace-id": requestId
      },
      body: new URLSearchParams(fieldsOf(person)).toString()
    }),
    read: (_question, response) => read(response),
    batch: {
      events: ["marketing", "refresh"],
      maxQuestions: 1000,
      everyMs: 1000,
      request: (questions) => ({
        url: batch_url,
        headers: {
          "content-type": "application/json",
          "x-api-key": api_key,
          "x-trace-id": questions[0]?.requestId ?? ""
        },
        body: JSON.stringify(questions.map(({ person }) => fieldsOf(person))),
        isBatch: true
      }),
      read: readBatch
    }
  })
}

export const gamstopRegister = anyRegister(gamstop)
