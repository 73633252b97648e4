/**
 * Runs the back-office command line: nouns and verbs over the staff API of a running service.
 *
 * Writes one JSON document to standard output, or a table on a terminal. Exits with 0; with 1 for a refusal, whose error envelope goes to standard
 * error; with 2 for wrong usage, with the usage on standard error.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { parse } from "node:path"
import { runCommandLine } from "./commandLine.ts"

const [, program = "", ...args] = process.argv

await Effect.runPromise(
  runCommandLine(args, parse(program).name === "pitboss" ? "pitboss" : undefined).pipe(
    // not fetch, which times out after five minutes: a verification of a large ledger takes longer; not undici, whose modules take time to load
    Effect.provide([NodeHttpClient.layerNodeHttp, NodeServices.layer])
  )
)
