/** Back-office path of a round's page, limited to one player's part of the round when a player is given. */
export const roundHref = (provider: string, game: string, round: string, playerId?: number): string =>
  `/rounds/${[provider, game, round].map(encodeURIComponent).join("/")}${
    playerId === undefined ? "" : `?player=${playerId}`
  }`
