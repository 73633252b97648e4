import { assert, describe, it } from "@effect/vitest"
import type { QuestionEvent, RegisterKind } from "../../src/domain/register/Register.ts"
import type { Answer, Question } from "../../src/registers/Register.ts"
import { batchOf, bound, numbers, question, response } from "./support.ts"

// Goal: what a register answers is read as the register means it, and whatever is not exactly an answer to the question is a fault, never a verdict.
// Method: answers that were recorded or published, with their sources, and each of them with one thing wrong.

const settings = {
  gamstop: { url: "https://api.gamstop.example/v2", batch_url: "https://batch.gamstop.example/v2", api_key: "k" },
  spelpaus: { url: "https://testapi.spelpaus.example", actor_id: "20", api_key: "k" },
  rofus: { url: "https://rofusdemo.example", username: "u", password: "p" },
  cruks: { url: "https://intermediary.example", token: "t", sender_id: "S1000" },
  oasis: { url: "http://oasis.example", kennung: "k", passwort: "p" },
  generic: { url: "https://intermediary.example/check", api_key: "k" }
} as const

const registerOf = (kind: RegisterKind, more: object = {}) => bound(kind, { ...settings[kind], ...more }).register

const asked = (kind: RegisterKind, more: Partial<Question> = {}) => question({ personalId: numbers[kind] }, more)

const verdictOf = (answer: Answer | undefined) =>
  answer?._tag === "Answered" ? answer.verdict : `fault: ${answer?.fault}`

const isFault = (answer: Answer | undefined): void => {
  assert.strictEqual(answer?._tag, "Fault")
  if (answer?._tag !== "Fault") return
  assert.isAtMost(answer.fault.length, 200)
  assert.notMatch(answer.fault, /Ada|Möller|1980|9879|ada@|\n/)
}

const { requestId } = question()

const statuses = [201, 204, 301, 400, 401, 403, 404, 429, 500, 503]

/** Bodies that are an answer of no register. */
const rubbish = [
  "",
  "null",
  "[]",
  "{}",
  "true",
  "\u0000",
  "<html><p>Welcome</html>",
  "[".repeat(60_000),
  "{\"a\":".repeat(10_000)
]

