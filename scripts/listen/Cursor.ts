/** Where a listener is in an operator's events, and the secret that it signs with: a file in `DATA_DIR/listen`. */
import { Effect, Schema } from "effect"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import { join } from "node:path"
import { secretBytes, standardSecret } from "../../src/features/webhooks/StandardWebhooks.ts"
import { StartupError } from "../../src/platform/StartupError.ts"

const Position = Schema.Struct({
  secret: Schema.String,
  /** Null before the first page: events begin at `since`. */
  cursor: Schema.NullOr(Schema.String),
  /** On the operator's clock, that of a sandbox may be ahead. Null while it is not known. */
  since: Schema.NullOr(Schema.String),
  /** Events of the page behind the cursor that were posted already. */
  posted: Schema.Array(Schema.String)
})
export type Position = typeof Position.Type

const Kept = Schema.fromJsonString(Position)

const encode = Schema.encodeSync(Kept)

/** The kept position of a name at an address, else one that has no beginning yet; and how it is kept. */
export const openPosition = Effect.fnUntraced(function*(dataDir: string, name: string) {
  const folder = join(dataDir, "listen")
  const file = join(folder, `${Crypto.createHash("sha256").update(name).digest("hex").slice(0, 16)}.json`)
  const kept = Fs.existsSync(file)
    ? yield* Effect.option(Schema.decodeUnknownEffect(Kept)(Fs.readFileSync(file, "utf8")))
    : undefined
  const first: Position = {
    secret: standardSecret(Crypto.randomBytes(secretBytes)),
    cursor: null,
    since: null,
    posted: []
  }
  const keep = (position: Position) =>
    Effect.try({
      try: () => {
        Fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
        Fs.writeFileSync(`${file}.new`, encode(position), { mode: 0o600 })
        Fs.renameSync(`${file}.new`, file)
      },
      catch: (cause) => new StartupError({ message: `${file} cannot be written (${String(cause)})` })
    })
  return { position: kept?._tag === "Some" ? kept.value : first, keep }
})
