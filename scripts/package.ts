/**
 * Packs what others install into dist and prints the files.
 *
 *     npm run package
 */
import { standardOutput } from "../src/platform/Output.ts"
import { packClient } from "./package/ClientPackage.ts"
import { packService } from "./package/ServicePackage.ts"

const packages = { client: packClient, service: packService }

const [only] = process.argv.slice(2)
for (const [name, make] of Object.entries(packages)) {
  if (only === undefined || only === name) standardOutput.offer(`dist/${await make()}\n`)
}
