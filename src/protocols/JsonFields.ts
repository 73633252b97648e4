/** Validating reader for the fields of a JSON body. */
import { type JsonObject, type JsonValue, readBoolean, readList, readObject, readText } from "./JsonBody.ts"

/** Reader that records the first missing or malformed field; values read after that are not to be used. */
export class JsonFields {
  readonly values: JsonObject
  #bad: string | undefined
  readonly #maxLength: number

  constructor(values: JsonObject, maxLength: number) {
    this.values = values
    this.#maxLength = maxLength
  }

  /** Name of the first invalid field; undefined while all are valid. */
  get bad(): string | undefined {
    return this.#bad
  }

  /** Records a field as invalid. */
  refuse(name: string): void {
    this.#bad ??= name
  }

  /** Required single line of text. */
  text(name: string): string {
    const text = readText(this.values[name], this.#maxLength)
    if (text === undefined) this.refuse(name)
    return text ?? ""
  }

  /** Optional text; null when missing, null or empty. */
  optionalText(name: string): string | null {
    const value = this.values[name]
    return value === undefined || value === null || value === "" ? null : this.text(name)
  }

  /** Boolean; false when missing. */
  flag(name: string): boolean {
    const value = this.values[name]
    const flag = value === undefined || value === null ? false : readBoolean(value)
    if (flag === undefined) this.refuse(name)
    return flag ?? false
  }

  /** List of at most `max` objects; empty when missing. */
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
