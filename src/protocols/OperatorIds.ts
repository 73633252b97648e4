/** Derives the wallet's own transaction and round ids from the vendor's, for protocols that require them. */
import * as Crypto from "node:crypto"

/** Longer texts are replaced by their digest. */
const maxLength = 250

/** Our id of the vendor's `id`: deterministic, so that a repeat is answered like the first message. */
export const operatorId = (id: string): string => `pb-${id.length <= maxLength ? id : Crypto.hash("sha256", id, "hex")}`
