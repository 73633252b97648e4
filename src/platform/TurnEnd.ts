/** Runs a function at the end of this turn of the event loop. */
import { Effect, Scheduler } from "effect"

export const makeTurnEnd = Effect.map(Scheduler.Scheduler, (scheduler) => {
  const dispatcher = scheduler.makeDispatcher()
  return (act: () => void): void => dispatcher.scheduleTask(act, 0)
})
