/** Fakes of the registers that answer with XML. */
import { type Element, parseXmlDocument } from "slimdom"
import { type Given, secret, subjectOf, type Wire } from "./Wire.ts"

const rootOf = (body: string): Element | undefined => {
  try {
    return parseXmlDocument(body).documentElement ?? undefined
  } catch {
    return undefined
  }
}

/** Text of the only element of a name in a namespace, empty where there is none. */
const textIn = (root: Element | undefined, name: string, namespace: string | null = null): string => {
  const found = root?.getElementsByTagNameNS(namespace, name) ?? []
  return found.length === 1 ? found[0]?.textContent ?? "" : ""
}

const isRoot = (root: Element | undefined, name: string, namespace: string | null): root is Element =>
  root?.localName === name && root.namespaceURI === namespace

const xml = (status: number, body: string, contentType = "text/xml; charset=utf-8"): Given => ({
  status,
  headers: { "content-type": contentType },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}\n`
})

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;")

const soap = "http://schemas.xmlsoap.org/soap/envelope/"
const service = "http://services.lur.skat.dk"
const context = "http://skat.dk/begrebsmodel/xml/schemas/kontekst/2007/05/31/"

const envelope = (status: number, content: string): Given =>
  xml(status, `<soapenv:Envelope xmlns:soapenv="${soap}"><soapenv:Body>${content}</soapenv:Body></soapenv:Envelope>`)

const soapFault = (words: string): Given =>
  envelope(
    500,
    `<soapenv:Fault><faultcode>soapenv:Client</faultcode><faultstring>${words}</faultstring></soapenv:Fault>`
  )

const authorization = `Basic ${Buffer.from(`fake:${secret}`).toString("base64")}`

export const rofus: Wire = {
  settings: (url) => ({ url, username: "fake", password: secret }),
  needsCertificate: false,
  answer: ({ body, header, path }, { lookUp, newId, twist }) => {
    if (path !== "/GamblerProject/GamblerService") return undefined
    if (header("authorization") !== authorization) return { status: 401 }
    if (header("soapaction") !== "\"\"") return soapFault("no SOAPAction")
    const root = rootOf(body)
    if (!isRoot(root, "Envelope", soap) || root.getElementsByTagNameNS(service, "GamblerCheckRequest").length !== 1) {
      return soapFault("no GamblerCheckRequest")
    }
    const number = textIn(root, "PersonCPRNumber")
    if (!/^\d{10}$/.test(number) || textIn(root, "TransaktionsID", context) === "") return soapFault("invalid request")
    const isExcluded = lookUp({ personal_id: number }) === "excluded"
    const word = isExcluded ? "PersonIsRegisteredTemporarily" : "PersonIsNotRegistered"
    const response = twist === "wrong_request" ? "GamblerCSRPValidationResponse" : "GamblerCheckResponse"
    return envelope(
      200,
      `<ser:${response} xmlns:ser="${service}"><Kontekst><ns1:HovedOplysninger xmlns:ns1="${context}">
        <ns1:TransaktionsID>${newId()}</ns1:TransaktionsID></ns1:HovedOplysninger></Kontekst>
        <ExclusionStatus><GamblerExclusionStatus>${
        twist === "wrong_type" ? "Unknown" : word
      }</GamblerExclusionStatus></ExclusionStatus></ser:${response}>`
    )
  }
}

/** The code of a citizen service number can be read back, so that it holds over a restart. */
const codeOf = (number: string): string => `CRUKS-${Buffer.from(number).toString("hex")}`
const numberOf = (code: string): string => Buffer.from(code.slice("CRUKS-".length), "hex").toString()

export const cruks: Wire = {
  settings: (url) => ({ url, token: secret, sender_id: "S1000" }),
  needsCertificate: false,
  answer: ({ body, path, query }, { lookUp, newId, twist }) => {
    if (path !== "/ccr/createTransactionWithToken") return undefined
    if (query.get("token") !== secret) return { status: 401 }
    const root = rootOf(body)
    const request = root?.getElementsByTagNameNS(null, "CRUKSCheckTransactionRequest")[0]
    const code = textIn(root, "RequestCRUKSCode")
    const number = code === "" ? textIn(root, "BSN") : numberOf(code)
    const entrance = twist === "wrong_request" ? newId() : request?.getAttribute("entranceCode") ?? ""
    const answer = (content: string): Given =>
      xml(
        200,
        `<CRUKSCheckInterface type="TransactionResponse" mode="direct" version="1.0" messageCount="1">
  <CRUKSCheckTransactionResponse entranceCode="${escaped(entrance)}">${content}</CRUKSCheckTransactionResponse>
</CRUKSCheckInterface>`,
        "application/xml; type=CTX; charset=utf-8"
      )
    if (!isRoot(root, "CRUKSCheckInterface", null) || !/^\d{9}$/.test(number)) {
      return answer("<Error><ErrorCode>INVALID</ErrorCode><ErrorMessage>Invalid request</ErrorMessage></Error>")
    }
    const isExcluded = lookUp({ personal_id: number }) === "excluded"
    return answer(
      `<CRUKSCheckResult><RequestCRUKSCode>${escaped(code)}</RequestCRUKSCode><ResponseCRUKSCode>${
        codeOf(number)
      }</ResponseCRUKSCode><IsRegistered>${
        twist === "wrong_type" ? "nee" : isExcluded
      }</IsRegistered></CRUKSCheckResult>`
    )
  }
}

export const oasis: Wire = {
  settings: (url) => ({ url, kennung: "fake", passwort: secret }),
  needsCertificate: true,
  answer: ({ body, header, path }, { lookUp, twist }) => {
    if (path !== "/oasisws/spielerstatus") return undefined
    if (header("kennung") !== "fake" || header("passwort") !== secret) return { status: 401 }
    const root = rootOf(body)
    if (!isRoot(root, "SPIELER-SUCHPARAMETER", "http://www.hzd.de/spielerSuchparameter")) return { status: 400 }
    const subject = subjectOf({
      first_name: textIn(root, "V"),
      last_name: textIn(root, "N"),
      birth_date: textIn(root, "D")
    })
    if (subject.first_name === undefined || subject.last_name === undefined || subject.birth_date === undefined) {
      return { status: 400 }
    }
    const word = lookUp(subject) === "excluded" ? "GESPERRT" : "NICHT_GESPERRT"
    const message = twist === "none" ? word : "UNBEKANNT"
    const item = "http://www.hzd.de/meldungskatalogItem"
    return xml(
      200,
      `<ns2:MELDUNGEN xmlns:ns2="${item}"><MELDUNG>${message}</MELDUNG></ns2:MELDUNGEN>`,
      "text/plain; charset=UTF-8"
    )
  }
}
