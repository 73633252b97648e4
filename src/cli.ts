/** Entry point of the back-office command line. */
import { keepCompiled } from "./compiled.ts"

keepCompiled()
await import("./runCli.ts")
