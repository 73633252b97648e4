/** Types of a player, and of what the player may do now, as returned by the staff API. */
import type { Data } from "../app/api.ts"

export type Player = Data<"player.show">

export type PlayerStanding = Data<"player.standing">
