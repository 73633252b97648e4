/** Table of permissions, as the staff contract declares them; without the service. */
import { Context } from "effect"
import { Command } from "effect/cli"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { StaffAction } from "../contract/common/StaffAction.ts"
import { BackofficeApi } from "../contract/StaffApi.ts"
import { roles } from "../domain/staff/Staff.ts"
import { printAnswer } from "./Root.ts"

const permissions = () => {
  const rows: Array<{ readonly [column: string]: string | boolean }> = []
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const action = Context.getOrUndefined(endpoint.annotations, StaffAction)
      if (action === undefined) return
      rows.push({
        action: actionName(group, endpoint),
        ...Object.fromEntries(roles.map((role) => [role, role === "admin" || action.roles.includes(role)])),
        bound_staff: action.concern !== "installation",
        second_factor: action.is !== undefined
      })
    }
  })
  return rows
}

const actionName = (group: HttpApiGroup.Top, endpoint: { readonly identifier: string }): string =>
  `${group.identifier} ${endpoint.identifier}`.replaceAll("_", "-")

export const staffPermissions = Command.make("permissions", {}, () => printAnswer(permissions())).pipe(
  Command.withDescription(
    "Print the roles that may take each action, whether staff bound to operators may, and whether it takes the second factor again"
  )
)
