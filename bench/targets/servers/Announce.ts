import type { Server } from "node:http"

/** Tells the parent where a bench server listens, and ends the process when the parent is gone. */
export const announce = (server: Server): void => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server listens on no port")
  process.send?.({ type: "listening", port: address.port })
  process.on("disconnect", () => process.exit(0))
  // The parent gets the interrupt of the terminal too and decides when this process ends.
  process.on("SIGINT", () => {})
}
