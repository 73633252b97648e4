/** Back-office path of a provider message's page, by the provider's own id for the message. */
export const messageHref = (provider: string, transaction: string): string =>
  `/messages/${[provider, transaction].map(encodeURIComponent).join("/")}`

/** The same by an entry of the ledger that the message posted. */
export const messageOfEntryHref = (provider: string, entryId: number): string =>
  `${messageHref(provider, String(entryId))}?by=entry`
