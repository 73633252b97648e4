/** Flags of the scenarios, and those that several of them share. */
import { Schema } from "effect"
import { Flag } from "effect/cli"
import { resolve } from "node:path"

export const count = (name: string, description: string, maximum: number) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))),
    Flag.withDescription(description)
  )

export const seconds = (name: string, description: string, minimum: number) =>
  Flag.Finite(name).pipe(
    Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum, maximum: 3600 }))),
    Flag.withDescription(description)
  )

export const switchOf = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** A comma-separated choice of words, each at most once and in the given order; all of them, or the standard ones, when left out. */
export const choice = <const Words extends ReadonlyArray<string>>(
  name: string,
  words: Words,
  description: string,
  standard: ReadonlyArray<Words[number]> = words
) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}: ${words.join(",")}`),
    Flag.filter(
      (text) => text.split(",").every((word) => words.includes(word)),
      (text) => `${text}: expected some of ${words.join(",")}`
    ),
    Flag.map((text): ReadonlyArray<Words[number]> => words.filter((word) => text.split(",").includes(word))),
    Flag.withDefault(standard)
  )

/** Comma-separated whole numbers from 1 to `maximum`. */
export const counts = (name: string, description: string, defaults: ReadonlyArray<number>, maximum: number) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.map((text): ReadonlyArray<number> => text.split(",").map(Number)),
    Flag.filter(
      (values) => values.every((value) => Number.isInteger(value) && value >= 1 && value <= maximum),
      () => `expected whole numbers from 1 to ${maximum}, separated by commas`
    ),
    Flag.withDefault(defaults)
  )

/** Comma-separated hundredths, or `none`. */
export const shares = (name: string, description: string, defaults: ReadonlyArray<number>) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.map((text): ReadonlyArray<number> => text === "none" ? [] : text.split(",").map(Number)),
    Flag.filter(
      (values) => values.every((value) => Number.isInteger(value) && value >= 1 && value <= 100),
      () => "expected whole numbers from 1 to 100, separated by commas, or none"
    ),
    Flag.withDefault(defaults)
  )

export const rounds = (standard: number) =>
  count("rounds", "rounds of each thing that is measured", 1000).pipe(Flag.withDefault(standard))

export const maxForeignLoad = count(
  "max-foreign-load",
  "run a round again when other processes took more of the machine than this percentage; 100 accepts all",
  100
).pipe(Flag.withDefault(100))

export const time = {
  rounds: rounds(5),
  seconds: seconds("seconds", "measured seconds of a round", 0.2).pipe(Flag.withDefault(5)),
  warmUpSeconds: seconds("warm-up", "seconds of load before a round is measured", 0).pipe(Flag.withDefault(2)),
  maxForeignLoad
}

export const players = (standard: number, maximum: number, description: string) =>
  count("players", description, maximum).pipe(Flag.withDefault(standard))

export const registered = count("registered", "players there are; those who do not take part never come", 5_000_000)
  .pipe(Flag.withDefault(100_000))

export const someLoad = {
  ...time,
  players: players(10_000, 1_000_000, "players of the mix `many`"),
  generators: count("generators", "load generator processes", 16).pipe(Flag.withDefault(1))
}

export const connections = (standard: number, maximum = 4096, description = "connections of the load generator") =>
  count("connections", description, maximum).pipe(Flag.withDefault(standard))

export const bettors = (standard: number, description: string) =>
  count("bettors", description, 100_000).pipe(Flag.withDefault(standard))

export const dataFolder = Flag.String("data").pipe(
  Flag.withDescription("keep the generated database in this folder, or use the one that is there, whatever its size"),
  Flag.map((folder): string | undefined => folder),
  Flag.withDefault(undefined)
)

export const ratePerSecond = Flag.Finite("rate").pipe(
  Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))),
  Flag.withDescription("requests per second of an open loop; without it, the closed loop"),
  Flag.map((rate): number | null => rate),
  Flag.withDefault(null)
)

export const before = Flag.String("before").pipe(
  Flag.withDescription("measure the service of this other checkout, its packages installed, in the same rounds"),
  Flag.map((folder): string | undefined => resolve(folder)),
  Flag.withDefault(undefined)
)

export const cpuProfile = switchOf(
  "cpu-prof",
  "profile the service in the measured seconds and print where its time goes"
)

/** The generated casino. */
export const dataset = (entries: number) => ({
  players: players(1_000_000, 5_000_000, "players to generate"),
  entries: count("entries", "ledger entries to generate, about", 50_000_000).pipe(Flag.withDefault(entries)),
  folder: dataFolder
})