describe("Spelpaus", () => {
  // answers of the authority's test interface to actor 20, recorded by a public client on 2019-02-19
  const recorded = {
    isBlocked: true,
    requestId: "63600d50-342e-11e9-abaa-a550b4a1919a",
    responseId: "d9a60f1cba874a45998e88ccd746b0ac"
  }
  const register = registerOf("spelpaus")
  const of = (id: string, event: QuestionEvent = "login") =>
    question({ personalId: "182701303378" }, { requestId: id, event })
  const read = (body: unknown) => register.read(of(recorded.requestId), response(JSON.stringify(body)))

  it("answers are decoded like the recorded response", () => {
    assert.deepStrictEqual(read(recorded), {
      _tag: "Answered",
      verdict: "excluded",
      responseId: recorded.responseId,
      registerCode: null
    })
    assert.strictEqual(verdictOf(read({ ...recorded, isBlocked: false })), "clear")
    const tooLong = { SubjectId: ["The field SubjectId must be a string or array type with a maximum length of '12'."] }
    isFault(register.read(of(recorded.requestId), response(JSON.stringify(tooLong), {}, 400)))
  })

  it("is queried with the twelve-digit personal number and the API key, at a separate URL for marketing", () => {
    assert.deepStrictEqual(register.request(asked("spelpaus")), {
      url: "https://testapi.spelpaus.example/api/blocking-info/20",
      headers: { "content-type": "application/json", authorization: "k" },
      body: JSON.stringify({ requestId, subjectId: "198001019879" })
    })
    assert.deepStrictEqual(register.request(asked("spelpaus", { event: "marketing" })), {
      url: "https://testapi.spelpaus.example/api/marketing-subjectid/20",
      headers: { "content-type": "application/json", authorization: "k" },
      body: JSON.stringify({ requestId, items: [{ itemId: "0", subjectId: "198001019879" }] })
    })
  })

  it("has its answer treated as a fault if a value is mistyped, missing or repeated, or the answer is to another request", () => {
    const wrong = [
      { ...recorded, isBlocked: "false" },
      { ...recorded, isBlocked: 0 },
      { ...recorded, isBlocked: null },
      { requestId: recorded.requestId, responseId: recorded.responseId },
      { isBlocked: false, requestId: recorded.requestId },
      { ...recorded, isBlocked: false, requestId: "another" },
      { ...recorded, isBlocked: false, requestId: recorded.requestId.toUpperCase() },
      { ...recorded, responseId: "" },
      [{ ...recorded, isBlocked: false }]
    ]
    for (const body of wrong) isFault(read(body))
    const twice = JSON.stringify({ ...recorded, isBlocked: true }).replace("}", ",\"isBlocked\":false}")
    isFault(register.read(of(recorded.requestId), response(twice)))
    isFault(register.read(of(recorded.requestId), response(JSON.stringify(recorded).slice(0, -1))))
  })

  it("answers marketing queries with the persons who are allowed, so that a missing person counts as excluded", () => {
    // recorded: 182701303378 is blocked, 182701303377 is not
    const answer = { requestId: "nock_id", allowedItemIds: ["1"], responseId: "a930a627fe404b9e97111942d4c269ce" }
    const batch = batchOf(register)
    const both = [of("nock_id", "marketing"), of("another", "marketing")]
    const readBoth = (body: unknown) => batch.read(both, response(JSON.stringify(body))).map(verdictOf)
    assert.deepStrictEqual(readBoth(answer), ["excluded", "clear"])
    assert.deepStrictEqual(readBoth({ ...answer, allowedItemIds: [] }), ["excluded", "excluded"])
    assert.strictEqual(
      verdictOf(
        register.read(of("nock_id", "marketing"), response(JSON.stringify({ ...answer, allowedItemIds: ["0"] })))
      ),
      "clear"
    )
    const wrong = [
      { ...answer, allowedItemIds: ["2"] },
      { ...answer, allowedItemIds: ["0", "1", "198001019879"] },
      { ...answer, allowedItemIds: ["0", "0"] },
      { ...answer, allowedItemIds: [0, 1] },
      { ...answer, allowedItemIds: "01" },
      { ...answer, requestId: "another" },
      { isBlocked: false, requestId: "nock_id", responseId: "r" }
    ]
    for (const body of wrong) batch.read(both, response(JSON.stringify(body))).forEach(isFault)
    const refused = batch.read(both, response("Invalid item at position 2", {}, 400))
    assert.lengthOf(refused, 2)
    refused.forEach(isFault)
  })
})

