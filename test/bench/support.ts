import type { Job } from "../../bench/load/Job.ts"

/** A short closed-loop job of two players. */
export const job = (overrides: Partial<Job> = {}): Job => ({
  host: "127.0.0.1",
  port: 1,
  providerKey: "key",
  secret: "secret",
  gameId: "slot",
  currency: "EUR",
  stake: 10,
  sessionTokens: ["token-a", "token-b"],
  idPrefix: "p",
  connections: 4,
  ratePerSecond: null,
  warmUpSeconds: 0.1,
  measuredSeconds: 0.4,
  timeoutMs: 5000,
  seed: 1,
  ...overrides
})
