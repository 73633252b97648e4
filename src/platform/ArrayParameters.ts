/** Array parameters of SQL statements. Integers are passed as `float8`, which holds every amount and id exactly. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { toDate } from "./Time.ts"

export const numbers = (values: ReadonlyArray<number | null>) =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.float8))

export const texts = (values: ReadonlyArray<string | null>) =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Epoch milliseconds. */
export const times = (values: ReadonlyArray<number | null>) =>
  Result.getOrThrow(PgTypes.array(values.map((at) => at === null ? null : toDate(at)), PgTypes.OID.timestamptz))

export const byteStrings = (values: ReadonlyArray<Uint8Array | null>) =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bytea))