describe("GAMSTOP", () => {
  // the header is that of three public clients; the batch's member that of two
  const register = registerOf("gamstop")
  const read = (headers: { readonly [name: string]: string }, status = 200) =>
    register.read(question(), response("", headers, status))

  it("returns its verdict in a header", () => {
    const verdicts = [["Y", "excluded"], ["N", "clear"], ["P", "previous"]] as const
    for (const [letter, verdict] of verdicts) assert.strictEqual(verdictOf(read({ "x-exclusion": letter })), verdict)
    assert.deepInclude(read({ "x-exclusion": "N", "x-unique-id": "u-1" }), { responseId: "u-1" })
    for (const letter of ["y", "n", "", "N, Y", "N,N", " N", "NO", "toString"]) isFault(read({ "x-exclusion": letter }))
    isFault(read({}))
    for (const status of statuses) isFault(read({ "x-exclusion": "N" }, status))
  })

  it("is queried with a form of six fields, with every value escaped", () => {
    const { body, headers, url } = register.request(question({ phone: "+447700900123", email: "a+b&c@example.com" }))
    assert.deepStrictEqual([url, headers], [settings.gamstop.url, {
      "content-type": "application/x-www-form-urlencoded",
      "x-api-key": "k",
      "x-trace-id": requestId
    }])
    assert.strictEqual(
      body,
      "firstName=Ada&lastName=M%C3%B6ller+%3C%26%22%27%3E&dateOfBirth=1980-01-01&email=a%2Bb%26c%40example.com" +
        "&postcode=SW1A+1AA&mobile=%2B447700900123"
    )
  })

  it("answers a batch in order with one letter per person; otherwise the whole batch is a fault", () => {
    const batch = batchOf(register)
    const three = [question(), question({ firstName: "Bob" }), question({ firstName: "Cyd" })]
    const many = (body: unknown) => batch.read(three, response(typeof body === "string" ? body : JSON.stringify(body)))
    const letters = (...list: ReadonlyArray<string>) => list.map((exclusionStatus) => ({ exclusionStatus }))
    assert.deepStrictEqual(many(letters("N", "Y", "P")).map(verdictOf), ["clear", "excluded", "previous"])
    const wrong = [
      letters("N", "N"),
      letters("N", "N", "N", "N"),
      letters("N", "N", "n"),
      [...letters("N", "N"), {}],
      [...letters("N", "N"), null],
      "[{\"exclusionStatus\":\"N\"},{\"exclusionStatus\":\"N\"},{\"exclusionStatus\":\"Y\",\"exclusionStatus\":\"N\"}]",
      ...rubbish
    ]
    for (const body of wrong) {
      const answers = many(body)
      assert.lengthOf(answers, 3)
      answers.forEach(isFault)
    }
    assert.strictEqual(JSON.parse(batch.request(three).body)[2].firstName, "Cyd")
  })
})

describe("the generic register", () => {
  const register = registerOf("generic")
  const proper = { request_id: requestId, response_id: "r-1", excluded: false, previously: false }
  const read = (body: unknown) => register.read(asked("generic"), response(JSON.stringify(body)))

  it("reports whether a person is or was excluded", () => {
    assert.deepInclude(read(proper), { verdict: "clear", responseId: "r-1" })
    assert.strictEqual(verdictOf(read({ ...proper, previously: true })), "previous")
    assert.strictEqual(verdictOf(read({ ...proper, excluded: true, previously: true })), "excluded")
    for (const name of Object.keys(proper)) {
      isFault(read({ ...proper, [name]: undefined }))
      isFault(read({ ...proper, [name]: null }))
      isFault(read({ ...proper, [name]: 0 }))
    }
    for (const name of ["excluded", "previously"]) isFault(read({ ...proper, [name]: "false" }))
    for (const name of ["request_id", "response_id"]) isFault(read({ ...proper, [name]: "" }))
  })

  it("is queried with JSON, in which unknown values are null", () => {
    const { body, headers, url } = register.request(asked("generic"))
    assert.deepStrictEqual([url, headers.authorization], [settings.generic.url, "Bearer k"])
    assert.deepStrictEqual(JSON.parse(body), {
      request_id: requestId,
      event: "login",
      first_name: "Ada",
      last_name: "Möller <&\"'>",
      birth_date: "1980-01-01",
      email: "ada@example.com",
      phone: null,
      postcode: "SW1A 1AA",
      personal_id: "ID 7"
    })
  })
})

const soap = "http://schemas.xmlsoap.org/soap/envelope/"
const skat = "http://services.lur.skat.dk"

/** An answer of ROFUS, by the element names that the sample clients of the authority read. */
const rofusAnswer = (
  word: string,
  { namespace = skat, status = `<GamblerExclusionStatus>${word}</GamblerExclusionStatus>` } = {}
) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<S:Envelope xmlns:S="${soap}"><S:Body><ns2:GamblerCheckResponse xmlns:ns2="${namespace}">
  <ExclusionStatus>
    ${status}
  </ExclusionStatus>
