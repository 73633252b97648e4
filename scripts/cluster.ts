// Runs several nodes on this machine over one database: npm run cluster -- --help
import { keepCompiled } from "../src/compiled.ts"

keepCompiled()
await import("./cluster/Supervisor.ts")
