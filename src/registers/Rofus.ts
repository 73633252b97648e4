/**
 * ROFUS, the Danish exclusion register: the operation GamblerCheck of the service GamblerService, SOAP 1.1 with Basic authentication. Names and
 * namespaces follow the sample clients of the Danish Gambling Authority (Java and C#) and another platform's client.
 */
import { Schema } from "effect"
import { danishNumber } from "../domain/register/PersonalNumbers.ts"
import { answered, faultOf, idOrNull, missing, notTheForm, statusFault } from "./Answers.ts"
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
import { elementAt, elementsNamed, readXml, textOf, tree, writeXml, type XmlName } from "./Xml.ts"

const RofusSettings = Schema.Struct({
  url: settingBaseUrl,
  username: settingWord.check(
    Schema.isPattern(/^[^:]*$/, { message: "must have no colon: it is sent with Basic authentication" })
  ),
  password: settingWord,
  ...tlsFields
}).check(certificateHasKey)

const soap = "http://schemas.xmlsoap.org/soap/envelope/"
const service = "http://services.lur.skat.dk"
const context = "http://skat.dk/begrebsmodel/xml/schemas/kontekst/2007/05/31/"

const problems = (person: Person): PersonProblems => {
  const lacking = missing(person, ["birthDate", "personalId"])
  if (person.birthDate === null || person.personalId === null) return lacking
  const number = danishNumber(person.personalId)
  if (number === undefined) return { personal_id: ["must be a Danish personal number like DDMMYY-NNNN"] }
  return number.birthDate === person.birthDate ? {} : { personal_id: ["must begin with the birth date"] }
}

const write = ({ at, person, requestId }: Question): string => {
  const inSoap = { namespace: soap }
  const inContext = { namespace: context }
  return writeXml(
    tree("soapenv:Envelope", [
      tree("soapenv:Header", [], inSoap),
      tree("soapenv:Body", [
        tree("ser:GamblerCheckRequest", [
          tree("Kontekst", [
            tree("ns1:HovedOplysninger", [
              tree("ns1:TransaktionsID", requestId, inContext),
              tree("ns1:TransaktionsTid", new Date(at).toISOString(), inContext)
            ], inContext)
          ]),
          tree("PersonInformation", [
            tree("PersonCPRNumber", danishNumber(person.personalId ?? "")?.digits ?? "")
          ])
        ], { namespace: service })
      ], inSoap)
    ], inSoap)
  )
}

const verdicts = {
  PersonIsNotRegistered: "clear",
  PersonIsRegisteredTemporarily: "excluded",
  PersonIsRegisteredIndefinitely: "excluded"
} as const

const isVerdict = (text: string): text is keyof typeof verdicts => Object.hasOwn(verdicts, text)

const body: readonly [XmlName, ...Array<XmlName>] = [[soap, "Envelope"], [soap, "Body"]]
const status: readonly [XmlName, ...Array<XmlName>] = [
  ...body,
  [service, "GamblerCheckResponse"],
  [null, "ExclusionStatus"],
  [null, "GamblerExclusionStatus"]
]

const read = (response: RegisterResponse): Answer => {
  const fault = statusFault(response)
  if (fault !== undefined) return fault
  const root = readXml(response.body)
  if (root === undefined) return notTheForm
  const text = textOf(elementAt(root, status))
  if (elementAt(root, body)?.childElementCount !== 1) return notTheForm
  if (text === undefined || elementsNamed(root, "GamblerExclusionStatus").length !== 1) {
    return elementAt(root, [...body, [soap, "Fault"]]) === undefined ? notTheForm : faultOf("a SOAP fault")
  }
  if (!isVerdict(text)) return faultOf("an unknown GamblerExclusionStatus")
  const [transaction] = elementsNamed(root, "TransaktionsID")
  return answered(verdicts[text], idOrNull(textOf(transaction)))
}

const rofus: Register<typeof RofusSettings.Type> = {
  kind: "rofus",
  settings: RofusSettings,
  secrets: ["password", "client_key"],
  problems,
  bind: ({ password, url, username }) => ({
    request: (question) => ({
      url: `${baseOf(url)}/GamblerProject/GamblerService`,
      headers: {
        "content-type": "text/xml; charset=utf-8",
        soapaction: "\"\"",
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`
      },
      body: write(question)
    }),
    read: (_question, response) => read(response)
  })
}

export const rofusRegister = anyRegister(rofus)
