/** Spans of the engine: one per command, and one per group commit. */
import { Effect, type Tracer } from "effect"

/** Maximum links of a commit's span. */
const maxLinks = 64

const noSpans: ReadonlyArray<Tracer.AnySpan> = []

/** Sampled spans of tasks. */
export const spansOf = (
  tasks: ReadonlyArray<{ readonly span: Tracer.AnySpan | undefined }>
): ReadonlyArray<Tracer.AnySpan> => tasks.flatMap(({ span }) => span?.sampled === true ? [span] : [])

/** Span of an actor's command, under the caller's span. */
export const traceStep = <A, E, R>(
  keyName: string,
  key: number,
  ask: (span: Tracer.AnySpan) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.useSpan("actor step", { attributes: { [`pitboss.${keyName}`]: key } }, ask)

/** Span of a group commit: child of the first traced command, linked to the others. */
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
