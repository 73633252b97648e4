/**
 * Encodes PostgreSQL array parameters directly from rows: one array per column, without intermediate arrays of values. A commit writes some fifty
 * such columns.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export type WireValue = number | string | boolean | Uint8Array | null

/** PostgreSQL's epoch, 2000-01-01, in epoch milliseconds. */
const postgresEpochMs = 946_684_800_000

const initialBytes = 64 * 1024

/** Texts up to this length are encoded character by character: faster than a call into native code. */
const shortText = 64

/** Buffer of the array being encoded; a single one suffices, since it is copied into the frame before the next array is begun. */
class Bytes {
  private bytes = Buffer.allocUnsafeSlow(initialBytes)
  private view = new DataView(this.bytes.buffer)
  private end = 0

  reset(): void {
    this.end = 0
  }

  /** Bytes written, valid until the next write. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.end)
  }

  int32(value: number): void {
    this.reserve(4)
    this.view.setInt32(this.end, value)
    this.end += 4
  }

  float64(value: number): void {
    this.reserve(12)
    this.view.setInt32(this.end, 8)
    this.view.setFloat64(this.end + 4, value)
    this.end += 12
  }

  int64(high: number, low: number): void {
    this.reserve(12)
    this.view.setInt32(this.end, 8)
    this.view.setInt32(this.end + 4, high)
    this.view.setInt32(this.end + 8, low)
    this.end += 12
  }

  flag(value: boolean): void {
    this.reserve(5)
    this.view.setInt32(this.end, 1)
    this.bytes[this.end + 4] = value ? 1 : 0
    this.end += 5
  }

  text(value: string): void {
    const { length } = value
    this.reserve(4 + length * 3)
    const start = this.end + 4
    let index = 0
    if (length <= shortText) {
      while (index < length) {
        const code = value.charCodeAt(index)
        if (code > 0x7f) break
        this.bytes[start + index] = code
        index++
      }
    }
    const size = index === length ? length : this.bytes.write(value, start, "utf8")
    this.view.setInt32(this.end, size)
    this.end = start + size
  }

  raw(value: Uint8Array): void {
    this.reserve(4 + value.length)
    this.view.setInt32(this.end, value.length)
    this.bytes.set(value, this.end + 4)
    this.end += 4 + value.length
  }

  private reserve(size: number): void {
    if (this.end + size <= this.bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.end + size))
    grown.set(this.written)
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }
}

interface Wire {
  readonly oid: number
  readonly arrayOid: number
  /** Writes an element with its length; false when the value has another type. */
  readonly write: (to: Bytes, value: WireValue) => boolean
}

/** Types supported as arrays. Integers are passed as `float8`, instants as epoch milliseconds. */
const wireTypes = {
  float8: {
    oid: PgTypes.OID.float8,
    arrayOid: PgTypes.OID.float8Array,
    write: (to, value) => {
      if (typeof value !== "number") return false
      to.float64(value)
      return true
    }
  },
  text: {
    oid: PgTypes.OID.text,
    arrayOid: PgTypes.OID.textArray,
    write: (to, value) => {
      if (typeof value !== "string") return false
      to.text(value)
      return true
    }
  },
  timestamptz: {
    oid: PgTypes.OID.timestamptz,
    arrayOid: PgTypes.OID.timestamptzArray,
    write: (to, value) => {
      if (typeof value !== "number" || !Number.isSafeInteger(value)) return false
      const micros = (value - postgresEpochMs) * 1000
      if (Number.isSafeInteger(micros)) {
        to.int64(Math.floor(micros / 0x1_0000_0000), micros | 0)
      } else {
        // 285 years from PostgreSQL's epoch
        const exact = BigInt(value - postgresEpochMs) * 1000n
        to.int64(Number(exact >> 32n), Number(BigInt.asIntN(32, exact)))
      }
      return true
    }
  },
  boolean: {
    oid: PgTypes.OID.bool,
    arrayOid: PgTypes.OID.boolArray,
    write: (to, value) => {
      if (typeof value !== "boolean") return false
      to.flag(value)
      return true
    }
  },
  bytea: {
    oid: PgTypes.OID.bytea,
    arrayOid: PgTypes.OID.byteaArray,
    write: (to, value) => {
      if (!(value instanceof Uint8Array)) return false
      to.raw(value)
      return true
    }
  }
} as const satisfies { readonly [name: string]: Wire }

export type WireType = keyof typeof wireTypes

/** Parameter encoded together with its statement. */
class ColumnArray {
  readonly write: (to: Bytes) => boolean

  constructor(write: (to: Bytes) => boolean) {
    this.write = write
  }
}

/** Array of a column of rows, for a client with the types of {@link registerColumnArrays}. */
export const columnArray = <Row>(
  type: WireType,
  rows: ReadonlyArray<Row>,
  value: (row: Row) => WireValue
): PgTypes.Parameter => {
  const { arrayOid, oid, write }: Wire = wireTypes[type]
  return {
    [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId,
    oid: arrayOid,
    value: new ColumnArray((to) => {
      const { length } = rows
      to.int32(length === 0 ? 0 : 1)
      // the server detects nulls itself; the flag only allows them
      to.int32(1)
      to.int32(oid)
      if (length === 0) return true
      to.int32(length)
      to.int32(1)
      for (let index = 0; index < length; index++) {
        const element = value(rows[index]!)
        if (element === null) to.int32(-1)
        else if (!write(to, element)) return false
      }
      return true
    })
  }
}

const mismatch = new PgTypes.CodecError({ message: "a value is not of its column's type" })

/** Registers the codecs of {@link columnArray}s; other arrays are encoded and decoded as before. */
export const registerColumnArrays = (registry: PgTypes.Registry): void => {
  const bytes = new Bytes()
  for (const { arrayOid } of Object.values(wireTypes)) {
    registry.register<unknown>(arrayOid, {
      encode: (value) => PgTypes.encode(value, arrayOid),
      decode: (bytes) => PgTypes.decode(bytes, arrayOid, 1),
      write: (sink, value) => {
        if (value instanceof ColumnArray) {
          bytes.reset()
          return value.write(bytes) ? Result.succeed(sink.raw(bytes.written)) : Result.fail(mismatch)
        }
        return Result.map(PgTypes.encode(value, arrayOid), (bytes) => sink.raw(bytes))
      }
    })
  }
}
