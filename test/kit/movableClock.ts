/**
 * Loaded before the service (`node --import`): gives it a clock that the parent process moves by a message. Timers are unaffected,
 * as on a machine whose clock is set. CLOCK_OFFSET_MS: how far away it begins.
 */
const realNow = Date.now
let offsetMs = Number(process.env["CLOCK_OFFSET_MS"] ?? 0)
const now = (): number => realNow() + offsetMs

globalThis.Date = new Proxy(Date, {
  construct: (target, args: ReadonlyArray<unknown>, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, property, receiver) => property === "now" ? now : Reflect.get(target, property, receiver)
})

process.on("message", (message) => {
  if (typeof message === "object" && message !== null && "clockOffsetMs" in message) {
    offsetMs = Number(message.clockOffsetMs)
  }
})
// waiting for messages is no reason to stay
process.channel?.unref()
