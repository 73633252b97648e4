/** Shared helpers for calls to vendors: addresses, JSON answers and failures. */
import { Effect, Result, Schema, SchemaIssue } from "effect"
import type { LeftLine, SendToVendor, VendorFailure, VendorResponse } from "./Protocol.ts"

const failure = (kind: VendorFailure["kind"], word: string): VendorFailure => ({
  _tag: "VendorFailure",
  kind,
  word: word.slice(0, 200)
})

/** The vendor refused: its error code and its word, as far as it gives both. */
export const refusedByVendor = (...said: ReadonlyArray<string | number | null | undefined>): VendorFailure =>
  failure(
    "refused",
    [...new Set(said.map((word) => String(word ?? "").trim()))].filter((word) => word !== "").join(" ")
  )

/** The vendor gave no usable answer. */
export const unavailableVendor = (word: string): VendorFailure => failure("unavailable", word)

/** URL below the vendor's base. */
export const vendorUrl = (base: string, path: string): string => `${base.replace(/\/+$/, "")}${path}`

/** Posts a JSON body; given headers replace default ones of the same name. */
export const postJson = (
  send: SendToVendor,
  url: string,
  body: string,
  headers: { readonly [name: string]: string } = {},
  isList = false
): Effect.Effect<VendorResponse, VendorFailure> =>
  send({
    ...isList && { isList },
    method: "POST",
    url,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body
  })

/** Decodes a JSON answer by a schema; unknown fields are ignored. A mismatch or a 5xx counts as no answer. */
export const answerReader = <T>(schema: Schema.Codec<T, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return ({ body, status }: VendorResponse): Effect.Effect<T, VendorFailure> =>
    status >= 500
      ? Effect.fail(unavailableVendor(`HTTP ${status}`))
      : Effect.mapError(decode(body), () => unavailableVendor(`unreadable answer, HTTP ${status}`))
}

/** Elements of a list that are taken at once: some milliseconds of the thread that decides bets. */
const sliceLength = 250

/** Takes the elements of a long list in order, with turns for others in between. */
export const inSlices = <A, B, E = never, R = never>(
  list: ReadonlyArray<A>,
  take: (slice: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
): Effect.Effect<ReadonlyArray<B>, E, R> =>
  Effect.gen(function*() {
    const taken: Array<B> = []
    for (let at = 0; at < list.length; at += sliceLength) {
      // after whatever else waits for the thread
      if (at > 0) yield* Effect.yieldNow
      for (const one of yield* take(list.slice(at, at + sliceLength))) taken.push(one)
    }
    return taken
  })

/** Sums over the answers that make one catalogue, or the feed of one day, whose lines are all in memory at once: beyond them all of it fails. */
const listBounds = {
  catalogue: { maxLines: 50_000, maxBytes: 32 * 1024 * 1024 },
  feed: { maxLines: 250_000, maxBytes: 64 * 1024 * 1024 }
}

/** Adds up the answers of one list; fails as soon as they are too many, too long or hold too many lines. */
export const makeListSum = (what: keyof typeof listBounds, { maxBytes, maxLines } = listBounds[what]) => {
  // Kept: bytes, lines. What one reading of a catalogue or a feed has come to. Several nodes: ends with the reading, which one node does.
  let bytes = 0
  let lines = 0
  const add = (more: number, name: string, sum: number, maximum: number) =>
    sum + more <= maximum
      ? Effect.void
      : Effect.fail(refusedByVendor(`the ${what} has more than ${maximum} ${name}`))
  return {
    addAnswer: ({ body }: VendorResponse): Effect.Effect<void, VendorFailure> =>
      Effect.tap(add(body.length, "characters", bytes, maxBytes), () => Effect.sync(() => (bytes += body.length))),
    addLines: (count: number): Effect.Effect<void, VendorFailure> =>
      Effect.tap(add(count, "lines", lines, maxLines), () => Effect.sync(() => (lines += count)))
  }
}

/** Reason for which a value is not of a schema: its fields, and none of their values. */
const format = SchemaIssue.makeFormatterStandardSchemaV1()
const reasonOf = ({ issue }: Schema.SchemaError): string =>
  format(issue).issues.slice(0, 3).map(({ message, path = [] }) => `${path.map(String).join(".")}: ${message}`).join(
    "; "
  )
    .slice(0, 200)

/** Id of a line whose form is not known yet; null where it gives none. */
const idIn = (line: unknown, field: string): string | null => {
  const id: unknown = typeof line === "object" && line !== null
    ? Object.entries(line).find(([name]) => name === field)?.[1]
    : null
  return typeof id === "string" || typeof id === "number" ? String(id).slice(0, 200) : null
}

/** Lines of a list: those that are understood, and the others. */
export interface ReadList<T> {
  readonly taken: ReadonlyArray<T>
  readonly odd: ReadonlyArray<LeftLine>
}

/** Counts a list against its bounds, as one of several where their sum is given, and decodes each of its lines, in slices. `idField` names an odd one. */
export const listReader = <T>(what: keyof typeof listBounds, schema: Schema.Codec<T, unknown>, idField: string) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return (
    list: ReadonlyArray<unknown>,
    sum: Pick<ReturnType<typeof makeListSum>, "addLines"> = makeListSum(what)
  ): Effect.Effect<ReadList<T>, VendorFailure> =>
    Effect.gen(function*() {
      yield* sum.addLines(list.length)
      const odd: Array<LeftLine> = []
      const taken = yield* inSlices(list, (slice) =>
        Effect.sync(() =>
          slice.flatMap((line) => {
            const read = decode(line)
            if (Result.isSuccess(read)) return [read.success]
            odd.push({ id: idIn(line, idField), reason: reasonOf(read.failure) })
            return []
          })
        ))
      return { taken, odd }
    })
}

/** URL that a browser may be redirected to; a relative one is resolved against `base`. */
export const browserAddress = (text: string, base: string): Effect.Effect<string, VendorFailure> => {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? Effect.succeed(url.href)
    : Effect.fail(unavailableVendor("no address in the answer"))
}
