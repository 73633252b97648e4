/**
 * Deterministic world: machines whose fibers run one task at a time, in an order determined by the seed, and
 * a clock that advances when no task is ready at this instant.
 *
 * A machine is a computer. On power loss its fibers end between two tasks: no finalizer runs, no timer fires. Other
 * machines, above all the database, continue.
 */
import { Clock, Context, Duration, Effect, type Fiber, Random, References, Scheduler } from "effect"
import { type Chance, chanceOf, Trace } from "../../kit/Chance.ts"

/** Maximum number of tasks of a run, against endless loops. */
const mostTasks = 1_000_000

interface Task {
  readonly machine: Machine
  readonly run: () => void
}

/** An action due at an instant; `cancel` removes it. */
interface Timer {
  readonly at: number
  readonly order: number
  readonly task: Task
  isCancelled: boolean
}

export class World {
  /** Epoch milliseconds. */
  now: number
  /** Number of tasks run: a clock that never stops. */
  step = 0
  readonly trace = new Trace()
  /** Epoch milliseconds of the beginning. */
  readonly beganAt: number
  private readonly picks: Chance
  private readonly ready: Array<Task> = []
  /** Binary heap by due time. */
  private readonly timers: Array<Timer> = []
  private timersMade = 0
  private readonly afterSteps: Array<{ readonly step: number; readonly run: () => void }> = []

  constructor(seed: number | string, now: number) {
    this.now = now
    this.beganAt = now
    this.picks = chanceOf(seed, "picks")
  }

  enqueue(machine: Machine, run: () => void): void {
    this.ready.push({ machine, run })
  }

  /** Runs an action on a machine after a delay, if it still has power then. Returns its cancellation. */
  after(milliseconds: number, machine: Machine, run: () => void): () => void {
    const at = this.now + Math.max(0, Math.ceil(milliseconds))
    const timer: Timer = { at, order: this.timersMade++, task: { machine, run }, isCancelled: false }
    const { timers } = this
    let place = timers.push(timer) - 1
    while (place > 0) {
      const parent = place - 1 >> 1
      if (!isBefore(timer, timers[parent])) break
      swap(timers, place, parent)
      place = parent
    }
    return () => {
      timer.isCancelled = true
    }
  }

  /** Runs an action after a number of further tasks. */
  afterTasks(tasks: number, run: () => void): void {
    this.afterSteps.push({ step: this.step + tasks, run })
  }

  /** Runs everything until `isOver`, checked whenever time is about to advance. Returns false when that never held. */
  run(isOver: () => boolean): boolean {
    while (this.step < mostTasks) {
      const { ready } = this
      if (ready.length === 0) {
        if (isOver()) return true
        if (!this.passTime()) return false
        continue
      }
      const index = ready.length === 1 ? 0 : this.picks.below(ready.length)
      const task = ready[index]
      const last = ready.pop()
      if (task === undefined || last === undefined) return false
      if (last !== task) ready[index] = last
      this.step++
      const { machine: runs } = task
      if (runs.isOn && runs.held !== undefined) runs.held.push(task.run)
      else if (runs.isOn) {
        this.trace.add(index * 31 + runs.number)
        task.run()
      }
      if (this.afterSteps.length > 0) this.runAfterSteps()
    }
    return false
  }

  private runAfterSteps(): void {
    const due = this.afterSteps.filter(({ step }) => step <= this.step)
    for (const item of due) {
      this.afterSteps.splice(this.afterSteps.indexOf(item), 1)
      item.run()
    }
  }

  /** Advances to the next due instant. */
  private passTime(): boolean {
    const { timers } = this
    while (this.ready.length === 0) {
      const first = timers[0]
      if (first === undefined) return false
      this.now = Math.max(this.now, first.at)
      this.trace.add(this.now % 0x7fffffff)
      while (timers[0] !== undefined && timers[0].at <= this.now) {
        const timer = this.takeTimer()
        if (timer !== undefined && !timer.isCancelled && timer.task.machine.isOn) this.ready.push(timer.task)
      }
    }
    return true
  }

  private takeTimer(): Timer | undefined {
    const { timers } = this
    const first = timers[0]
    const last = timers.pop()
    if (last === undefined || last === first) return first
    timers[0] = last
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const child = isBefore(timers[left + 1], timers[left]) ? left + 1 : left
      if (!isBefore(timers[child], timers[place])) return first
      swap(timers, place, child)
      place = child
    }
  }
}

const isBefore = (one: Timer | undefined, other: Timer | undefined): boolean =>
  one !== undefined && (other === undefined || one.at < other.at || (one.at === other.at && one.order < other.order))

