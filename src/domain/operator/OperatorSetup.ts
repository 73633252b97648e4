/** Set-up of an operator: the steps before its players can play, in order. */

/** What there is of an operator; counts are of what is in use. */
export interface OperatorParts {
  readonly keys: number
  readonly webhooks: number
  readonly payment_methods: number
  /** Games on offer, which all operators share. */
  readonly games: number
  /** When the first signed request of one of its keys was accepted. */
  readonly first_call_at: string | null
}

export const setupSteps = ["key", "webhook", "payment_method", "game", "first_call"] as const

export type SetupStep = (typeof setupSteps)[number]

/** Steps that are still to be taken, in their order. */
export const missingSteps = (parts: OperatorParts): ReadonlyArray<SetupStep> => {
  const isDone: Readonly<Record<SetupStep, boolean>> = {
    key: parts.keys > 0,
    webhook: parts.webhooks > 0,
    payment_method: parts.payment_methods > 0,
    game: parts.games > 0,
    first_call: parts.first_call_at !== null
  }
  return setupSteps.filter((step) => !isDone[step])
}
