/** The engine's spans, made only while somebody traces: a command from its asking to its answer, and the commit that it shares. */
import { Effect, type Tracer } from "effect"

/** The most other commands that a commit's span names. */
const maxLinks = 64

const noSpans: ReadonlyArray<Tracer.AnySpan> = []

/** Those of some tasks that are to be exported. */
export const spansOf = (
  tasks: ReadonlyArray<{ readonly span: Tracer.AnySpan | undefined }>
): ReadonlyArray<Tracer.AnySpan> => tasks.flatMap(({ span }) => span?.sampled === true ? [span] : [])

/** A command of an actor, under the span of whoever asks. */
export const traceStep = <A, E, R>(
  keyName: string,
  key: number,
  ask: (span: Tracer.AnySpan) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.useSpan("actor step", { attributes: { [`pitboss.${keyName}`]: key } }, ask)

/** One commit for many: a child of the first that is traced, linked to the others. */
export const traceCommit = <A, E, R>(
  units: ReadonlyArray<{ readonly spans?: ReadonlyArray<Tracer.AnySpan> }>,
  commit: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const [parent, ...others] = units.flatMap(({ spans }) => spans ?? noSpans)
  return parent === undefined ? Effect.withTracerEnabled(commit, false) : Effect.withSpan(commit, "commit", {
    parent,
    links: others.slice(0, maxLinks).map((span) => ({ span, attributes: {} })),
    attributes: { "pitboss.units": units.length }
  })
}
