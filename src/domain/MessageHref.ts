/** Path of a message's page in the back office, from the root, by the provider's id of it. */
export const messageHref = (provider: string, transaction: string): string =>
  `/messages/${[provider, transaction].map(encodeURIComponent).join("/")}`

/** The same by an entry of the ledger that the message posted. */
export const messageOfEntryHref = (provider: string, entryId: number): string =>
  `${messageHref(provider, String(entryId))}?by=entry`
