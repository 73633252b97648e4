/** Applies a partial update to a record; returns the same object when nothing differs, so that callers write and audit real changes only. */
export const applyUpdate = <A extends object, Update extends Partial<A>>(before: A, update: Update): A => {
  const after = { ...before, ...update }
  return JSON.stringify(after) === JSON.stringify(before) ? before : after
}
