/** Method and path of every endpoint of the staff API by action, written by the build from the API's definition. */
declare module "virtual:staff-api" {
  export const endpoints: Readonly<Record<string, readonly [method: string, path: string]>>
  /** Digits of the minor unit by currency (ISO 4217), where they are not 2: a browser's own table differs, and with its version. */
  export const digits: Readonly<Record<string, number>>
}

/** Protocols of vendors with the settings that each takes, written by the build. Pitboss's own has none. */
declare module "virtual:protocols" {
  export const protocols: ReadonlyArray<{
    readonly name: string
    readonly fields: ReadonlyArray<{
      readonly name: string
      readonly isRequired: boolean
      readonly isSecret: boolean
      readonly kind: "text" | "block" | "integer" | "choice"
      readonly options: ReadonlyArray<string>
    }>
  }>
}
