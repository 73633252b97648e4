/** The wallet's own ids of transactions and rounds, for protocols that ask for them. */
import * as Crypto from "node:crypto"

/** Texts beyond this are told by their digest. */
const maxLength = 250

/** Our id of what a vendor calls `id`: the same whenever it is asked for, so that a repeat is answered as the first time. */
export const operatorId = (id: string): string => `pb-${id.length <= maxLength ? id : Crypto.hash("sha256", id, "hex")}`
