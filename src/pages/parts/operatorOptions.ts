/** Operators as the options of a select input. */

export interface Named {
  readonly name: string
  readonly slug: string
}

/** Operators as options, by slug. */
export const operatorOptions = (operators: ReadonlyArray<Named>) =>
  operators.map(({ name, slug: value }) => ({ value, label: name }))