</ns2:GamblerCheckResponse></S:Body></S:Envelope>`

describe("ROFUS", () => {
  const register = registerOf("rofus")
  const read = (body: string, status = 200) => register.read(asked("rofus"), response(body, {}, status))

  it("has three status words, and any other word is a fault", () => {
    const verdicts = [
      ["PersonIsNotRegistered", "clear"],
      ["PersonIsRegisteredTemporarily", "excluded"],
      ["PersonIsRegisteredIndefinitely", "excluded"]
    ] as const
    for (const [word, verdict] of verdicts) assert.strictEqual(verdictOf(read(rofusAnswer(word))), verdict)
    for (const word of ["personisnotregistered", "PersonIsNotRegistered.", "", "E", "constructor"]) {
      isFault(read(rofusAnswer(word)))
    }
    for (const status of statuses) isFault(read(rofusAnswer("PersonIsNotRegistered"), status))
    const fault =
      `<S:Envelope xmlns:S="${soap}"><S:Body><S:Fault><faultstring>x</faultstring></S:Fault></S:Body></S:Envelope>`
    assert.deepStrictEqual(read(fault), { _tag: "Fault", fault: "a SOAP fault" })
  })

  it("is queried with SOAP, as in the authority's sample clients", () => {
    const { body, headers, url } = register.request(asked("rofus"))
    assert.strictEqual(url, "https://rofusdemo.example/GamblerProject/GamblerService")
    assert.deepStrictEqual(headers, {
      "content-type": "text/xml; charset=utf-8",
      soapaction: "\"\"",
      authorization: "Basic dTpw"
    })
    assert.strictEqual(
      body,
      `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="${soap}"><soapenv:Header/><soapenv:Body>` +
        `<ser:GamblerCheckRequest xmlns:ser="${skat}"><Kontekst>` +
        `<ns1:HovedOplysninger xmlns:ns1="http://skat.dk/begrebsmodel/xml/schemas/kontekst/2007/05/31/">` +
        `<ns1:TransaktionsID>${requestId}</ns1:TransaktionsID>` +
        `<ns1:TransaktionsTid>2026-11-28T17:05:02.314Z</ns1:TransaktionsTid></ns1:HovedOplysninger></Kontekst>` +
        `<PersonInformation><PersonCPRNumber>0101801234</PersonCPRNumber></PersonInformation>` +
        `</ser:GamblerCheckRequest></soapenv:Body></soapenv:Envelope>`
    )
  })

  it("has its answer treated as a fault if an element is misplaced, repeated or of another namespace", () => {
    const clear = rofusAnswer("PersonIsNotRegistered")
    const element = "<GamblerExclusionStatus>PersonIsNotRegistered</GamblerExclusionStatus>"
    const excluded = element.replace("IsNotRegistered", "IsRegisteredIndefinitely")
    const wrong = [
      rofusAnswer("", { status: element + excluded }),
      rofusAnswer("", { status: excluded + element }),
      rofusAnswer("", { status: element + element }),
      rofusAnswer("", { status: `<x>${element}</x>` }),
      rofusAnswer("", { status: element.replaceAll("GamblerExclusionStatus", "ns2:GamblerExclusionStatus") }),
      rofusAnswer("", {
        status: `<GamblerExclusionStatus xmlns="urn:x">PersonIsNotRegistered</GamblerExclusionStatus>`
      }),
      rofusAnswer("", { status: "<GamblerExclusionStatus>PersonIs<b/>NotRegistered</GamblerExclusionStatus>" }),
      rofusAnswer("", { status: "<GamblerExclusionStatus>PersonIs<!-- x -->NotRegistered</GamblerExclusionStatus>" }),
      rofusAnswer("PersonIsNotRegistered", { namespace: "http://services.lur.skat.example" }),
      clear.replace("<ExclusionStatus>", `<ExclusionStatus>${excluded}</ExclusionStatus><ExclusionStatus>`),
      clear.replace("</S:Body>", `<x>${excluded}</x></S:Body>`),
      clear.replace("</S:Envelope>", `<S:Body>${excluded}</S:Body></S:Envelope>`),
      clear.replaceAll(soap, "http://www.w3.org/2003/05/soap-envelope"),
      clear.replace("<S:Body>", "<S:Header>").replace("</S:Body>", "</S:Header>"),
      element
    ]
    for (const body of wrong) {
      assert.include(body, "Gambler")
      isFault(read(body))
    }
  })
})

const cruksAnswer = (result: string, entrance = ` entranceCode="${requestId.replaceAll("-", "")}"`) =>
  `<CRUKSCheckInterface type="TransactionResponse" mode="direct" version="1.0"><CRUKSCheckTransactionResponse${entrance}>
