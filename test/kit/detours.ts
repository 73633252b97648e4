/**
 * Loaded before the service (`node --import`): redirects connections from some ports to proxies of a test at others. `DETOURS` holds
 * the pairs, such as `25001=31001,25002=31002`.
 */
import * as Net from "node:net"
import { isObject } from "../../src/platform/Table.ts"

const detours = new Map(
  (process.env["DETOURS"] ?? "").split(",").map((pair): [number, number] => {
    const [from, to] = pair.split("=")
    return [Number(from), Number(to)]
  })
)

/** The options of a connection: the first argument, or the first of a list that Node.js has made of all arguments. */
const optionsOf = (args: ReadonlyArray<unknown>): unknown => Array.isArray(args[0]) ? args[0][0] : args[0]

// oxlint-disable-next-line typescript/unbound-method -- applied to its socket below
Net.Socket.prototype.connect = new Proxy(Net.Socket.prototype.connect, {
  apply: (target, socket, args: ReadonlyArray<unknown>) => {
    const options = optionsOf(args)
    if (isObject(options) && "port" in options) {
      const to = detours.get(Number(options.port))
      if (to !== undefined) Object.assign(options, { port: to })
    }
    return Reflect.apply(target, socket, args)
  }
})
