/** Annotations of endpoints that the request pipeline reads: scope, feature, bounds of lists, secret answers. */
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import type { Feature, Scope } from "../domain/Operator.ts"

/** Words about an endpoint in the document: what it does, in a line, and what its callers have to know. */
export const about = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The scope a key must hold. An endpoint without one is open to every key. */
export class RequiredScope extends Context.Service<RequiredScope, Scope>()("pitboss/contract/RequiredScope") {}

/** The feature the operator must have. */
export class RequiredFeature extends Context.Service<RequiredFeature, Feature>()("pitboss/contract/RequiredFeature") {}

/** The answer holds a secret, such as a token, or personal data: where it is kept for retries, it is kept sealed. */
export class SecretAnswer extends Context.Service<SecretAnswer, boolean>()("pitboss/contract/SecretAnswer") {}

/** A list in the body that may not be longer. */
export interface ListBound {
  readonly field: string
  readonly maximum: number
  readonly message: string
}

/** The list whose length is looked at before its elements are decoded. */
export class BoundedList extends Context.Service<BoundedList, ListBound>()("pitboss/contract/BoundedList") {}

/**
 * What a provider does when this call fails on our side and may or may not have taken effect: take the bet back, or send
 * the same request again.
 */
export class RetryAfterFailure
  extends Context.Service<RetryAfterFailure, "rollback" | "same_request">()("pitboss/contract/RetryAfterFailure")
{}
