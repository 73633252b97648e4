/** A path of the pages to go on at; the home page for anything that could lead elsewhere. One rule for the server and the sign-in page. */
export const pathAfterSignIn = (next: string | undefined): string =>
  next !== undefined && next.length <= 2000 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next) &&
    !/^\/sign-in(\/|\?|$)/.test(next)
    ? next
    : "/"
