/** Wrappers around the parts of a simulated service, through which a bug is seeded. */
import type { PlayerActors } from "../../../src/store/PlayerActors.ts"
import type { Database, PlayerStore } from "./Database.ts"
import type { Port } from "./Service.ts"

export type Actors = PlayerActors["Service"]

export interface SeededBug {
  readonly store: (store: PlayerStore, database: Database) => PlayerStore
  readonly actors: (actors: Actors, database: Database) => Actors
  readonly port: (port: Port, database: Database) => Port
}

export const noBug: SeededBug = {
  store: (store) => store,
  actors: (actors) => actors,
  port: (port) => port
}
