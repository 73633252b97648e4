/**
 * What something is after an update: the same object when nothing in it is different. Fields of the update that are absent
 * stay as they are.
 */
export const changed = <A extends object, Update extends Partial<A>>(before: A, update: Update): A => {
  const after = { ...before, ...update }
  return JSON.stringify(after) === JSON.stringify(before) ? before : after
}
