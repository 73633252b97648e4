/**
 * A world in which nothing happens by itself: machines whose fibers run one task at a time, in an order that the seed decides, and
 * a clock that moves when nobody has anything left to do at this instant.
 *
 * A machine is a computer. When it loses power its fibers are gone between two tasks: no finalizer runs, no timer rings. What is
 * on other machines, the database above all, goes on.
 */
import { Clock, Context, Duration, Effect, type Fiber, Random, References, Scheduler } from "effect"
import { type Chance, chanceOf, Trace } from "../../kit/Chance.ts"

/** A task that has not run after so many others is a sign that the world goes round in circles. */
const mostTasks = 1_000_000

interface Task {
  readonly machine: Machine
  readonly run: () => void
}

/** Something that is due at an instant; `cancel` takes it back. */
interface Timer {
  readonly at: number
  readonly order: number
  readonly task: Task
  isCancelled: boolean
}

export class World {
  /** Epoch milliseconds. */
  now: number
  /** How many tasks have run: a clock that never stands still. */
  step = 0
  readonly trace = new Trace()
  /** Epoch milliseconds of the beginning. */
  readonly beganAt: number
  private readonly picks: Chance
  private readonly ready: Array<Task> = []
  /** A heap: each is due no later than the two at twice its place. */
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

  /** Runs something on a machine after a while, if it still has power then. Gives what takes it back. */
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

  /** Does something after so many further tasks, whatever those are. */
  afterTasks(tasks: number, run: () => void): void {
    this.afterSteps.push({ step: this.step + tasks, run })
  }

  /** Lets everything happen until `isOver`, which is asked whenever time is about to pass. False when it never came to that. */
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

  /** Goes to the next instant at which something is due. */
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

/** How a machine's clock runs. */
export interface ClockPlan {
  /** Of what passes in the world, how much passes on the machine. */
  readonly speed: number
  /** Milliseconds between its time of day and the world's. */
  wallOffset: number
}

export class Machine {
  readonly name: string
  readonly number: number
  readonly world: World
  isOn = true
  /** While it is stopped: what is to run when it goes on. Its clock does not stop. */
  held: Array<() => void> | undefined
  /** What is to happen to it when it is about to send a commit. */
  beforeCommit: (() => void) | undefined
  /** What its fibers start with: its clock, its chances, the scheduler of the world. */
  readonly context: Context.Context<never>

  /** `pauseEvery`: after how many operations, on average, a fiber is made to let others go first; 0: when it waits only. */
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
    this.context = Context.empty().pipe(
      Context.add(Clock.Clock, clockOf(world, this, clock)),
      Context.add(Scheduler.Scheduler, new SeededScheduler(world, this, chanceOf(seed, name, "pauses"), pauseEvery)),
      Context.add(Random.Random, randomOf(chanceOf(seed, name, "random"))),
      Context.add(References.MinimumLogLevel, "None"),
      Context.add(References.UnhandledLogLevel, undefined),
      Context.add(References.TracerEnabled, false)
    )
  }

  /** Stops it, as SIGSTOP does. */
  pause(): void {
    this.held ??= []
  }

  /** Lets it go on, as SIGCONT does. */
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

/** Numbers machines in the order of their making, from 1 in each world. */
export const numberMachines = (): () => number => {
  let made = 0
  return () => ++made
}

const randomOf = (chance: Chance): Random.Random => ({
  nextDoubleUnsafe: chance.next,
  nextIntUnsafe: () => chance.between(-(2 ** 52), 2 ** 52)
})

/** The world's time, as a machine sees it. */
const clockOf = (world: World, machine: Machine, plan: ClockPlan): Clock.Clock => {
  const { speed } = plan
  const passed = () => (world.now - world.beganAt) * speed
  const millis = () => world.beganAt + Math.floor(passed()) + plan.wallOffset
  const nanos = () => BigInt(millis()) * 1_000_000n
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
 * Puts what fibers want to run into the world's one bag, from which the seed picks. A fiber can be made to pause at any of its
 * operations, as it can in the real scheduler, which pauses it every so many.
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
      // nothing waits for a fiber here: the world's loop is the only one that runs tasks
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
