/** Commands that import and export an operator's players (docs/moving.md). */
import { Deferred, Effect, FileSystem, Option, Schedule, Schema, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClientError } from "effect/http"
import * as Crypto from "node:crypto"
import { basename, join } from "node:path"
import { addTotals, type ImportTotals, noTotals, openWithdrawal } from "../contract/moving/LineResource.ts"
import { ImportChunk, ImportRun, LinePart, maxLines } from "../contract/moving/StaffApi.ts"
import { parseObject } from "../contract/common/FormErrors.ts"
import { refuse } from "../domain/Refusal.ts"
import { about, text } from "../platform/CliFlags.ts"
import { callFor, type StaffRequest } from "./Calls.ts"
import { CommandOutput, printAnswer, root } from "./Root.ts"

/** Bytes of the lines of one request, well below what a body may have. */
const maxBytes = 240_000

/** Characters of a line. */
const maxLine = 50_000

/** Requests at once. */
const atOnce = 6

/** Lines that are sent together. */
interface Chunk {
  readonly number: number
  readonly firstLine: number
  readonly lines: ReadonlyArray<string>
  /** What each says; undefined for one that is no JSON object. */
  readonly values: ReadonlyArray<ReturnType<typeof parseObject>>
}

/** Cuts a file into chunks: the same file always into the same ones. */
const chunksOf = <E, R>(lines: Stream.Stream<string, E, R>): Stream.Stream<Chunk, E, R> =>
  Stream.suspend(() => {
    let number = 0
    let firstLine = 1
    let waiting: Array<string> = []
    let bytes = 0
    const cut = (): Chunk => {
      const chunk = { number: number++, firstLine, lines: waiting, values: waiting.map(parseObject) }
      firstLine += waiting.length
      waiting = []
      bytes = 0
      return chunk
    }
    const add = (given: string): ReadonlyArray<Chunk> => {
      // one that no request has room for is rejected as what is no JSON
      const line = given.length > maxLine ? given.slice(0, 100) : given
      const size = Buffer.byteLength(JSON.stringify(line)) + 1
      const cuts = waiting.length === maxLines || waiting.length > 0 && bytes + size > maxBytes ? [cut()] : []
      waiting.push(line)
      bytes += size
      return cuts
    }
    return Stream.concat(
      Stream.flatMap(lines, (line) => Stream.fromIterable(add(line))),
      Stream.suspend(() => waiting.length === 0 ? Stream.empty : Stream.succeed(cut()))
    )
  })

const unreadableFile = refuse("INVALID_REQUEST", "The file cannot be read.")
const unwritable = refuse("INVALID_REQUEST", "The output cannot be written.")
const unexpected = refuse("SERVER_ERROR", "The service's response does not match the version of this command line.")

const linesOf = (file: string) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) =>
    fs.stream(file, { chunkSize: 256 * 1024 }).pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.mapError(() => unreadableFile)
    )))

const sha256Of = (file: string) =>
  Effect.gen(function*() {
    const hash = Crypto.createHash("sha256")
    let bytes = 0
    yield* (yield* FileSystem.FileSystem).stream(file, { chunkSize: 256 * 1024 }).pipe(
      Stream.runForEach((chunk) =>
        Effect.sync(() => {
          hash.update(chunk)
          bytes += chunk.length
        })
      ),
      Effect.mapError(() => unreadableFile)
    )
    return { sha256: hash.digest("hex"), bytes }
  })

const passes = (error: { readonly _tag: string }): boolean =>
  HttpClientError.isHttpClientError(error) || "code" in error && error.code === "TRY_AGAIN"

/** For a minute while the service is away or busy: each of these calls can be repeated. */
const patiently = Schedule.upTo(Schedule.spaced("1 second"), { times: 60 })

/** `once` fails where nothing answers; `ask` waits for a service that is restarted. */
const makeCalls = Effect.map(root, ({ token }) => {
  const once = <A, I>(form: Schema.Codec<A, I>, request: StaffRequest) =>
    Effect.flatMap(
      callFor(request, token),
      ({ data }) => Effect.mapError(Schema.decodeUnknownEffect(form)(data), () => unexpected)
    )
  const ask = <A, I>(form: Schema.Codec<A, I>, request: StaffRequest) =>
    Effect.retry(once(form, request), { schedule: patiently, while: passes })
  return { once, ask }
})

