/** What a backup is: its files with their digests, and its secrets, sealed by a passphrase. */
import { Effect, Schema } from "effect"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import { join } from "node:path"
import { StartupError } from "../../src/platform/StartupError.ts"

/** Folder of the files in a backup, which become `DATA_DIR`. */
export const dataFolder = "data"
const manifestFile = "backup.json"

export const FileEntry = Schema.Struct({ path: Schema.String, bytes: Schema.Number, sha256: Schema.String })
export type FileEntry = typeof FileEntry.Type

export const Content = Schema.Struct({
  /** When it began, and the moment that it holds. */
  started_at: Schema.String,
  ended_at: Schema.String,
  start_lsn: Schema.String,
  end_lsn: Schema.String,
  postgres_version: Schema.String,
  folders: Schema.Array(Schema.String),
  files: Schema.Array(FileEntry)
})
export type Content = typeof Content.Type

/** Contents of files that hold secrets, by name. */
const SecretFiles = Schema.Record(Schema.String, Schema.String)
export type SecretFiles = typeof SecretFiles.Type

const Kept = Schema.fromJsonString(Schema.Struct({
  format: Schema.Literal(1),
  content: Schema.String,
  salt: Schema.String,
  /** Of the content, so that neither it nor a file is exchanged. */
  mac: Schema.String,
  nonce: Schema.String,
  tag: Schema.String,
  sealed: Schema.String
}))

const algorithm = "aes-256-gcm"

const keysOf = (passphrase: string, salt: Uint8Array) =>
  Effect.callback<{ readonly seal: Buffer; readonly mac: Buffer }>((resume) => {
    Crypto.scrypt(
      passphrase,
      salt,
      64,
      { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 },
      (error, bytes) =>
        resume(
          error === null ? Effect.succeed({ seal: bytes.subarray(0, 32), mac: bytes.subarray(32) }) : Effect.die(error)
        )
    )
  })

const macOf = (key: Buffer, content: string): Buffer => Crypto.createHmac("sha256", key).update(content).digest()

/** Writes what makes a folder a backup; last, so that one that was broken off is none. */
export const writeManifest = Effect.fnUntraced(function*(
  folder: string,
  content: Content,
  secrets: SecretFiles,
  passphrase: string
) {
  const [salt, nonce] = [Crypto.randomBytes(16), Crypto.randomBytes(12)]
  const keys = yield* keysOf(passphrase, salt)
  const text = JSON.stringify(content)
  const cipher = Crypto.createCipheriv(algorithm, keys.seal, nonce)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final()])
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")
  const manifest = Schema.encodeSync(Kept)({
    format: 1,
    content: text,
    salt: base64(salt),
    mac: base64(macOf(keys.mac, text)),
    nonce: base64(nonce),
    tag: base64(cipher.getAuthTag()),
    sealed: base64(sealed)
  })
  yield* Effect.sync(() => {
    const draft = join(folder, `${manifestFile}.new`)
    Fs.writeFileSync(draft, manifest, { mode: 0o600, flush: true })
    Fs.renameSync(draft, join(folder, manifestFile))
  })
})

const decodeKept = Schema.decodeUnknownEffect(Kept)
const decodeContent = Schema.decodeUnknownEffect(Schema.fromJsonString(Content))
const decodeSecrets = Schema.decodeUnknownEffect(Schema.fromJsonString(SecretFiles))

/** Reads a backup's content and secrets. Fails when it is not whole, or the passphrase is another one. */
export const readManifest = Effect.fnUntraced(function*(folder: string, passphrase: string) {
  const broken = () =>
    new StartupError({ message: `${folder} is no whole backup: ${manifestFile} is missing or damaged` })
  const text = yield* Effect.try({ try: () => Fs.readFileSync(join(folder, manifestFile), "utf8"), catch: broken })
  const kept = yield* Effect.mapError(decodeKept(text), broken)
  const bytes = (value: string) => Buffer.from(value, "base64")
  const keys = yield* keysOf(passphrase, bytes(kept.salt))
  const mac = bytes(kept.mac)
  if (mac.length !== 32 || !Crypto.timingSafeEqual(mac, macOf(keys.mac, kept.content))) {
    return yield* new StartupError({ message: `the passphrase is not that of ${folder}, or the backup was changed` })
  }
  const secrets = yield* Effect.try({
    try: () => {
      const decipher = Crypto.createDecipheriv(algorithm, keys.seal, bytes(kept.nonce))
      decipher.setAuthTag(bytes(kept.tag))
      return Buffer.concat([decipher.update(bytes(kept.sealed)), decipher.final()]).toString("utf8")
    },
    catch: broken
  })
  return {
    content: yield* Effect.mapError(decodeContent(kept.content), broken),
    secrets: yield* Effect.mapError(decodeSecrets(secrets), broken)
  }
})
