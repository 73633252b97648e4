/** The token of `Authorization: Bearer …`; undefined when there is none. */
export const bearer = (header: string | undefined): string | undefined =>
  /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header ?? "")?.[1]
