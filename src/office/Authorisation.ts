/** Permissions of roles, read from the staff contract; used by the middleware of the staff API (`docs/decisions/0021-staff.md`). */
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { type Concern, type Permission, StaffAction } from "../contract/common/StaffAction.ts"
import { BackofficeApi } from "../contract/StaffApi.ts"
import type { Role } from "../domain/staff/Staff.ts"

type Groups = typeof BackofficeApi extends HttpApi.HttpApi<infer _Id, infer G> ? G : never

/** `group.endpoint`. */
export type Action = {
  [G in Groups as HttpApiGroup.Identifier<G>]: `${HttpApiGroup.Identifier<G>}.${HttpApiEndpoint.Identifier<
    HttpApiGroup.Endpoints<G>
  >}`
}[HttpApiGroup.Identifier<Groups>]

const permissions = (() => {
  const found = new Map<string, Permission>()
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const permission = Context.getOrUndefined(endpoint.annotations, StaffAction)
      if (permission !== undefined) found.set(`${group.identifier}.${endpoint.identifier}`, permission)
    }
  })
  return found
})()

/** Whether there is an action of this name. */
export const isAction = (name: string): name is Action => permissions.has(name)

/** Every action there is. */
export const actions: ReadonlyArray<Action> = [...permissions.keys()].filter(isAction)

const permissionOf = (name: string): Permission | undefined => permissions.get(name)

/** Subject of an action; `installation` for an unknown name. */
export const concernOf = (name: string): Concern => permissionOf(name)?.concern ?? "installation"

export const isMoneyAction = (name: string): name is Action => permissionOf(name)?.is === "money"

/** Every role that may take the action of this name; none for a name that is no action. */
export const rolesFor = (name: string): ReadonlyArray<Role> => {
  const permission = permissionOf(name)
  return permission === undefined ? [] : ["admin", ...permission.roles]
}

/** Every action that an actor may take: of the role, and open to staff bound to operators where the actor is. */
export const actionsOf = (
  { operators, role }: { readonly operators: ReadonlyArray<number> | null; readonly role: Role }
): ReadonlyArray<Action> =>
  actions.filter((action) =>
    rolesFor(action).includes(role) && (operators === null || concernOf(action) !== "installation")
  )

/** Whether the action of this name takes the second factor again. */
export const needsStepUp = (name: string): boolean => permissionOf(name)?.is !== undefined
