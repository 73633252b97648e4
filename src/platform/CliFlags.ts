/** Flag types of the command line, for `effect/cli`. */
import { Effect, FileSystem, Option, type PlatformError, Schema, Stdio, Stream } from "effect"
import { Argument, CliError, Flag } from "effect/cli"

export const about = <A>(flag: Flag.Flag<A>, description: string) => Flag.withDescription(flag, description)

export const text = (name: string, description: string) => about(Flag.String(name), description)

export const integer = (name: string, description: string) => about(Flag.Int(name), description)

export const boolean = (name: string, description: string) =>
  about(Flag.Literals(name, ["true", "false"]), description).pipe(Flag.map((value) => value === "true"))

const allWords = (value: string): ReadonlyArray<string> =>
  value.split(",").map((word) => word.trim()).filter((word) => word !== "")

const words = (value: string): ReadonlyArray<string> => allWords(value).filter((word) => word !== "none")

const parseObject = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** The JSON object of a file, or of standard input with `-`. */
const objectIn = (option: string, kind: "flag" | "argument") =>
(
  file: string
): Effect.Effect<{ readonly [name: string]: unknown }, CliError.CliError, Stdio.Stdio | FileSystem.FileSystem> => {
  const content: Effect.Effect<string, PlatformError.PlatformError, Stdio.Stdio | FileSystem.FileSystem> = file === "-"
    ? Effect.flatMap(Stdio.Stdio, ({ stdin }) => Stream.mkString(Stream.decodeText(stdin)))
    // not as a stream, which uses positioned reads and fails on pipes
    : Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(file))
  return content.pipe(
    Effect.flatMap(parseObject),
    // without the content, which may be secret
    Effect.mapError(() =>
      new CliError.InvalidValue({ option, value: file, expected: "a file with a JSON object", kind })
    )
  )
}

const ofFile = "a file with a JSON object, or - for standard input"

export const jsonFile = (name: string, description: string) =>
  text(name, `${description}: ${ofFile}`).pipe(Flag.mapEffect(objectIn(name, "flag")))

/** A whole request body in a file. */
export const jsonFileArgument = (name: string) =>
  Argument.String(name).pipe(
    Argument.withDescription(`The document: ${ofFile}`),
    Argument.mapEffect(objectIn(name, "argument"))
  )

/** Secret; `-` reads it from the first line of standard input, so that it appears in no process list and no shell history. */
export const secretText = (name: string, description: string) =>
  text(name, `${description}; - reads it from standard input`).pipe(
    Flag.mapEffect((value): Effect.Effect<string, CliError.CliError, Stdio.Stdio> =>
      value === "-"
        ? Effect.flatMap(Stdio.Stdio, ({ stdin }) => Stream.mkString(Stream.decodeText(stdin))).pipe(
          Effect.map((given) => given.split(/\r?\n/, 1)[0] ?? ""),
          Effect.mapError(() =>
            new CliError.InvalidValue({ option: name, value, expected: "a line on standard input", kind: "flag" })
          )
        )
        : Effect.succeed(value)
    )
  )

/** Comma-separated list; `none` is the empty one. */
export const listOf = (name: string, description: string) =>
  text(name, `${description}, comma-separated`).pipe(Flag.map(words))

/** Comma-separated list in which `none` is a word like any other. */
export const listWithNone = (name: string, description: string) =>
  text(name, `${description}, comma-separated`).pipe(Flag.map(allWords))

/** Comma-separated list of known words. */
export const listFrom = <const Word extends string>(name: string, known: ReadonlyArray<Word>, description: string) =>
  listOf(name, description).pipe(Flag.filterMap(
    (given) => {
      const found = known.filter((word) => given.includes(word))
      return found.length === new Set(given).size ? Option.some(found) : Option.none()
    },
    (given) => `Expected some of ${known.join(", ")}, got ${given.join(", ")}`
  ))

/** Comma-separated records, the fields of each by colons. */
export const recordsFrom = (name: string, fields: ReadonlyArray<string>, description: string) =>
  text(name, `${description}, like ${fields.join(":")}, comma-separated`).pipe(Flag.filterMap(
    (value): Option.Option<ReadonlyArray<{ readonly [field: string]: string }>> => {
      const records = words(value).map((word) => word.split(":"))
      return records.every((record) => record.length === fields.length)
        ? Option.some(
          records.map((record) => Object.fromEntries(fields.map((field, index) => [field, record[index] ?? ""])))
        )
        : Option.none()
    },
    (value) => `Expected ${fields.join(":")}, got ${value}`
  ))

/** Comma-separated ids. */
export const idsOf = (name: string, description: string) =>
  text(name, `${description}, comma-separated`).pipe(Flag.filterMap(
    (value): Option.Option<ReadonlyArray<number>> => {
      const ids = words(value)
      return ids.every((id) => /^[1-9]\d{0,15}$/.test(id)) ? Option.some(ids.map(Number)) : Option.none()
    },
    (value) => `Expected ids like 12,34, got ${value}`
  ))

/** Optional value, removed by `none`. */
export const orNone = <A>(flag: Flag.Flag<A>) => Flag.map(flag, (value): A | null => value === "none" ? null : value)

const orNoneOf = (name: string, description: string, form: RegExp, what: string) =>
  text(name, `${description}, or none`).pipe(Flag.filterMap(
    (value): Option.Option<number | null> =>
      value === "none" ? Option.some(null) : form.test(value) ? Option.some(Number(value)) : Option.none(),
    (value) => `Expected ${what} or none, got ${value}`
  ))

/** Number, removed by `none`. */
export const numberOrNone = (name: string, description: string) =>
  orNoneOf(name, description, /^\d{1,16}(\.\d{1,6})?$/, "a number")

/** Integer, removed by `none`. */
export const integerOrNone = (name: string, description: string) =>
  orNoneOf(name, description, /^\d{1,16}$/, "an integer")

/** Numbers by name, like `one=5,other=none`; `none` alone for no names. */
export const numbersByName = (name: string, description: string) =>
  text(name, `${description}, like name=number, comma-separated`).pipe(Flag.filterMap(
    (value): Option.Option<{ readonly [name: string]: number | null }> => {
      const pairs = words(value).map((word) => /^([a-z0-9_]{1,64})=(\d{1,16}|none)$/.exec(word) ?? [])
      return pairs.every((pair) => pair.length === 3)
        ? Option.some(
          Object.fromEntries(pairs.map(([, key = "", number]) => [key, number === "none" ? null : Number(number)]))
        )
        : Option.none()
    },
    (value) => `Expected numbers like name=100,other=200 or none, got ${value}`
  ))