const post = (path: string, payload: StaffRequest["payload"]): StaffRequest => ({
  method: "POST",
  path,
  query: {},
  payload
})

const get = (path: string, query: StaffRequest["query"] = {}): StaffRequest => ({
  method: "GET",
  path,
  query,
  payload: undefined
})

type Value = Chunk["values"][number]

const externalIdIn = (value: Value): unknown => value?.["external_id"] ?? null

const isWithdrawal = (value: Value): boolean => value?.["kind"] === openWithdrawal

/** Whether a chunk has an open withdrawal of a player whom another chunk brings. */
const needsEarlier = ({ values }: Chunk): boolean => {
  const own = new Set(values.filter((value) => !isWithdrawal(value)).map(externalIdIn))
  return values.some((value) => isWithdrawal(value) && !own.has(externalIdIn(value)))
}

type Outcome = typeof ImportChunk.Type

/** Runs chunks some at a time; one that needs what chunks before it bring waits for those. Outcomes in the order of the chunks. */
const inTurn = <E, R>(send: (chunk: Chunk) => Effect.Effect<Outcome, E, R>) => {
  const running = new Set<Deferred.Deferred<void>>()
  return Effect.fnUntraced(function*(chunk: Chunk) {
    const before = needsEarlier(chunk) ? [...running] : []
    const own = yield* Deferred.make<void>()
    running.add(own)
    return yield* Effect.forEach(before, Deferred.await, { discard: true }).pipe(
      Effect.andThen(send(chunk)),
      Effect.map((outcome) => ({ chunk, outcome })),
      Effect.ensuring(Effect.andThen(Effect.sync(() => running.delete(own)), Deferred.succeed(own, undefined)))
    )
  })
}

/** Sends all chunks; writes `rejected.ndjson` as they end, and `totals.json`. */
const runChunks = Effect.fnUntraced(function*<E, R>(
  file: string,
  folder: string,
  words: string,
  send: (chunk: Chunk) => Effect.Effect<Outcome, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const { progress } = yield* CommandOutput
  let totals: ImportTotals = noTotals
  let chunks = 0
  let lines = 0
  yield* Effect.mapError(fs.makeDirectory(folder, { recursive: true }), () => unwritable)
  const rejected = linesOf(file).pipe(
    chunksOf,
    Stream.mapEffect(inTurn(send), { concurrency: atOnce }),
    Stream.map(({ chunk, outcome }) => {
      totals = addTotals(totals, outcome.totals)
      chunks++
      lines += chunk.lines.length
      progress?.(`${words} … ${lines} lines`)
      return outcome.rejected.map(({ line, reasons }) =>
        `${JSON.stringify({ line, external_id: externalIdIn(chunk.values[line - chunk.firstLine]), reasons })}\n`
      ).join("")
    })
  )
  yield* Stream.run(
    Stream.encodeText(rejected),
    fs.sink(join(folder, "rejected.ndjson"))
  ).pipe(Effect.catchTag("PlatformError", () => Effect.fail(unwritable)))
  progress?.("")
  yield* Effect.mapError(
    fs.writeFileString(join(folder, "totals.json"), `${JSON.stringify(totals, null, 2)}\n`),
    () => unwritable
  )
  return { chunks, totals }
})

const folder = text("out", "Folder for rejected.ndjson and totals.json (the working folder)").pipe(
  Flag.withDefault(".")
)

const operator = text("operator", "Slug or id of the operator")

const given = (name: string, description: string) =>
  about(Flag.Boolean(name), description).pipe(Flag.withDefault(false))

