/**
 * Array parameters written to the wire straight from rows: one array per column of a set of rows, without an array of values
 * in between. A commit writes some fifty such columns.
 */
import { type PgProtocol, PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export type WireValue = number | string | boolean | Uint8Array | null

/** The start of PostgreSQL's time, 2000-01-01, in epoch milliseconds. */
const postgresEpochMs = 946_684_800_000

interface Wire {
  readonly oid: number
  readonly arrayOid: number
  /** Writes an element with its length; false when the value is of another type. */
  readonly write: (sink: PgProtocol.ValueSink, value: WireValue) => boolean
}

/** The types that cross the wire as arrays. Whole numbers cross as `float8`, instants as epoch milliseconds. */
const wires = {
  float8: {
    oid: PgTypes.OID.float8,
    arrayOid: PgTypes.OID.float8Array,
    write: (sink, value) => {
      if (typeof value !== "number") return false
      sink.int32(8)
      sink.float64(value)
      return true
    }
  },
  text: {
    oid: PgTypes.OID.text,
    arrayOid: PgTypes.OID.textArray,
    write: (sink, value) => {
      if (typeof value !== "string") return false
      const token = sink.beginLength()
      sink.utf8(value)
      sink.endLength(token)
      return true
    }
  },
  timestamptz: {
    oid: PgTypes.OID.timestamptz,
    arrayOid: PgTypes.OID.timestamptzArray,
    write: (sink, value) => {
      if (typeof value !== "number" || !Number.isSafeInteger(value)) return false
      sink.int32(8)
      const micros = (value - postgresEpochMs) * 1000
      if (Number.isSafeInteger(micros)) {
        sink.int32(Math.floor(micros / 0x1_0000_0000))
        sink.int32(micros | 0)
      } else {
        // 285 years from the start of PostgreSQL's time
        sink.bigInt64(BigInt(value - postgresEpochMs) * 1000n)
      }
      return true
    }
  },
  boolean: {
    oid: PgTypes.OID.bool,
    arrayOid: PgTypes.OID.boolArray,
    write: (sink, value) => {
      if (typeof value !== "boolean") return false
      sink.int32(1)
      sink.uint8(value ? 1 : 0)
      return true
    }
  },
  bytea: {
    oid: PgTypes.OID.bytea,
    arrayOid: PgTypes.OID.byteaArray,
    write: (sink, value) => {
      if (!(value instanceof Uint8Array)) return false
      sink.int32(value.length)
      sink.raw(value)
      return true
    }
  }
} as const satisfies { readonly [name: string]: Wire }

export type WireType = keyof typeof wires

/** A parameter that is written when the statement is encoded. */
class ColumnArray {
  readonly write: (sink: PgProtocol.ValueSink) => boolean

  constructor(write: (sink: PgProtocol.ValueSink) => boolean) {
    this.write = write
  }
}

/** The array of a column of rows, for a client with the types of {@link registerColumnArrays}. */
export const columnArray = <Row>(
  type: WireType,
  rows: ReadonlyArray<Row>,
  value: (row: Row) => WireValue
): PgTypes.Parameter => {
  const { arrayOid, oid, write }: Wire = wires[type]
  return {
    [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId,
    oid: arrayOid,
    value: new ColumnArray((sink) => {
      const { length } = rows
      sink.int32(length === 0 ? 0 : 1)
      // the server looks for nulls itself; the flag only allows them
      sink.int32(1)
      sink.int32(oid)
      if (length === 0) return true
      sink.int32(length)
      sink.int32(1)
      for (let index = 0; index < length; index++) {
        const element = value(rows[index]!)
        if (element === null) sink.int32(-1)
        else if (!write(sink, element)) return false
      }
      return true
    })
  }
}

const mismatch = new PgTypes.CodecError({ message: "a value is not of its column's type" })

/** Registers the codecs that write {@link columnArray}s; other arrays are encoded and decoded as before. */
export const registerColumnArrays = (registry: PgTypes.Registry): void => {
  for (const { arrayOid } of Object.values(wires)) {
    registry.register<unknown>(arrayOid, {
      encode: (value) => PgTypes.encode(value, arrayOid),
      decode: (bytes) => PgTypes.decode(bytes, arrayOid, 1),
      write: (sink, value) => {
        if (value instanceof ColumnArray) return value.write(sink) ? Result.void : Result.fail(mismatch)
        return Result.map(PgTypes.encode(value, arrayOid), (bytes) => sink.raw(bytes))
      }
    })
  }
}