${result}</CRUKSCheckTransactionResponse></CRUKSCheckInterface>`

const cruksResult = (isRegistered: string, code = "CODE-1") =>
  `<CRUKSCheckResult><RequestCRUKSCode/><ResponseCRUKSCode>${code}</ResponseCRUKSCode><IsRegistered>${isRegistered}</IsRegistered></CRUKSCheckResult>`

describe("CRUKS", () => {
  const register = registerOf("cruks", { token: "a&b" })
  const read = (body: string, status = 200) => register.read(asked("cruks"), response(body, {}, status))

  it("answers are decoded by the element names that two public clients of an intermediary use", () => {
    assert.deepStrictEqual(read(cruksAnswer(cruksResult("false"))), {
      _tag: "Answered",
      verdict: "clear",
      responseId: null,
      registerCode: "CODE-1"
    })
    assert.strictEqual(verdictOf(read(cruksAnswer(cruksResult("true")))), "excluded")
    assert.deepInclude(read(cruksAnswer(cruksResult("false", ""), "")), { verdict: "clear", registerCode: null })
    for (const word of ["", "no", "0", "False", "falsetrue"]) isFault(read(cruksAnswer(cruksResult(word))))
    for (const status of statuses) isFault(read(cruksAnswer(cruksResult("false")), status))
  })

  it("is queried with the citizen number at first, and with the register's own code afterwards", () => {
    const { body, headers, url } = register.request(question({ personalId: "123456782", lastNamePrefix: "van" }))
    assert.strictEqual(url, "https://intermediary.example/ccr/createTransactionWithToken?token=a%26b")
    assert.strictEqual(headers["content-type"], "application/xml; type=CTX; charset=utf-8")
    assert.strictEqual(headers["x-ttrs-filename"], "CTX-S1000-BSP1-20261128170502314.xml")
    const opening =
      `<?xml version="1.0" encoding="UTF-8"?><CRUKSCheckInterface type="TransactionRequest" mode="direct" ` +
      `senderID="S1000" version="1.0" createDateTime="2026-11-28T17:05:02.314Z" messageCount="1">` +
      `<CRUKSCheckTransactionRequest entranceCode="6f1c1a0e6f3c4b7e9f6e0d2f0c1b2a3d">`
    const end = "</CRUKSCheckTransactionRequest></CRUKSCheckInterface>"
    assert.strictEqual(
      body,
      `${opening}<BSNRequest><BSN>123456782</BSN><SurnamePrefix>van</SurnamePrefix>` +
        `<Surname>Möller &lt;&amp;"'&gt;</Surname><BirthDate>1980-01-01</BirthDate></BSNRequest>${end}`
    )
    assert.strictEqual(
      register.request(question({ personalId: "123456782", registerCode: "C<1" })).body,
      `${opening}<CRUKSRequest><RequestCRUKSCode>C&lt;1</RequestCRUKSCode></CRUKSRequest>${end}`
    )
  })

  it("has its answer treated as a fault if it has an error, is to another query, or an element is misplaced or repeated", () => {
    const clear = cruksResult("false")
    const wrong = [
      cruksAnswer(`${clear}<Error><ErrorCode>1</ErrorCode></Error>`),
      cruksAnswer("<Error><ErrorCode>1</ErrorCode></Error>"),
      cruksAnswer(clear, ` entranceCode="${requestId}"`),
      cruksAnswer(clear + cruksResult("true")),
      cruksAnswer(clear.replace("</CRUKSCheckResult>", "<IsRegistered>true</IsRegistered></CRUKSCheckResult>")),
      cruksAnswer(clear.replaceAll("CRUKSCheckResult", "Result")),
      cruksAnswer(clear).replaceAll("CRUKSCheckTransactionResponse", "CRUKSCheckErrorResponse"),
      cruksAnswer(clear).replace("<CRUKSCheckInterface", "<CRUKSCheckInterface xmlns=\"urn:x\""),
      cruksAnswer(clear).replace("</CRUKSCheckInterface>", `<IsRegistered>true</IsRegistered></CRUKSCheckInterface>`),
      clear
    ]
    for (const body of wrong) isFault(read(body))
    const answer = cruksAnswer(clear.replace("<RequestCRUKSCode/>", "<RequestCRUKSCode>C-1</RequestCRUKSCode>"))
    const readFor = (registerCode: string) => register.read(question({ registerCode }), response(answer))
    assert.strictEqual(verdictOf(readFor("C-1")), "clear")
    isFault(readFor("C-2"))
  })
})

