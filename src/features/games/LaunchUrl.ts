import type { Game } from "./Game.ts"

/**
 * Where the player's browser goes: the provider's address for the mode with `{token}`, `{game}` (the provider's own id of it)
 * and `{mode}` filled in. Null for an original, which is played here, and for a provider without such an address. A provider
 * whose one address takes the mode as a value needs no other for demo play.
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
