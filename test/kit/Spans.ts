/** Spans as a collector receives them, in JSON. */

export interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly kind: number
  readonly attributes: ReadonlyArray<Attribute>
  /** Instance of the service that sent it; undefined when not named. */
  readonly instance: unknown
}

interface Attribute {
  readonly key: string
  readonly value: { readonly [type: string]: unknown }
}

interface ResourceSpans {
  readonly resource: { readonly attributes: ReadonlyArray<Attribute> }
  readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Omit<Span, "instance">> }>
}

export const attributeOf = ({ attributes }: Pick<Span, "attributes">, key: string): unknown => {
  const value = attributes.find((one) => one.key === key)?.value
  return value === undefined ? undefined : Object.values(value)[0]
}

/** Spans of an export request. */
export const spansIn = (body: string): ReadonlyArray<Span> =>
  JSON.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }: ResourceSpans) => {
    const instance = attributeOf(resource, "service.instance.id")
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, instance })))
  })
