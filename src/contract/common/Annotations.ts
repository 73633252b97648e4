/** Endpoint annotations for the request pipeline: required scope and feature, maximum list lengths, responses that contain a secret. */
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import type { Feature, Scope } from "../../domain/state/Operator.ts"

/** Summary and description of an endpoint in the OpenAPI document. */
export const about = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** Scope that the key must have. An endpoint without one is open to every key. */
export class RequiredScope extends Context.Service<RequiredScope, Scope>()("pitboss/contract/RequiredScope") {}

/** Feature that the operator must have. */
export class RequiredFeature extends Context.Service<RequiredFeature, Feature>()("pitboss/contract/RequiredFeature") {}

/** The answer holds a secret, such as a token, or personal data: it is sealed where it is stored for retries. */
export class SecretAnswer extends Context.Service<SecretAnswer, boolean>()("pitboss/contract/SecretAnswer") {}

/** Annotation of a staff answer's field that tells of players though its name does not say so. */
export const tellsOfPlayers = "tellsOfPlayers"

/** Field of the body that makes the request idempotent where it is given. */
export class IdempotentBy extends Context.Service<IdempotentBy, string>()("pitboss/contract/IdempotentBy") {}

/** Maximum length of a list in the body. */
export interface ListBound {
  readonly field: string
  readonly maximum: number
  readonly message: string
}

/** List whose length is checked before its elements are decoded. */
export class BoundedList extends Context.Service<BoundedList, ListBound>()("pitboss/contract/BoundedList") {}

/** A provider's reaction when this call fails on our side with an unknown outcome: roll the bet back, or repeat the same request. */
export class RetryAfterFailure
  extends Context.Service<RetryAfterFailure, "rollback" | "same_request">()("pitboss/contract/RetryAfterFailure")
{}

/** Two fields of the body of which exactly one is sent. */
export class EitherOf extends Context.Service<EitherOf, readonly [string, string]>()("pitboss/contract/EitherOf") {}
