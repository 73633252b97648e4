/**
 * Node.js keeps what it compiled for the next start, which then takes half of the processor time: a start is nearly all loading of modules. Nothing
 * else may be imported before it, and where the folder cannot be written, everything is compiled as ever.
 */
import { enableCompileCache } from "node:module"
import { join } from "node:path"

/** To be called before anything else is imported. The folder may be deleted at any time; it is written when a process ends. */
export const keepCompiled = (): void => void enableCompileCache(join(import.meta.dirname, "..", "dist", "compiled"))
