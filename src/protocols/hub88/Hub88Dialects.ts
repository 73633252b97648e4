/** What Hub88 and Caleta say in different words. */

export type Method = "info" | "check" | "balance" | "bet" | "win" | "rollback"

export interface Hub88Dialect {
  /** The header with the signature, in lower case and as it is written. */
  readonly signatureHeader: string
  readonly paths: { readonly [path: string]: Method }
  /** Caleta names the player by `supplier_user`, and asks for less. */
  readonly isCaleta: boolean
  /** A bet beyond a limit or what the bonus allows. */
  readonly limitStatus: "RS_ERROR_LIMIT_REACHED" | "RS_ERROR_BET_LIMIT_EXCEEDED"
  /** The currency of games without money. */
  readonly demoCurrency: string
}

export const dialects: { readonly [name in "hub88" | "caleta"]: Hub88Dialect } = {
  hub88: {
    signatureHeader: "X-Hub88-Signature",
    paths: {
      "/user/info": "info",
      "/user/balance": "balance",
      "/transaction/bet": "bet",
      "/transaction/win": "win",
      "/transaction/rollback": "rollback"
    },
    isCaleta: false,
    limitStatus: "RS_ERROR_LIMIT_REACHED",
    demoCurrency: "XXX"
  },
  caleta: {
    signatureHeader: "X-Auth-Signature",
    paths: {
      "/wallet/check": "check",
      "/wallet/balance": "balance",
      "/wallet/bet": "bet",
      "/wallet/win": "win",
      "/wallet/rollback": "rollback"
    },
    isCaleta: true,
    limitStatus: "RS_ERROR_BET_LIMIT_EXCEEDED",
    demoCurrency: "FUN"
  }
}