describe("OASIS", () => {
  const register = registerOf("oasis")
  const read = (body: string, status = 200, given = register) => given.read(question(), response(body, {}, status))
  const item = "http://www.hzd.de/meldungskatalogItem"
  const answer = (word: string) => `<ns2:ANTWORT xmlns:ns2="${item}"><MELDUNG>${word}</MELDUNG></ns2:ANTWORT>`

  it("accepts the status words from the settings, and any other word is a fault", () => {
    assert.strictEqual(verdictOf(read(answer("GESPERRT"))), "excluded")
    assert.strictEqual(verdictOf(read(answer(" NICHT_GESPERRT\n"))), "clear")
    assert.strictEqual(verdictOf(read("<MELDUNG>NICHT_GESPERRT</MELDUNG>")), "clear")
    const other = registerOf("oasis", { excluded: ["S1", "S2"], clear: ["0"] })
    assert.strictEqual(verdictOf(read(answer("S2"), 200, other)), "excluded")
    assert.strictEqual(verdictOf(read(answer("0"), 200, other)), "clear")
    isFault(read(answer("NICHT_GESPERRT"), 200, other))
    for (const word of ["", "nicht_gesperrt", "UNBEKANNT", "NICHT_GESPERRT GESPERRT"]) isFault(read(answer(word)))
    for (const status of statuses) isFault(read(answer("NICHT_GESPERRT"), status))
  })

  it("has its answer treated as a fault unless it has exactly one status, as text, in the register's namespace or in none", () => {
    const clear = "<MELDUNG>NICHT_GESPERRT</MELDUNG>"
    const wrong = [
      answer("NICHT_GESPERRT").replace(clear, clear + clear),
      answer("NICHT_GESPERRT").replace(clear, `${clear}<x><MELDUNG>GESPERRT</MELDUNG></x>`),
      `<MELDUNG>${clear}</MELDUNG>`,
      `<MELDUNG xmlns="urn:x">NICHT_GESPERRT</MELDUNG>`,
      answer("<b>NICHT_GESPERRT</b>"),
      "NICHT_GESPERRT"
    ]
    for (const body of wrong) isFault(read(body))
  })

  it("is queried with names and birth date, and with birth name and birth place if known", () => {
    const { body, headers, url } = register.request(question())
    assert.strictEqual(url, "http://oasis.example/oasisws/spielerstatus")
    assert.deepStrictEqual(headers, {
      "content-type": "text/plain; charset=UTF-8",
      accept: "text/plain; charset=UTF-8; version=6.0",
      kennung: "k",
      passwort: "p"
    })
    const opening = `<?xml version="1.0" encoding="UTF-8"?>` +
      `<tns:SPIELER-SUCHPARAMETER xmlns:tns="http://www.hzd.de/spielerSuchparameter"><SPIELER><V>Ada</V>`
    const end = "</SPIELER></tns:SPIELER-SUCHPARAMETER>"
    assert.strictEqual(body, `${opening}<N>Möller &lt;&amp;"'&gt;</N><D>1980-01-01</D>${end}`)
    assert.strictEqual(
      register.request(question({ lastName: "M", birthName: "B\u0001\ud800", birthPlace: "O" })).body,
      `${opening}<N>M</N><G>B\ufffd\ufffd</G><D>1980-01-01</D><O>O</O>${end}`
    )
  })
})

