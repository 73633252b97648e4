/** Handler of Node.js's requests that answers a request and returns true, or leaves it untouched and returns false. */
import type { IncomingMessage, ServerResponse } from "node:http"

export type Take = (request: IncomingMessage, response: ServerResponse) => boolean
