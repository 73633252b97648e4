/** Builds the launch URL of a game: the provider's URL for the mode, with `{token}`, `{game}` (the provider's game id) and `{mode}` filled in. */
import type { Game } from "../games/Game.ts"

/**
 * Null for originals, which are played here, and for a provider without a URL for the mode. A URL with `{mode}` serves demo play too.
 */
export const launchUrl = (game: Game, mode: "real" | "demo", token: string): string | null => {
  if (game.original !== null) return null
  const { demoUrl, launchUrl } = game.provider
  const template = mode === "real"
    ? launchUrl
    : demoUrl ?? (launchUrl?.includes("{mode}") === true ? launchUrl : null)
  if (template === null) return null
  const values: { readonly [name: string]: string } = { token, game: game.externalId, mode }
  // in one go, so that nothing inside a value is taken for a placeholder
  return template.replaceAll(/\{(token|game|mode)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""))
}