const swap = (timers: Array<Timer>, one: number, other: number): void => {
  const [first, second] = [timers[one], timers[other]]
  if (first === undefined || second === undefined) return
  timers[one] = second
  timers[other] = first
}

/** Behaviour of a machine's clock. */
export interface ClockPlan {
  /** Speed relative to the world's time. */
  readonly speed: number
  /** Offset of its wall clock from the world's, in ms. */
  wallOffset: number
}

export class Machine {
  readonly name: string
  readonly number: number
  readonly world: World
  isOn = true
  /** While paused: actions to run on resumption. Its clock does not stop. */
  held: Array<() => void> | undefined
  /** Action to run when it is about to send a commit. */
  beforeCommit: (() => void) | undefined
  /** Its own clocks, in ms: the one that may be set, and the one that may not. */
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  /** Time of the service on it; undefined while it goes by the machine's. */
  serviceTime: (() => number) | undefined
  /** Services of its fibers: its clock, its random source, the world's scheduler. */
  readonly context: Context.Context<never>

  /** `pauseEvery`: average number of operations after which a fiber yields; 0: only when it waits. */
  constructor(
    world: World,
    name: string,
    number: number,
    seed: number | string,
    pauseEvery: number,
    clock: ClockPlan = { speed: 1, wallOffset: 0 }
  ) {
    this.name = name
    this.number = number
    this.world = world
    const passed = () => (world.now - world.beganAt) * clock.speed
    this.wallMs = () => world.beganAt + Math.floor(passed()) + clock.wallOffset
    this.monotonicMs = () => world.beganAt + passed()
    this.context = Context.empty().pipe(
      Context.add(Clock.Clock, clockOf(world, this, clock.speed)),
      Context.add(Scheduler.Scheduler, new SeededScheduler(world, this, chanceOf(seed, name, "pauses"), pauseEvery)),
      Context.add(Random.Random, randomOf(chanceOf(seed, name, "random"))),
      Context.add(References.MinimumLogLevel, "None"),
      Context.add(References.UnhandledLogLevel, undefined),
      Context.add(References.TracerEnabled, false)
    )
  }

  /** Pauses it, as SIGSTOP does. */
  pause(): void {
    this.held ??= []
  }

  /** Resumes it, as SIGCONT does. */
  goOn(): void {
    const { held = [] } = this
    this.held = undefined
    for (const run of held) this.world.enqueue(this, run)
  }

  /** Starts an effect on this machine. */
  fork<A, E, R>(context: Context.Context<R>, effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(Context.merge(context, this.context))(effect)
  }
}

/** Numbers machines in order of creation, from 1 in each world. */
export const numberMachines = (): () => number => {
  let made = 0
  return () => ++made
}

const randomOf = (chance: Chance): Random.Random => ({
  nextDoubleUnsafe: chance.next,
  nextIntUnsafe: () => chance.between(-(2 ** 52), 2 ** 52)
})

/** The time of a machine's service, or the machine's own. */
const clockOf = (world: World, machine: Machine, speed: number): Clock.Clock => {
  const millis = () => machine.serviceTime?.() ?? machine.wallMs()
  const nanos = () => BigInt(millis()) * 1_000_000n
  const passed = () => machine.monotonicMs() - world.beganAt
  const monotonic = () => BigInt(world.beganAt) * 1_000_000n + BigInt(Math.floor(passed() * 1_000_000))
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const cancel = world.after(Duration.toMillis(duration) / speed, machine, () => resume(Effect.void))
        return Effect.sync(cancel)
      })
  }
}

/**
 * Puts runnable fibers into the world's task pool, from which the seed picks. A fiber can be made to yield at any of its
 * operations, as in the real scheduler, which makes it yield every so many.
 */
class SeededScheduler implements Scheduler.Scheduler {
  readonly executionMode = "async"
  private readonly dispatcher: Scheduler.SchedulerDispatcher
  private readonly chance: Chance
  private readonly pauseEvery: number
  private untilPause: number

  constructor(world: World, machine: Machine, chance: Chance, pauseEvery: number) {
    this.chance = chance
    this.pauseEvery = pauseEvery
    this.untilPause = this.drawPause()
    this.dispatcher = {
      scheduleTask: (task) => world.enqueue(machine, task),
      // no synchronous flush: the world's loop alone runs tasks
      flush: () => {}
    }
  }

  private drawPause(): number {
    return this.pauseEvery === 0 ? Number.POSITIVE_INFINITY : this.chance.between(1, 2 * this.pauseEvery)
  }

  shouldYield(): boolean {
    if (--this.untilPause > 0) return false
    this.untilPause = this.drawPause()
    return true
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return this.dispatcher
  }
}
