/** The address of a round's page, from the root of the back office. A player's part of it, where a player is given. */
export const roundHref = (provider: string, game: string, round: string, playerId?: number): string =>
  `/rounds/${[provider, game, round].map(encodeURIComponent).join("/")}${
    playerId === undefined ? "" : `?player=${playerId}`
  }`
