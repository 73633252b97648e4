/** Path of a round's page in the back office, from the root; limited to a player's part when a player is given. */
export const roundHref = (provider: string, game: string, round: string, playerId?: number): string =>
  `/rounds/${[provider, game, round].map(encodeURIComponent).join("/")}${
    playerId === undefined ? "" : `?player=${playerId}`
  }`
