/** Wrappers around the parts of a simulated service that seed a bug. */
import type { Layer } from "effect"
import type { ProfileBook } from "../../../src/store/ProfileBook.ts"
import type { PlayerActors } from "../../../src/store/PlayerActors.ts"
import type { Placement } from "../../../src/engine/Placement.ts"
import type { PlayerStore } from "../../../src/store/internal/PlayerStore.ts"
import type { Database } from "./Database.ts"
import type { Topology } from "./Plan.ts"
import type { Port } from "./Service.ts"

export type Actors = PlayerActors["Service"]

export interface SeededBug {
  readonly store: (store: PlayerStore, database: Database) => PlayerStore
  readonly actors: (actors: Actors, database: Database, placement: Placement["Service"]) => Actors
  readonly port: (port: Port, database: Database) => Port
  /** The profiles as a service knows them. */
  readonly profiles: (profiles: Layer.Layer<ProfileBook>) => Layer.Layer<ProfileBook>
  /** Ownership as believed by a node. */
  readonly placement: (placement: Placement["Service"]) => Placement["Service"]
  /** Whether a call to another node may be sent again although it may have had its effect. */
  readonly isRepeatable: (isRepeatable: boolean) => boolean
  /** Whether a call from another node may have been answered elsewhere while it was on its way. */
  readonly isOutdated: (isOutdated: boolean) => boolean
  /** Whether services go by the database's time, and not by the clock of their machine. */
  readonly hasDatabaseTime: boolean
  /** Topology in which the bug can show; undefined: all. */
  readonly topology: Topology | undefined
}

export const noBug: SeededBug = {
  store: (store) => store,
  actors: (actors) => actors,
  port: (port) => port,
  profiles: (profiles) => profiles,
  placement: (placement) => placement,
  isRepeatable: (isRepeatable) => isRepeatable,
  isOutdated: (isOutdated) => isOutdated,
  hasDatabaseTime: true,
  topology: undefined
}
