/**
 * OASIS, the German exclusion register: queries a player's status. The request follows a publicly available client of version 6.0. The status words
 * of the answer are not published, so they are configured in the settings; any other word is no valid answer.
 */
import { Effect, Schema } from "effect"
import { answered, faultOf, missing, notTheForm, statusFault } from "./Answers.ts"
import { type Answer, anyRegister, type Person, type Register, type RegisterResponse } from "./Register.ts"
import { baseOf, certificateHasKey, settingBaseUrl, settingWord, tlsFields } from "./SettingFields.ts"
import { elementsNamed, readXml, textOf, tree, writeXml } from "./Xml.ts"

const Words = Schema.Array(Schema.String.check(Schema.isTrimmed(), Schema.isBetweenCodePoints(1, 200))).check(
  Schema.isBetweenLength(1, 50)
)

const words = (standard: string) => Words.pipe(Schema.withDecodingDefaultKey(Effect.succeed([standard])))

const OasisSettings = Schema.Struct({
  url: settingBaseUrl,
  kennung: settingWord,
  passwort: settingWord,
  excluded: words("GESPERRT"),
  clear: words("NICHT_GESPERRT"),
  ...tlsFields
}).check(
  certificateHasKey,
  Schema.makeFilter(({ client_certificate, url }) =>
    client_certificate === undefined && url.startsWith("https:")
      ? { path: ["client_certificate"], issue: "is required: the register knows its callers by their certificates" }
      : undefined
  ),
  Schema.makeFilter(({ clear, excluded }) =>
    clear.some((word) => excluded.includes(word))
      ? { path: ["clear"], issue: "must not contain a word that excluded contains" }
      : undefined
  )
)

const parameters = "http://www.hzd.de/spielerSuchparameter"

const optional = (name: string, value: string | null) => value === null || value === "" ? [] : [tree(name, value)]

const write = ({ birthDate, birthName, birthPlace, firstName, lastName }: Person): string =>
  writeXml(
    tree("tns:SPIELER-SUCHPARAMETER", [
      tree("SPIELER", [
        tree("V", firstName ?? ""),
        tree("N", lastName ?? ""),
        ...optional("G", birthName),
        tree("D", birthDate ?? ""),
        ...optional("O", birthPlace)
      ])
    ], { namespace: parameters })
  )

/** Namespaces of the register, and none. */
const isOfRegister = (namespace: string | null): boolean =>
  namespace === null || namespace.startsWith("http://www.hzd.de/")

/** The way to the one message of an answer is not published: it has to be the only one of its name, wherever it stands. */
const read = (
  { clear, excluded }: Pick<typeof OasisSettings.Type, "clear" | "excluded">,
  response: RegisterResponse
): Answer => {
  const fault = statusFault(response)
  if (fault !== undefined) return fault
  const root = readXml(response.body)
  if (root === undefined) return notTheForm
  const below = elementsNamed(root, "MELDUNG")
  const messages = root.localName === "MELDUNG" ? [root, ...below] : below
  const [message] = messages
  const text = textOf(message)
  if (message === undefined || messages.length !== 1 || text === undefined || !isOfRegister(message.namespaceURI)) {
    return notTheForm
  }
  if (excluded.includes(text)) return answered("excluded")
  return clear.includes(text) ? answered("clear") : faultOf("a MELDUNG that the settings do not list")
}

const oasis: Register<typeof OasisSettings.Type> = {
  kind: "oasis",
  settings: OasisSettings,
  secrets: ["passwort", "client_key"],
  problems: (person) => missing(person, ["firstName", "lastName", "birthDate"]),
  bind: ({ clear, excluded, kennung, passwort, url }) => ({
    request: ({ person }) => ({
      url: `${baseOf(url)}/oasisws/spielerstatus`,
      headers: {
        "content-type": "text/plain; charset=UTF-8",
        accept: "text/plain; charset=UTF-8; version=6.0",
        kennung,
        passwort
      },
      body: write(person)
    }),
    read: (_question, response) => read({ clear, excluded }, response)
  })
}

export const oasisRegister = anyRegister(oasis)
