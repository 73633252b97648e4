/** The player of a page, as the staff API shows one. */
import type { Data } from "../app/api.ts"

export type Player = Data<"player.show">
