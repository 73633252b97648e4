/** Calls of a table of endpoints. */
import { makeList, type Paging } from "./Lists.ts"
import { isObject, type Send, textOf } from "./Transport.ts"

/**
 * An endpoint: the name of its call, method, path below `/api/v1`, what follows the parameters of the path, and how a list goes on (empty for what is
 * no list).
 */
export type Endpoint = readonly [
  name: string,
  method: string,
  path: string,
  argument: "" | "body" | "query",
  paging: "" | Paging
]

/** What is in the envelope of an answer. What stands beside it, such as `meta` of changed limits, becomes a field. */
const opened = (answer: unknown): unknown => {
  if (!isObject(answer) || !("data" in answer)) return answer
  const { data, ...beside } = answer
  return isObject(data) ? { ...data, ...beside } : data
}

/** A call: parameters of the path in their order, then body or query, then options. */
const callOf = (send: Send, [, method, path, argument, paging]: Endpoint) => (...given: ReadonlyArray<unknown>) => {
  const left = [...given]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(name, left.shift())))
  const said = argument === "" ? undefined : left.shift()
  const options = left.shift()
  const request = {
    method,
    path: filled,
    ...(argument === "body" ? { body: said } : { query: isObject(said) ? said : undefined })
  }
  const chosen = isObject(options) ? options : {}
  return paging === "" ? send({ ...request, ...chosen }).then(opened) : makeList(send, { ...request, paging }, chosen)
}

/** The calls under their names: `players.create` is the function `create` of `players`. */
export const makeCalls = <Calls>(send: Send, endpoints: ReadonlyArray<Endpoint>): Calls => {
  const calls: { [name: string]: unknown } = {}
  for (const endpoint of endpoints) {
    const [group = "", name] = endpoint[0].split(".")
    const call = callOf(send, endpoint)
    calls[group] = name === undefined ? call : { ...Object(calls[group]), [name]: call }
  }
  return Object(calls)
}
