/** Build of the pages: hashed file names, no inline scripts, the staff API's endpoints as data. */
import react from "@vitejs/plugin-react"
import { SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { join } from "node:path"
import { defineConfig, type Plugin } from "vite"
import { BackofficeApi } from "../contract/StaffApi.ts"
import { type FieldKind, fieldKindOf } from "../contract/common/FieldKind.ts"
import { type FormField, formFieldsOf, type ShownField, shownFieldsOf } from "../contract/common/FormField.ts"
import { minorDigits } from "../domain/Standards.ts"
import { settingFieldsOf } from "../protocols/Protocol.ts"
import { protocols } from "../protocols/Protocols.ts"
import { registers } from "../registers/Registers.ts"
import { innerPages, pages } from "./app/pages.ts"

/** Generates method, path, and the fields of query, body and answer of every endpoint without the Schemas that declare them, and the digits of currencies. */
const staffApi = (): Plugin => {
  const name = "virtual:staff-api"
  return {
    name: "staff-api",
    resolveId: (id) => id === name ? `\0${name}` : null,
    load: (id) => {
      if (id !== `\0${name}`) return null
      const endpoints: Record<string, readonly [string, string]> = {}
      const queries: Record<string, ReadonlyArray<FieldKind & { readonly name: string }>> = {}
      const forms: Record<string, ReadonlyArray<FormField>> = {}
      const answers: Record<string, ReadonlyArray<readonly [string, ShownField["kind"]]>> = {}
      HttpApi.reflect(BackofficeApi, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, group }) => {
          const action = `${group.identifier}.${endpoint.identifier}`
          endpoints[action] = [endpoint.method, endpoint.path]
          const form = [...endpoint.payload.values()].flatMap(({ schemas }) => [...schemas]).flatMap(formFieldsOf)
          if (form.length > 0) forms[action] = form
          for (
            const [list, shown] of [...endpoint.success].flatMap((answer) => Object.entries(shownFieldsOf(answer)))
          ) {
            answers[list === "" ? action : `${action}/${list}`] = shown.map(({ kind, name }) => [name, kind])
          }
          const query = endpoint.query?.ast
          if (query !== undefined && SchemaAST.isObjects(query)) {
            queries[action] = query.propertySignatures.map(({ name, type }) => ({
              name: String(name),
              ...fieldKindOf(type)
            }))
          }
        }
      })
      const digits = Object.fromEntries(
        Intl.supportedValuesOf("currency").map((code) => [code, minorDigits(code)] as const).filter(([, count]) =>
          count !== 2
        )
      )
      return Object.entries({ endpoints, queries, forms, answers, digits })
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`).join("\n")
    }
  }
}

/** Generates the settings of the vendors' protocols, and of registers, without either. */
const settingsForms = (): Plugin => {
  const name = "virtual:protocols"
  return {
    name: "protocols",
    resolveId: (id) => id === name ? `\0${name}` : null,
    load: (id) =>
      id === `\0${name}`
        ? `export const protocols = ${JSON.stringify(protocols.map(({ fields, name }) => ({ name, fields })))}
export const registers = ${
          JSON.stringify(
            Object.values(registers).map(({ form, kind, secrets }) => ({
              name: kind,
              fields: settingFieldsOf(form, secrets)
            }))
          )
        }`
        : null
  }
}

/** Generates the list of page addresses for the server's router: `/players/:player`. */
const addresses = (): Plugin => ({
  name: "addresses",
  generateBundle() {
    const paths = [...pages, ...innerPages].map(({ path }) => path.replaceAll("$", ":"))
    this.emitFile({ type: "asset", fileName: "addresses.json", source: JSON.stringify(paths) })
  }
})

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), staffApi(), settingsForms(), addresses()],
  build: {
    outDir: join(import.meta.dirname, "../../dist/pages"),
    emptyOutDir: true,
    target: "es2022",
    // the polyfill for old browsers would be an inline script
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000
  }
})
