import type { Result } from "../../bench/report/Result.ts"
import type { Job } from "../../bench/load/Job.ts"

/** A short closed-loop job of two players. */
export const job = (overrides: Partial<Job> = {}): Job => ({
  host: "127.0.0.1",
  port: 1,
  kind: "bet",
  key: "key",
  secret: "secret",
  operator: { key: "operator-key", secret: "operator-secret" },
  vendor: null,
  gameId: "slot",
  slotId: "70",
  originalId: "71",
  currency: "EUR",
  stake: 10,
  players: [
    { id: 1, sessionToken: "token-a", playerRef: "ref-a", bearer: "bearer-a" },
    { id: 2, sessionToken: "token-b", playerRef: "ref-b", bearer: "bearer-b" }
  ],
  operations: [],
  limited: 0,
  idPrefix: "p",
  connections: 4,
  phases: null,
  patienceMs: null,
  warmUpSeconds: 0.1,
  measuredSeconds: 0.4,
  slotMs: 100,
  timeoutMs: 5000,
  reconnects: 20,
  seed: 1,
  ...overrides
})

/** Common fields of every result; no measurements. */
export const sampleResult: Result = {
  format: 2,
  scenario: "bets",
  title: "Bets",
  method: ["Closed loop."],
  started_at: "2026-11-20T12:00:00.000Z",
  seconds: 10,
  revision: null,
  machine: {
    cpu: "A processor",
    cores: 2,
    memory_gib: 8,
    kernel: "Linux 6",
    node: "v24",
    filesystem: "ext4",
    sync_us: 100,
    load_before: 0.1
  },
  postgres: { fsync: "on" },
  options: { players: 10 },
  headlines: [{ value: "1,000/s", label: "bets" }],
  measurements: []
}
