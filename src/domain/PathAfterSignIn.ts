/** Path to continue at after sign-in; the home page for any path that could lead elsewhere. Shared by server and sign-in page. */
export const pathAfterSignIn = (next: string | undefined): string =>
  next !== undefined && next.length <= 2000 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next) &&
    !/^\/sign-in(\/|\?|$)/.test(next)
    ? next
    : "/"
