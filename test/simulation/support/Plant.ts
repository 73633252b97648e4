/** What can be put around the parts of a simulated service, to see what becomes of it. */
import type { PlayerActors } from "../../../src/store/PlayerActors.ts"
import type { Database, PlayerStore } from "./Database.ts"
import type { Port } from "./Service.ts"

export type Actors = PlayerActors["Service"]

export interface Plant {
  readonly store: (store: PlayerStore, database: Database) => PlayerStore
  readonly actors: (actors: Actors, database: Database) => Actors
  readonly port: (port: Port, database: Database) => Port
}

/** Nothing at all. */
export const nothingPlanted: Plant = {
  store: (store) => store,
  actors: (actors) => actors,
  port: (port) => port
}
