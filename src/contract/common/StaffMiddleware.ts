/** Staff API middleware as declared in the contract: the acting staff account, and idempotent POSTs. Implemented in `src/http`. */
import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { Role } from "../../domain/staff/Staff.ts"
import { idempotencyRefusals } from "./Middleware.ts"

/** The acting staff account. */
export class CurrentStaff extends Context.Service<CurrentStaff, {
  /** Null for the bootstrap token. */
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** Ids of the operators that the actor may access; null: all. */
  readonly operators: ReadonlyArray<number> | null
  /** Audit log label of the actor. */
  readonly label: string
}>()("pitboss/contract/CurrentStaff") {}

/** Runs a POST of staff with an `Idempotency-Key` once and replays the first answer to every retry; keys are scoped to the account. */
export class StaffIdempotentPost extends HttpApiMiddleware.Service<StaffIdempotentPost, { requires: CurrentStaff }>()(
  "pitboss/contract/StaffIdempotentPost",
  {
    error: idempotencyRefusals
  }
) {}
