/** Shell commands that run the service's programs, for messages: npm scripts in a checkout, the installed command in a packed service. */
import { extname } from "node:path"

/** Extension of the program's own files: a packed service is compiled. */
export const extension = extname(import.meta.filename)

export const invocation = extension === ".ts"
  ? { program: "npm run", start: "npm start", backoffice: "npm run -s backoffice --" }
  : { program: "npx pitboss", start: "npx pitboss start", backoffice: "npx pitboss" }
