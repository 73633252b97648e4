/** What an endpoint says about itself beside its form; the request pipeline reads it. */
import { Context } from "effect"
import type { Feature, Scope } from "../domain/Operator.ts"

/** The scope a key must hold. An endpoint without one is open to every key. */
export class RequiredScope extends Context.Service<RequiredScope, Scope>()("pitboss/api/RequiredScope") {}

/** The feature the operator must have. */
export class RequiredFeature extends Context.Service<RequiredFeature, Feature>()("pitboss/api/RequiredFeature") {}

/**
 * What a provider does when this call fails on our side and may or may not have taken effect: take the bet back, or send
 * the same request again.
 */
export class RetryAfterFailure
  extends Context.Service<RetryAfterFailure, "rollback" | "same_request">()("pitboss/api/RetryAfterFailure")
{}

/** Bad fields with what is wrong with each, as VALIDATION_FAILED lists them. */
export type FieldIssues = { readonly [field: string]: ReadonlyArray<string> }

/**
 * Rules about single fields that a schema cannot hold, because they need the time. When the form of a body is wrong they
 * are asked as well, so that the caller hears of every bad field at once; `body` is whatever was sent. `now` in epoch
 * milliseconds.
 */
export class FieldRules extends Context.Service<
  FieldRules,
  (body: { readonly [field: string]: unknown }, now: number) => FieldIssues
>()("pitboss/api/FieldRules") {}
