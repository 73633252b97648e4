/**
 * Stores the last links of the ledger chains that this process has seen in a file in `DATA_DIR`, so that they outlive a restart, and compares them
 * with the tables every few seconds.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Path, Redacted, Schedule, Schema } from "effect"
import { sha256 } from "../platform/Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { LedgerEnds, RememberedEnds } from "./Ends.ts"

/** Time between two comparisons. What was written since the last one is in memory only. */
const every = "5 seconds"

/** Comparisons between two log lines about the same loss: about a minute. */
const saidEvery = 12

const Kept = Schema.fromJsonString(LedgerEnds)
const decode = Schema.decodeUnknownEffect(Kept)
const encode = Schema.encodeSync(Kept)

/** Hosts and name of a database, without credentials and options; empty for the embedded one. */
const addressOf = (url: Redacted.Redacted | undefined): string =>
  url === undefined ? "" : Redacted.value(url).replace(/^[^:]*:\/\/(?:[^@/]*@)?/, "").replace(/[?#].*$/, "")

/** Name of the file of a ledger: by its key and, since one key may serve several databases, by the address in the settings, which no database sets. */
const ledgerOf = (ledgerId: string, url: Redacted.Redacted | undefined): string =>
  Buffer.from(sha256(`${ledgerId} ${addressOf(url)}`)).toString("hex").slice(0, 16)

export const layerEndsFile = Layer.effectDiscard(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const ends = yield* RememberedEnds
  const { dataDir, databaseUrl, nodePort } = yield* Settings
  // nodes of one machine share the folder; a folder may see several databases
  const name = `ledger-ends-${ledgerOf(ends.ledgerId, databaseUrl)}${nodePort === undefined ? "" : `-${nodePort}`}.json`
  const file = path.join(dataDir, name)
  // Kept: written, losses. What the file of remembered ends holds; the loss that was logged last. Several nodes: a file each; each logs.
  let written = ""
  let losses = { text: "", times: 0 }

  const write = Effect.suspend(() => {
    const current = ends.current()
    // not for the time alone
    const text = JSON.stringify([current.seal, current.heads])
    if (text === written) return Effect.void
    return Effect.andThen(
      fs.writeFileString(`${file}.new`, encode(current), { mode: 0o600 }),
      fs.rename(`${file}.new`, file)
    ).pipe(Effect.andThen(Effect.sync(() => {
      written = text
    })))
  })

  const look = Effect.gen(function*() {
    const lost = yield* ends.look
    const text = lost.map(({ message, subject }) => `${subject} ${message}`).join("; ")
    losses = { text, times: text === losses.text ? losses.times + 1 : 0 }
    if (text !== "" && losses.times % saidEvery === 0) {
      yield* Effect.annotateLogs(
        Effect.logError("ledger contradicts the last hash-chain links that this process recorded"),
        {
          ends: text.slice(0, 2000),
          remedy: "`ledger verify`; a backup was restored, or somebody cut off the end"
        }
      )
    }
    yield* write
  })

  yield* fs.makeDirectory(dataDir, { recursive: true, mode: 0o711 }).pipe(
    Effect.andThen(fs.exists(file)),
    Effect.flatMap((isThere) => isThere ? Effect.flatMap(fs.readFileString(file), decode) : Effect.undefined),
    Effect.tap((kept) => Effect.sync(() => kept === undefined ? undefined : ends.restore(kept))),
    Effect.andThen(write),
    Effect.catch((error) =>
      Effect.annotateLogs(Effect.logWarning("file of last hash-chain links could not be written"), {
        file,
        reason: error.message
      })
    )
  )
  yield* Effect.addFinalizer(() => Effect.ignore(write))
  // a database or disk that does not answer is asked again
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(look), Schedule.spaced(every)))
})).pipe(Layer.provide(NodeServices.layer))
