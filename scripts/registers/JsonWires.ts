/** Fakes of the registers that answer with JSON, or with a header. */
import { json, membersOf, parsed, secret, subjectOf, textIn, type Wire } from "./Wire.ts"

const letters = { excluded: "Y", clear: "N", previous: "P" } as const

const gamstopFields = ["firstName", "lastName", "dateOfBirth", "email", "postcode"]

const gamstopSubject = (form: { readonly [name: string]: unknown }) =>
  subjectOf({ first_name: form["firstName"], last_name: form["lastName"], birth_date: form["dateOfBirth"] })

const isWhole = (form: { readonly [name: string]: unknown }): boolean =>
  gamstopFields.every((name) => textIn(form[name]) !== undefined)

export const gamstop: Wire = {
  settings: (url) => ({ url: `${url}/v2`, batch_url: `${url}/batch/v2`, api_key: secret }),
  needsCertificate: false,
  answer: ({ body, header, path }, { lookUp, newId, twist }) => {
    if (path !== "/v2" && path !== "/batch/v2") return undefined
    if (header("x-api-key") !== secret) return { status: 403 }
    const headers = { "x-unique-id": newId() }
    const letterOf = (form: { readonly [name: string]: unknown }): string =>
      twist === "wrong_type" ? "no" : letters[lookUp(gamstopSubject(form))]
    if (path === "/v2") {
      const form = Object.fromEntries(new URLSearchParams(body))
      return isWhole(form) ? { status: 200, headers: { ...headers, "x-exclusion": letterOf(form) } } : { status: 400 }
    }
    const list = parsed(body)
    const forms = Array.isArray(list) ? list.map(membersOf) : []
    if (forms.length === 0 || forms.length > 1000 || !forms.every(isWhole)) return { status: 400 }
    const answers = forms.map((form) => ({ exclusionStatus: letterOf(form), msRequestId: newId() }))
    const given = json(200, twist === "wrong_request" ? answers.slice(1) : answers)
    return { ...given, headers: { ...given.headers, ...headers } }
  }
}

const tooLong = "The field SubjectId must be a string or array type with a maximum length of '12'."

export const spelpaus: Wire = {
  settings: (url) => ({ url, actor_id: "20", api_key: secret }),
  needsCertificate: false,
  answer: ({ body, header, path }, { lookUp, newId, twist }) => {
    const [, endPoint] = /^\/api\/(blocking-info|marketing-single-subjectid|marketing-subjectid)\/20$/.exec(path) ?? []
    if (endPoint === undefined) return undefined
    if (header("authorization") !== secret) return { status: 401 }
    const { items, requestId, subjectId } = membersOf(parsed(body))
    if (textIn(requestId) === undefined) return { status: 400 }
    const ids = { requestId: twist === "wrong_request" ? newId() : requestId, responseId: newId() }
    const isBlocked = (id: string): boolean => lookUp({ personal_id: id }) === "excluded"
    if (endPoint !== "marketing-subjectid") {
      const id = textIn(subjectId) ?? ""
      if (id.length > 12) return json(400, { SubjectId: [tooLong] })
      if (id.length < 12) return { status: 400 }
      return json(200, { isBlocked: twist === "wrong_type" ? String(isBlocked(id)) : isBlocked(id), ...ids })
    }
    const list = (Array.isArray(items) ? items.map(membersOf) : []).map((item) => ({
      itemId: textIn(item["itemId"]) ?? "",
      subjectId: textIn(item["subjectId"]) ?? ""
    }))
    if (list.length === 0 || list.length > 10_000) return { status: 400 }
    const bad = list.findIndex((item) => item.subjectId.length !== 12 || item.itemId === "")
    if (bad !== -1) {
      return { status: 400, headers: { "content-type": "text/plain" }, body: `Invalid item at position ${bad + 1}` }
    }
    const allowed: ReadonlyArray<unknown> = list.filter((item) => !isBlocked(item.subjectId)).map(({ itemId }) =>
      itemId
    )
    return json(200, { ...ids, allowedItemIds: twist === "wrong_type" ? allowed.map(Boolean) : allowed })
  }
}

export const generic: Wire = {
  settings: (url) => ({ url: `${url}/check`, api_key: secret }),
  needsCertificate: false,
  answer: ({ body, header, path }, { lookUp, newId, twist }) => {
    if (path !== "/check") return undefined
    if (header("authorization") !== `Bearer ${secret}`) return { status: 401 }
    const { birth_date, first_name, last_name, personal_id, request_id } = membersOf(parsed(body))
    if (textIn(request_id) === undefined) return { status: 400 }
    const verdict = lookUp(subjectOf({ birth_date, first_name, last_name, personal_id }))
    const isExcluded = verdict === "excluded"
    return json(200, {
      request_id: twist === "wrong_request" ? newId() : request_id,
      response_id: newId(),
      excluded: twist === "wrong_type" ? String(isExcluded) : isExcluded,
      previously: verdict === "previous"
    })
  }
}

export const screening: Wire = {
  settings: (url) => ({ url: `${url}/screen`, api_key: secret }),
  needsCertificate: false,
  answer: ({ body, header, path }, { hitsOf, newId, twist }) => {
    if (path !== "/screen") return undefined
    if (header("authorization") !== `Bearer ${secret}`) return { status: 401 }
    const { birth_date, country, first_name, last_name, request_id } = membersOf(parsed(body))
    if (textIn(request_id) === undefined || textIn(country) === undefined) return { status: 400 }
    return json(200, {
      request_id: twist === "wrong_request" ? newId() : request_id,
      response_id: newId(),
      hits: twist === "wrong_type" ? "none" : hitsOf(subjectOf({ birth_date, first_name, last_name }))
    })
  }
}
