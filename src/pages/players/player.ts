/** The player of a page, as returned by the staff API. */
import type { Data } from "../app/api.ts"

export type Player = Data<"player.show">
