/**
 * Metrics read at scrape time: functions that read existing values are registered with Effect's registry, so that no metric is updated in between.
 */
import { Context, Effect, Metric, type Scope, Semaphore } from "effect"

/** Exported name: prefixed by `pitboss_`, except for the standard names of processes and Node.js. */
export const exportedName = (name: string): string => /^(process|nodejs)_/.test(name) ? name : `pitboss_${name}`

const ignore = (): void => {}

const register = <State>(
  metric: Metric.Metric<number, State>,
  get: () => State
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => Metric.registerUnsafe(metric, context, { get, update: ignore, modify: ignore }))
    ),
    (registration) => Effect.sync(() => registration.remove())
  ))

/** Exports a value as a gauge until the scope closes. */
export const registerGauge = (metric: Metric.Gauge<number>, value: () => number) =>
  register(metric, () => ({ value: value() }))

/** Exports a monotonic count as a counter until the scope closes. */
export const registerCounter = (metric: Metric.Counter<number>, count: () => number) =>
  register(metric, () => ({ count: count(), incremental: true }))

/**
 * Updates a metric without the look-up of its series, which takes longer than the update: for metrics updated per bet. The metric needs its own
 * attributes, not those of `Metric.withAttributes`.
 */
export const updaterOf = <State>(
  metric: Metric.Metric<number, State>,
  context: Context.Context<never>
): (value: number) => void => {
  // reading a metric registers it
  metric.valueUnsafe(context)
  const series = [...Context.get(context, Metric.MetricRegistry).values()].find(
    ({ attributes, id }) => id === metric.id && attributes === metric.attributes
  )
  return series === undefined
    ? (value) => metric.updateUnsafe(value, context)
    : (value) => series.hooks.update(value, context)
}

type Sample = readonly [attributes: Metric.Metric.AttributeSet, value: number]

/** Sets all series of a gauge at once: series whose labels no longer apply are removed. */
export const makeGaugeFamily = (metric: Metric.Gauge<number>) => {
  // Kept: series, turn. Series of the metrics. Several nodes: its own.
  let series: ReadonlyArray<Metric.Metric<number, unknown>> = []
  // one scrape at a time: a concurrent one would leave stale series behind
  const turn = Semaphore.makeUnsafe(1)
  return (samples: ReadonlyArray<Sample>) =>
    turn.withPermits(1)(Effect.gen(function*() {
      yield* Effect.forEach(series, Metric.remove, { discard: true })
      series = samples.map(([attributes]) => Metric.withAttributes(metric, attributes))
      for (const [index, one] of series.entries()) yield* Metric.update(one, samples[index]?.[1] ?? 0)
    }))
}
