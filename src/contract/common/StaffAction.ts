/** Annotations of the staff contract: an endpoint's permission and command, and a field's command-line flag. */
import { Context, type Schema } from "effect"
import { OpenApi } from "effect/http-api"
import type { Role } from "../../domain/staff/Staff.ts"

/**
 * Subject of an action; decides its use by staff bound to operators:
 * - `operator`: records of one operator, or a list of them; limited to their operators;
 * - `one_operator`: work on the operator that the query names, or on all; they must name one of theirs;
 * - `catalogue`: reads of data that operators share; allowed;
 * - `installation`: the whole installation, or changes of shared data; never allowed;
 * - `self`: the actor's own account and session; allowed.
 */
export type Concern = "operator" | "one_operator" | "catalogue" | "installation" | "self"

export interface Permission {
  /** Roles that may take it besides `admin`, which may take any. */
  readonly roles: ReadonlyArray<Role>
  readonly concern: Concern
  /**
   * - `money`: moves money towards a player or out of the operator; needs a named person once staff accounts exist;
   * - `authority`: changes permissions, or where money comes from.
   *
   * In a browser session both need the second factor within the last minutes, so that an unlocked screen does not suffice.
   */
  readonly is?: "money" | "authority"
}

/** Permission of an endpoint, and how the command line runs it; an endpoint without one is denied to all. */
export class StaffAction extends Context.Service<
  StaffAction,
  Permission & {
    /** No command is derived: the action is a browser's, or its command is written by hand. */
    readonly isWithoutCommand?: true
    /** Progress text of a command that takes long. */
    readonly waiting?: string
    /** Form of `data` with which the command exits 0; with any other 1. Absent: always 0. */
    readonly passes?: Schema.Codec<unknown, unknown>
  }
>()("pitboss/contract/StaffAction") {}

/** The summary of an endpoint, which is its command's help, and its permission. */
export const action = (summary: string, about: StaffAction["Service"]) =>
  Context.merge(OpenApi.annotations({ summary }), Context.make(StaffAction, about))

export const anyRole = ["support", "payments", "compliance"] as const

/** Argument or flag of a field, where the command line does not derive it from the field's name and type. */
export interface FlagForm {
  /** Name in place of the field's own in kebab case. */
  readonly name?: string
  /** A flag though it is in the path, or an argument though it is not. */
  readonly kind?: "flag" | "argument"
  /** Choices, where the service takes any text and judges it itself. */
  readonly words?: ReadonlyArray<string>
  /** `true` where the flag is given, absent otherwise. */
  readonly isSwitch?: true
  /** A secret, also read from standard input. */
  readonly isSecret?: true
  /** `none` is a value of the list, not its emptiness. */
  readonly hasNone?: true
  /** Word for null in place of `none`. */
  readonly nullWord?: string
}

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      readonly flag?: FlagForm
    }
  }
}
