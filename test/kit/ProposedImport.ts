/** Imports over the staff API, as the command sends them. */
import { Effect } from "effect"
import * as Crypto from "node:crypto"
import { type Casino, dataOf, fresh, staffCall } from "./Casino.ts"

type Fields = { readonly [field: string]: unknown }

/** A line of a player whose other fields do not matter. */
export const playerLine = (externalId: string, more: Fields = {}): Fields => ({
  external_id: externalId,
  username: externalId.replaceAll("-", "_"),
  email: `${externalId}@example.com`,
  first_name: "Ada",
  last_name: `Of ${externalId}`,
  birth_date: "1980-02-03",
  country: "DE",
  created_at: "2024-03-04T05:06:07.008Z",
  balance: 0,
  ...more
})

/** A line of an open withdrawal. */
export const withdrawalLine = (externalId: string, more: Fields = {}): Fields => ({
  kind: "open_withdrawal",
  external_id: externalId,
  amount: 333,
  payment_method: "bank",
  external_reference: `${externalId}-w`,
  created_at: "2026-01-01T00:00:00.000Z",
  ...more
})

/** An import begun with this token; each call of it with the same token, or another one. */
export const begunImport = Effect.fnUntraced(function*(casino: Pick<Casino, "slug">, token?: string) {
  const call = (path: string, body: Fields, as = token) =>
    staffCall(
      "POST",
      `/backoffice/v1/import-runs${path}`,
      body,
      as === undefined ? undefined : { authorization: `Bearer ${as}` }
    )
  const name = fresh("moved-")
  const file_sha256 = Crypto.createHash("sha256").update(name).digest("hex")
  const { id } = dataOf(yield* call("", { operator: casino.slug, name, file_sha256 }))
  /** Sends a chunk: to be checked, or to be posted. */
  const put = (number: number, lines: ReadonlyArray<Fields>, as?: string, firstLine = 1 + 100 * number) =>
    call(`/${id}/chunks`, { number, first_line: firstLine, lines: lines.map((line) => JSON.stringify(line)) }, as)
  const propose = (chunks: number, as?: string) => call(`/${id}/propose`, { chunks }, as)
  const approve = (as: string) => call(`/${id}/approve`, {}, as)
  const reject = (as?: string) => call(`/${id}/reject`, {}, as)
  return { id: Number(id), name, put, propose, approve, reject }
})

/** An import of one player, proposed with this token. */
export const proposedImport = Effect.fnUntraced(function*(casino: Pick<Casino, "slug">, token?: string) {
  const { name, propose, put } = yield* begunImport(casino, token)
  dataOf(yield* put(0, [playerLine(name, { balance: 5 })]))
  return dataOf(yield* propose(1))
})