describe("XML from any register", () => {
  const proper: ReadonlyArray<readonly [RegisterKind, string]> = [
    ["rofus", rofusAnswer("PersonIsNotRegistered").replace(/^<\?.*\?>\n/, "")],
    ["cruks", cruksAnswer(cruksResult("false"))],
    ["oasis", "<ANTWORT><MELDUNG>NICHT_GESPERRT</MELDUNG></ANTWORT>"]
  ]
  const word = /(?<=>)(PersonIsNotRegistered|false|NICHT_GESPERRT)(?=<)/

  it("is refused if it has a document type or entities other than those of XML itself", () => {
    const laughs = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`)
    for (const [kind, body] of proper) {
      const register = registerOf(kind)
      const read = (text: string) => register.read(asked(kind), response(text))
      const [clear = ""] = word.exec(body) ?? []
      const withEntity = body.replace(word, "&l0;")
      assert.strictEqual(verdictOf(read(body)), "clear")
      assert.strictEqual(verdictOf(read(body.replace(word, `<![CDATA[${clear}]]>`))), "clear")
      const attacks = [
        withEntity,
        `<!DOCTYPE x>${body}`,
        `<!DOCTYPE x [<!ENTITY l0 "${clear}">]>${withEntity}`,
        `<!DOCTYPE x [<!ENTITY l0 "${clear}">${laughs.join("")}]>${body.replace(word, `${clear}&l9;`)}`,
        `<!DOCTYPE x [<!ENTITY l0 SYSTEM "file:///etc/hostname">]>${withEntity}`,
        `<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">${body}`,
        `<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p">%p;]>${body}`,
        `<!doctype x>${body}`
      ]
      for (const attack of attacks) isFault(read(attack))
    }
  })

  it("must be complete, a single document and not too long", () => {
    for (const [kind, body] of proper) {
      const register = registerOf(kind)
      const read = (text: string) => register.read(asked(kind), response(text))
      for (let length = 0; length < body.trimEnd().length; length += 7) isFault(read(body.slice(0, length)))
      const wrong = [
        body + body,
        `${body} `.padEnd(20_000),
        body.replace(word, "$&".padEnd(20_000)),
        `${"<a>".repeat(2500)}${"</a>".repeat(2500)}`,
        ...rubbish
      ]
      for (const text of wrong) isFault(read(text))
    }
  })
})

describe("an answer that a person is excluded", () => {
  const ids = { request_id: requestId, requestId, response_id: "r-1", responseId: "r-1" }
  const excluded: ReadonlyArray<readonly [RegisterKind, answer: string, clear: string]> = [
    [
      "rofus",
      rofusAnswer("PersonIsRegisteredTemporarily"),
      "<GamblerExclusionStatus>PersonIsNotRegistered</GamblerExclusionStatus>"
    ],
    ["cruks", cruksAnswer(cruksResult("true")), "<IsRegistered>false</IsRegistered>"],
    ["oasis", "<ANTWORT><MELDUNG>GESPERRT</MELDUNG></ANTWORT>", "<MELDUNG>NICHT_GESPERRT</MELDUNG>"],
    ["spelpaus", JSON.stringify({ ...ids, isBlocked: true, a: 1 }), ",\"isBlocked\":false"],
    ["generic", JSON.stringify({ ...ids, excluded: true, previously: false }), ",\"excluded\":false"]
  ]

  it("is never decoded as clear after a character or the opposite word is inserted, or a character removed", () => {
    for (const [kind, answer, clear] of excluded) {
      const register = registerOf(kind)
      const read = (text: string) => verdictOf(register.read(asked(kind), response(text)))
      assert.strictEqual(read(answer), "excluded", kind)
      for (let at = 0; at <= answer.length; at++) {
        const [before, after] = [answer.slice(0, at), answer.slice(at)]
        const changed = [
          before + after.slice(1),
          ...["<", ">", "&", "\"", "/", "x", clear].map((text) => before + text + after)
        ]
        for (const text of changed) assert.notStrictEqual(read(text), "clear", text)
      }
    }
  })
})
