/** Method and path of every endpoint of the staff API by action, written by the build from the API's definition. */
declare module "virtual:staff-api" {
  export const endpoints: Readonly<Record<string, readonly [method: string, path: string]>>
}
