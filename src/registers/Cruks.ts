/**
 * CRUKS, the Dutch exclusion register, through a connected intermediary. Element names follow two publicly available integrations with such
 * intermediaries, since the register's own interface is not published.
 */
import { Schema } from "effect"
import { isDutchNumber } from "../domain/register/PersonalNumbers.ts"
import { anotherRequest, answered, faultOf, idOrNull, missing, notTheForm, statusFault } from "./Answers.ts"
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
import { elementAt, elementsNamed, readXml, textOf, tree, writeXml, type XmlName, type XmlTree } from "./Xml.ts"

const CruksSettings = Schema.Struct({
  url: settingBaseUrl,
  token: settingWord,
  sender_id: settingWord,
  ...tlsFields
}).check(certificateHasKey)

const problems = (person: Person): PersonProblems => {
  if (person.registerCode !== null) return {}
  const lacking = missing(person, ["lastName", "birthDate", "personalId"])
  return person.personalId === null || isDutchNumber(person.personalId)
    ? lacking
    : { ...lacking, personal_id: ["must be a Dutch citizen service number of nine digits"] }
}

/** The register's own code replaces the citizen service number once it is known. */
const subject = ({ birthDate, lastName, lastNamePrefix, personalId, registerCode }: Person): XmlTree =>
  registerCode !== null
    ? tree("CRUKSRequest", [tree("RequestCRUKSCode", registerCode)])
    : tree("BSNRequest", [
      tree("BSN", personalId ?? ""),
      tree("SurnamePrefix", lastNamePrefix ?? ""),
      tree("Surname", lastName ?? ""),
      tree("BirthDate", birthDate ?? "")
    ])

/** Letters and digits only, as payment networks have entrance codes. */
const entranceCode = (requestId: string): string => requestId.replaceAll("-", "")

const write = (senderId: string, { at, person, requestId }: Question): string =>
  writeXml(
    tree("CRUKSCheckInterface", [
      tree("CRUKSCheckTransactionRequest", [subject(person)], { attributes: { entranceCode: entranceCode(requestId) } })
    ], {
      attributes: {
        type: "TransactionRequest",
        mode: "direct",
        senderID: senderId,
        version: "1.0",
        createDateTime: new Date(at).toISOString(),
        messageCount: "1"
      }
    })
  )

const transaction: readonly [XmlName, ...Array<XmlName>] = [
  [null, "CRUKSCheckInterface"],
  [null, "CRUKSCheckTransactionResponse"]
]

const read = ({ person, requestId }: Question, response: RegisterResponse): Answer => {
  const fault = statusFault(response)
  if (fault !== undefined) return fault
  const root = readXml(response.body)
  const answer = root && elementAt(root, transaction)
  if (root === undefined || answer === undefined) return notTheForm
  if (elementsNamed(root, "Error").length > 0) return faultOf("an Error of the intermediary")
  const inResult = (name: string) => textOf(elementAt(root, [...transaction, [null, "CRUKSCheckResult"], [null, name]]))
  const isRegistered = inResult("IsRegistered")
  if (elementsNamed(root, "IsRegistered").length !== 1) return notTheForm
  const entrance = answer.getAttribute("entranceCode")
  const asked = inResult("RequestCRUKSCode") ?? ""
  if (
    (entrance !== null && entrance !== entranceCode(requestId)) ||
    (asked !== "" && person.registerCode !== null && asked !== person.registerCode)
  ) return anotherRequest
  if (isRegistered !== "true" && isRegistered !== "false") return faultOf("IsRegistered is neither true nor false")
  return answered(isRegistered === "true" ? "excluded" : "clear", null, idOrNull(inResult("ResponseCRUKSCode")))
}

/** `20261128170502314` of a time. */
const digitsOf = (at: number): string => new Date(at).toISOString().replaceAll(/\D/g, "")

const cruks: Register<typeof CruksSettings.Type> = {
  kind: "cruks",
  settings: CruksSettings,
  secrets: ["token", "client_key"],
  problems,
  bind: ({ sender_id, token, url }) => ({
    request: (question) => ({
      url: `${baseOf(url)}/ccr/createTransactionWithToken?token=${encodeURIComponent(token)}`,
      headers: {
        "content-type": "application/xml; type=CTX; charset=utf-8",
        "x-ttrs-date": new Date(question.at).toUTCString(),
        "x-ttrs-files-count": "1",
        "x-ttrs-filename": `CTX-${sender_id}-BSP1-${digitsOf(question.at)}.xml`
      },
      body: write(sender_id, question)
    }),
    read
  })
}

export const cruksRegister = anyRegister(cruks)
