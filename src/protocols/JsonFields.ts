/** Reading the fields of a body in JSON: each in its form, or named as bad. */
import { type JsonObject, type JsonValue, readBoolean, readList, readObject, readText } from "./JsonBody.ts"

/** A reader notes the first field that is missing or malformed; what it gives then is of no use. */
export class JsonFields {
  readonly values: JsonObject
  #bad: string | undefined
  readonly #maxLength: number

  constructor(values: JsonObject, maxLength: number) {
    this.values = values
    this.#maxLength = maxLength
  }

  /** The first bad field; undefined while all are good. */
  get bad(): string | undefined {
    return this.#bad
  }

  /** Notes a field whose value cannot be. */
  refuse(name: string): void {
    this.#bad ??= name
  }

  /** A text of one line that has to be there. */
  text(name: string): string {
    const text = readText(this.values[name], this.#maxLength)
    if (text === undefined) this.refuse(name)
    return text ?? ""
  }

  /** A text that may be missing, null or empty: null. */
  optionalText(name: string): string | null {
    const value = this.values[name]
    return value === undefined || value === null || value === "" ? null : this.text(name)
  }

  /** Yes or no; no where it is missing. */
  flag(name: string): boolean {
    const value = this.values[name]
    const flag = value === undefined || value === null ? false : readBoolean(value)
    if (flag === undefined) this.refuse(name)
    return flag ?? false
  }

  /** A list of at most `max` objects; empty where it is missing. */
  objects(name: string, max: number): ReadonlyArray<JsonFields> {
    const value: JsonValue | undefined = this.values[name]
    const list = value === undefined || value === null ? [] : readList(value)
    if (list === undefined || list.length > max) this.refuse(name)
    return (list ?? []).slice(0, max).map((item) => {
      const object = readObject(item)
      if (object === undefined) this.refuse(name)
      return new JsonFields(object ?? {}, this.#maxLength)
    })
  }
}
