/** The language in which figures and times are written. */

/** Whether a standard knows a language; `en-US@posix`, as browsers name one on a bare machine, is none. */
const isLanguage = (name: string): boolean => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(name).length > 0
  } catch {
    return false
  }
}

/** The browser's, or English where that is none. */
export const locale = isLanguage(navigator.language) ? navigator.language : "en"

/** Says so to the charts as well: their package reads the browser's language as it is loaded, and fails where it is none. */
export const installLocale = (): void => {
  if (navigator.language !== locale) Object.defineProperty(navigator, "language", { value: locale })
}
