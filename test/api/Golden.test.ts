import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Command } from "effect/cli"
import { OpenApi } from "effect/http-api"
import { program, runCommandLine } from "../../src/commandLine.ts"
import { CommandOutput } from "../../src/commands/Root.ts"
import { Api } from "../../src/contract/Api.ts"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import {
  type Action,
  actions,
  concernOf,
  isMoneyAction,
  needsStepUp,
  rolesFor
} from "../../src/office/Authorisation.ts"
import { outlineOf } from "../kit/ApiOutline.ts"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"

// Goal: what outsiders rely on changes only where somebody has read the change: the documents of both APIs, the help of every command, and who may
// take which action.
// Method: a golden file, whose outline of the first document has the parts that callers' code depends on. Review a difference, then run `npx vitest run test/api -u`.

const linesBelow = (
  command: Command.Command.Any,
  path: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => [
  path,
  ...command.subcommands.flatMap(({ commands }) =>
    commands.flatMap((below) => linesBelow(below, [...path, below.name]))
  )
]

/** The part of a command's help that is its own. */
const helpOf = (line: ReadonlyArray<string>) => {
  let help = ""
  return runCommandLine([...line, "--help"]).pipe(
    Effect.provideService(CommandOutput, {
      isTerminal: false,
      out: (text) => (help += text),
      problem: (text) => (help += text),
      end: () => {}
    }),
    Effect.provide([NodeHttpClient.layerNodeHttp, NodeServices.layer]),
    Effect.map(() => `$ ${["backoffice", ...line].join(" ")} --help\n${help.split("\nINHERITED FLAGS", 1)[0]}`)
  )
}

/** A document, each of its operations and components on a line of its own. */
const linesOf = (document: object): string =>
  Object.entries(document).flatMap(([name, value]) =>
    name === "paths" || name === "components"
      ? Object.entries(Object(value)).flatMap(([group, members]) =>
        Object.entries(Object(members)).map(([member, about]) => `${group} ${member} ${JSON.stringify(about)}`)
      )
      : [`${name} ${JSON.stringify(value)}`]
  ).join("\n") + "\n"

/** An action with its roles and subject, and what more it takes. */
const permissionOf = (action: Action): string =>
  [
    action,
    rolesFor(action).join(","),
    concernOf(action),
    ...(isMoneyAction(action) ? ["money"] : needsStepUp(action) ? ["authority"] : [])
  ].join(" ")

describe("the golden file", () => {
  it.effect("equals the help of every command, both API documents and the table of permissions", () =>
    Effect.gen(function*() {
      const helps = yield* Effect.forEach(linesBelow(program, []), helpOf)
      const document = OpenApi.fromApi(Api)
      const documents = [outlineOf(document), linesOf(document), linesOf(OpenApi.fromApi(BackofficeApi))]
      const text = [...helps, ...documents, actions.map(permissionOf).join("\n") + "\n"].join("\n")
      yield* Effect.promise(() => expect(text).toMatchFileSnapshot("./contract.golden.txt"))
    }))
})