export const importPlayers = Command.make("import", {
  file: Argument.File("file", { mustExist: true }).pipe(Argument.withDescription("Lines of JSON, one per player")),
  operator,
  "dry-run": given("dry-run", "Say what would be refused, and why; write nothing"),
  resume: given("resume", "Go on after what an earlier run checked or posted"),
  events: given("events", "Send player.registered and withdrawal.requested"),
  name: Flag.optional(text("name", "Of the batch in the audit log (the file's)")),
  out: folder
}, ({ "dry-run": isDry, events, file, name, operator, out, resume }) =>
  Effect.gen(function*() {
    const { ask, once } = yield* makeCalls
    const { end } = yield* CommandOutput
    const sent = ({ firstLine, lines }: Chunk) => ({ first_line: firstLine, lines })
    if (isDry) {
      yield* once(Schema.Array(ImportRun), get("/backoffice/v1/import-runs", { operator, per_page: "1" }))
      const { totals } = yield* runChunks(file, out, "checking", (chunk) =>
        ask(ImportChunk, post("/backoffice/v1/import-lines/check", { operator, ...sent(chunk) })))
      yield* printAnswer({ dry_run: true, totals })
      if (totals.rejected > 0) {
        end(1)
      }
      return
    }
    const { bytes, sha256 } = yield* sha256Of(file)
    if (bytes === 0) {
      return yield* Effect.fail(refuse("INVALID_REQUEST", "The file is empty."))
    }
    const run = yield* once(
      ImportRun,
      post("/backoffice/v1/import-runs", {
        operator,
        name: Option.getOrElse(name, () =>
          basename(file)).slice(0, 255),
        file_sha256: sha256,
        sends_events: events
      })
    )
    if (run.sends_events !== events) {
      return yield* Effect.fail(refuse(
        "INVALID_REQUEST",
        `The import ${run.id} of this file was started ${
          run.sends_events ? "with" : "without"
        } --events. Run it the same way.`
      ))
    }
    const path = `/backoffice/v1/import-runs/${run.id}`
    // what was done is read some chunks at a time, as the file is
    let known: ReadonlyArray<Outcome> = []
    let knownTo = -1
    const done = Effect.fnUntraced(function*(number: number) {
      if (number > knownTo) {
        known = yield* ask(Schema.Array(ImportChunk), get(`${path}/chunks`, { after: String(number - 1) }))
        knownTo = known.at(-1)?.number ?? Infinity
      }
      return known.find((outcome) =>
        outcome.number === number
      )
    })
    const isPost = run.status === "approved" || run.status === "posted"
    const waits = run.status === "proposed"
    const { chunks, totals } = yield* runChunks(file, out, isPost ? "posting" : "checking", (chunk) =>
      Effect.gen(function*() {
        const before = resume || waits ? yield* done(chunk.number) : undefined
        return before !== undefined && (before.posted || !isPost)
          ? before
          : yield* ask(ImportChunk, post(`${path}/chunks`, { number: chunk.number, ...sent(chunk) }))
      }))
    const after = isPost || waits
      ? yield* ask(ImportRun, get(path))
      : yield* ask(ImportRun, post(`${path}/propose`, { chunks }))
    yield* printAnswer({
      import: after,
      totals,
      ...(after.status === "proposed"
        ? { next: `another person: import-run approve ${run.id}; then this command again` }
        : {})
    })
    if (totals.rejected > 0) {
      end(1)
    }
  })).pipe(
    Command.withDescription(
      "Bring players from another platform: checked first, posted once a second person approved the totals"
    )
  )

export const exportPlayers = Command.make("export", {
  operator,
  out: Flag.optional(text("out", "File to write (standard output)"))
}, ({ operator, out }) =>
  Effect.gen(function*() {
    const { ask, once } = yield* makeCalls
    const output = yield* CommandOutput
    const fs = yield* FileSystem.FileSystem
    const partAfter = (after: string | null) =>
      Effect.map(
        (after === null ? once : ask)(
          LinePart,
          get("/backoffice/v1/import-lines", { operator, ...(after === null ? {} : { after }) })
        ),
        ({ lines, next }) =>
          [
            [lines.map((line) => `${JSON.stringify(line)}\n`).join("")],
            next === null ? Option.none<string | null>() : Option.some<string | null>(next)
          ] as const
      )
    const beginning: string | null = null
    const lines = Stream.paginate<
      string | null,
      string,
      Effect.Error<ReturnType<typeof partAfter>>,
      Effect.Services<ReturnType<typeof partAfter>>
    >(beginning, partAfter)
    if (Option.isNone(out)) return yield* Stream.runForEach(lines, (some) => Effect.sync(() => output.out(some)))
    yield* Stream.run(Stream.encodeText(lines), fs.sink(out.value, { mode: 0o600 })).pipe(
      Effect.catchTag("PlatformError", () => Effect.fail(unwritable))
    )
  })).pipe(Command.withDescription("Write an operator's players as the lines of an import"))
