/** The part of `oidc-provider` that tests use; the package has no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        readonly clients: ReadonlyArray<{ readonly [field: string]: unknown }>
        readonly claims: { readonly [scope: string]: ReadonlyArray<string> }
        readonly pkce: { readonly required: () => boolean }
        readonly findAccount: (
          context: unknown,
          id: string
        ) => { readonly accountId: string; readonly claims: () => { readonly [claim: string]: unknown } }
      }
    )
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
