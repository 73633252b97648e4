import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** A `text[]` parameter. */
export const textArray = (values: ReadonlyArray<string>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
