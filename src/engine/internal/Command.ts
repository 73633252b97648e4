/** Commands in an actor's mailbox. */
import { Exit, type Tracer } from "effect"
import type { EngineFailure } from "../Failures.ts"
import type { Decision, DecisionInputs, Step } from "../Machine.ts"

/** A command without its caller's types. */
export interface Task<State, Change, Query, Knowledge> {
  /** Placement epoch under which it was accepted. */
  readonly epoch: number
  /** The caller's span; undefined when not traced. */
  readonly span: Tracer.AnySpan | undefined
  /** State to begin with where the store has none; undefined: the actor has to be there. */
  readonly initial: State | undefined
  /** Decides, keeping the outcome for the caller. */
  decide(state: State, inputs: DecisionInputs<Knowledge>): Decision<State, unknown, unknown, Change, Query>
  /** Replaces the outcome by a failure. */
  end(exit: Exit.Exit<never, EngineFailure>): void
  /** Delivers the outcome to the caller. */
  complete(): void
}

/** A class, since there is one instance per command: no closures. */
export class Command<State, Reply, Error, Change, Query, Knowledge> implements Task<State, Change, Query, Knowledge> {
  readonly epoch: number
  readonly span: Tracer.AnySpan | undefined
  readonly initial: State | undefined
  private readonly step: Step<State, Reply, Error, Change, Query, Knowledge>
  private readonly done: (exit: Exit.Exit<Reply, Error | EngineFailure>) => void
  private outcome: Exit.Exit<Reply, Error | EngineFailure> | undefined

  constructor(
    epoch: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    done: (exit: Exit.Exit<Reply, Error | EngineFailure>) => void,
    span: Tracer.AnySpan | undefined,
    initial: State | undefined
  ) {
    this.epoch = epoch
    this.step = step
    this.done = done
    this.span = span
    this.initial = initial
    this.outcome = undefined
  }

  decide(state: State, inputs: DecisionInputs<Knowledge>): Decision<State, unknown, unknown, Change, Query> {
    try {
      const decision = this.step(state, inputs)
      if (decision._tag === "Accept") this.outcome = Exit.succeed(decision.reply)
      if (decision._tag === "Refuse") this.outcome = Exit.fail(decision.error)
      return decision
    } catch (defect) {
      // a defect of a rule must reach its own caller only
      this.outcome = Exit.die(defect)
      return { _tag: "Refuse", error: undefined }
    }
  }

  end(exit: Exit.Exit<never, EngineFailure>): void {
    this.outcome = exit
  }

  complete(): void {
    this.done(this.outcome ?? Exit.die("a command was answered before it was decided"))
  }
}
