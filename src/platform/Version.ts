/** Version of this release, declared in package.json. */
import { createRequire } from "node:module"

export const version = String(createRequire(import.meta.url)("../../package.json").version)
