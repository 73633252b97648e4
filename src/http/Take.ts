/** Handler of a Node.js request: either answers it and returns true, or leaves it untouched and returns false. */
import type { IncomingMessage, ServerResponse } from "node:http"

export type Take = (request: IncomingMessage, response: ServerResponse) => boolean
