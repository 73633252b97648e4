/** Applies an update; returns the same object when nothing differs. Absent fields are unchanged. */
export const applyUpdate = <A extends object, Update extends Partial<A>>(before: A, update: Update): A => {
  const after = { ...before, ...update }
  return JSON.stringify(after) === JSON.stringify(before) ? before : after
}
