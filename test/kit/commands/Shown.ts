/** Cases of commands that show one resource, derived from the contract. */
import { assert } from "@effect/vitest"
import { SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { kebab } from "../../../src/commands/Flags.ts"
import { fieldsOf } from "../../../src/contract/common/RequestFields.ts"
import { BackofficeApi } from "../../../src/contract/StaffApi.ts"
import { type CommandCase, commandOf, done, nobody } from "./Scene.ts"

/** Staff endpoints by action. */
const endpoints = (() => {
  const found = new Map<string, HttpApiEndpoint.Top>()
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => void found.set(`${group.identifier}.${endpoint.identifier}`, endpoint)
  })
  return found
})()

/** The longest page of a list. */
const wholeOf = ({ query }: HttpApiEndpoint.Top): string =>
  fieldsOf(query).filter(({ name }) => name === "limit" || name === "per_page").map(({ name }) =>
    ` --${kebab(name)} 100`
  )
    .join("")

/**
 * Cases of `show` for nouns that have a list: a resource shows what its row in the list does, whatever it shows besides. The scene names it like the
 * path does. A command with a case of its own is left to that.
 */
export const shownCasesBeside = (others: ReadonlyArray<CommandCase>): ReadonlyArray<CommandCase> => {
  const tried = new Set(others.map(({ line }) => commandOf(line)))
  return [...endpoints].flatMap(([action, { params }]): ReadonlyArray<CommandCase> => {
    const [group = "", verb] = action.split(".")
    const noun = kebab(group)
    const list = endpoints.get(`${group}.list`)
    const [param, ...more] = fieldsOf(params)
    if (verb !== "show" || list === undefined || param === undefined || more.length > 0 || tried.has(`${noun} show`)) {
      return []
    }
    const line = `${noun} show $${param.name}`
    return [{
      line,
      misused: SchemaAST.isNumber(param.type) ? [`${noun} show first`] : [],
      refused: [[`${noun} show ${nobody}`, "NOT_FOUND"]],
      *works(scene) {
        const shown = yield* done(line, scene)
        const rows: ReadonlyArray<{ readonly id: unknown }> = yield* done(`${noun} list${wholeOf(list)}`)
        assert.deepInclude(shown, rows.find(({ id }) => id === shown.id) ?? assert.fail(`no row of ${shown.id}`))
      }
    }]
  })
}
