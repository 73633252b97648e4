/** Differences between Hub88's Wallet API and Caleta's dialect of it: paths, signature header, field names. */
import type { VendorHead } from "../Protocol.ts"

export type Method = "info" | "check" | "balance" | "bet" | "win" | "rollback"

export interface Hub88Dialect {
  /** Header of the signature, in lower case and as sent. */
  readonly signatureHeader: string
  readonly paths: { readonly [path: string]: Method }
  /** Caleta names the player by `supplier_user`, and requires fewer fields. */
  readonly isCaleta: boolean
  /** Refusal of a bet by a limit or the bonus terms. */
  readonly limitStatus: "RS_ERROR_LIMIT_REACHED" | "RS_ERROR_BET_LIMIT_EXCEEDED"
  /** Currency of demo games. */
  readonly demoCurrency: string
  /** Beginning of the paths of the games API, where the address does not end with one of its own. */
  readonly gamesPath: (gamesUrl: string) => string
}

const gamesPath = "/operator/generic/v2"

/** Method of a call; undefined when the dialect has none. */
export const methodOf = ({ paths }: Hub88Dialect, { method, path }: VendorHead): Method | undefined =>
  method === "POST" && Object.hasOwn(paths, path) ? paths[path] : undefined

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
    demoCurrency: "XXX",
    gamesPath: () => gamesPath
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
    demoCurrency: "FUN",
    // its own API begins with that
    gamesPath: (gamesUrl) => /\/api\/*$/.test(gamesUrl) ? "" : gamesPath
  }
}
