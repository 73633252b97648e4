/** Command that prints the permissions of roles from the staff contract, without the service. */
import { Command } from "effect/cli"
import { roles } from "../domain/staff/Staff.ts"
import { actions, actionsOf, needsStepUp, rolesFor } from "../office/Authorisation.ts"
import { kebab } from "./Flags.ts"
import { printAnswer } from "./Root.ts"

const permissions = () => {
  const ofBoundStaff = new Set(actionsOf({ role: "admin", operators: [] }))
  return actions.map((action) => ({
    action: kebab(action).replace(".", " "),
    ...Object.fromEntries(roles.map((role) => [role, rolesFor(action).includes(role)])),
    bound_staff: ofBoundStaff.has(action),
    second_factor: needsStepUp(action)
  }))
}

export const staffPermissions = Command.make("permissions", {}, () => printAnswer(permissions())).pipe(
  Command.withDescription(
    "Print the roles that may take each action, whether staff bound to operators may, and whether it takes the second factor again"
  )
)
