/** Runs a function once the callbacks of this turn of the event loop have run, so that what they collected is handled together. */
import { Effect, Scheduler } from "effect"

export const makeTurnEnd = Effect.map(Scheduler.Scheduler, (scheduler) => {
  const dispatcher = scheduler.makeDispatcher()
  return (act: () => void): void => dispatcher.scheduleTask(act, 0)
})
