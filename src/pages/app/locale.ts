/** Locale of figures and times: the browser's language, or English where that is invalid. */

/** True for a valid language tag; `en-US@posix`, as reported by browsers on a bare machine, is invalid. */
const isLanguage = (name: string): boolean => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(name).length > 0
  } catch {
    return false
  }
}

/** The browser's language, or English when invalid. */
export const locale = isLanguage(navigator.language) ? navigator.language : "en"

/** Sets the language of the charts as well: their package reads the browser's on load, and fails when it is invalid. */
export const installLocale = (): void => {
  if (navigator.language !== locale) Object.defineProperty(navigator, "language", { value: locale })
}
