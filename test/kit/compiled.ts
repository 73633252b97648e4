/** Workers take modules from the compile cache of Node.js, as the services that they start do. */
import { enableCompileCache, flushCompileCache } from "node:module"
import { afterAll } from "vitest"

enableCompileCache()

// a worker is killed when it has nothing left to do, before it would write what it compiled
afterAll(() => flushCompileCache())
